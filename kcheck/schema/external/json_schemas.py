"""Kinds that a JSON Schema describes. The only importer of jsonschema, which is loaded when the first such kind is met."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from kcheck.finding.problem import Problem, Reason
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import nearest
from kcheck.regex.automaton import TooManySteps, automaton
from kcheck.regex.parser import BadPattern
from kcheck.schema.crd import wording
from kcheck.schema.shape import Shape
from kcheck.schema.walk import Walk
from kcheck.text.complaint import Complaint
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse


class BadSchema(ValueError):
    """A file that is no JSON Schema; its text says why."""


class SchemaKind:
    """The judge of a kind that a JSON Schema describes. Such a schema says nothing of scope, field paths or defaults."""

    shape: Shape | None = None
    namespaced: bool | None = None

    def __init__(self, file: Path, metadata: Shape) -> None:
        """`metadata`: the shape of ObjectMeta, which such schemas do not describe."""
        self.file = file
        self._metadata = metadata
        self._validator: Any = None

    @cached_property
    def pod_schema(self) -> Node | None:
        """The schema as nodes, where pods are looked for; a reference in it leads nowhere."""
        try:
            return parse(Source(str(self.file), self.file.read_text(encoding="utf-8-sig")))[0].root
        except (OSError, ValueError, IndexError):
            # What is wrong with the file is told where the object is judged.
            return None

    def judge(self, resource: Resource, walk: Walk) -> None:
        """Tell where an object does not fit the schema. Fields that are null count as absent, as they do to the API server."""
        try:
            if self._validator is None:
                self._validator = _validator(self.file)
            problems = self._problems(resource)
        except BadSchema as broken:
            walk.crash("crd-schema-violation", broken)
            return
        except Exception as other:
            # Many schemas that people use are not sound and of use all the same: what is wrong shows when it is asked.
            why = f"{other}".partition("\n")[0]
            walk.crash("crd-schema-violation", BadSchema(f"{self.file} is no sound JSON Schema: {type(other).__name__}: {why}"))
            return
        if resource["metadata"].exists:
            walk.visit(resource["metadata"], self._metadata)
        told: set[tuple[str, str, str]] = set()
        for rule, problem in problems:
            assert isinstance(problem.node, Node)
            same = (problem.node.path, rule, problem.message)
            if same not in told:
                told.add(same)
                walk.tell(rule, problem)

    def _problems(self, resource: Resource) -> list[tuple[str, Problem]]:
        """Rules and problems; raises whatever the library makes of a schema that is none."""
        errors = self._validator.iter_errors(_given(resource.node))
        return [each for e in errors if "metadata" not in list(e.absolute_path)[:1] for each in _problems(e, resource.node)]


def _given(node: Node) -> Any:
    """The plain value without the fields that are null."""
    if node.is_map:
        return {key: _given(child) for key, child in node.entries if child.value is not None}
    return [_given(child) for child in node] if node.is_list else node.value


def _validator(file: Path) -> Any:
    """The validator of a file. References lead to files beside it and never to the network. Raises BadSchema."""
    from jsonschema import Draft7Validator
    from jsonschema.validators import extend, validator_for
    from referencing import Registry, Resource
    from referencing.exceptions import NoSuchResource
    from referencing.jsonschema import DRAFT7

    def retrieve(uri: str) -> Resource[Any]:
        if "://" in uri:
            raise NoSuchResource(uri)
        return Resource.from_contents(_read(file.parent / uri), default_specification=DRAFT7)

    schema = _read(file)
    if not isinstance(schema, (dict, bool)):
        raise BadSchema(f"{file} is no JSON Schema: it must be an object")
    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    kind = extend(validator_for(schema, default=Draft7Validator), _KEYWORDS)  # type: ignore[no-untyped-call]
    return kind(schema, registry=registry)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadSchema(f"{file} cannot be read as a JSON Schema: {error}") from None


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword `pattern` in linear time. What RE2 does not know, lookarounds for instance, is not checked."""
    from jsonschema import ValidationError

    if not isinstance(instance, str) or not isinstance(pattern, str):
        return
    try:
        if _fits(pattern, instance) is False:
            yield ValidationError(wording.pattern(instance, pattern))
    except TooManySteps as error:
        yield ValidationError(f"not validated: {error}")


def _fits(pattern: Any, text: str) -> bool | None:
    """Whether a pattern is found in a text, in linear time; None for what is no pattern to RE2."""
    try:
        return automaton(pattern).search(text)
    except BadPattern:
        return None


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword `patternProperties`, for the same reason."""
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _fits(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The keyword `additionalProperties`, for it asks those patterns, too."""
    from jsonschema import ValidationError

    extras = _extras(instance, schema) if isinstance(instance, dict) else []
    if isinstance(inner, dict):
        for key in extras:
            yield from validator.descend(instance[key], inner, path=key)
    elif extras and not inner:
        yield ValidationError(f"unexpected: {', '.join(extras)}")


