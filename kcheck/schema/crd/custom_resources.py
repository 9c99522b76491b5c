"""Validation of custom resources as the API server does it at their creation.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/registry/customresource and pkg/apiserver. The order is that of the API server: decode
(unknown fields, metadata), default, drop the status that only the status subresource can set, validate, and evaluate
x-kubernetes-validations unless the object has faults that prevent it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kcheck.finding.problem import Problem
from kcheck.kube.names import generated
from kcheck.kube.object_change import is_equal
from kcheck.kube.ownership import owned_part
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.schema.crd import wording
from kcheck.schema.crd.decoding import Decoder, ignore_unknown
from kcheck.schema.crd.embedded import anonymous, embedded_faults, misfits
from kcheck.schema.crd.lazy_shape import outline
from kcheck.schema.crd.scale import Scale, scale_faults
from kcheck.schema.crd.structural import Schema, has_rules
from kcheck.schema.crd.uniqueness import duplicate_faults
from kcheck.schema.crd.validation import Keys, SchemaFault, blocks_rules, validate
from kcheck.schema.server_side_apply import CustomMerge, apply_over
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node
from kcheck.yaml.plain_nodes import node_of

RATCHETING = 30
"""N of the first Kubernetes version 1.N that does not validate unchanged values again by default (CRDValidationRatcheting)."""

NOWHERE = "<nil>"
"""The field that the API server reports for an error without one."""


class Version(NamedTuple):
    """One version of a CRD. `schema`: None where it has none; `warning`: the warning of the API server for a deprecated version.

    `plural`: the name of the resource.
    """

    api_version: str
    kind: str
    schema: Node | None
    namespaced: bool
    status: bool = False
    scale: Scale | None = None
    prunes: bool = True
    warning: str = ""
    plural: str = ""


class CustomKind:
    """Validates objects of one version of a custom resource. The schema is not read before the first object."""

    def __init__(self, version: Version, store: Store) -> None:
        self.version = version
        self.namespaced = version.namespaced
        self.plural = version.plural
        self.store = store
        self._schema: Schema | None = None
        self._has_rules: bool | None = None
        self._shape: Shape | None = None

    @property
    def schema(self) -> Schema | None:
        """The root of the version's schema, None where the CRD has none."""
        if self._schema is None and self.version.schema is not None:
            self._schema = Schema(self.version.schema)
        return self._schema

    @property
    def shape(self) -> Shape | None:
        """The type of the version for field paths: which keys are fields, and which are keys of maps."""
        if self._shape is None and self.schema is not None:
            self._shape = outline(self.schema, self.store.definitions.shape("meta/v1 ObjectMeta"))
        return self._shape

    @property
    def pod_schema(self) -> Node | None:
        """The schema as the CRD has it, in which Pod templates are detected."""
        return self.version.schema

    @property
    def definition(self) -> CustomKind:
        """This kind: a CRD defines it."""
        return self

    def judge(self, resource: Resource, walk: Walk) -> None:
        """Report what the API server rejects in an object of this kind."""
        try:
            _Judgement(self, resource, walk).run()
        except Exception as error:
            walk.crash("crd-schema-violation", error)

    def has_rules(self) -> bool:
        """Whether the schema has x-kubernetes-validations anywhere."""
        if self._has_rules is None:
            self._has_rules = self.version.schema is not None and has_rules(self.version.schema)
        return self._has_rules


