"""Detection of Pods in the schema of a custom resource by their shape: parts that resemble API types of Kubernetes."""

from __future__ import annotations

from kcheck.schema.builtin.definitions import Definitions
from kcheck.schema.pods.known_kinds import PodPart, PodPlace
from kcheck.schema.shape import Shape
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

# JSON types by kind of shape, "" for any; all other kinds are strings.
_JSON_TYPES = {
    "object": "object", "map": "object", "raw": "object", "list": "array", "boolean": "boolean", "integer": "integer", "number": "number",
    "quantity": "", "int-or-string": "", "any": "",
}  # fmt: skip
# Fields that, with the right type, occur in almost nothing but Pods and containers.
_POD_FIELDS = frozenset(
    {"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "dnsConfig", "dnsPolicy", "enableServiceLinks",
     "ephemeralContainers", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "imagePullSecrets", "initContainers",
     "nodeSelector", "priorityClassName", "runtimeClassName", "schedulerName", "securityContext", "serviceAccountName",
     "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes"}
)  # fmt: skip
_CONTAINER_FIELDS = frozenset(
    {"args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "readinessProbe", "resources",
     "securityContext", "startupProbe", "terminationMessagePolicy", "volumeDevices", "volumeMounts"}
)  # fmt: skip
_TYPICAL_FIELDS = _POD_FIELDS | _CONTAINER_FIELDS
_RESOURCE_FIELDS = {"claims", "limits", "requests"}
_MIN_TYPICAL_FIELDS = 3
"""The minimum number of such fields for an object to be a part of a Pod."""

_MIN_SHARE = 0.75
"""The minimum share of an object's fields that a type must have for the object to resemble it."""

_MAX_DEPTH = 2
"""The depth to which fields are compared."""

_RUN_TO_COMPLETION_KIND = pattern(r"(?:Job|Task|Run|Workflow|Pipeline|Backup|Restore|Test|Build|Experiment|Migration)s?\Z")


class PodSchemas:
    """Finds Pods in the schemas of custom resources."""

    def __init__(self, definitions: Definitions) -> None:
        self._pod = definitions.shape("core/v1 PodSpec")
        self._container = definitions.shape("core/v1 Container")
        self._passage_key = (PodSchemas, self._pod)

    def find(self, schema: Node, kind: str) -> tuple[PodPlace, ...]:
        """Return the places of Pods in objects of a kind with this openAPIV3Schema."""
        lasts = False if _RUN_TO_COMPLETION_KIND.search(kind) else None
        found: list[PodPlace] = []
        for key, node in schema["properties"].entries:
            if key not in ("apiVersion", "kind", "metadata", "status") and node.is_map:
                self._add_places(node, (key,), lasts, found)
        return tuple(found)

    def _add_places(self, schema: Node, path: tuple[str, ...], lasts: bool | None, found: list[PodPlace]) -> None:
        """Add the places in a schema. Shared passages in which nothing was found are skipped."""
        passage = schema.passage
        if passage is None:
            self._add_places_of(schema.value, path, lasts, found)
        elif self._passage_key not in passage.passed:
            before = len(found)
            self._add_places_of(schema.value, path, lasts, found)
            if len(found) == before:
                passage.passed.add(self._passage_key)

    def _add_places_of(self, schema: dict[str, Node], path: tuple[str, ...], lasts: bool | None, found: list[PodPlace]) -> None:
        # Schemas are large and few contain Pods: only existing keys are visited.
        properties = schema.get("properties")
        if properties is None or not properties:
            for word in ("items", "additionalProperties"):
                inside = schema.get(word)
                if inside is not None and inside.is_map:
                    self._add_places(inside, (*path, "*"), lasts, found)
            return
        part = self._part(properties)
        if part:
            found.append(PodPlace(path, part, lasts, is_partial=part == "fields"))
        if part not in ("", "fields"):
            return
        # A kind with a variable number of replicas runs its Pods until it is stopped.
        inner = lasts if lasts is False or _type(properties["replicas"]) != "integer" else True
        for key, node in properties.entries:
            # The fields of a part are checked with the part; additional containers may be nested in it.
            if node.is_map and (not part or key == "containers" or not (key in self._pod.fields or key in self._container.fields)):
                self._add_places(node, (*path, key), inner, found)

    def _part(self, properties: Node) -> PodPart:
        """Return the part of a Pod that an object with these properties is."""
        if not properties.is_map:
            return ""
        if properties.value.keys() <= _RESOURCE_FIELDS:
            return "resources" if all(_type(properties[name]) == "object" for name in ("limits", "requests")) else ""
        spec = properties["spec"]["properties"]
        if spec and "metadata" in properties and self._is_pod(spec):
            return "template"
        # Most of a schema is unrelated to Pods, which this check detects quickly.
        if len(_TYPICAL_FIELDS & properties.value.keys()) < _MIN_TYPICAL_FIELDS and "containers" not in properties:
            return ""
        if self._is_pod(properties):
            return "pod"
        if self._is_container(properties):
            return "container"
        typical = {key for key, node in properties.entries if self._is_typical(key, node)}
        return "fields" if len(typical) >= _MIN_TYPICAL_FIELDS else ""

    def _is_typical(self, key: str, schema: Node) -> bool:
        return (key in _POD_FIELDS and _is_like(schema, self._pod.fields[key].shape)) or (
            key in _CONTAINER_FIELDS and _is_like(schema, self._container.fields[key].shape)
        )

    def _is_pod(self, properties: Node) -> bool:
        containers = properties["containers"]["items"]["properties"]
        return bool(containers) and self._is_container(containers) and _share(properties, self._pod) >= _MIN_SHARE

    def _is_container(self, properties: Node) -> bool:
        """Whether the object resembles a container by most of its fields and has the required ones."""
        if _type(properties["image"]) != "string" or sum(key in properties for key in _CONTAINER_FIELDS) < _MIN_TYPICAL_FIELDS:
            return False
        return _share(properties, self._container) >= _MIN_SHARE


def _share(properties: Node, shape: Shape) -> float:
    """Return the share of an object's properties that a type has as well, with matching types."""
    alike = sum(key in shape.fields and _is_like(node, shape.fields[key].shape, _MAX_DEPTH - 1) for key, node in properties.entries)
    return alike / len(properties)


def _is_like(schema: Node, shape: Shape, depth: int = _MAX_DEPTH) -> bool:
    """Whether values of a schema can be values of a type."""
    json_type = _JSON_TYPES.get(shape.kind, "string")
    if json_type and _type(schema) != json_type:
        return False
    if shape.kind == "list":
        items = shape.items
        return not schema["items"].is_map or items is None or depth == 0 or _is_like(schema["items"], items, depth - 1)
    properties = schema["properties"]
    if shape.kind == "object" and len(properties) and depth:
        return _share_of_names(properties, shape) >= _MIN_SHARE
    return shape.kind != "map" or not len(properties)


def _type(schema: Node) -> str:
    """Return the type of a schema; a JSON Schema may allow null as well."""
    kind = schema["type"]
    return kind.text or next((each.text for each in kind if each.text != "null"), "")


def _share_of_names(properties: Node, shape: Shape) -> float:
    return sum(key in shape.fields for key, _ in properties.entries) / len(properties)
