"""Validate values against the schema of a custom resource. The faults are exactly those that the API server reports.

Source: k8s.io/kube-openapi, pkg/validation/validate, as Kubernetes 1.36 uses it. Where several alternatives fail, the API server
reports the one that passed most of its checks, so the checks are counted in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kcheck.finding.problem import Reason
from kcheck.regex.automaton import Automaton, TooManySteps
from kcheck.schema.crd import wording
from kcheck.schema.crd.numeric import bound_faults, is_whole
from kcheck.schema.crd.structural import Schema

Keys = tuple[str | int, ...]
"""The keys and indices from the root of the object to a value."""


class SchemaFault(NamedTuple):
    """A fault at a place of an object.

    `nowhere`: the error of the API server has no field. `bracketed`: it writes keys of maps in brackets, not after a dot.
    """

    keys: Keys
    rule: str
    message: str
    reason: Reason
    nowhere: bool = False
    bracketed: bool = False


_BLOCKING = frozenset({"Required", "TooLong", "TooMany", "TypeInvalid"})
_ENUMS_BLOCK_SINCE = 29


def blocks_rules(fault: SchemaFault, minor: int) -> bool:
    """Whether the API server of Kubernetes 1.`minor` does not evaluate the x-kubernetes-validations because of a fault.

    Source: hasBlockingErr in apiextensions-apiserver. Enumerations do not block before 1.29 (kubernetes/kubernetes#121085).
    """
    return fault.reason in _BLOCKING or (fault.reason == "NotSupported" and minor >= _ENUMS_BLOCK_SINCE)


_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def validate(value: Any, schema: Schema, minor: int, root: str = "the object") -> list[SchemaFault]:
    """The faults of a decoded object. `minor`: the N of Kubernetes 1.N. `root`: how messages name the object."""
    faults: list[SchemaFault] = []
    _Validation(minor, root).check(value, schema, (), faults)
    return faults


def _add(faults: list[SchemaFault], keys: Keys, message: str, reason: Reason, nowhere: bool = False) -> None:
    faults.append(SchemaFault(keys, "crd-schema-violation", message, reason, nowhere))


class _Validation:
    """Each method appends to `faults` and returns how many checks passed."""

    def __init__(self, minor: int, root: str) -> None:
        self.minor = minor
        self.root = root

    def label(self, keys: Keys) -> str:
        return wording.label(keys, self.root)

    def check(self, value: Any, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        if value is None:
            return self.null(schema, keys, faults)
        kind = _JSON_TYPES[value.__class__]
        format, text_format = schema.format, schema.text_format
        if text_format is not None and text_format.since > self.minor:
            format, text_format = "", None
        count = 3
        if schema.types or format:
            count += 1
            if _fits(value, kind, schema.types, format):
                count += 1
            else:
                message = wording.wrong_type(self.label(keys), value, schema.types, format)
                faults.append(SchemaFault(keys, "wrong-type", message, "TypeInvalid"))
        count += self.combine(value, schema, keys, faults) if schema.has_combinations else 1
        if kind == "string":
            count += 1
            self.text(value, schema, keys, faults)
            if text_format is not None:
                count += 1
                if not text_format.fits(value):
                    _add(faults, keys, wording.format(self.label(keys), value, format, text_format.example), "TypeInvalid")
        elif kind in ("integer", "number"):
            count += 2
            for nowhere, message in bound_faults(value, schema, keys, self.root, self.minor):
                _add(faults, keys, message, "Invalid", nowhere)
        elif kind == "array":
            count += 2 + self.items(value, schema, keys, faults)
        if schema.enum and not _is_among(value, schema.enum):
            faults.append(SchemaFault(keys, "unsupported-value", wording.enum(self.label(keys), value, schema.enum), "NotSupported"))
        if kind == "object":
            count += 1 + self.fields(value, schema, keys, faults)
        return count

    def null(self, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        if schema.enum:
            faults.append(SchemaFault(keys, "unsupported-value", wording.enum(self.label(keys), None, schema.enum), "NotSupported"))
        if not schema.types or schema.nullable or "null" in schema.types:
            return 1
        faults.append(SchemaFault(keys, "wrong-type", wording.null(self.label(keys), schema.types), "TypeInvalid"))
        return 0

    def text(self, value: str, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> None:
        """Only the first failing check is reported."""
        length = len(value)
        if schema.max_length is not None and length > schema.max_length:
            _add(faults, keys, wording.too_long(self.label(keys), length, schema.max_length), "TooLong")
        elif schema.min_length is not None and length < schema.min_length:
            _add(faults, keys, wording.too_short(self.label(keys), length, schema.min_length), "Invalid")
        elif schema.pattern is not None and (message := self.mismatch(schema.pattern, value, keys)):
            _add(faults, keys, message, "Invalid")

    def mismatch(self, pattern: Automaton, value: str, keys: Keys) -> str:
        """The complaint about a value that does not match a pattern, "" where it does."""
        try:
            return "" if pattern.search(value) else wording.pattern(self.label(keys), value, pattern.pattern)
        except TooManySteps as error:
            return f"{self.label(keys)} was not validated: {error}"

    def items(self, value: list[Any], schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        count = 0
        items = schema.items
        if items is not None:
            for index, item in enumerate(value):
                count += self.check(item, items, (*keys, index), faults)
        size = len(value)
        if schema.min_items is not None and size < schema.min_items:
            _add(faults, keys, wording.too_few(self.label(keys), size, schema.min_items, "item"), "Invalid")
        if schema.max_items is not None and size > schema.max_items:
            _add(faults, keys, wording.too_many(self.label(keys), size, schema.max_items, "item"), "TooMany")
        if schema.unique_items and any(_is_among(item, value[:index]) for index, item in enumerate(value)):
            faults.append(SchemaFault(keys, "duplicate-list-item", wording.repeated(self.label(keys)), "Invalid"))
        return count

    def fields(self, value: dict[str, Any], schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        size = len(value)
        if schema.min_properties is not None and size < schema.min_properties:
            _add(faults, keys, wording.too_few(self.label(keys), size, schema.min_properties, "field"), "Invalid")
        if schema.max_properties is not None and size > schema.max_properties:
            _add(faults, keys, wording.too_many(self.label(keys), size, schema.max_properties, "field"), "TooMany")
        count = 0
        for key, child in value.items():
            inner = schema.under(key)
            if inner is not None:
                count += self.check(child, inner, (*keys, key), faults)
            elif schema.additional_allowed is False and not schema.has(key):
                _add(faults, keys, wording.forbidden(key), "Invalid")
        absent = [key for key in schema.required if key not in value]
        faults += [SchemaFault((*keys, key), "missing-required-field", wording.required(key), "Required") for key in absent]
        return count

    def combine(self, value: Any, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        count = 1
        if schema.any_of:
            count += self.any_of(value, schema, keys, faults)
        if schema.one_of:
            count += self.one_of(value, schema, keys, faults)
        if schema.all_of:
            results = [self.attempt(value, each, keys) for each in schema.all_of]
            count += sum(passed for passed, _ in results)
            for _, inner in results:
                faults += inner
            if any(inner for _, inner in results):
                _add(faults, keys, wording.not_all(self.label(keys)), "Invalid", True)
        if schema.not_ is not None and not self.attempt(value, schema.not_, keys)[1]:
            _add(faults, keys, wording.excluded(self.label(keys), schema.not_), "Invalid", True)
        return count

    def any_of(self, value: Any, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        best: tuple[int, list[SchemaFault]] | None = None
        for each in schema.any_of:
            result = self.attempt(value, each, keys)
            if not result[1]:
                return result[0]
            if best is None or result[0] > best[0]:
                best = result
        assert best is not None
        _add(faults, keys, wording.none_of(self.label(keys), schema.any_of), "Invalid", True)
        faults += best[1]
        return best[0]

    def one_of(self, value: Any, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> int:
        best: tuple[int, list[SchemaFault]] | None = None
        passed: list[int] = []
        for each in schema.one_of:
            result = self.attempt(value, each, keys)
            if not result[1]:
                passed.append(result[0])
            elif best is None or result[0] > best[0]:
                best = result
        if len(passed) == 1:
            return passed[0]
        if passed:
            _add(faults, keys, wording.several_of(self.label(keys), schema.one_of, len(passed)), "Invalid", True)
            return 0
        assert best is not None
        _add(faults, keys, wording.none_of(self.label(keys), schema.one_of, one=True), "Invalid", True)
        faults += best[1]
        return best[0]

    def attempt(self, value: Any, schema: Schema, keys: Keys) -> tuple[int, list[SchemaFault]]:
        """The number of passed checks and the faults of an alternative."""
        faults: list[SchemaFault] = []
        return self.check(value, schema, keys, faults), faults


def _fits(value: Any, kind: str, types: tuple[str, ...], format: str) -> bool:
    if kind in types or (kind == "integer" and "number" in types) or (kind == "number" and "integer" in types and is_whole(value)):
        return True
    if kind in ("string", "array"):
        # The API server only checks the format then, which a list passes.
        return bool(format) and "number" not in types and "integer" not in types
    return False


def _is_among(value: Any, allowed: list[Any]) -> bool:
    return any(_is_same(value, each) for each in allowed)


def _is_same(value: Any, allowed: Any) -> bool:
    """Whether two JSON values are equal. The API server first converts numbers to the type of the allowed value, truncating fractions."""
    if allowed is None:
        return False
    kind = value.__class__
    if kind in (int, float) and allowed.__class__ in (int, float):
        return bool(allowed.__class__(value) == allowed)
    if kind is not allowed.__class__:
        return False
    if kind is list:
        return len(value) == len(allowed) and all(map(_is_same, value, allowed))
    if kind is dict:
        return value.keys() == allowed.keys() and all(_is_same(value[key], allowed[key]) for key in value)
    return bool(value == allowed)
