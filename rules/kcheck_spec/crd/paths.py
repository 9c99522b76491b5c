"""Paths into custom resources: fields that can be selected by, and where the scale subresource finds its numbers.

Source: ValidateCustomResourceSelectableFields, ValidFieldPath, ValidateCustomResourceDefinitionSubresources
(apiextensions-apiserver, pkg/apis/apiextensions/validation and pkg/apiserver/schema/cel).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.api import Complaint, Node, Problem, declare, fields, pattern, validator
from kcheck_spec.crd._version_fields import VersionField, parts

crd_paths = declare("invalid-crd-path", "CustomResourceDefinition has an invalid path in selectableFields or subresources.scale")

_SPEC = "apiextensions/v1 CustomResourceDefinitionSpec"
_MOST_SELECTABLE = 8
_SCALE = {"specReplicasPath": (".spec.",), "statusReplicasPath": (".status.",), "labelSelectorPath": (".spec.", ".status.")}
_SELECTABLE = ("string", "boolean", "integer")
_TOKEN = pattern(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}

tables = [
    fields("apiextensions/v1 SelectableField", jsonPath=()),
    fields("apiextensions/v1 CustomResourceSubresourceScale", specReplicasPath=(), statusReplicasPath=()),
]


class BadPath(ValueError):
    """A path that the server does not follow; the message says why."""


class FieldPathTarget(NamedTuple):
    """Where a path leads: the keys, with whether each is a named field, and the schema there."""

    keys: tuple[tuple[str, bool], ...]
    schema: Node


def follow(path: str, schema: Node, *, brackets: bool = True) -> FieldPathTarget:
    """Where a path such as .spec.labels['a.b'] leads in a schema. `brackets`: whether those may stand in it. Raises BadPath."""
    tokens = iter(_TOKEN.findall(path))
    keys: list[tuple[str, bool]] = []
    for token in tokens:
        if token == ".":
            name = next(tokens, "")
            if not name:
                raise BadPath("it ends with '.'")
        elif token == "[" and brackets:
            name = _quoted(next(tokens, ""))
            if next(tokens, "") != "]":
                raise BadPath("']' is missing")
        elif token == "[":
            raise BadPath("it cannot have '['")
        else:
            raise BadPath(f"'.' is missing before {token}")
        named = len(schema["properties"]) > 0
        inner = schema["properties"][name] if named else schema["additionalProperties"]
        if not inner.exists or (not named and not inner):
            raise BadPath(f"the schema has no {name} there")
        keys.append((name, named))
        schema = inner
    return FieldPathTarget(tuple(keys), schema)


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath("a key in brackets stands in single quotes")
    unknown = next((match[1] for match in re.finditer(r"\\(.)", token[1:-1], re.DOTALL) if match[1] not in _LETTERS), None)
    if unknown is not None:
        raise BadPath(f"\\{unknown} means nothing")
    return re.sub(r"\\(.)", lambda match: _LETTERS[match[1]], token[1:-1], flags=re.DOTALL)


@validator(_SPEC, rule=crd_paths)
def selectable_fields_are_scalars(spec: Node) -> Iterator[Problem]:
    """Fields that lists of objects can be filtered by: they are named in the schema, and their values are texts, flags or integers."""
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
                f"the server does not take versions with the same {same} but another {other}", "let them differ, or agree, in both"
            )
            yield Problem(part.node, message, reason="Invalid", at="key", field=part.path)
        elif not schema:
            message = Complaint("without a schema there is nothing to select by", "add schema.openAPIV3Schema")
            yield Problem(part.node, message, reason="Invalid", at="key", field=part.path)
        else:
            yield from _selectable_problems(part, schema)


def _selectable_problems(part: VersionField, schema: Node) -> Iterator[Problem]:
    seen = set()
    for index, each in enumerate(part.node):
        path, field = each["jsonPath"], f"{part.path}[{index}].jsonPath"
        if path.value in (None, ""):
            yield Problem(path, "a field is named by its path", help="write one such as .spec.host", reason="Required", field=field)
            continue
        try:
            target = follow(path.text, schema, brackets=False)
        except BadPath as error:
            message = Complaint(f"{path.text} leads to no field, {error}", "write the path of one, such as .spec.host")
            yield Problem(path, message, reason="Invalid", field=field)
            continue
        if target.keys[:1] == (("metadata", True),):
            yield Problem(path, "metadata has selectors of its own", help="take it away", reason="Invalid", field=field)
        if target.schema["type"].text not in _SELECTABLE:
            message = Complaint(f"{path.text} is no single value", "write the path of a string, boolean or integer")
            yield Problem(path, message, reason="Invalid", field=field)
        if target.keys in seen:
            yield Problem(path, f"{path.text} is listed already", help="take it away", reason="Duplicate", field=field)
        seen.add(target.keys)
    if len(seen) > _MOST_SELECTABLE:
        message = Complaint(f"{len(seen)} fields are too many to select by", f"keep {_MOST_SELECTABLE}")
        yield Problem(part.node, message, reason="TooMany", at="key", field=part.path)


@validator(_SPEC, rule=crd_paths)
def scale_finds_its_numbers(spec: Node) -> Iterator[Problem]:
    """kubectl scale and autoscalers read and write these fields."""
    for part in parts(spec["versions"], "subresources"):
        scale = part.node["scale"]
        if not scale:
            continue
        for key, roots in _SCALE.items():
            path = scale[key]
            field = f"{part.path}.scale.{key}"
            if path.value in (None, ""):
                if key != "labelSelectorPath":
                    yield Problem(
                        path, f"{key} is required", help=f"write a path such as {roots[0]}replicas", reason="Required", field=field
                    )
            elif not path.text.startswith(roots):
                places = " or ".join(root[:-1] for root in roots)
                yield Problem(
                    path,
                    f"{path.text} does not lie where the server looks",
                    help=f"write a path below {places}",
                    reason="Invalid",
                    field=field,
                )
