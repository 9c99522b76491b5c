"""Edits that add lines to a block of YAML and change no existing text."""

from __future__ import annotations

from kcheck.api import Edit, Node, Resource

_FURTHER_BREAKS = frozenset("\x85\u2028\u2029")
"""Line breaks of YAML 1.1 other than LF and CR."""


def new_entry(owner: Node, resource: Resource, *lines: str) -> Edit | None:
    """The edit that adds an entry of these lines to a map: after its first scalars, or at its start where it has none.

    None where the map is empty or in flow style.
    """
    if not len(owner) or owner.style == "{":
        return None
    source = resource.document.source
    keys = [value.key for _, value in owner.entries]
    if not isinstance(keys[0], Node):
        return None
    first = source.position(keys[0].start)
    if not _is_plain(source.line(first.line), first.column - 1):
        return None
    indent = " " * (first.column - 1)
    ending = "\r\n" if "\r\n" in source.text else "\n"
    at = None
    for value in owner:
        if not value or value.value.__class__ in (dict, list) or value.style in ("|", ">"):
            if at is not None:
                break
            continue
        line = source.position(value.end).line
        if line == source.position(value.key_span.start).line and _is_plain(source.line(line)):
            at = source.line_starts[line - 1] + len(source.line(line))
    if at is not None:
        return Edit(at, at, "".join(f"{ending}{indent}{each}" for each in lines))
    return Edit(keys[0].start, keys[0].start, "".join(f"{each}{ending}{indent}" for each in lines))


def _is_plain(line: str, before: int = 0) -> bool:
    """Whether a line has no further line breaks of YAML 1.1, and only spaces and dashes up to a column."""
    return not _FURTHER_BREAKS & set(line) and not line[:before].strip(" -")
