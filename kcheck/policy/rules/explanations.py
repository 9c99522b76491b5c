"""The errors of expressions in short rules, in the words of their authors: what is wrong, and what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kcheck.cel.language.declarations import known_functions
from kcheck.cel.language.issues import Issue
from kcheck.cel.library.relations import NAMES, TYPE
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.schema.shape import Shape
from kcheck.text.record import NamedTuple

VARIABLES = ("object", "self", "oldObject", "request", "namespaceObject", "objects")
"""The variables of expressions."""

_VARIABLES_OF_POLICIES = ("params", "variables", "authorizer")
"""The variables that only expressions of admission policies have."""

_CONTAINER = " (in container '')"
_UNDEFINED = re.compile(r"undefined field '([^']+)'")
_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")
_OVERLOAD = re.compile(r"found no matching overload for '([^']+)' applied to '(.*)'$")
_UNEXPECTED = re.compile(r"(?:syntax error: (?:token recognition error at: |found )|unsupported syntax: )['\"](.*)", re.S)
_WORDS = {
    "and": "&&", "or": "||", "=": "==", "===": "==", "!==": "!=", "=>": ",", "`": "quotes", "=~": "VALUE.matches(REGEX)", "<>": "!=",
    "not in": "!(VALUE in LIST)", "matches": "VALUE.matches(REGEX)", "contains": "VALUE.contains(TEXT)",
}  # fmt: skip
"""What to write in place of words and signs of other languages."""
_FUNCTIONS = {
    "len": "size", "length": "size", "count": "size", "any": "exists", "some": "exists", "every": "all", "forall": "all",
    "match": "matches", "regex": "matches", "test": "matches", "includes": "contains", "startswith": "startsWith", "endswith": "endsWith",
    "hasPrefix": "startsWith", "hasSuffix": "endsWith", "lower": "lowerAscii", "toLowerCase": "lowerAscii", "toLower": "lowerAscii",
    "upper": "upperAscii", "toUpperCase": "upperAscii", "toUpper": "upperAscii", "str": "string", "parseInt": "int",
    "Quantity": "quantity",
}  # fmt: skip
"""The functions of CEL for those of other languages."""
_REQUEST_FIELDS = (
    "kind", "resource", "subResource", "requestKind", "name", "namespace", "operation", "userInfo", "username", "groups", "dryRun",
    "options", "metadata", "labels", "annotations", "spec", "status", "finalizers", "group", "version",
)  # fmt: skip
_COMMA = re.compile(r", (?![^(]*\))")
"""The commas between types, except those between the parameters of a type."""
_MACROS = ("all", "exists", "exists_one", "map", "filter", "has")
_MAX_DEPTH = 7


class FieldMiss(NamedTuple):
    """A field that its owner does not have. `near`: the most similar field, "" if none is similar."""

    owner: str
    path: str
    near: str


class FieldMisses:
    """The fields that an expression reads although its type does not have them.

    Attributes:
        owner: The kind or type whose fields are recorded.
        found: By field, the first read of it. Shared by all owners of an expression.
        path: The field of the owner whose fields are recorded, such as `spec.containers[]`; "" for the owner itself.
    """

    def __init__(self, owner: str, found: dict[str, FieldMiss] | None = None, path: str = "") -> None:
        self.owner = owner
        self.found: dict[str, FieldMiss] = {} if found is None else found
        self.path = path

    def of(self, owner: str) -> FieldMisses:
        """Return the record of another owner for the same expression."""
        return FieldMisses(owner, self.found)

    def below(self, field: str) -> FieldMisses:
        """Return the record of the fields of a field."""
        return FieldMisses(self.owner, self.found, self._path_of(field))

    def items(self) -> FieldMisses:
        """Return the record of the fields of the items."""
        return FieldMisses(self.owner, self.found, f"{self.path}[]")

    def record(self, field: str, near: str) -> None:
        """Record a field that does not exist, with the most similar one."""
        self.found.setdefault(field, FieldMiss(self.owner, self._path_of(field), self._path_of(near) if near else ""))

    def _path_of(self, field: str) -> str:
        return f"{self.path}.{field}".lstrip(".")


class Context(NamedTuple):
    """What an expression is about.

    Attributes:
        misses: The unknown fields.
        whole: The type of `object`, None if it is unknown.
        own: The type of `self`, None if it is the object.
    """

    misses: FieldMisses
    whole: Shape | None
    own: Shape | None


def explained(issue: Issue, text: str, context: Context) -> str:
    """Return the message of an error in an expression, with what to write instead."""
    message = issue.message.removesuffix(_CONTAINER).replace("Syntax error: ", "syntax error: ")
    if (undefined := _UNDEFINED.search(message)) is not None:
        return _unknown_field(undefined[1], context)
    if (undeclared := _UNDECLARED.search(message)) is not None:
        return _unknown_name(undeclared[1], text, issue.offset, context)
    if (overload := _OVERLOAD.search(message)) is not None:
        return _unsuitable(overload[1], overload[2].replace(f"{TYPE}, ", "").replace(TYPE, ""), text)
    if message.startswith("type 'list("):
        return "a list has no fields; read an item such as object.spec.ports[0].name, or judge all items with all() or exists()"
    if message == "type 'string' does not support field selection":
        return 'a string has no fields; write a key that contains dots or slashes in brackets, such as labels["app.kubernetes.io/name"]'
    if message == "invalid argument to has() macro":
        return 'has() needs a field such as has(object.metadata.labels); test a key with "key" in object.metadata.labels'
    if message == "reserved identifier: if":
        return "CEL has no if; write CONDITION ? VALUE : OTHER"
    return _syntax(message, text, issue.offset)


def _syntax(message: str, text: str, offset: int) -> str:
    """Return the message of a syntax error, with the sign that CEL has for that of another language."""
    unexpected = _UNEXPECTED.match(message)
    if unexpected is None:
        return message
    before = text[:offset].rstrip()
    if before == "not" or before.endswith((" not", "(not")):
        return 'syntax error: write ! instead of "not"'
    if text.startswith(";", offset):
        return "syntax error: write one expression; join conditions with &&"
    found = next((each for each in sorted(_WORDS, key=len, reverse=True) if _has_word(text, offset, each)), "")
    if found == "=" and before.endswith(("==", "!=")):
        found = f"{before[-2:]}="
    elif text.startswith("=~", offset):
        found = "=~"
    elif found == "=>" and before.count("(") <= before.count(")"):
        return 'syntax error: write !A || B instead of "A => B"'
    elif not found and before.endswith("<") and text.startswith(">", offset):
        found = "<>"
    return f'syntax error: write {_WORDS[found]} instead of "{found}"' if found else message


def _has_word(text: str, offset: int, word: str) -> bool:
    """Return whether a word or sign begins at an offset; a longer word that begins like it does not count."""
    end = offset + len(word)
    return text.startswith(word, offset) and not (word[-1].isalpha() and text[end : end + 1].isidentifier())


def _unknown_field(field: str, context: Context) -> str:
    found = context.misses.found.get(field)
    if found is None:
        meant = nearest(field, _REQUEST_FIELDS)
        return f'unknown field "{field}"' + (f"; {did_you_mean(meant)}" if meant else "")
    owner, path, near = found
    if owner == "objects":
        return f'objects has no kind "{field}"' + (f"; {did_you_mean(f'objects.{near}')}" if near else "")
    place = "" if near or context.whole is None or owner != context.misses.owner else path_of(context.whole, field)
    help = f"; {did_you_mean(near)}" if near else f"; it has {place}" if place else ""
    return f'{owner} has no field "{path}"{help}'


def path_of(shape: Shape, field: str) -> str:
    """Return the shortest path from a kind to a field of this name, such as spec.template.spec.containers; "" if there is none.

    Fields of metadata come first: a name is that of the object, not that of the first type below that has one.
    """
    metadata = shape.fields["metadata"].shape if "metadata" in shape.fields else None
    if metadata is not None and metadata.kind == "object" and field in metadata.fields:
        return f"metadata.{field}"
    queue: list[tuple[Shape, str, int]] = [(shape, "", 0)]
    seen = {id(shape)}
    for each, path, depth in queue:
        if each.kind == "object":
            if field in each.fields:
                return f"{path}.{field}".lstrip(".")
            inner = [(each.fields[name].shape, f"{path}.{name}") for name in list(each.fields) if name not in ("metadata", "status")]
        else:
            item = each.item_shape() if each.kind == "list" else None
            inner = [] if item is None else [(item, f"{path}[0]")]
        for child, place in inner:
            if id(child) not in seen and depth < _MAX_DEPTH:
                seen.add(id(child))
                queue.append((child, place, depth + 1))
    return ""


def _unknown_name(word: str, text: str, offset: int, context: Context) -> str:
    is_call = text[offset : offset + 1] == "(" or text[offset + len(word) : offset + len(word) + 1] == "("
    is_member = is_call and "." in text[max(0, offset - len(word) - 1) : offset + 1].replace(word, "")
    if is_call:
        meant = _FUNCTIONS.get(word) or nearest(word, [*NAMES, *_MACROS, *known_functions()])
        return f'unknown function "{word}"' + (f"; {did_you_mean(meant)}" if meant else "")
    for variable, shape in (("self", context.own), ("object", context.whole)):
        if shape is not None and shape.kind == "object" and word in shape.fields and not is_member:
            return f'unknown name "{word}"; {did_you_mean(f"{variable}.{word}")}'
    if word in ("metadata", "spec", "kind", "status"):
        return f'unknown name "{word}"; {did_you_mean(f"object.{word}")}'
    if word in _VARIABLES_OF_POLICIES:
        return f'unknown name "{word}"; only admission policies have it, short rules do not'
    if text[:offset].endswith("-"):
        return f'unknown name "{word}"; write a key that contains a dash in brackets, such as labels["app-name"]'
    near = nearest(word, [*VARIABLES, *NAMES, *known_functions()])
    if near:
        return f'unknown name "{word}"; {did_you_mean(near)}'
    is_whole = word.isidentifier() and text[offset + len(word) : offset + len(word) + 1] not in (".", "[")
    return f'unknown name "{word}"' + (f"; write '{word}' in quotes for a text" if is_whole else "")


_SIGNS: Mapping[str, str] = {"@in": "in", "_[_]": "[]", "!_": "!", "-_": "-", "_?_:_": "? :"}


def _unsuitable(function: str, types: str, text: str) -> str:
    """Return the message of a call with values of unsuitable types."""
    name = _SIGNS.get(function, function.strip("_"))
    if name.isidentifier() and name != "in":
        receiver, dot, arguments = types.partition(".(")
        call = f"{receiver}.{name}({arguments}" if dot else f"{name}{types}"
        return f"CEL has no {call}" + ("; its argument is an object" if function in NAMES else "")
    kinds = _COMMA.split(types.removeprefix("(").removesuffix(")"))
    if name == "in" and kinds == ["string", "string"]:
        return '"in" needs a list or map; for a part of a string, write object.metadata.name.contains("text")'
    if "null" in kinds and name in ("==", "!="):
        return f'"{name}" cannot compare {kinds[0]} with {kinds[-1]}; test whether a field is set with has(object.spec.field)'
    if any(each.startswith("optional_type(") for each in kinds):
        return f'"{name}" cannot be applied to {" and ".join(kinds)}; write orValue(DEFAULT) after an optional field'
    if {*kinds} == {"int", "string"} and name in ("<", "<=", ">", ">="):
        return (
            f'"{name}" cannot compare {kinds[0]} with {kinds[1]}; convert the string with int(), '
            f"or write quantity(A).compareTo(quantity(B)) {name} 0 for quantities such as 500m"
        )
    if {*kinds} == {"int", "string"} and name in ("==", "!="):
        return (
            f'"{name}" cannot compare {kinds[0]} with {kinds[1]}; write numbers without quotes, or convert a value with int() or string()'
        )
    if len(kinds) == 2:
        return f'"{name}" cannot be applied to {kinds[0]} and {kinds[1]}'
    return f'"{name}" cannot be applied to {", ".join(kinds)}'
