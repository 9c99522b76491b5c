"""Pages of rules: Markdown that people read, and whose examples are the rule's tests.

A page begins with the rule's id as its heading. Its sections have fixed headings, in this order:

    # missing-readiness-probe
    ## What it checks       one sentence
    ## Why                  what goes wrong in production
    ## Example              a manifest with findings
    ## Fixed                the corrected manifest, without findings
    ## More examples        further examples with and without findings (optional)
    ## Options              every option of the rule (where it has some)
    ## When to ignore it    (optional)
    ## References           Kubernetes documentation or source, and a line such as "Since kcheck 0.1.0."

Pages without these headings are read as well. Examples are fenced blocks marked `yaml` or `json`, whole manifests in
which comments draw the findings. The `#` stands in the first column, the carets under the characters that the finding
points at, and what follows is part of its concise form, `message; help`:

    image: nginx:latest
    #      ^^^^^^^^^^^^ can change under you

(here four spaces deep; in a page neither line is). A finding in the second column is `#^^^`. For one that begins in the
first, where the `#` itself stands, an arrow moves the carets to the margin: `# <^^^^` is the first four characters. A
finding that goes on over further lines is drawn to the end of its first one. A block without carets is free of the rule.

    yaml options    a map: options of the rule for the next block; `kubernetes` and `complete` are those of the run
    yaml fixed      what the block before is after the rule's fix, to the character

A rule that no manifest can show (a file that cannot be opened) says `<!-- tested: tests/path/to/test.py -->` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_FENCE = pattern(r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[ \t]*(?P<role>.*?)[ \t]*")
_DRAWN = pattern(r"#(?P<space> *)(?P<arrow><?)(?P<carets>\^+)(?:[ \t]+(?P<words>.*?))?[ \t]*")
_HEADING = pattern(r"#[ \t]+(\S+)[ \t]*")
_TESTED = pattern(r"<!--\s*tested:\s*(\S+)\s*-->")
_SECTION = pattern(r"##[ \t]+(.*?)[ \t]*")
_SINCE = pattern(r"^Since kcheck (\d+\.\d+\.\d+)\.?$", re.MULTILINE)
_COMMENT = pattern(r"<!--.*?-->\n*", re.DOTALL)


class PageFault(ValueError):
    """A page that cannot be read; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class Drawing(NamedTuple):
    """A finding as a page draws it: line of the example and columns, from 1, `end` behind the last; `words`: part of the message."""

    line: int
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Example:
    """One block. `line`: where it begins in the page, and `lines`: how many lines it has; `text`: without the caret comments;
    `options`: the YAML of the block that sets them.
    """

    line: int
    lines: int
    language: str
    text: str
    drawings: tuple[Drawing, ...]
    options: str = ""
    fixed: str | None = None


class Section(NamedTuple):
    """A part of a page under a heading of the second level. `line`: that of its heading; `text`: what follows it."""

    line: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """`id`: what the heading says; `text`: the whole Markdown; `tested`: the test that replaces examples, "" where there is none."""

    id: str
    text: str
    examples: tuple[Example, ...] = field(default=())
    tested: str = ""
    sections: tuple[Section, ...] = ()

    @property
    def since(self) -> str:
        """The version of kcheck that first had the rule, "" where the page does not say."""
        found = _SINCE.search(self.text)
        return found[1] if found is not None else ""

    @property
    def prose(self) -> str:
        """The Markdown for readers: without its heading and comments."""
        return _COMMENT.sub("", self.text.partition("\n")[2]).strip() + "\n"


class _Block(NamedTuple):
    line: int
    language: str
    role: str
    lines: list[str]


def read(text: str) -> Page:
    """Read a page. Raises PageFault."""
    lines = text.split("\n")
    heading = _HEADING.fullmatch(lines[0]) if lines else None
    if heading is None:
        raise PageFault(1, "a page begins with '# ' and the id of its rule")
    tested = _TESTED.search(text)
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
        raise PageFault(blocks[-1].line, f"this block has no end: {mark} is missing")
    return blocks


def _examples(blocks: list[_Block]) -> list[Example]:
    examples: list[Example] = []
    options: _Block | None = None
    for block in blocks:
        if block.language not in ("yaml", "json"):
            continue
        text = "".join(f"{line}\n" for line in block.lines)
        if block.role == "options":
            if options is not None:
                raise PageFault(options.line, "no example follows these options")
            options = block
        elif block.role == "fixed":
            if not examples or options is not None:
                raise PageFault(block.line, "no example stands before this fixed form")
            examples[-1] = replace(examples[-1], fixed=text)
        elif block.role:
            raise PageFault(block.line, f"a block is 'options', 'fixed' or an example, not {block.role!r}")
        else:
            examples.append(_example(block, "".join(f"{line}\n" for line in options.lines) if options else ""))
            options = None
    if options is not None:
        raise PageFault(options.line, "no example follows these options")
    return examples


def _example(block: _Block, options: str) -> Example:
    lines: list[str] = []
    drawings: list[Drawing] = []
    for number, line in enumerate(block.lines, block.line + 1):
        match = _DRAWN.fullmatch(line)
        if match is None:
            lines.append(f"{line}\n")
        elif not lines:
            raise PageFault(number, "carets draw under a line, and there is none above them")
        else:
            start = 1 if match["arrow"] else len(match["space"]) + 2
            drawings.append(Drawing(len(lines), start, start + len(match["carets"]), match["words"] or ""))
    return Example(block.line, len(block.lines), block.language, "".join(lines), tuple(drawings), options)


def page_at(path: Path | None) -> Page | None:
    """The page at a path; None where there is none, or none that can be read."""
    if path is None:
        return None
    try:
        return read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def help_text(path: Path | None) -> str:
    """The text of a page for readers; empty where there is no page, or none that can be read."""
    page = page_at(path)
    return page.prose if page is not None else ""
