"""The reader of rule pages."""

import pytest

from kcheck.rule.page import Drawing, PageFault, read_page

PAGE = """\
# latest-tag

Why. See `image`.

<!-- for writers -->

```yaml
image: nginx:latest
#      ^^^^^^^^^^^^ can change under you
# a comment of the example
kind: Pod
# <^^^^ one
#^^ two
#     ^^^
```

~~~text
not an example
```yaml
~~~

```yaml options
allow: [nginx]
```

```json
{"image": "nginx:latest"}
```

```json fixed
{"image": "nginx:1"}
```
"""


def test_examples_and_drawings() -> None:
    page = read_page(PAGE)
    first, second = page.examples
    assert page.id == "latest-tag"
    assert (first.line, first.language, first.options, first.fixed) == (7, "yaml", "", None)
    assert first.text == "image: nginx:latest\n# a comment of the example\nkind: Pod\n"
    assert first.drawings == (
        Drawing(1, 8, 20, "can change under you"),
        Drawing(3, 1, 5, "one"),
        Drawing(3, 2, 4, "two"),
        Drawing(3, 7, 10, ""),
    )
    assert (second.language, second.text, second.drawings) == ("json", '{"image": "nginx:latest"}\n', ())
    assert (second.options, second.fixed) == ("allow: [nginx]\n", '{"image": "nginx:1"}\n')


def test_prose_is_for_readers() -> None:
    prose = read_page(PAGE).prose
    assert prose.startswith("Why. See `image`.\n\n```yaml\n")
    assert "for writers" not in prose


def test_a_test_can_stand_for_examples() -> None:
    page = read_page("# a\n\n<!-- tested: tests/test_a.py -->\n\nWhy.\n")
    assert (page.tested, page.examples, page.prose) == ("tests/test_a.py", (), "Why.\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: a page must begin"),
        ("A rule\n", "line 1: a page must begin"),
        ("# two words\n", "line 1: a page must begin"),
        ("# a\n```yaml\na: 1\n", "line 2: unterminated block"),
        ("# a\n```yaml\n#   ^^ over nothing\n```\n", "line 3: carets must follow the line"),
        ("# a\n```yaml options\na: 1\n```\n", "line 2: no example follows"),
        ("# a\n```yaml options\na: 1\n```\n```yaml options\nb: 1\n```\n", "line 2: no example follows"),
        ("# a\n```yaml fixed\na: 1\n```\n", "line 2: no example precedes"),
        ("# a\n```yaml fxied\na: 1\n```\n", "line 2: unknown block type 'fxied'"),
    ],
)
def test_what_is_wrong_has_its_line(text: str, said: str) -> None:
    with pytest.raises(PageFault, match=said):
        read_page(text)
