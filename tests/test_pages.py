"""Every rule has its page, and every page is true.

pytest --rule latest-tag --rule invalid-port-number    only the pages of these rules
pytest --update-pages [--rule ID]              rewrite the caret comments of pages to what their rules find
"""

from pathlib import Path

import pytest

from kcheck.testing import Case, check, pages, update_page

ROOT = Path(__file__).parent.parent
PLUGINS = ("kcheck_spec._plugin", "kcheck_practice._plugin")


def cases(only: list[str]) -> list[Case]:
    return [case for plugin in PLUGINS for case in pages(plugin, root=ROOT, only=only)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only = metafunc.config.getoption("--rule")
    found = cases(only)
    missing = set(only) - {case.id for case in found}
    if missing:
        raise pytest.UsageError(f"no rule {', '.join(sorted(missing))}")
    if metafunc.config.getoption("--update-pages"):
        found = [case for case in found if case.example is None]
    metafunc.parametrize("case", found, ids=str)


def test_page(case: Case, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--update-pages"):
        check(case)
    elif update_page(case):
        for fresh in cases([case.id]):
            check(fresh)
