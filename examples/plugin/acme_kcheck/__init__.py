"""What Acme adds to kcheck."""

from collections.abc import Callable, Mapping
from types import ModuleType

from acme_kcheck import owners, table
from kcheck.api import hookimpl


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    """Modules with rules; their pages stand in the folder `pages` beside them."""
    return [owners]


@hookimpl
def kcheck_reporters() -> Mapping[str, Callable[..., None]]:
    """Forms of the report, by the name that `--format` takes."""
    return {"acme-csv": table.write}
