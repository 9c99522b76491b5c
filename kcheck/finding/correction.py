"""The edits that a change makes in the text of a document. Imported when the first change is proposed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kcheck.finding.fix import Correction, Fix
from kcheck.kube import placeholders
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml import edits
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse

_FUNCTIONS: dict[str, Callable[..., list[Edit]]] = {
    "replace_value": edits.replace_value,
    "rename_key": edits.rename_key,
    "remove_entry": edits.remove_entry,
    "insert_entry": edits.insert_entry,
    "append_item": edits.append_item,
    "move_entry": edits.move_entry,
    "rewrite_entry": edits.rewrite_entry,
    "nest_entries": edits.nest_entries,
}
_COMMENT = pattern(r"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)
_GENERATED = pattern(
    r"(?i:^\s*(?:#|//).{0,100}(?:\bdo not edit\b|\bdo not modify\b|@generated\b|\b(?:auto-?generated|generated) (?:by|from|file)\b))"
    r"|^\# Source: \S+/templates/",
    8,
)
_HEAD = 2000
_TABS = pattern(r"^[ ]*\t[ \t]*", re.MULTILINE)
_BLOCK_SCALAR = pattern(r"[|>][-+\d]{0,2}[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_TAB_WIDTHS = (2, 4, re.MULTILINE)


def is_generated(text: str, start: int = 0) -> bool:
    """Return whether a file says that it is generated, or a document that Helm rendered it. `start`: the start of the document."""
    return _GENERATED.search(text[:_HEAD]) is not None or _GENERATED.search(text[start : start + _HEAD // 10]) is not None


def fix_of(change: Correction | Fix, document: Document, skips_placeholders: bool) -> Fix | None:
    """Return the fix that a change means, None if it cannot be made in the text or the key of a value occurs more than once.

    A fix that removes comments is unsafe.
    """
    text = document.source.text
    if is_generated(text, document.start):
        return None
    if isinstance(change, Fix):
        fix = change
    else:
        made: list[Edit] = []
        # Without a repeated key, the earlier value would apply.
        repeated = {id(entry) for entry, _ in document.duplicates}
        for name, node, arguments in change.steps:
            if id(node) in repeated:
                return None
            try:
                made += _FUNCTIONS[name](text, node, *arguments)
            except edits.Uneditable:
                return None
        made = sorted(set(made))
        if not made or any(first.end > second.start for first, second in pairwise(made)):
            return None
        fix = Fix(change.title, tuple(made), change.safe and not _loses_comments(text, made))
    if document.overlaps_substituted(fix.edits) or (skips_placeholders and _concerns_placeholder(text, fix.edits)):
        return None
    return fix


def tab_fix(document: Document) -> Fix | None:
    """Return the fix that replaces tabs in the indentation of a document by spaces, if the width of a tab makes no difference."""
    text = document.source.text[document.start : document.end]
    if _BLOCK_SCALAR.search(text) is not None:
        return None
    found = [match.span() for match in _TABS.finditer(text)]
    results: list[tuple[list[Edit], object]] = []
    for width in _TAB_WIDTHS:
        made = [Edit(start, end, text[start:end].replace("\t", " " * width)) for start, end in found]
        parsed = parse(Source("", apply_edits(text, made)))
        if len(parsed) == 1 and parsed[0].fault is None and parsed[0].root.is_map:
            results.append((made, parsed[0].root.plain()))
    if not results or any(value != results[0][1] for _, value in results):
        return None
    moved = tuple(Edit(each.start + document.start, each.end + document.start, each.text) for each in results[0][0])
    return Fix("indent with spaces", moved, len(results) == len(_TAB_WIDTHS))


def _loses_comments(text: str, made: list[Edit]) -> bool:
    removed: Counter[Any] = Counter(found for edit in made for found in _COMMENT.findall(text[edit.start : edit.end]))
    return bool(removed - Counter(found for edit in made for found in _COMMENT.findall(edit.text)))


def _concerns_placeholder(text: str, made: tuple[Edit, ...]) -> bool:
    return any(placeholders.in_text(part) for edit in made for part in (text[edit.start : edit.end], edit.text))
