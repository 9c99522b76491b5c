"""How kcheck finds the rules of this package where there is no index of them."""

from types import ModuleType

from kcheck.api import hookimpl, modules


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    return modules("kcheck_spec")
