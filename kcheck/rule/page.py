"""Pages of rules: Markdown documentation whose examples are also the tests of the rule.

A page begins with the rule's id as its heading. Its sections have fixed headings, in this order:

    # missing-readiness-probe
    ## What it checks       one sentence
    ## Why                  what goes wrong in production
    ## Example              a manifest with findings
    ## Fixed                the corrected manifest, without findings
    ## More examples        further examples with and without findings (optional)
    ## Options              every option of the rule (if it has any)
    ## When to ignore it    (optional)
    ## References           Kubernetes documentation or source, and a line such as "Since kcheck 0.2.0."

Pages without these headings can be read as well. Examples are fenced blocks marked `yaml` or `json` that contain whole manifests, in
which comments mark the findings. The `#` is in the first column, the carets are under the characters that the finding points at, and the
text after them is a part of the finding's concise form, `message; help`:

    image: nginx:latest
    #      ^^^^^^^^^^^^ is a mutable tag

(indented by four spaces here; in a page the lines are not indented). A finding in the second column is written `#^^^`. If a finding begins
in the first column, which the `#` occupies, an arrow shifts the carets to the margin: `# <^^^^` marks the first four characters. A finding
that spans several lines is marked up to the end of its first line. A block without carets must have no findings of the rule.

    yaml options    a map: options of the rule for the next block; `kubernetes` and `complete` are options of the run
    yaml before     the older version of the objects in the next block, for rules about changes
    yaml fixed      the exact content of the previous block after the rule's fix

A rule that no manifest can trigger (for example an unreadable file) has `<!-- tested: tests/path/to/test.py -->` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from kcheck.text.pattern import pattern

_FENCE = pattern(r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[ \t]*(?P<role>.*?)[ \t]*")
_CARETS = pattern(r"#(?P<space> *)(?P<arrow><?)(?P<carets>\^+)(?:[ \t]+(?P<words>.*?))?[ \t]*")
_HEADING = pattern(r"#[ \t]+(\S+)[ \t]*")
_TEST_PATH = pattern(r"<!--\s*tested:\s*(\S+)\s*-->")
_SECTION = pattern(r"##[ \t]+(.*?)[ \t]*")
_SINCE = pattern(r"^Since kcheck (\d+\.\d+\.\d+)\.?$", re.MULTILINE)
_COMMENT = pattern(r"<!--.*?-->\n*", re.DOTALL)


class PageFault(ValueError):
    """A page that cannot be parsed; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class Drawing(NamedTuple):
    """An expected finding marked by carets: line of the example and columns, counted from 1; `end` is exclusive.

    `words`: a part of the message.
    """

    line: int
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Example:
    """One example block.

    Attributes:
        line: the line of the page where the block begins.
        lines: the number of lines of the block.
        language: "yaml" or "json".
        text: the manifest without the caret comments.
        drawings: the expected findings.
        options: the YAML of the block that sets options for this example.
        before: the older version of the objects, or None.
        fixed: the manifest after the rule's fix, or None.
        fixed_line: the line of the page where the block of `fixed` begins.
    """

    line: int
    lines: int
    language: str
    text: str
    drawings: tuple[Drawing, ...]
    options: str = ""
    before: str | None = None
    fixed: str | None = None
    fixed_line: int = 0


