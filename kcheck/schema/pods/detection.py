"""Pods in the schema of a custom resource, known by their shape: what API types of Kubernetes its parts are like."""

from __future__ import annotations

from kcheck.schema.builtin.definitions import Definitions
from kcheck.schema.pods.known_kinds import PodPart, PodPlace
from kcheck.schema.shape import Shape
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

# JSON types by the kinds of shapes, "" for any; all others are strings.
_TYPES = {
    "object": "object", "map": "object", "raw": "object", "list": "array", "boolean": "boolean", "integer": "integer", "number": "number",
    "quantity": "", "int-or-string": "", "any": "",
}  # fmt: skip
# Fields that hardly anything but a pod or a container has, where they are of the right type besides.
_OF_PODS = frozenset(
    {"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "containers", "dnsConfig", "dnsPolicy", "enableServiceLinks",
     "ephemeralContainers", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "imagePullSecrets", "initContainers",
     "nodeSelector", "priorityClassName", "runtimeClassName", "schedulerName", "securityContext", "serviceAccountName",
     "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes"}
)  # fmt: skip
_OF_CONTAINERS = frozenset(
    {"args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "readinessProbe", "resources",
     "securityContext", "startupProbe", "terminationMessagePolicy", "volumeDevices", "volumeMounts"}
)  # fmt: skip
_SIGNS = _OF_PODS | _OF_CONTAINERS
_AMOUNTS = {"claims", "limits", "requests"}
_FEWEST = 3
"""As many such fields make an object a part of a pod."""

_MOST_OF_IT = 0.75
"""The share of an object's fields that a type must know for the object to be like it."""

_DEPTH = 2
"""How deep fields are compared."""

_ENDING = pattern(r"(?:Job|Task|Run|Workflow|Pipeline|Backup|Restore|Test|Build|Experiment|Migration)s?\Z")


class PodSchemas:
    """Finds pods in the schemas of custom resources."""

    def __init__(self, definitions: Definitions) -> None:
        self._pod = definitions.shape("core/v1 PodSpec")
        self._container = definitions.shape("core/v1 Container")
        self._way = (PodSchemas, self._pod)

    def find(self, schema: Node, kind: str) -> tuple[PodPlace, ...]:
        """The places of pods in objects of a kind whose openAPIV3Schema this is."""
        lasts = False if _ENDING.search(kind) else None
        found: list[PodPlace] = []
        for key, node in schema["properties"].entries:
            if key not in ("apiVersion", "kind", "metadata", "status") and node.is_map:
                self._below(node, (key,), lasts, found)
        return tuple(found)

    def _below(self, schema: Node, path: tuple[str, ...], lasts: bool | None, found: list[PodPlace]) -> None:
        """Add the places in a schema."""
        passage = schema.passage
        if passage is None:
            self._places(schema.value, path, lasts, found)
        elif self._way not in passage.passed:
            before = len(found)
            self._places(schema.value, path, lasts, found)
            if len(found) == before:
                passage.passed.add(self._way)

    def _places(self, schema: dict[str, Node], path: tuple[str, ...], lasts: bool | None, found: list[PodPlace]) -> None:
        # Schemas are large and few have pods in them: only what is there is looked at.
        properties = schema.get("properties")
        if properties is None or not properties:
            for word in ("items", "additionalProperties"):
                inside = schema.get(word)
                if inside is not None and inside.is_map:
                    self._below(inside, (*path, "*"), lasts, found)
            return
        part = self._part(properties)
        if part:
            found.append(PodPlace(path, part, lasts, loose=part == "fields"))
        if part not in ("", "fields"):
            return
        # What runs a number of pods that can be changed runs them until it is told to stop.
        inner = lasts if lasts is False or _type(properties["replicas"]) != "integer" else True
        for key, node in properties.entries:
            # The fields of a part are asked with it; containers of somebody's own may stand whole in it.
            if node.is_map and (not part or key == "containers" or not (key in self._pod.fields or key in self._container.fields)):
                self._below(node, (*path, key), inner, found)

    def _part(self, properties: Node) -> PodPart:
        """What of a pod an object with these properties is."""
        if not properties.is_map:
            return ""
        if properties.value.keys() <= _AMOUNTS:
            return "resources" if all(_type(properties[name]) == "object" for name in ("limits", "requests")) else ""
        spec = properties["spec"]["properties"]
        if spec and "metadata" in properties and self._is_pod(spec):
            return "template"
        # Most of a schema has nothing to do with pods, which is seen at once.
        if len(_SIGNS & properties.value.keys()) < _FEWEST and "containers" not in properties:
            return ""
        if self._is_pod(properties):
            return "pod"
        if self._is_container(properties):
            return "container"
        signs = {key for key, node in properties.entries if self._is_sign(key, node)}
        return "fields" if len(signs) >= _FEWEST else ""

    def _is_sign(self, key: str, schema: Node) -> bool:
        return (key in _OF_PODS and _is_like(schema, self._pod.fields[key].shape)) or (
            key in _OF_CONTAINERS and _is_like(schema, self._container.fields[key].shape)
        )

    def _is_pod(self, properties: Node) -> bool:
        containers = properties["containers"]["items"]["properties"]
        return bool(containers) and self._is_container(containers) and _share(properties, self._pod) >= _MOST_OF_IT

    def _is_container(self, properties: Node) -> bool:
        """Whether it is a container by most of its fields, and has what a container cannot do without."""
        if _type(properties["image"]) != "string" or sum(key in properties for key in _OF_CONTAINERS) < _FEWEST:
            return False
        return _share(properties, self._container) >= _MOST_OF_IT


def _share(properties: Node, shape: Shape) -> float:
    """The share of an object's properties that a type has, too, as far as they are of its types."""
    alike = sum(key in shape.fields and _is_like(node, shape.fields[key].shape, _DEPTH - 1) for key, node in properties.entries)
    return alike / len(properties)


def _is_like(schema: Node, shape: Shape, depth: int = _DEPTH) -> bool:
    """Whether what a schema says can be a value of a type."""
    wanted = _TYPES.get(shape.kind, "string")
    if wanted and _type(schema) != wanted:
        return False
    if shape.kind == "list":
        items = shape.items
        return not schema["items"].is_map or items is None or depth == 0 or _is_like(schema["items"], items, depth - 1)
    properties = schema["properties"]
    if shape.kind == "object" and len(properties) and depth:
        return _share_of_names(properties, shape) >= _MOST_OF_IT
    return shape.kind != "map" or not len(properties)


def _type(schema: Node) -> str:
    """The type of a schema; a JSON Schema may allow null beside it."""
    kind = schema["type"]
    return kind.text or next((each.text for each in kind if each.text != "null"), "")


def _share_of_names(properties: Node, shape: Shape) -> float:
    return sum(key in shape.fields for key, _ in properties.entries) / len(properties)