class _Judgement:
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

    def run(self) -> None:
        version, schema = self.version, self.kind.schema
        if version.warning:
            self.walk.emit("deprecated-crd-version", Problem(self.resource["apiVersion"], version.warning))
        self.metadata()
        if schema is None:
            return
        decoder = Decoder(self.unknown, version.prunes)
        old = self.stored(schema)
        value: dict[str, Any] = decoder.decode(self.resource.node, schema, root=True)
        if old is not None:
            value = self.applied(old, schema)
        value["metadata"] = self.identity(self.resource)
        if version.status:
            value.pop("status", None)
        faults = validate(value, schema, self.minor)
        for node, decoded in decoder.embedded:
            faults += self.embedded(node, decoded)
        faults += duplicate_faults(value, schema)
        if old is not None and self.minor >= RATCHETING:
            faults = [fault for fault in faults if not is_unchanged(fault.keys, old, value, schema)]
        reported: set[tuple[str, ...]] = set()
        for fault in faults:
            field = self.field(fault, schema)
            # The alternatives of an int-or-string yield equivalent messages, and so does a list of maps.
            same = (field, fault.rule, "" if fault.rule == "wrong-type" else fault.message)
            if same not in reported:
                reported.add(same)
                self.walk.emit(fault.rule, self.problem(fault, field))
        if version.scale is not None:
            for path, keys, message in scale_faults(value, version.scale):
                self.walk.emit("crd-schema-violation", Problem(self.resource.node.at(*keys), message, reason="Invalid", field=path))
        self.rules(value, faults, old)

    def problem(self, fault: SchemaFault, field: str) -> Problem:
        """The problem of a value that its schema rejects."""
        node = self.resource.node.at(*fault.keys)
        if fault.rule != "wrong-type":
            return Problem(node, fault.message, reason=fault.reason, field=field)
        from kcheck.schema.type_advice import refined

        message, help, fix = refined(node, fault.message, self.resource.document.source.text)
        return Problem(node, message, help=help, fix=fix, reason=fault.reason, field=field)

    def metadata(self) -> None:
        node = self.resource["metadata"]
        if node.exists:
            self.visit(node, self.object_meta)

    def visit(self, node: Node, shape: Shape) -> None:
        """Validate a typed value and record whether the API server can decode it."""
        tell = self.walk.emit

        def listen(rule: str, problem: Problem) -> None:
            self.undecodable = self.undecodable or problem.reason == "TypeInvalid"
            tell(rule, problem)

        self.walk.emit = listen
        try:
            self.walk.visit(node, shape)
        finally:
            self.walk.emit = tell

    def embedded(self, node: Node, decoded: dict[str, Any]) -> list[SchemaFault]:
        """The faults of an embedded object. Values that the API server cannot decode are reported at once."""
        keys = self.way(node)
        for child in misfits(node):
            self.undecodable = True
            message = wording.wrong_type(child.name, child.plain(), ("string",), "")
            self.walk.emit("wrong-type", Problem(child, message, reason="TypeInvalid"))
        if node["metadata"]:
            self.visit(node["metadata"], anonymous(self.object_meta))
        return [] if self.version.status and keys[:1] == ("status",) else list(embedded_faults(decoded, keys))

    def way(self, node: Node) -> Keys:
        """The keys from the object to one of its nodes."""
        return tuple(node.keys[len(self.resource.node.keys) :])

    def stored(self, schema: Schema) -> dict[str, Any] | None:
        """The older version of the object as the API server stores it, None for a new object."""
        older = self.resource.older
        if older is None:
            return None
        value: dict[str, Any] = Decoder(ignore_unknown, self.version.prunes).decode(older.node, schema, root=True)
        value["apiVersion"] = self.resource.api_version
        value["metadata"] = self.identity(older)
        if self.version.status:
            value.pop("status", None)
        return value

    def applied(self, old: dict[str, Any], schema: Schema) -> dict[str, Any]:
        """The object after a server-side apply over the older version."""
        assert self.resource.older is not None
        plain = self.resource.node.plain()
        merged = apply_over(old, owned_part(self.resource.older) or {}, plain, CustomMerge(schema))
        merged["metadata"] = plain.get("metadata")
        value: dict[str, Any] = Decoder(ignore_unknown, self.version.prunes).decode(node_of(merged, self.resource.node), schema, root=True)
        return value

    def identity(self, resource: Resource) -> dict[str, Any]:
        """The metadata that the API server validates: non-empty fields of ObjectMeta, with a name generated from generateName."""
        fields = self.object_meta.fields
        plain = resource["metadata"].plain()
        metadata = {k: v for k, v in plain.items() if k in fields and v not in (None, "", {}, [])} if isinstance(plain, dict) else {}
        if "name" not in metadata and isinstance(metadata.get("generateName"), str):
            metadata["name"] = generated(metadata["generateName"])
        return metadata

    def unknown(self, child: Node, schema: Schema | None) -> None:
        owner = child.parent
        keys = self.way(child)
        dropped = self.version.status and keys[:1] == ("status",)
        if owner is None or (not dropped and schema is not None and schema.types and "object" not in schema.types):
            # A map in place of another type, which is reported instead.
            return
        names = schema.names if schema is not None else ()
        near = nearest(child.name, names)
        help = did_you_mean(near, "remove it, or move it to the correct place")
        message = f'unknown field "{dotted(keys)}"'
        self.walk.emit("unknown-field", Problem(child, message, help=help, reason="UnknownField", at="key", field=dotted(keys)))

    def field(self, fault: SchemaFault, schema: Schema) -> str:
        """The field path that the API server reports."""
        if fault.nowhere:
            return NOWHERE
        return written(fault.keys, schema) if fault.bracketed else dotted(fault.keys) or NOWHERE

    def rules(self, value: dict[str, Any], faults: list[SchemaFault], old: dict[str, Any] | None) -> None:
        if self.undecodable or not self.kind.has_rules():
            return
        nameless = "name" not in value["metadata"]
        if nameless or any(blocks_rules(fault, self.resource.minor) for fault in faults):
            why = "metadata.name is missing" if nameless else "the object has schema errors"
            message = f"the CEL validation rules of the CustomResourceDefinition were not evaluated because {why}"
            help = "add metadata.name" if nameless else "fix the other findings of this object first"
            self.walk.emit(
                "unevaluated-crd-rules", Problem(self.resource.node, message, help=help, reason="Invalid", field=NOWHERE, echo=True)
            )
        elif self.kind.store.rules is not None:
            assert self.kind.schema is not None
            self.kind.store.rules.evaluate(self.kind.schema, value, self.resource, self.walk, old)


