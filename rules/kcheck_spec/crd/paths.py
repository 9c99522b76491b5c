"""Field paths in CustomResourceDefinitions: selectableFields, and the paths of the scale subresource.

Source: ValidateCustomResourceSelectableFields, ValidFieldPath, ValidateCustomResourceDefinitionSubresources
(apiextensions-apiserver, pkg/apis/apiextensions/validation and pkg/apiserver/schema/cel).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.api import Complaint, Correction, Node, Problem, declare, fields, pattern, validator
from kcheck_spec.crd._version_fields import VersionField, parts

crd_paths = declare(
    "invalid-crd-path", "CustomResourceDefinition has an invalid path in selectableFields or subresources.scale", fixable=True
)

_SPEC = "apiextensions/v1 CustomResourceDefinitionSpec"
_MAX_SELECTABLE = 8
_SCALE = {"specReplicasPath": (".spec.",), "statusReplicasPath": (".status.",), "labelSelectorPath": (".spec.", ".status.")}
_SELECTABLE = ("string", "boolean", "integer")
_TOKEN = pattern(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}

tables = [
    fields("apiextensions/v1 SelectableField", jsonPath=()),
    fields("apiextensions/v1 CustomResourceSubresourceScale", specReplicasPath=(), statusReplicasPath=()),
]


class BadPath(ValueError):
    """An invalid path, or one that leads to no field; the message says why."""


class FieldPathTarget(NamedTuple):
    """The target of a path: its keys, each with whether it is a property (not a key of a map), and its schema."""

    keys: tuple[tuple[str, bool], ...]
    schema: Node


def follow(path: str, schema: Node, *, brackets: bool = True) -> FieldPathTarget:
    """The target of a path such as .spec.labels['a.b'] in a schema. `brackets`: whether brackets are allowed. Raises BadPath."""
    tokens = iter(_TOKEN.findall(path))
    keys: list[tuple[str, bool]] = []
    for token in tokens:
        if token == ".":
            name = next(tokens, "")
            if not name:
                raise BadPath('it ends with "."')
        elif token == "[" and brackets:
            name = _quoted(next(tokens, ""))
            if next(tokens, "") != "]":
                raise BadPath('"]" is missing')
        elif token == "[":
            raise BadPath('"[" is not allowed')
        else:
            raise BadPath(f'"." is missing before "{token}"')
        named = len(schema["properties"]) > 0
        inner = schema["properties"][name] if named else schema["additionalProperties"]
        if not inner.exists or (not named and not inner):
            raise BadPath(f'the schema has no property "{name}" there')
        keys.append((name, named))
        schema = inner
    return FieldPathTarget(tuple(keys), schema)


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath("a key in brackets must be in single quotes")
    unknown = next((match[1] for match in re.finditer(r"\\(.)", token[1:-1], re.DOTALL) if match[1] not in _LETTERS), None)
    if unknown is not None:
        raise BadPath(f'"\\{unknown}" is not a valid escape sequence')
    return re.sub(r"\\(.)", lambda match: _LETTERS[match[1]], token[1:-1], flags=re.DOTALL)


@validator(_SPEC, rule=crd_paths)
def selectable_fields_are_scalars(spec: Node) -> Iterator[Problem]:
    """Yield selectableFields that are not strings, booleans or integers of the schema, duplicates, and too many of them."""
    versions = spec["versions"]
    if not any(len(each["selectableFields"]) for each in versions):
        return
    alike = next((part.is_shared for part in parts(versions, "schema")), True)
    for part in parts(versions, "selectableFields"):
        schema = part.versions[0]["schema"]["openAPIV3Schema"]
        if not len(part.node):
            continue
        if part.is_shared is not alike:
            same, other = ("schema", "selectableFields") if alike else ("selectableFields", "schema")
            message = Complaint(
                f"the versions have the same {same} but a different {other}", "make both the same in all versions, or both different"
            )
            yield Problem(part.node, message, reason="Invalid", at="key", field=part.path)
        elif not schema:
            message = Complaint("selectableFields requires a schema", "add schema.openAPIV3Schema")
            yield Problem(part.node, message, reason="Invalid", at="key", field=part.path)
        else:
            yield from _selectable_problems(part, schema)


def _selectable_problems(part: VersionField, schema: Node) -> Iterator[Problem]:
    seen = set()
    for index, each in enumerate(part.node):
        path, field = each["jsonPath"], f"{part.path}[{index}].jsonPath"
        if path.value in (None, ""):
            message = "jsonPath of the selectableFields entry is required"
            yield Problem(path, message, help="set it to the path of a field, such as .spec.host", reason="Required", field=field)
            continue
        try:
            target = follow(path.text, schema, brackets=False)
        except BadPath as error:
            message = Complaint(f'jsonPath "{path.text}" does not lead to a field: {error}', "use the path of a field, such as .spec.host")
            yield Problem(path, message, reason="Invalid", field=field)
            continue
        if target.keys[:1] == (("metadata", True),):
            message = f'jsonPath "{path.text}" is not allowed: selectableFields cannot contain fields of metadata'
            yield Problem(path, message, help="remove it", reason="Invalid", field=field, fix=Correction.remove(path.parent or path))
        if target.schema["type"].text not in _SELECTABLE:
            message = Complaint(f'jsonPath "{path.text}" does not lead to a string, boolean or integer', "use the path of one")
            yield Problem(path, message, reason="Invalid", field=field)
        if target.keys in seen:
            yield Problem(
                path,
                f'duplicate selectableFields entry "{path.text}"',
                help="remove it",
                reason="Duplicate",
                field=field,
                fix=Correction.remove(path.parent or path),
            )
        seen.add(target.keys)
    if len(seen) > _MAX_SELECTABLE:
        message = Complaint(f"selectableFields has {len(seen)} entries, more than the maximum of {_MAX_SELECTABLE}", "remove some")
        yield Problem(part.node, message, reason="TooMany", at="key", field=part.path)


@validator(_SPEC, rule=crd_paths)
def scale_finds_its_numbers(spec: Node) -> Iterator[Problem]:
    """Yield missing and misplaced paths of the scale subresource, which kubectl scale and autoscalers use."""
    for part in parts(spec["versions"], "subresources"):
        scale = part.node["scale"]
        if not scale:
            continue
        for key, roots in _SCALE.items():
            path = scale[key]
            field = f"{part.path}.scale.{key}"
            if path.value in (None, ""):
                if key != "labelSelectorPath":
                    yield Problem(path, f"scale.{key} is required", help=f"set {key}: {roots[0]}replicas", reason="Required", field=field)
            elif not path.text.startswith(roots):
                places = " or ".join(root[:-1] for root in roots)
                message = f'scale.{key} "{path.text}" is not below {places}'
                yield Problem(path, message, help=f"use a path below {places}", reason="Invalid", field=field)
