"""Kinds that a JSON Schema describes. The only module that imports jsonschema, on first use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from kcheck.finding.problem import Problem, Reason
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
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
    """A file that is not a valid JSON Schema; the message says why."""


class SchemaKind:
    """Validates objects against a JSON Schema, which specifies no scope, field paths or defaults."""

    shape: Shape | None = None
    namespaced: bool | None = None
    plural = ""
    definition: None = None

    def __init__(self, file: Path, metadata: Shape) -> None:
        """`metadata`: the shape of ObjectMeta, which such schemas do not describe."""
        self.file = file
        self._metadata = metadata
        self._validator: Any = None

    @cached_property
    def pod_schema(self) -> Node | None:
        """The schema as nodes, in which Pod templates are detected. References are not resolved."""
        try:
            return parse(Source(str(self.file), self.file.read_text(encoding="utf-8-sig")))[0].root
        except (OSError, ValueError, IndexError):
            # Validation of the object reports what is wrong with the file.
            return None

    def judge(self, resource: Resource, walk: Walk) -> None:
        """Report where an object does not match the schema. Null fields count as absent, as for the API server."""
        try:
            if self._validator is None:
                self._validator = _validator(self.file)
            problems = self._problems(resource)
        except BadSchema as broken:
            walk.crash("crd-schema-violation", broken)
            return
        except Exception as other:
            # Many schemas in use are partly invalid and still useful, so errors are only detected where they matter.
            why = f"{other}".partition("\n")[0]
            walk.crash("crd-schema-violation", BadSchema(f"{self.file} is not a valid JSON Schema: {type(other).__name__}: {why}"))
            return
        if resource["metadata"].exists:
            walk.visit(resource["metadata"], self._metadata)
        reported: set[tuple[str, str, str]] = set()
        for rule, problem in problems:
            assert isinstance(problem.node, Node)
            same = (problem.node.path, rule, problem.message)
            if same not in reported:
                reported.add(same)
                walk.emit(rule, problem)

    def _problems(self, resource: Resource) -> list[tuple[str, Problem]]:
        """Rules and problems. Raises any exception of the library for an invalid schema."""
        errors = self._validator.iter_errors(_given(resource.node))
        return [each for e in errors if "metadata" not in list(e.absolute_path)[:1] for each in _problems(e, resource.node)]


def _given(node: Node) -> Any:
    """The plain value without the fields that are null."""
    if node.is_map:
        return {key: _given(child) for key, child in node.entries if child.value is not None}
    return [_given(child) for child in node] if node.is_list else node.value


def _validator(file: Path) -> Any:
    """The validator of a file. References are resolved to files in its directory and never over the network. Raises BadSchema."""
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
        raise BadSchema(f"{file} is not a JSON Schema: it must be an object")
    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    kind = extend(validator_for(schema, default=Draft7Validator), _KEYWORDS)  # type: ignore[no-untyped-call]
    return kind(schema, registry=registry)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadSchema(f"{file} cannot be read as a JSON Schema: {error}") from None


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword `pattern` in linear time. Patterns that RE2 does not support, such as lookarounds, are not checked."""
    from jsonschema import ValidationError

    if not isinstance(instance, str) or not isinstance(pattern, str):
        return
    try:
        if _fits(pattern, instance) is False:
            yield ValidationError("pattern")
    except TooManySteps as error:
        yield ValidationError(f"not validated: {error}")


def _fits(pattern: Any, text: str) -> bool | None:
    """Whether a pattern matches a part of a text, in linear time; None for an invalid pattern of RE2."""
    try:
        return automaton(pattern).search(text)
    except BadPattern:
        return None


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword `patternProperties` with the same patterns."""
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _fits(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The keyword `additionalProperties`, which depends on these patterns."""
    from jsonschema import ValidationError

    extras = _extras(instance, schema) if isinstance(instance, dict) else []
    if isinstance(inner, dict):
        for key in extras:
            yield from validator.descend(instance[key], inner, path=key)
    elif extras and not inner:
        yield ValidationError(f"unexpected: {', '.join(extras)}")


_KEYWORDS = {"pattern": _pattern, "patternProperties": _pattern_properties, "additionalProperties": _additional}