_KEYWORDS = {"pattern": _pattern, "patternProperties": _pattern_properties, "additionalProperties": _additional}


def _problems(error: Any, root: Node) -> Iterator[tuple[str, Problem]]:
    """Rule ids and problems that an error of the library amounts to."""
    node = root.at(*error.absolute_path)
    keyword, wanted, value = error.validator, error.validator_value, error.instance
    if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(value, dict):
        known = list((error.schema or {}).get("properties", ()))
        for key in _extras(value, error.schema or {}):
            near = nearest(key, known)
            help = f'did you mean "{near}"?' if near else "remove it, or move it to the level where it belongs"
            message = f'unknown field "{key}" in {node.name or root["kind"].text}'
            yield "unknown-field", Problem(node[key], message, help=help, reason="UnknownField", at="key")
    elif keyword == "required":
        for key in wanted:
            if key not in value:
                yield "missing-required-field", Problem(node[key], wording.required(key), reason="Required")
    elif keyword in ("anyOf", "oneOf") and error.context:
        yield from _alternatives(error, node, root)
    else:
        rule, reason, message = _simple(keyword, wanted, value)
        yield rule, Problem(node, message, reason=reason)


def _alternatives(error: Any, node: Node, root: Node) -> Iterator[tuple[str, Problem]]:
    """Of alternatives that differ in their type only, the types; else the faults of the one that comes nearest."""
    types = [each.validator_value for each in error.context if each.validator == "type" and not each.relative_path]
    if len(types) == len(error.context):
        yield "wrong-type", Problem(node, wording.wrong_type(error.instance, _words(types), ""), reason="TypeInvalid")
        return
    by_choice: dict[Any, list[Any]] = {}
    for each in error.context:
        by_choice.setdefault(each.relative_schema_path[0], []).append(each)
    for each in min(by_choice.values(), key=lambda errors: (any(map(_is_of_type, errors)), len(errors))):
        yield from _problems(each, root)


def _is_of_type(error: Any) -> bool:
    """Whether an alternative fails for the type of the whole value, and so was hardly meant."""
    return error.validator == "type" and len(error.relative_path) == 0


def _words(types: Iterable[Any]) -> tuple[str, ...]:
    flat = [word for each in types for word in (each if isinstance(each, list) else [each])]
    return tuple(dict.fromkeys(word for word in flat if isinstance(word, str) and word != "null"))


def _extras(instance: dict[str, Any], schema: Any) -> list[str]:
    """The keys of a map that its schema does not name."""
    known, patterns = schema.get("properties", ()), schema.get("patternProperties", ())
    return [key for key in instance if key not in known and not any(_fits(each, key) for each in patterns)]


def _simple(keyword: str, wanted: Any, value: Any) -> tuple[str, Reason, str]:
    """Rule id, reason and message of a keyword that judges a value by itself."""
    if keyword == "type":
        return "wrong-type", "TypeInvalid", wording.wrong_type(value, _words([wanted]), "")
    if keyword == "enum":
        return "unsupported-value", "NotSupported", wording.enum(value, wanted)
    if keyword == "const":
        return "unsupported-value", "NotSupported", wording.enum(value, [wanted])
    if keyword == "uniqueItems":
        return "duplicate-list-item", "Invalid", wording.repeated()
    return "crd-schema-violation", _REASONS.get(keyword, "Invalid"), _message(keyword, wanted, value)


_REASONS: dict[str, Reason] = {"maxLength": "TooLong", "maxItems": "TooMany", "maxProperties": "TooMany"}


def _message(keyword: str, wanted: Any, value: Any) -> str:
    match keyword:
        case "pattern":
            return wording.pattern(value, wanted)
        case "maxLength":
            return wording.too_long(len(value), wanted)
        case "minLength":
            return wording.too_short(len(value), wanted)
        case "maxItems" | "maxProperties":
            return wording.too_many(len(value), wanted, "item" if keyword == "maxItems" else "field")
        case "minItems" | "minProperties":
            return wording.too_few(len(value), wanted, "item" if keyword == "minItems" else "field")
        case "minimum" | "exclusiveMinimum":
            return wording.minimum(value, wanted, keyword != "minimum")
        case "maximum" | "exclusiveMaximum":
            return wording.maximum(value, wanted, keyword != "maximum")
        case "multipleOf":
            return wording.multiple(value, wanted)
    return Complaint(f"{wording.quoted(value)} violates keyword {keyword} of the schema", f"change the value to satisfy {keyword}")
