"""Help and fixes for values of the wrong type: the text to use instead, made of the text in the file.

Imported when the first value of a wrong type is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.finding.fix import Correction, Fix
from kcheck.finding.problem import Problem
from kcheck.kube.base64 import BadBase64, decode
from kcheck.schema.shape import Shape
from kcheck.schema.value import ValueFault, of_field
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.edit import Edit
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.yaml.node import Node

# A scalar that needs no quotes, also inside {} and [].
_PLAIN = pattern(r"(?!(?i:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z_/][\w./-]*")
_NUMBER = pattern(r"[1-9]\d*|0")
_ASSIGNMENT = pattern(r"([A-Za-z_][\w./-]*)=([^\s,]*)")
_PORTS = pattern(r"(?:(\d{1,5}):)?(\d{1,5})")
_SECONDS = pattern(r"(\d{1,6})\s*(s|m|h)")
_SECONDS_OF = {"s": 1, "m": 60, "h": 3600}
# Words of a command that no shell has to interpret.
_COMMAND = pattern(r"[\w./:=@%+,-]+(?: [\w./:=@%+,-]+)+")
_TRUE, _FALSE = frozenset(("yes", "on", "true", "y", "enabled")), frozenset(("no", "off", "false", "n", "disabled"))
# The field that a single value of a map probably means, in this order.
_MAIN_FIELDS = ("name", "secretName", "claimName", "path", "key", "number", "containerPort", "port")
_MAX_SHOWN_ITEMS = 3
_MAX_PLAIN_WORD = 16
_MAX_SOURCE_CHARS = 200


def problem_of(node: Node, shape: Shape, fault: ValueFault, text: str) -> Problem:
    """Return the problem of a value that does not match its declared type. `text`: the text of the file."""
    message = of_field(node.name, fault)
    if fault.rule == "invalid-base64":
        return Problem(node, message, reason=fault.reason, fix=_moved_to_string_data(node))
    if fault.rule != "wrong-type" or shape.format == "secret":
        return Problem(node, message, reason=fault.reason)
    source = _source(node, text)
    message = _as_written(node, message, source)
    advice = _advice(node, shape, source, text)
    if advice is None or (advice[1] is not None and _is_json(text) and not _keeps_json(advice[1])):
        return Problem(node, message, reason=fault.reason)
    help, fix = advice
    return Problem(node, message, help=help, fix=fix, reason=fault.reason)


def _advice(node: Node, shape: Shape, source: str, text: str) -> tuple[str, Fix | None] | None:
    """The help for a value of the wrong type, and its fix; None if there is nothing better than the default."""
    value = node.value
    if shape.kind == "string":
        return _quoted(node, source) if not isinstance(value, (dict, list)) else _lifted(node, value)
    if shape.kind == "list":
        items = shape.items
        assert items is not None
        if isinstance(value, dict):
            return _items_of_map(node, items, text) if items.kind == "object" else None
        inner = _list_item(node, items, source)
        return _replaced(node, f"[{inner}]", source) if inner else None
    if shape.kind in ("object", "map"):
        if isinstance(value, list):
            single = len(value) == 1 and value[0].is_map and node.style != "{"
            return ('remove "- ", which makes the value a list', None) if single else None
        inner = _entries_of_scalar(node, shape, source)
        return _replaced(node, f"{{{inner}}}", source) if inner else None
    if isinstance(value, str):
        meant = _meant_scalar(node, shape.kind, value)
        return _replaced(node, meant, source, safe=meant == value) if meant else None
    return None


def _moved_to_string_data(node: Node) -> Correction | None:
    """The change for plain text in the data of a Secret, if no value is certainly encoded: stringData instead of data."""
    data = node.parent
    if (
        data is None
        or data.name != "data"
        or data.parent is None
        or data.parent["kind"].text != "Secret"
        or data.parent["stringData"].exists
    ):
        return None
    encoded = 0
    for each in data:
        if not isinstance(each.value, str):
            return None
        try:
            encoded += bool(decode(each.value))
        except BadBase64:
            continue
        # A word whose length is a multiple of 4 is base64 as well.
        if len(each.value) > _MAX_PLAIN_WORD or "=" in each.value or decode(each.value).isascii():
            return None
    return Correction.rename(data, "stringData", safe=not encoded)


def refined(node: Node, message: str, text: str) -> tuple[str, str, Fix | None]:
    """Return message, help and fix of a value of the wrong type, with the text to use instead if a string is expected."""
    source = _source(node, text)
    if help_of(message).startswith("quote the value") and (advice := _quoted(node, source)) is not None:
        return _as_written(node, message, source), *advice
    return message, help_of(message), None


def _as_written(node: Node, message: str, source: str) -> str:
    """A message that shows a number or boolean as the file writes it."""
    if not isinstance(node.value, (int, float)) or not source:
        return message
    found = "boolean" if isinstance(node.value, bool) else "number"
    shown = str(node.value).lower() if found == "boolean" else str(node.value)
    return Complaint(message.replace(f"the {found} {shown}", f"the {found} {source}", 1), help_of(message))


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _keeps_json(fix: Fix) -> bool:
    """Whether the new text of a fix is JSON."""
    try:
        return all(json.loads(edit.text) is not None for edit in fix.edits)
    except ValueError:
        return False


def _source(node: Node, text: str) -> str:
    """A scalar as the file writes it, "" if it is not on one line, is an alias or has a tag such as !!str, which would still apply."""
    if _is_tagged(node, text):
        return ""
    written = text[node.start : node.end] if not isinstance(node.value, (dict, list)) else ""
    return "" if written[:1] in ("*", "&", "!", "|", ">") or len(written) > _MAX_SOURCE_CHARS or "\n" in written else written


def _is_tagged(node: Node, text: str) -> bool:
    """Whether a tag precedes a node in its line, possibly followed by an anchor."""
    words = text[max(text.rfind("\n", 0, node.start) + 1, node.start - _MAX_SOURCE_CHARS) : node.start].split()
    while words and words[-1].startswith("&"):
        words.pop()
    return bool(words) and words[-1].lstrip("[{,").startswith("!")


def _replaced(node: Node, new: str, source: str, safe: bool = False) -> tuple[str, Fix | None]:
    fix = Fix(f"use {new}", (Edit(node.start, node.end, new),), safe=safe) if source else None
    return f"use {new}", fix


def _quoted(node: Node, source: str) -> tuple[str, Fix | None] | None:
    if not source or node.style or '"' in source or "\\" in source:
        return None
    help, fix = _replaced(node, f'"{source}"', source, safe=True)
    if isinstance(node.value, bool) and source.lower() not in ("true", "false"):
        help += ": YAML reads y, yes, on, n, no and off as booleans"
    return help, fix


def _lifted(node: Node, value: object) -> tuple[str, Fix | None] | None:
    """The advice for matchLabels in a map of labels."""
    if node.name == "matchLabels" and isinstance(value, dict) and node.parent is not None:
        return f"move its labels to {node.parent.name}: {node.parent.name} has no matchLabels here", None
    return None


def _list_item(node: Node, items: Shape, source: str) -> str:
    """The text of the item that a scalar means, in the place of a list."""
    value = node.value
    if items.kind == "string":
        if isinstance(value, str):
            if node.name in ("command", "args") and _COMMAND.fullmatch(value):
                return ", ".join(json.dumps(word) for word in value.split(" "))
            return _scalar(value)
        return f'"{source}"' if source and '"' not in source else ""
    if items.kind == "object":
        inner = _entries_of_scalar(node, items, source)
        return f"{{{inner}}}" if inner else ""
    return ""


def _scalar(value: str) -> str:
    """A string as YAML, also inside {} and []."""
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _entries_of_scalar(node: Node, shape: Shape, source: str) -> str:
    """The entries of the map that a scalar means, in the place of a map; "" if unknown."""
    value, fields = node.value, shape.fields
    text = value if isinstance(value, str) else source
    assignment = _ASSIGNMENT.fullmatch(text)
    if assignment is not None:
        key, rest = assignment[1], _scalar(assignment[2])
        if shape.kind == "map":
            return f"{key}: {rest}"
        if shape.name.endswith("LabelSelector"):
            return f"matchLabels: {{{key}: {rest}}}"
        return f"name: {key}, value: {rest}" if "name" in fields and "value" in fields else ""
    ports = _PORTS.fullmatch(text)
    if ports is not None and "containerPort" in fields:
        return f"containerPort: {ports[2]}"
    if ports is not None and "targetPort" in fields:
        return f"port: {ports[1]}, targetPort: {ports[2]}" if ports[1] else f"port: {ports[2]}"
    kind = fields.get("type")
    if kind is not None and text in kind.enum:
        return f"type: {text}"
    for name in _MAIN_FIELDS:
        field = fields.get(name)
        if field is None or not set(shape.required) <= {name}:
            continue
        if field.shape.kind == "string" and isinstance(value, str) and value:
            return f"{name}: {_scalar(value)}"
        if field.shape.kind == "integer" and type(value) is int and _NUMBER.fullmatch(source):
            return f"{name}: {source}"
    return ""


def _meant_scalar(node: Node, kind: str, value: str) -> str:
    """The number or boolean that a string means; "" if unknown."""
    if kind == "boolean":
        low = value.lower()
        return "true" if low in _TRUE else "false" if low in _FALSE else ""
    if kind == "number":
        return value if _NUMBER.fullmatch(value) else ""
    if kind != "integer":
        return ""
    if _NUMBER.fullmatch(value):
        return value
    seconds = _SECONDS.fullmatch(value)
    if seconds is not None and node.name.endswith("Seconds"):
        return str(int(seconds[1]) * _SECONDS_OF[seconds[2]])
    return ""


def _items_of_map(node: Node, items: Shape, text: str) -> tuple[str, Fix | None] | None:
    """The advice for a map in the place of a list of maps."""
    entries = node.entries
    keys = [key for key, _ in entries]
    if not keys:
        return "use []", Fix("use []", (Edit(node.start, node.end, "[]"),)) if node.style == "{" else None
    if all(key in items.fields for key in keys):
        if node.style == "{":
            return "put the map in [ ]", Fix("put the map in [ ]", (Edit(node.start, node.start, "["), Edit(node.end, node.end, "]")))
        return f'put "- " before "{keys[0]}" and indent the other lines like it', _indented(node, text)
    if "name" not in items.fields:
        return None
    values = [child for _, child in entries]
    if "value" in items.fields and all(not isinstance(child.value, (dict, list)) for child in values):
        pairs = [f"{{name: {_scalar(key)}, value: {_string_value(child, text)}}}" for key, child in entries]
        shown = ", ".join(pairs[:_MAX_SHOWN_ITEMS]) + (", ..." if len(pairs) > _MAX_SHOWN_ITEMS else "")
        return f"use a list of name and value: [{shown}]", _named_values(node, pairs, text)
    if all(child.is_map and all(key in items.fields for key in child.value) for child in values):
        help = f'use a list whose items have a name: write "- name: {keys[0]}" in place of "{keys[0]}:"'
        return help, _named_items(node, values, text)
    return None


def _named_items(node: Node, values: list[Node], text: str) -> Fix | None:
    """Makes each entry of a block map a list item with its key as name, if the lines below it are indented like the fields of an item."""
    edits = []
    for child in values:
        key = _key(child, text)
        first = child.entries[0][1] if child.entries else child
        below = _key(first, text)
        if node.style == "{" or key is None or below is None or _column(below, text) != _column(key, text) + 2:
            return None
        edits.append(Edit(key.start, key.end + 1, f"- name: {_scalar(child.name)}"))
    return Fix("use a list", tuple(edits))


def _string_value(child: Node, text: str) -> str:
    """A scalar of a map as a string in YAML, as the file writes it."""
    written = text[child.start : child.end]
    if child.value is None:
        return '""'
    if isinstance(child.value, str):
        return written if child.style in ("'", '"') and "\n" not in written else _scalar(child.value)
    return f'"{written}"'


def _named_values(node: Node, pairs: list[str], text: str) -> Fix | None:
    """Replaces the entries of a block map, one per line, by list items."""
    if node.style == "{":
        return Fix("use a list of name and value", (Edit(node.start, node.end, f"[{', '.join(pairs)}]"),))
    edits = []
    for (_, child), pair in zip(node.entries, pairs, strict=True):
        key = _key(child, text)
        if key is None or "\n" in text[key.start : child.end] or child.style in ("|", ">"):
            return None
        edits.append(Edit(key.start, max(child.end, key.end + 1), f"- {pair}"))
    return Fix("use a list of name and value", tuple(edits))


def _indented(node: Node, text: str) -> Fix | None:
    """Makes a block map the only item of a list."""
    key = _key(node.entries[0][1], text)
    if key is None:
        return None
    edits = [Edit(key.start, key.start, "- ")]
    edits += [Edit(at, at, "  ") for at in _line_starts(text, key.start, node.end)]
    return Fix("make it a list item", tuple(edits))


def _line_starts(text: str, start: int, end: int) -> Iterator[int]:
    """The starts of the lines after the first one between two offsets, except of empty lines."""
    at = text.find("\n", start, end)
    while at >= 0:
        if text[at + 1 : at + 2] not in ("\n", "\r", ""):
            yield at + 1
        at = text.find("\n", at + 1, end)


def _key(child: Node, text: str) -> Span | None:
    """The key of an entry, None if it is not written in the file with a colon behind it."""
    if not isinstance(child.key, Node) or text[child.key.end : child.key.end + 1] != ":":
        return None
    return Span(child.key.start, child.key.end)


def _column(span: Span, text: str) -> int:
    return span.start - text.rfind("\n", 0, span.start) - 1