class Section(NamedTuple):
    """A part of a page under a second-level heading. `line`: the line of the heading; `text`: the content below it."""

    line: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page.

    Attributes:
        id: the rule id in the heading.
        text: the whole Markdown.
        examples: the example blocks.
        tested: path of the test that replaces examples, or "".
        sections: the second-level sections.
    """

    id: str
    text: str
    examples: tuple[Example, ...] = field(default=())
    tested: str = ""
    sections: tuple[Section, ...] = ()

    @property
    def since(self) -> str:
        """The first kcheck version that had the rule, or "" if the page does not state it."""
        match = _SINCE.search(self.text)
        return match[1] if match is not None else ""

    @property
    def prose(self) -> str:
        """The Markdown to display: without the heading and comments."""
        return _COMMENT.sub("", self.text.partition("\n")[2]).strip() + "\n"


class _Block(NamedTuple):
    line: int
    language: str
    role: str
    lines: list[str]


def read_page(text: str) -> Page:
    """Parse a page. Raises PageFault."""
    lines = text.split("\n")
    heading = _HEADING.fullmatch(lines[0]) if lines else None
    if heading is None:
        raise PageFault(1, 'a page must begin with "# " and the id of its rule')
    tested = _TEST_PATH.search(text)
    blocks = _blocks(lines)
    return Page(heading[1], text, tuple(_examples(blocks)), tested[1] if tested else "", tuple(_sections(lines, blocks)))


def _sections(lines: list[str], blocks: list[_Block]) -> Iterator[Section]:
    inside = {number for block in blocks for number in range(block.line, block.line + len(block.lines) + 1)}
    heads = [(number, match[1]) for number, line in enumerate(lines, 1) if number not in inside and (match := _SECTION.fullmatch(line))]
    ends = [number - 1 for number, _ in heads[1:]]
    for (number, title), end in zip(heads, [*ends, len(lines)], strict=False):
        yield Section(number, title, "\n".join(lines[number:end]).strip())


def _blocks(lines: list[str]) -> list[_Block]:
    blocks: list[_Block] = []
    mark = ""
    for number, line in enumerate(lines, 1):
        if mark and line.rstrip() == mark:
            mark = ""
        elif mark:
            blocks[-1].lines.append(line)
        elif match := _FENCE.fullmatch(line):
            mark = match["mark"]
            blocks.append(_Block(number, match["language"], match["role"], []))
    if mark:
        raise PageFault(blocks[-1].line, f"unterminated block: {mark} is missing")
    return blocks


def _examples(blocks: list[_Block]) -> list[Example]:
    examples: list[Example] = []
    options: _Block | None = None
    before: _Block | None = None
    for block in blocks:
        if block.language not in ("yaml", "json"):
            continue
        text = _text_of(block)
        if block.role == "options":
            if options is not None:
                raise PageFault(options.line, "no example follows these options")
            options = block
        elif block.role == "before":
            if before is not None:
                raise PageFault(before.line, "no example follows this older version")
            before = block
        elif block.role == "fixed":
            if not examples or options is not None or before is not None:
                raise PageFault(block.line, "no example precedes this fixed block")
            examples[-1] = replace(examples[-1], fixed=text, fixed_line=block.line)
        elif block.role:
            raise PageFault(block.line, f"unknown block type {block.role!r}; expected options, before, fixed or an example")
        else:
            examples.append(_example(block, _text_of(options) or "", _text_of(before)))
            options = before = None
    if options is not None:
        raise PageFault(options.line, "no example follows these options")
    if before is not None:
        raise PageFault(before.line, "no example follows this older version")
    return examples


def _text_of(block: _Block | None) -> str | None:
    return None if block is None else "".join(f"{line}\n" for line in block.lines)


def _example(block: _Block, options: str, before: str | None) -> Example:
    lines: list[str] = []
    drawings: list[Drawing] = []
    for number, line in enumerate(block.lines, block.line + 1):
        match = _CARETS.fullmatch(line)
        if match is None:
            lines.append(f"{line}\n")
        elif not lines:
            raise PageFault(number, "carets must follow the line that they mark")
        else:
            start = 1 if match["arrow"] else len(match["space"]) + 2
            drawings.append(Drawing(len(lines), start, start + len(match["carets"]), match["words"] or ""))
    return Example(block.line, len(block.lines), block.language, "".join(lines), tuple(drawings), options, before)


def page_at(path: Path | None) -> Page | None:
    """Return the page at a path, or None if it is missing or cannot be parsed."""
    if path is None:
        return None
    try:
        return read_page(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def help_text(path: Path | None) -> str:
    """Return the text of a page to display, or "" if the page is missing or cannot be parsed."""
    page = page_at(path)
    return page.prose if page is not None else ""
