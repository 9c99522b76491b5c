"""What Acme adds to kcheck."""

from types import ModuleType

from acme_kcheck import owners, table
from kcheck.api import Reporter, hookimpl


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    """Modules with rules; their pages stand in the folder `pages` beside them."""
    return [owners]


@hookimpl
def kcheck_reporters() -> list[Reporter]:
    """Forms of the report, by the name that `--format` takes."""
    return [Reporter("acme-csv", table.write, help="for the spreadsheet of the audit")]
