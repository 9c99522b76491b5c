"""Test helpers for rule authors: run the examples of rule pages as tests, and check single texts.

import pytest
from kcheck.testing import check, check_text, pages

@pytest.mark.parametrize("case", pages("acme_rules"), ids=str)
def test_page(case):
    check(case)

def test_jobs_need_no_owner():
    assert not check_text(JOB, ["acme/owner-label"])
"""

from kcheck.testing.headings import check_headings
from kcheck.testing.pages import Case, check, pages, update_page
from kcheck.testing.texts import check_text

__all__ = ["Case", "check", "check_headings", "check_text", "pages", "update_page"]
