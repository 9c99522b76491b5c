"""The plug-in hooks of this package, used if the package has no index of its rules."""

from types import ModuleType

from kcheck.api import hookimpl, modules


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    return modules("kcheck_spec")
