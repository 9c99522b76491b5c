"""The fixed headings of rule pages."""

import pytest

from kcheck.rule.page import read_page
from kcheck.testing import check_headings

PAGE = """\
# latest-tag

## What it checks

Container images that use the `latest` tag.

## Why

Nodes run different code under one name.

## Example

```yaml
image: nginx:latest
#      ^^^^^^^^^^^^ moves
## not a heading
```

## Fixed

```yaml
image: nginx:1.29
```

## Options

- `allow-names`: images that may use it.

## References

- [Images](https://kubernetes.io/docs/concepts/containers/images/)

Since kcheck 0.2.0.
"""


def test_a_page_with_all_headings() -> None:
    page = read_page(PAGE)
    check_headings(page, ["allow_names"])
    assert page.since == "0.2.0"
    assert [section.title for section in page.sections] == ["What it checks", "Why", "Example", "Fixed", "Options", "References"]
    assert page.sections[1].text == "Nodes run different code under one name."


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## Why", "## Reason", "unknown heading 'Reason'; use one of"),
        ("## Why", "## References", "headings are repeated or out of order"),
        ("## Why", "### Why", "no section 'Why'; add it"),
        ("Nodes run different code under one name.", "", "section 'Why' is empty"),
        ("`latest` tag.", "`latest` tag.\n\nAnd more.", "write one sentence"),
        ("#      ^^^^^^^^^^^^ moves\n", "", "section 'Example' has no example with findings"),
        ("nginx:1.29\n", "nginx:1.29\n#      ^^^^^^^^^^ moves\n", "an example of section 'Fixed' has findings"),
        ("```yaml\nimage: nginx:1.29\n```", "nginx:1.29", "section 'Fixed' has no example"),
        ("- `allow-names`", "- `allow`", "option 'allow-names' is missing"),
        ("Since kcheck 0.2.0.", "", "no line 'Since kcheck X.Y.Z.'"),
        ("under one name.", "under one name. Mission: C10.", "the page refers to a line of the mission"),
    ],
)
def test_what_is_wrong_with_headings(old: str, new: str, fault: str) -> None:
    assert old in PAGE
    with pytest.raises(AssertionError, match=fault):
        check_headings(read_page(PAGE.replace(old, new, 1)), ["allow_names"])


def test_a_fixed_block_is_an_example_of_its_section() -> None:
    check_headings(read_page(PAGE.replace("```yaml\nimage: nginx:1.29", "```yaml fixed\nimage: nginx:1.29")), ["allow_names"])


def test_a_page_whose_rule_has_a_test_needs_no_example() -> None:
    before, _, after = PAGE.partition("## Example")
    page = read_page(before + "<!-- tested: tests/run/test_load.py -->\n\n## Options" + after.partition("## Options")[2])
    check_headings(page, ["allow_names"])