def is_unchanged(keys: Keys, old: Any, new: Any, schema: Schema | None) -> bool:
    """Whether a value, or one that contains it, is the same as in the old object, so that the API server does not validate it again.

    Source: ratchetingValueValidator (k8s.io/apiextensions-apiserver, pkg/apiserver/validation).
    """
    for key in keys:
        if old is None or schema is None:
            return False
        if is_equal(old, new):
            return True
        if isinstance(key, int):
            old = _old_item(old, new, key, schema)
            new = new[key] if isinstance(new, list) and key < len(new) else None
        else:
            old, new = (each.get(key) if isinstance(each, dict) else None for each in (old, new))
        schema = schema.under(key)
    return old is not None and is_equal(old, new)


def _old_item(old: Any, new: Any, index: int, schema: Schema) -> Any:
    """The item of an old list with the same keys, None if keys do not distinguish the items."""
    if schema.list_type != "map" or not isinstance(old, list) or not isinstance(new, list) or index >= len(new):
        return None
    item = new[index]
    for each in old:
        if isinstance(each, dict) and isinstance(item, dict) and all(each.get(key) == item.get(key) for key in schema.list_keys):
            return each
    return None


def dotted(keys: Keys | list[str | int]) -> str:
    """A path as schema validation reports it: every key after a dot."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def written(keys: Keys, schema: Schema | None) -> str:
    """A path as other checks report it: keys of maps in brackets, fields after a dot."""
    path = ""
    for key in keys:
        field = isinstance(key, str) and (schema is None or schema.has(key) or schema.additional_allowed is None)
        path += f".{key}" if field else f"[{key}]"
        schema = schema.under(key) if schema is not None else None
    return path.removeprefix(".")