def _problems(error: Any, root: Node) -> Iterator[tuple[str, Problem]]:
    """Yield the rule ids and problems of an error of the library."""
    node = root.at(*error.absolute_path)
    keyword, wanted, value = error.validator, error.validator_value, error.instance
    if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(value, dict):
        known = list((error.schema or {}).get("properties", ()))
        for key in _extras(value, error.schema or {}):
            near = nearest(key, known)
            help = did_you_mean(near, "remove it, or move it to the correct place")
            message = f'unknown field "{node[key].path}"'
            yield "unknown-field", Problem(node[key], message, help=help, reason="UnknownField", at="key")
    elif keyword == "required":
        for key in wanted:
            if key not in value:
                yield "missing-required-field", Problem(node[key], wording.required(key), reason="Required")
    elif keyword in ("anyOf", "oneOf") and error.context:
        yield from _alternatives(error, node, root)
    else:
        rule, reason, message = _simple(keyword, wanted, value, wording.label(list(error.absolute_path)))
        yield rule, Problem(node, message, reason=reason)


def _alternatives(error: Any, node: Node, root: Node) -> Iterator[tuple[str, Problem]]:
    """Yield a wrong type where alternatives differ only in their type; else the problems of the alternative with the fewest errors."""
    types = [each.validator_value for each in error.context if each.validator == "type" and not each.relative_path]
    if len(types) == len(error.context):
        name = wording.label(list(error.absolute_path))
        yield "wrong-type", Problem(node, wording.wrong_type(name, error.instance, _words(types), ""), reason="TypeInvalid")
        return
    by_choice: dict[Any, list[Any]] = {}
    for each in error.context:
        by_choice.setdefault(each.relative_schema_path[0], []).append(each)
    for each in min(by_choice.values(), key=lambda errors: (any(map(_is_of_type, errors)), len(errors))):
        yield from _problems(each, root)


def _is_of_type(error: Any) -> bool:
    """Whether an alternative fails because of the type of the whole value, so that it is probably not the intended one."""
    return error.validator == "type" and len(error.relative_path) == 0


def _words(types: Iterable[Any]) -> tuple[str, ...]:
    flat = [word for each in types for word in (each if isinstance(each, list) else [each])]
    return tuple(dict.fromkeys(word for word in flat if isinstance(word, str) and word != "null"))


def _extras(instance: dict[str, Any], schema: Any) -> list[str]:
    """The keys of a map that its schema does not describe."""
    known, patterns = schema.get("properties", ()), schema.get("patternProperties", ())
    return [key for key in instance if key not in known and not any(_fits(each, key) for each in patterns)]


def _simple(keyword: str, wanted: Any, value: Any, name: str) -> tuple[str, Reason, str]:
    """Rule id, reason and message of a keyword that validates a single value."""
    if keyword == "type":
        return "wrong-type", "TypeInvalid", wording.wrong_type(name, value, _words([wanted]), "")
    if keyword == "enum":
        return "unsupported-value", "NotSupported", wording.enum(name, value, wanted)
    if keyword == "const":
        return "unsupported-value", "NotSupported", wording.enum(name, value, [wanted])
    if keyword == "uniqueItems":
        return "duplicate-list-item", "Invalid", wording.repeated(name)
    return "crd-schema-violation", _REASONS.get(keyword, "Invalid"), _message(keyword, wanted, value, name)


_REASONS: dict[str, Reason] = {"maxLength": "TooLong", "maxItems": "TooMany", "maxProperties": "TooMany"}


def _message(keyword: str, wanted: Any, value: Any, name: str) -> str:
    match keyword:
        case "pattern":
            return wording.pattern(name, value, wanted)
        case "maxLength":
            return wording.too_long(name, len(value), wanted)
        case "minLength":
            return wording.too_short(name, len(value), wanted)
        case "maxItems" | "maxProperties":
            return wording.too_many(name, len(value), wanted, "item" if keyword == "maxItems" else "field")
        case "minItems" | "minProperties":
            return wording.too_few(name, len(value), wanted, "item" if keyword == "minItems" else "field")
        case "minimum" | "exclusiveMinimum":
            return wording.minimum(name, value, wanted, keyword != "minimum")
        case "maximum" | "exclusiveMaximum":
            return wording.maximum(name, value, wanted, keyword != "maximum")
        case "multipleOf":
            return wording.multiple(name, value, wanted)
    return Complaint(f"{name} does not match keyword {keyword} of the schema")
