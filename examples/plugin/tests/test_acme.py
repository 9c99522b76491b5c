import io

import pytest
from acme_kcheck import table

from kcheck.api import Report, Style
from kcheck.testing import Case, check, check_text, pages


@pytest.mark.parametrize("case", pages("acme_kcheck"), ids=str)
def test_page(case: Case) -> None:
    check(case)


def test_an_empty_label_is_reported() -> None:
    text = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: agent\n  labels:\n    acme.example/team: ''\n"
    assert [f.range.start.line for f in check_text(text, ["acme/owner-label"])] == [6]


def test_the_table_has_a_header() -> None:
    out = io.StringIO()
    table.write(Report(), out, Style())
    assert out.getvalue() == "file,line,severity,rule,title,message\n"
