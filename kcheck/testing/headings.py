"""The fixed headings of rule pages (see kcheck/rule/page.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.rule.page import Page, Section

FIRST = "What it checks"
HEADINGS = (FIRST, "Why", "Example", "Fixed", "More examples", "Options", "When to ignore it", "References")
"""All headings, in their order."""
_REQUIRED = frozenset({FIRST, "Why", "References"})
_EXAMPLES = frozenset({"Example", "Fixed"})


def has_headings(page: Page) -> bool:
    """Whether a page has the fixed headings."""
    return any(section.title == FIRST for section in page.sections)


def check_headings(page: Page, options: Iterable[str] = ()) -> None:
    """Raises AssertionError with everything that is wrong with the headings of a page. `options`: the names of the rule's options."""
    faults = list(_faults(page, [name.replace("_", "-") for name in options]))
    assert not faults, "\n".join(faults)


def _faults(page: Page, options: list[str]) -> Iterator[str]:
    titles = [section.title for section in page.sections]
    sections = {section.title: section for section in page.sections}
    yield from (
        f"line {s.line}: unknown heading {s.title!r}; use one of {', '.join(HEADINGS)}" for s in page.sections if s.title not in HEADINGS
    )
    known = [title for title in titles if title in HEADINGS]
    if known != [title for title in HEADINGS if title in known]:
        yield f"headings are repeated or out of order; use {', '.join(title for title in HEADINGS if title in known)}"
    required = _REQUIRED | (frozenset() if page.tested else _EXAMPLES) | ({"Options"} if options else frozenset())
    yield from (f"no section {title!r}; add it" for title in HEADINGS if title in required and title not in sections)
    yield from (f"line {s.line}: section {s.title!r} is empty; write it or remove the heading" for s in page.sections if not s.text)
    if FIRST in sections and "\n\n" in sections[FIRST].text:
        yield f"line {sections[FIRST].line}: {FIRST!r} has several paragraphs; write one sentence"
    yield from _examples(page, sections)
    said = sections["Options"].text if "Options" in sections else ""
    yield from (f"option {name!r} is missing in section 'Options'; describe it" for name in options if said and f"`{name}`" not in said)
    if not page.since and "/" not in page.id:
        yield "no line 'Since kcheck X.Y.Z.' in section 'References'; add it"
    if "Mission:" in page.text:
        yield "the page refers to a line of the mission; remove it"


def _examples(page: Page, sections: dict[str, Section]) -> Iterator[str]:
    """Yields what is wrong with the examples in the sections Example and Fixed."""
    if page.tested:
        return
    of: dict[str, list[bool]] = {title: [] for title in HEADINGS}
    for example in page.examples:
        title = next((s.title for s in reversed(page.sections) if s.line < example.line), "")
        of.setdefault(title, []).append(bool(example.drawings))
    if "Example" in sections and not any(of["Example"]):
        yield f"line {sections['Example'].line}: section 'Example' has no example with findings; add one"
    if "Fixed" in sections and any(of["Fixed"]):
        yield f"line {sections['Fixed'].line}: an example of section 'Fixed' has findings; move it to 'More examples'"
    if "Fixed" in sections and not of["Fixed"] and " fixed\n" not in sections["Fixed"].text:
        yield f"line {sections['Fixed'].line}: section 'Fixed' has no example; add one"
