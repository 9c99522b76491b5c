"""Validation of custom resources as the API server performs it on creation.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/registry/customresource and pkg/apiserver. The steps are in the server's order: decode
(unknown fields, metadata), apply defaults, drop the status if the status subresource is enabled, validate, and evaluate the CRD's CEL
rules unless an error prevents it.
"""

from __future__ import annotations

from typing import Any

from kcheck.finding.problem import Problem
from kcheck.kube.names import generated
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import nearest
from kcheck.schema.crd import wording
from kcheck.schema.crd.decoding import Decoder
from kcheck.schema.crd.embedded import anonymous, embedded_faults, misfits
from kcheck.schema.crd.lazy_shape import outline
from kcheck.schema.crd.scale import Scale, scale_faults
from kcheck.schema.crd.structural import Schema, has_rules
from kcheck.schema.crd.uniqueness import duplicate_faults
from kcheck.schema.crd.validation import BLOCKING, Keys, SchemaFault, validate
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

NOWHERE = "<nil>"
"""The value that the server uses as the field of a cause without field."""


class Version(NamedTuple):
    """One version of a CRD. `schema`: None if it has none; `warning`: the deprecation warning of the server, or ""."""

    api_version: str
    kind: str
    schema: Node | None
    namespaced: bool
    status: bool = False
    scale: Scale | None = None
    prunes: bool = True
    warning: str = ""


class CustomKind:
    """Validator of one version of a custom resource. Its schema is read when the first object is validated."""

    def __init__(self, version: Version, store: Store) -> None:
        self.version = version
        self.namespaced = version.namespaced
        self.store = store
        self._schema: Schema | None = None
        self._has_rules: bool | None = None
        self._shape: Shape | None = None

    @property
    def schema(self) -> Schema | None:
        """The root of the version's schema, or None if the CRD has none."""
        if self._schema is None and self.version.schema is not None:
            self._schema = Schema(self.version.schema)
        return self._schema

    @property
    def shape(self) -> Shape | None:
        """The version's type for field paths: which keys are fields and which are keys of maps."""
        if self._shape is None and self.schema is not None:
            self._shape = outline(self.schema, self.store.definitions.shape("meta/v1 ObjectMeta"))
        return self._shape

    @property
    def pod_schema(self) -> Node | None:
        """The schema node of the CRD, in which Pods are searched."""
        return self.version.schema

    def judge(self, resource: Resource, walk: Walk) -> None:
        """Report the errors of the API server for an object of this kind."""
        try:
            _ObjectValidation(self, resource, walk).validate()
        except Exception as error:
            walk.crash("crd-schema-violation", error)

    def has_rules(self) -> bool:
        """Whether the schema contains x-kubernetes-validations at any level."""
        if self._has_rules is None:
            self._has_rules = self.version.schema is not None and has_rules(self.version.schema)
        return self._has_rules


