"""The kcheck plugin of Acme."""

from types import ModuleType

from acme_kcheck import owners, table
from kcheck.api import Reporter, hookimpl


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    """Return the modules with rules; their pages are in the folder `pages` next to them."""
    return [owners]


@hookimpl
def kcheck_reporters() -> list[Reporter]:
    """Return the output formats; `--format` accepts their names."""
    return [Reporter("acme-csv", table.write, help="CSV for the audit spreadsheet")]
