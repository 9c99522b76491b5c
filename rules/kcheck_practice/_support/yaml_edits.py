"""Lines that a fix adds to a block of YAML; nothing that is written changes."""

from __future__ import annotations

from kcheck.api import Edit, Node, Resource

_FURTHER_BREAKS = frozenset("\x85\u2028\u2029")
"""What YAML 1.1 takes for line breaks besides those that people write."""


def new_entry(owner: Node, resource: Resource, *lines: str) -> Edit | None:
    """The edit that adds an entry of these lines to a map: behind its first scalars, or before all if it has none.

    None where the map is empty or written in braces.
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
    """Whether a line is one to YAML, too, and has nothing but blanks and dashes up to a column."""
    return not _FURTHER_BREAKS & set(line) and not line[:before].strip(" -")