class _ObjectValidation:
    """The validation of one object."""

    def __init__(self, kind: CustomKind, resource: Resource, walk: Walk) -> None:
        self.kind = kind
        self.version = kind.version
        self.resource = resource
        self.walk = walk
        self.undecodable = False
        definitions = kind.store.definitions
        self.object_meta = definitions.shape("meta/v1 ObjectMeta")
        self.minor = int(definitions.version.partition(".")[2])

    def validate(self) -> None:
        version, schema = self.version, self.kind.schema
        if version.warning:
            self.walk.tell("deprecated-crd-version", Problem(self.resource["apiVersion"], version.warning))
        self.metadata()
        if schema is None:
            return
        decoder = Decoder(self.unknown, version.prunes)
        value: dict[str, Any] = decoder.decode(self.resource.node, schema, root=True)
        value["metadata"] = self.identity()
        if version.status:
            value.pop("status", None)
        faults = validate(value, schema, self.minor)
        for node, decoded in decoder.embedded:
            faults += self.embedded(node, decoded)
        faults += duplicate_faults(value, schema)
        reported: set[tuple[str, ...]] = set()
        for fault in faults:
            field = self.field(fault, schema)
            # The alternatives of an int-or-string report the same error in other words, and so does a list of maps.
            same = (field, fault.rule, "" if fault.rule == "wrong-type" else fault.message)
            if same not in reported:
                reported.add(same)
                self.walk.tell(fault.rule, Problem(self.resource.node.at(*fault.keys), fault.message, reason=fault.reason, field=field))
        if version.scale is not None:
            for path, keys, message in scale_faults(value, version.scale):
                self.walk.tell("crd-schema-violation", Problem(self.resource.node.at(*keys), message, reason="Invalid", field=path))
        self.rules(value, faults)

    def metadata(self) -> None:
        node = self.resource["metadata"]
        if node.exists:
            self.visit(node, self.object_meta)

    def visit(self, node: Node, shape: Shape) -> None:
        """Validate a typed value and record whether the server can decode it."""
        tell = self.walk.tell

        def record(rule: str, problem: Problem) -> None:
            self.undecodable = self.undecodable or problem.reason == "TypeInvalid"
            tell(rule, problem)

        self.walk.tell = record
        try:
            self.walk.visit(node, shape)
        finally:
            self.walk.tell = tell

    def embedded(self, node: Node, decoded: dict[str, Any]) -> list[SchemaFault]:
        """Return the errors of an embedded object. Decoding errors are reported immediately."""
        keys = self.keys_to(node)
        for child in misfits(node):
            self.undecodable = True
            self.walk.tell("wrong-type", Problem(child, wording.wrong_type(child.plain(), ("string",), ""), reason="TypeInvalid"))
        if node["metadata"]:
            self.visit(node["metadata"], anonymous(self.object_meta))
        return [] if self.version.status and keys[:1] == ("status",) else list(embedded_faults(decoded, keys))

    def keys_to(self, node: Node) -> Keys:
        """Return the keys from the object to one of its nodes."""
        return tuple(node.keys[len(self.resource.node.keys) :])

    def identity(self) -> dict[str, Any]:
        """Return the metadata that the server validates: non-empty fields of ObjectMeta, with a name generated from generateName."""
        fields = self.object_meta.fields
        plain = self.resource["metadata"].plain()
        metadata = {k: v for k, v in plain.items() if k in fields and v not in (None, "", {}, [])} if isinstance(plain, dict) else {}
        if "name" not in metadata and isinstance(metadata.get("generateName"), str):
            metadata["name"] = generated(metadata["generateName"])
        return metadata

    def unknown(self, child: Node, schema: Schema | None) -> None:
        owner = child.parent
        keys = self.keys_to(child)
        dropped = self.version.status and keys[:1] == ("status",)
        if owner is None or (not dropped and schema is not None and schema.types and "object" not in schema.types):
            # A map in place of another type is reported as a wrong type.
            return
        where = owner.name or self.resource.kind if owner is not self.resource.node else self.resource.kind
        names = schema.names if schema is not None else ()
        near = nearest(child.name, names)
        help = f'did you mean "{near}"?' if near else "remove it, or move it to the level where it belongs"
        message = f'unknown field "{child.name}" in {where}'
        self.walk.tell("unknown-field", Problem(child, message, help=help, reason="UnknownField", at="key", field=dotted(keys)))

    def field(self, fault: SchemaFault, schema: Schema) -> str:
        """Return the field that the server names in the cause."""
        if fault.nowhere:
            return NOWHERE
        return written(fault.keys, schema) if fault.bracketed else dotted(fault.keys) or NOWHERE

    def rules(self, value: dict[str, Any], faults: list[SchemaFault]) -> None:
        if self.undecodable or not self.kind.has_rules():
            return
        nameless = "name" not in value["metadata"]
        if nameless or any(fault.reason in BLOCKING for fault in faults):
            message = "CEL rules of the CRD (x-kubernetes-validations) were not evaluated because the object has schema errors"
            help = "fix the other findings of this object first"
            self.walk.tell("unevaluated-crd-rules", Problem(self.resource.node, message, help=help, reason="Invalid", field=NOWHERE))
        elif self.kind.store.rules is not None:
            assert self.kind.schema is not None
            self.kind.store.rules.evaluate(self.kind.schema, value, self.resource, self.walk)


def dotted(keys: Keys | list[str | int]) -> str:
    """Format a path like the server's schema validation: every key after a dot."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def written(keys: Keys, schema: Schema | None) -> str:
    """Format a path like the other validations: keys of maps in brackets, fields after a dot."""
    path = ""
    for key in keys:
        field = isinstance(key, str) and (schema is None or schema.has(key) or schema.additional_allowed is None)
        path += f".{key}" if field else f"[{key}]"
        schema = schema.under(key) if schema is not None else None
    return path.removeprefix(".")
