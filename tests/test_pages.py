"""Every rule has its page, and every page tells the truth."""

from pathlib import Path

import pytest

from kcheck.testing import Case, check, pages

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("case", [*pages("kcheck_spec._plugin", root=ROOT), *pages("kcheck_practice._plugin", root=ROOT)], ids=str)
def test_page(case: Case) -> None:
    check(case)
