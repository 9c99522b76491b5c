"""Edits of the text of a YAML or JSON document: replace a value, rename a key, and remove, insert, move or wrap entries.

All other text is preserved: comments, quotes, indentation and line endings. A function raises `Uneditable` if the text of a value is not
its own (aliases, merge keys, anchors, tags) or is written in a way that it cannot edit, so that a fix is left out instead of guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from kcheck.text.edit import Edit
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Absent, Node
from kcheck.yaml.plain_value import Value

# A string that needs no quotes, also inside {} and [].
_PLAIN = pattern(r"(?!(?i:y|n|yes|no|on|off|true|false|null|nan|inf)\Z)[A-Za-z_/][\w./-]*(?::[\w./-]+)*")
_REST_OF_LINE = pattern(r"[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=\r?\n|\Z)")
_BEFORE_ENTRY = pattern(r"[ ]*(?:-[ ]+)*")
_COMMENT_LINE = pattern(r"[ \t]*#")
_GAP = pattern(r"\s*(?:(?:^|(?<=\s))#[^\r\n]*\s*)*")
_FURTHER_BREAKS = pattern("[\x85\u2028\u2029]|\r(?!\n)")
"""Line breaks of YAML 1.1 other than LF and CRLF."""
_ALIAS = pattern(r"(?<![\w*])\*([^\s,\[\]{}]+)")
_ANCHOR = pattern(r"(?<![\w&])&([^\s,\[\]{}]+)")
_DEFAULT_STEP = 2
_OPTIONAL = frozenset({"annotations", "labels", "securityContext"})
"""Maps that mean the same when they are empty and when they are absent; they are removed with their last entry."""


class Uneditable(Exception):
    """The text of a value cannot be edited without an effect elsewhere."""


def replace_value(text: str, node: Node, value: Value) -> list[Edit]:
    """Replace a scalar on one line, or a collection in flow style without comments. Quotes are kept."""
    _require_own_text(text, node)
    written = text[node.start : node.end]
    if not node.exists or "\n" in written or "#" in written or node.style not in ("", "'", '"', "{") or written[:1] in ("*", "&", "!"):
        raise Uneditable
    if not written or (node.style == "" and isinstance(node.value, (dict, list))):
        raise Uneditable
    if node.style in ("'", '"') and isinstance(value, str):
        plain = node.style == "'" and value.isprintable() and "'" not in value
        new = f"'{value}'" if plain else json.dumps(value, ensure_ascii=False)
    else:
        new = flow(value, is_json(text))
    return [Edit(node.start, node.end, new)]


def rename_key(text: str, node: Node, name: str) -> list[Edit]:
    """Rename the key of an entry. Quotes are kept."""
    key = _key_of(text, node)
    assert node.parent is not None
    if name in node.parent:
        raise Uneditable
    quote = key.style if key.style in ("'", '"') else '"' if is_json(text) or not _PLAIN.fullmatch(name) else ""
    return [Edit(key.start, key.end, f"{quote}{name}{quote}")]


def remove_entry(text: str, node: Node) -> list[Edit]:
    """Remove an entry of a map or an item of a list, with its comments. A collection without further entries becomes {} or []."""
    _require_own_text(text, node)
    parent = node.parent
    if parent is None or not node.exists:
        raise Uneditable
    if isinstance(node.key, Node):
        _key_of(text, node)
    if len(parent) == 1 and parent.name in _OPTIONAL:
        return remove_entry(text, parent)
    if parent.style == "{":
        return [_removed_from_flow(text, node, parent)]
    if len(parent) == 1:
        return _emptied(text, parent)
    start, end = _extent(text, node)
    if _is_line_start(text, start):
        start = _attached_comments(text, node, _line_start(text, start))
        return [_without_lines(text, start, end)]
    following = min((_start_of(text, each) for each in parent if each.start > node.start), default=-1)
    if following < 0 or _GAP.fullmatch(text, node.end, following) is None or "#" in text[node.end : following]:
        raise Uneditable
    return [Edit(start, following, "")]


def insert_entry(text: str, node: Node, value: Value) -> list[Edit]:
    """Add an absent entry, and the maps that contain it if they are absent as well."""
    owner, key, value = _place_of(node, value)
    if not owner:
        return [_filled(text, owner, {key: value})]
    _require_own_text(text, owner)
    if not owner.is_map:
        raise Uneditable
    if owner.style == "{":
        return [_inserted_in_flow(text, owner, _flow_entry(key, value, is_json(text)))]
    at, indent, before = _place_in_block(text, owner)
    return [_inserted_lines(text, at, indent, before, _block_entry(key, value, _step(text, owner)))]


def append_item(text: str, items: Node, value: Value) -> list[Edit]:
    """Add an item at the end of a list that is not empty, or in place of `[]`."""
    _require_own_text(text, items)
    if not items.is_list:
        raise Uneditable
    if items.style == "{":
        return [_inserted_in_flow(text, items, flow(value, is_json(text)))]
    start, end = _extent(text, items[len(items) - 1])
    if not _is_line_start(text, start):
        raise Uneditable
    return [Edit(end, end, f"{_line_break(text)}{text[_line_start(text, start) : start]}- {flow(value)}")]


def move_entry(text: str, node: Node, target: Node) -> list[Edit]:
    """Move an entry with its comments to an absent entry elsewhere in the document, and add the maps that are to contain it."""
    key = _key_of(text, node)
    removed = remove_entry(text, node)
    owner, name, inner = _place_of(target, {})
    keys: list[str] = [name]
    while inner:
        assert isinstance(inner, Mapping)
        (name, inner), *_ = inner.items()
        keys.append(name)
    if not owner.is_map or any(each is node for each in _around(owner)):
        raise Uneditable
    _require_own_text(text, owner)
    written = text[node.start : node.end]
    if "\n" not in written and node.style not in ("|", ">") and (node.style != "" or not isinstance(node.value, (dict, list))):
        lines = [f"{text[key.start : key.end]}: {written}".rstrip()]
    else:
        lines = _lines_of(text, node)
    if owner.style == "{" or (node.parent is not None and node.parent.style == "{" and len(lines) > 1):
        raise Uneditable
    step = _step(text, owner)
    nested = [f"{' ' * (step * depth)}{each}:" for depth, each in enumerate(keys[:-1])]
    lines = nested + [" " * (step * len(nested)) + each if each else each for each in lines]
    at, indent, before = _place_in_block(text, owner, besides=node)
    return [*removed, _inserted_lines(text, at, indent, before, lines)]


def rewrite_entry(text: str, node: Node, name: str, value: Value) -> list[Edit]:
    """Write another entry in place of one whose value is a scalar on one line."""
    key = _key_of(text, node)
    end = max(node.end, key.end + 1)
    assert node.parent is not None
    if name in node.parent or "\n" in text[key.start : end] or "#" in text[key.start : end] or isinstance(node.value, (dict, list)):
        raise Uneditable
    if node.parent.style == "{":
        return [Edit(key.start, end, _flow_entry(name, value, is_json(text)))]
    start, _ = _extent(text, node)
    lines = _block_entry(name, value, _step(text, node.parent))
    indent = " " * (start - _line_start(text, start))
    return [Edit(key.start, end, f"{_line_break(text)}{indent}".join(lines))]


def nest_entries(text: str, node: Node, name: str) -> list[Edit]:
    """Put all entries of a map below a new key of it."""
    _require_own_text(text, node)
    if not len(node) or not node.is_map:
        raise Uneditable
    if node.style == "{":
        if "\n" in text[node.start : node.end]:
            raise Uneditable
        return [Edit(node.start, node.start, f"{{{flow(name, is_json(text))}: "), Edit(node.end, node.end, "}")]
    start, _ = _extent(text, next(iter(node)))
    line = _line_start(text, start)
    block = text[node.start : node.end]
    if not _is_line_start(text, start) or "\t" in block or _FURTHER_BREAKS.search(block):
        raise Uneditable
    step = " " * _step(text, node)
    edits = [Edit(start, start, f"{name}:{_line_break(text)}{text[line:start]}{step}")]
    at = text.find("\n", start, node.end)
    while at >= 0:
        if text[at + 1] not in "\r\n":
            edits.append(Edit(at + 1, at + 1, step))
        at = text.find("\n", at + 1, node.end)
    return edits


def aliased_spans(document: Document) -> Iterator[Span]:
    """Yield the spans of values with an anchor that has an alias: an edit there changes the value in several places."""
    text = document.source.text
    names = {match[1] for match in _ALIAS.finditer(text, document.start, document.end)}
    if not names:
        return
    starts: dict[int, int] = {}
    pending = [document.root]
    while pending:
        node = pending.pop()
        starts[node.start] = max(node.end, starts.get(node.start, 0))
        pending.extend(node)
    for match in _ANCHOR.finditer(text, document.start, document.end):
        if match[1] in names:
            start = min((each for each in starts if each >= match.end()), default=document.end)
            yield Span(match.start(), starts.get(start, document.end))


def is_json(text: str) -> bool:
    """Return whether a file is JSON."""
    return text.lstrip()[:1] in ("{", "[")


def flow(value: Value, as_json: bool = False) -> str:
    """Return a value as YAML on one line, or as JSON."""
    if isinstance(value, str):
        return value if not as_json and _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(_flow_entry(key, each, as_json) for key, each in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(flow(each, as_json) for each in value) + "]"
    return json.dumps(value)


def _flow_entry(key: str, value: Value, as_json: bool) -> str:
    return f"{flow(key, as_json)}: {flow(value, as_json)}"


def _block_entry(key: str, value: Value, step: int) -> list[str]:
    """The lines of an entry of a block map. Lists are written in flow style."""
    if not isinstance(value, Mapping) or not value:
        return [f"{flow(key)}: {flow(value)}"]
    below = [line for name, each in value.items() for line in _block_entry(name, each, step)]
    return [f"{flow(key)}:", *(" " * step + line for line in below)]


def _place_of(node: Node, value: Value) -> tuple[Node, str, Value]:
    """The nearest existing map around an absent entry, the key to add to it, and the value with the maps around it."""
    if not isinstance(node, Absent):
        raise Uneditable
    at: Node = node
    while at.parent is not None:
        if not isinstance(at.key, str):
            raise Uneditable
        if at.parent.exists:
            return at.parent, at.key, value
        value = {at.key: value}
        at = at.parent
    raise Uneditable


def _filled(text: str, node: Node, value: Value) -> Edit:
    """Writes a value in place of null, or of nothing after the colon."""
    key = _key_of(text, node)
    if node.value is not None or node.style:
        raise Uneditable
    new = flow(value, is_json(text))
    if node.end > node.start:
        return Edit(node.start, node.end, new)
    return Edit(key.end + 1, key.end + 1, f" {new}")


def _around(node: Node) -> list[Node]:
    """A node and the nodes around it, the innermost first."""
    found = [node]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


def _require_own_text(text: str, node: Node) -> None:
    """Raises Uneditable if a node is part of an aliased or merged value, or has an anchor or tag, so that its text has other meanings."""
    inner: Node = node
    if not inner.exists:
        raise Uneditable
    while inner.parent is not None:
        outer = inner.parent
        start = inner.key.start if isinstance(inner.key, Node) else inner.start
        if not (outer.start <= start <= inner.start <= inner.end <= outer.end) or text[inner.start : inner.start + 1] == "*":
            raise Uneditable
        gap = text[inner.key.end : inner.start] if isinstance(inner.key, Node) else _before_item(text, inner)
        if "&" in gap or "!" in gap or "?" in gap:
            raise Uneditable
        inner = outer
    if _is_marked(text, inner.start):
        raise Uneditable


def _before_item(text: str, item: Node) -> str:
    """The text between an item of a list and the dash, comma or bracket before it."""
    at = item.start
    while at > 0 and text[at - 1] not in "-,[\n":
        at -= 1
    return text[at : item.start]


def _is_marked(text: str, start: int) -> bool:
    """Whether an anchor or tag is before the root of a document."""
    before = text[max(0, start - 200) : start].rstrip()
    word = before.rpartition("\n")[2].split()[-1:] if before else []
    return bool(word) and word[0][:1] in ("&", "!") and "#" not in before.rpartition("\n")[2]


def _key_of(text: str, node: Node) -> Node:
    """The key of an entry of a map, followed by a colon."""
    _require_own_text(text, node)
    key = node.key
    if not isinstance(key, Node) or text[key.end : key.end + 1] != ":" or text[key.start : key.start + 1] in ("*", "&", "!", "?"):
        raise Uneditable
    return key


def _extent(text: str, node: Node) -> tuple[int, int]:
    """The start of an entry or of the dash of an item in block style, and the end of the line on which it ends."""
    start = _start_of(text, node)
    end = max(node.end, node.key.end + 1 if isinstance(node.key, Node) else start + 1)
    if node.style in ("|", ">") and "+" in text[node.start : node.start + 3]:
        raise Uneditable
    rest = _REST_OF_LINE.match(text, end)
    before = _line_start(text, start)
    if rest is None or _BEFORE_ENTRY.fullmatch(text, before, start) is None or _FURTHER_BREAKS.search(text, before, rest.end() + 2):
        raise Uneditable
    return start, rest.end()


def _start_of(text: str, node: Node) -> int:
    """The start of the key of an entry, or of the dash of an item in block style."""
    if isinstance(node.key, Node):
        return node.key.start
    at = node.start - 1
    while at >= 0 and text[at] in " \r\n":
        at -= 1
    if at < 0 or text[at] != "-":
        raise Uneditable
    return at


def _removed_from_flow(text: str, node: Node, parent: Node) -> Edit:
    siblings = sorted(parent, key=lambda each: each.start)
    at = next(number for number, each in enumerate(siblings) if each is node)
    starts = [each.key.start if isinstance(each.key, Node) else each.start for each in siblings]
    if len(siblings) == 1:
        edit = Edit(parent.start + 1, parent.end - 1, "")
    elif at + 1 < len(siblings):
        edit = Edit(starts[at], starts[at + 1], "")
    else:
        edit = Edit(siblings[at - 1].end, node.end, "")
    if "#" in text[edit.start : edit.end].replace(text[node.start : node.end], ""):
        raise Uneditable
    return edit


def _emptied(text: str, parent: Node) -> list[Edit]:
    """Writes {} or [] in place of a block collection."""
    empty = "{}" if parent.is_map else "[]"
    if not isinstance(parent.key, Node):
        return [Edit(parent.start, parent.end, empty)]
    key = _key_of(text, parent)
    first = next(iter(parent))
    line = _REST_OF_LINE.match(text, key.end + 1)
    _, end = _extent(text, first)
    if line is None or line.end() > parent.start:
        raise Uneditable
    return [Edit(key.end + 1, key.end + 1, f" {empty}"), Edit(line.end(), end, "")]


def _without_lines(text: str, start: int, end: int) -> Edit:
    """Deletes whole lines, from the start of a line to the end of another one."""
    following = text.find("\n", end)
    if following >= 0:
        return Edit(start, following + 1, "")
    if start > 0:
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    return Edit(start, len(text), "")


def _attached_comments(text: str, node: Node, start: int) -> int:
    """The start of the comment lines directly above the line of an entry, with the same indentation; `start` if there are none.

    Comments above the first entry of a document may be about the whole document.
    """
    parent = node.parent
    if parent is not None and parent.parent is None and node is next(iter(parent)):
        return start
    indent = _start_of(text, node) - start
    at = start
    while at > 0:
        above = _line_start(text, at - 1)
        line = text[above : at - 1]
        if len(line) - len(line.lstrip(" ")) != indent or _COMMENT_LINE.match(line) is None:
            break
        at = above
    return at


def _place_in_block(text: str, owner: Node, besides: Node | None = None) -> tuple[int, str, bool]:
    """Where to add lines to a block map: the offset, the indentation, and whether the lines are followed by the first entry.

    They are added after the first entries with values on one line, or before the first entry. `besides`: an entry that is removed.
    """
    entries = [each for _, each in owner.entries if each is not besides]
    if not entries:
        raise Uneditable
    first = entries[0]
    key = _key_of(text, first)
    line = _line_start(text, key.start)
    if _BEFORE_ENTRY.fullmatch(text, line, key.start) is None:
        raise Uneditable
    indent = " " * (key.start - line)
    at = -1
    for each in entries:
        if not each or isinstance(each.value, (dict, list)) or "\n" in text[each.key_span.start : each.end] or each.style in ("|", ">"):
            if at >= 0:
                break
            continue
        _, at = _extent(text, each)
    return (at, indent, False) if at >= 0 else (key.start, indent, True)


def _inserted_lines(text: str, at: int, indent: str, before: bool, lines: Sequence[str]) -> Edit:
    ending = _line_break(text)
    if before:
        return Edit(at, at, "".join(f"{each}{ending}{indent}" for each in lines))
    return Edit(at, at, "".join(f"{ending}{indent if each else ''}{each}" for each in lines))


def _inserted_in_flow(text: str, owner: Node, new: str) -> Edit:
    """Adds an entry at the end of a flow collection. Entries on separate lines stay so."""
    inside = text[owner.start + 1 : owner.end - 1]
    if not len(owner):
        if inside.strip():
            raise Uneditable
        return Edit(owner.start + 1, owner.end - 1, new)
    first = next(iter(owner))
    start = first.key.start if isinstance(first.key, Node) else first.start
    space = text[owner.start + 1 : start]
    end = max(each.end for each in owner)
    if space.strip() or text[end : owner.end - 1].strip():
        raise Uneditable
    separator = space if "\n" in space else " "
    return Edit(end, end, f",{separator}{new}")


def _lines_of(text: str, node: Node) -> list[str]:
    """The lines of an entry in block style with the comments above it, without the indentation of the entry."""
    start, end = _extent(text, node)
    if node.style in ("|", ">") and any(each.isdigit() for each in text[node.start : node.start + 3]):
        raise Uneditable
    line = _line_start(text, start)
    indent = start - line
    block = text[start:end]
    if _is_line_start(text, start):
        block = text[_attached_comments(text, node, line) + indent : end]
    lines = block.replace("\r\n", "\n").split("\n")
    if "\t" in block or any(each.strip() and each[:indent].strip() for each in lines[1:]):
        raise Uneditable
    return [lines[0], *(each[indent:] for each in lines[1:])]


def _step(text: str, owner: Node) -> int:
    """The indentation of nested maps: that of the first one around or in a map."""
    for outer in _around(owner):
        for _, child in outer.entries:
            if child.is_map and child.style != "{" and isinstance(child.key, Node) and len(child):
                inner = next(iter(child)).key_span.start
                step = (inner - _line_start(text, inner)) - (child.key.start - _line_start(text, child.key.start))
                if step > 0:
                    return step
    return _DEFAULT_STEP


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _is_line_start(text: str, at: int) -> bool:
    """Whether only spaces are before an offset on its line."""
    return not text[_line_start(text, at) : at].strip(" ")
