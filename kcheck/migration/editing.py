"""Text edits that insert, replace and remove entries of YAML and JSON maps. Everything else in the file is unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from kcheck.text.edit import Edit
from kcheck.yaml.node import Node

_INDENTATION = re.compile(r"[ ]*")


class ByHand(Exception):
    """The edit cannot be made safely. The message contains the reason."""


def own(parent: Node, entry: Node) -> bool:
    """Whether an entry is written in its map itself and does not come from an alias or '<<'."""
    return parent.start <= entry.key_span.start < max(parent.end, parent.start + 1) and entry.start >= entry.key_span.start


def quoted(text: str) -> str:
    """Returns a text on one line in double quotes, valid in YAML and JSON."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def exchange(text: str, parent: Node, entry: Node, key: str, value: str) -> Edit:
    """Returns the edit that replaces an entry."""
    return Edit(entry.key_span.start, _end(text, entry), entry_text(parent, key, value))


def new_value(text: str, entry: Node, value: str) -> Edit:
    start = entry.start if entry.end > entry.start else entry.key_span.end
    if start == entry.key_span.end:
        raise ByHand("its value is empty")
    return Edit(start, _end(text, entry), quoted(value))


def insert_before(text: str, parent: Node, entry: Node, written: str) -> Edit:
    """Returns the edit that inserts an entry before another one of the same map. `written`: the entry; its lines after the first have no
    indentation of the map.
    """
    start = entry.key_span.start
    if parent.style == "{":
        return Edit(start, start, f"{written}, ")
    # Text before the entry on its line, such as "- ", stays before the new entry.
    indentation = " " * (start - _line_start(text, start))
    newline = _newline(text)
    lines = written.split("\n")
    return Edit(start, start, newline.join([lines[0], *(indentation + line for line in lines[1:]), indentation]))


def entry_text(parent: Node, key: str, value: str) -> str:
    """Returns the text of an entry in the style of a map."""
    return f"{json.dumps(key) if parent.style == '{' else key}: {quoted(value)}"


def remove(text: str, parent: Node, entries: Collection[Node]) -> Iterator[Edit]:
    """Yields the edits that remove some, but not all, entries of a map."""
    if parent.style == "{":
        yield from _remove_from_flow(text, parent, entries)
        return
    for entry in entries:
        start, end = _line_start(text, entry.key_span.start), _end(text, entry)
        if text[start : entry.key_span.start].strip(" "):
            raise ByHand("its line has other content")
        line_end = _line_end(text, end)
        comment = text[end:line_end].strip()
        if comment and not comment.startswith("#"):
            raise ByHand("its line has other content")
        # A comment after the entry may be about more than this line.
        kept = _INDENTATION.match(text, start)[0] + comment if comment else ""  # type: ignore[index]
        after = line_end if comment else _next_line(text, line_end)
        yield Edit(start, after, kept)


def _remove_from_flow(text: str, parent: Node, entries: Collection[Node]) -> Iterator[Edit]:
    gone = {id(entry) for entry in entries}
    children = [child for _, child in parent.entries]
    leading = True
    for n, child in enumerate(children):
        if id(child) not in gone:
            leading = False
        elif leading and n + 1 < len(children):
            yield Edit(child.key_span.start, children[n + 1].key_span.start, "")
        elif n:
            yield Edit(_end(text, children[n - 1]), _end(text, child), "")


def comment_above(text: str, item: Node, comment: str) -> Edit:
    """Returns the edit that inserts a comment line above a list item."""
    start = _line_start(text, item.start)
    before = text[start : item.start]
    if not re.fullmatch(r" *-[ ]+", before):
        raise ByHand("it does not begin a line with '- '")
    indentation = " " * before.index("-")
    return Edit(start, start, indentation + comment + _newline(text))


def _end(text: str, entry: Node) -> int:
    """Returns the end of an entry, without the line break of a block scalar."""
    start = entry.key_span.end
    end = max(entry.end, start)
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    # Without a value, the entry ends with the colon after the key.
    colon = re.compile(r"[ \t]*:").match(text, end)
    return colon.end() if end == start and colon else end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if end > offset and text[end - 1] == "\r" else end


def _next_line(text: str, line_end: int) -> int:
    end = text.find("\n", line_end)
    return len(text) if end < 0 else end + 1
