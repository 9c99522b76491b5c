"""Help for unknown fields: the field that replaced one of an old API version, or the place where the schema has the field.

Imported when the first unknown field is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from kcheck.finding.fix import Correction
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.schema.shape import Shape
from kcheck.schema.value import fault_of
from kcheck.text.complaint import use
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.edits import flow
from kcheck.yaml.node import Node
from kcheck.yaml.plain_value import Value

_MAX_STEPS_DOWN = 4
# Lists of containers for special purposes, and fields that users do not set.
_UNLIKELY = frozenset(("initContainers", "ephemeralContainers", "status", "managedFields", "ownerReferences"))
_ITEM = "[]"


class FieldAdvice(NamedTuple):
    """What to do about an unknown field.

    Attributes:
        help: what to do; "" if another unknown field of the same map has the help for both.
        owner: the map that gets the field according to the help.
        key: the field of `owner` that is present then, so that problems about its absence follow from this one; "" if `owner` itself is
            incomplete without it.
        change: the change that the help asks for, None if the help is a suggestion or is not exact.
    """

    help: str
    owner: Node
    key: str
    change: Correction | None = None


def advice_for(node: Node, shape: Shape, key: str, root: Node, root_shape: Shape | None, source: Source) -> FieldAdvice:
    """Return the advice for the unknown field `key` of a map. `root`: the object, `root_shape`: its type, None if unknown."""
    renamed = _RENAMED.get((shape.name.rpartition(" ")[2], key))
    if renamed is not None:
        return renamed(node)
    near = nearest(key, shape.fields)
    if near:
        return FieldAdvice(did_you_mean(near), node, near)
    labels = _label_advice(node, shape, key)
    if labels is not None:
        return labels
    found = _FieldSearch(key, node[key], _levels(node, shape, root, root_shape)).best()
    if len(found) == 1:
        owner, keys = found[0]
        target = _target_of(owner, keys)[key]
        if target.exists and target.plain() == node[key].plain():
            return FieldAdvice(f"remove it, because {_place(owner, keys, source)} has it already", node, "", Correction.remove(node[key]))
        verb, change = ("merge it into", None) if target.exists else ("move it to", Correction.move(node[key], target))
        if owner is not node and target.parent is not None and not target.parent.exists:
            # The map may exclude others next to it, as a source of a volume does.
            change = None
        return FieldAdvice(f"{verb} {_place(owner, keys, source)}", owner, keys[0] if keys else "", change)
    return FieldAdvice("remove it, or move it to the level where it belongs", node, "")


def _label_advice(node: Node, shape: Shape, key: str) -> FieldAdvice | None:
    """The advice for a label in the place of a label selector, and for a resource beside limits and requests."""
    child = node[key]
    if shape.name.endswith("LabelSelector") and isinstance(child.value, str):
        only_labels = all(isinstance(each.value, str) and name not in shape.fields for name, each in node.entries)
        change = Correction.nest(node, "matchLabels") if only_labels else Correction.move(child, node["matchLabels"][key])
        return FieldAdvice(f"use matchLabels: {{{_scalar(key)}: {_scalar(child.value)}}}", node, "matchLabels", change)
    if shape.name.endswith(" ResourceRequirements") and not isinstance(child.value, (dict, list)):
        return FieldAdvice("move it to limits or requests", node, "")
    return None


def _levels(node: Node, shape: Shape, root: Node, root_shape: Shape | None) -> list[tuple[Node, Shape]]:
    """The map with the unknown field and the maps around it with their types, the innermost first."""
    if root_shape is None:
        return [(node, shape)]
    keys = node.keys[len(root.keys) :]
    levels, at, inner = [(root, root_shape)], root, root_shape
    for key in keys:
        at = at[key]
        if isinstance(key, str):
            field = inner.fields.get(key) if inner.kind == "object" else None
            next_shape = inner.items if inner.kind == "map" else field.shape if field is not None else None
        else:
            next_shape = inner.items
        if next_shape is None:
            return [(node, shape)]
        inner = next_shape
        if inner.kind == "object":
            levels.append((at, inner))
    return levels[::-1]


class _FieldSearch:
    """The search for places where the schema has a field that fits a value."""

    def __init__(self, key: str, child: Node, levels: list[tuple[Node, Shape]]) -> None:
        self.key = key
        self.child = child
        self.levels = levels

    def best(self) -> list[tuple[Node, tuple[str, ...]]]:
        """The nearest places: an enclosing map each, and the keys below it."""
        best: list[tuple[Node, tuple[str, ...]]] = []
        cost = _MAX_STEPS_DOWN + len(self.levels)
        for ups, (node, shape) in enumerate(self.levels):
            if ups >= cost:
                break
            for keys in self._below(shape, cost - ups):
                steps = ups + sum(key != _ITEM for key in keys)
                # Of equally distant places, those that are reached without leaving as many maps are closer.
                if steps < cost:
                    best, cost = [], steps
                if steps == cost and all(owner is node for owner, _ in best) and node[self.key if not keys else keys[0]] is not self.child:
                    best.append((node, keys))
        return best

    def _below(self, shape: Shape, most: int) -> Iterator[tuple[str, ...]]:
        """The keys from a type to each type below it that has the field, the nearest first."""
        layer: list[tuple[Shape, tuple[str, ...]]] = [(shape, ())]
        seen = {shape.name}
        for _ in range(min(most, _MAX_STEPS_DOWN) + 1):
            found = [keys for each, keys in layer if self._fits(each)]
            if found:
                yield from found
                return
            layer = [(inner, (*keys, *more)) for each, keys in layer for more, inner in _children(each) if inner.name not in seen]
            seen.update(inner.name for inner, _ in layer if inner.name)

    def _fits(self, shape: Shape) -> bool:
        field = shape.fields.get(self.key)
        return field is not None and fits(self.child, field.shape)


def _children(shape: Shape) -> Iterator[tuple[tuple[str, ...], Shape]]:
    """The types of the maps directly below a type, with their keys."""
    for key, field in shape.fields.items():
        inner = field.shape
        if key in _UNLIKELY:
            continue
        if inner.kind == "object":
            yield (key,), inner
        elif inner.kind == "list" and inner.items is not None and inner.items.kind == "object":
            yield (key, _ITEM), inner.items


def fits(node: Node, shape: Shape) -> bool:
    """Return whether a value may have a type, judged by its first level."""
    value = node.value
    if value is None:
        return True
    if shape.kind == "object":
        return node.is_map and all(key in shape.fields for key in node.value)
    if shape.kind == "list":
        return node.is_list and (shape.items is None or not value or fits(value[0], shape.items))
    if shape.kind == "map":
        return node.is_map
    return shape.kind not in ("any", "raw") and not isinstance(value, (dict, list)) and fault_of(value, shape) is None


def _target_of(owner: Node, keys: tuple[str, ...]) -> Node:
    """The map at a place; absent if a list has several items, so that it is not known which is meant."""
    for key in keys:
        owner = owner[0 if len(owner) == 1 else len(owner)] if key == _ITEM else owner[key]
    return owner


def _place(owner: Node, keys: tuple[str, ...], source: Source) -> str:
    """A place as the help names it, with its line if it exists."""
    at, item = owner, False
    for key in keys:
        if key != _ITEM:
            at = at[key]
        elif at.is_list and len(at) == 1:
            at = at[0]
        else:
            item = True
            break
    rest = keys[keys.index(_ITEM) + 1 :] if item else ()
    path = at.path or "the top level"
    place = f"an item of {path}" if item else path
    below = [key for key in rest if key != _ITEM]
    if below:
        place = f"{'.'.join(below)} of {place}"
    return f"{place} (line {source.position(at.start).line})" if at.exists and at.path and not item else place


def _scalar(value: str) -> str:
    plain = value.replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    simple = (
        plain.isalnum()
        and plain.isascii()
        and value[0].isalpha()
        and value.lower() not in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
    )
    return value if simple else json.dumps(value, ensure_ascii=False)


def _written(node: Node) -> str:
    value = node.value
    return _scalar(value) if isinstance(value, str) and value else str(value).lower() if isinstance(value, bool) else str(value)


def _ingress_backend(node: Node) -> FieldAdvice:
    name, port = node["serviceName"], node["servicePort"]
    kind = "name" if isinstance(port.value, str) else "number"
    number = _written(port) if port else "80"
    change = None
    if name.text and isinstance(port.value, (str, int)):
        service: Value = {"name": name.text, "port": {kind: port.value}}
        change = Correction.rewrite(name, "service", service).also(Correction.remove(port))
    return FieldAdvice(f"use service: {{name: {_written(name) if name else 'web'}, port: {{{kind}: {number}}}}}", node, "", change)


def _ingress_backend_port(node: Node) -> FieldAdvice:
    return FieldAdvice("", node, "") if node["serviceName"].exists else _ingress_backend(node)


def _in_place_of(old: str, new: str, value: Callable[[Value], Value]) -> Callable[[Node], FieldAdvice]:
    """The advice to write the entry `new` in place of `old`. `value`: its value, made of that of `old`."""

    def advise(node: Node) -> FieldAdvice:
        given = node[old]
        known = isinstance(given.value, (str, int))
        made = value(given.value if known else _written(given))
        return FieldAdvice(f"use {new}: {flow(made)}", node, new, Correction.rewrite(given, new, made) if known else None)

    return advise


def _target(type: str, field: str, old: str) -> Callable[[Node], FieldAdvice]:
    return _in_place_of(old, "target", lambda value: {"type": type, field: value})


def _metric_name(node: Node) -> FieldAdvice:
    return _in_place_of("metricName", "metric", lambda value: {"name": value})(node)


def _metric_of_cpu(value: Value) -> Value:
    target = {"type": "Utilization", "averageUtilization": value}
    return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _cpu_target(node: Node) -> FieldAdvice:
    return _in_place_of("targetCPUUtilizationPercentage", "metrics", _metric_of_cpu)(node)


def _use(new: str, rest: str = "") -> Callable[[Node], FieldAdvice]:
    help = f"use {new}{rest}" if rest else use(new)
    return lambda node: FieldAdvice(help, node, new)


# By the name of a type and a field of an old version.
_RENAMED: Mapping[tuple[str, str], Callable[[Node], FieldAdvice]] = {
    ("IngressBackend", "serviceName"): _ingress_backend,
    ("IngressBackend", "servicePort"): _ingress_backend_port,
    ("IngressSpec", "backend"): _use("defaultBackend"),
    ("ResourceMetricSource", "targetAverageUtilization"): _target("Utilization", "averageUtilization", "targetAverageUtilization"),
    ("ResourceMetricSource", "targetAverageValue"): _target("AverageValue", "averageValue", "targetAverageValue"),
    ("PodsMetricSource", "targetAverageValue"): _target("AverageValue", "averageValue", "targetAverageValue"),
    ("ExternalMetricSource", "targetAverageValue"): _target("AverageValue", "averageValue", "targetAverageValue"),
    ("ExternalMetricSource", "targetValue"): _target("Value", "value", "targetValue"),
    ("PodsMetricSource", "metricName"): _metric_name,
    ("ObjectMetricSource", "metricName"): _metric_name,
    ("ExternalMetricSource", "metricName"): _metric_name,
    ("HorizontalPodAutoscalerSpec", "targetCPUUtilizationPercentage"): _cpu_target,
    ("ServicePort", "containerPort"): _use("port"),
    ("SecretVolumeSource", "name"): _use("secretName"),
    ("PersistentVolumeClaimVolumeSource", "name"): _use("claimName"),
    ("VolumeMount", "path"): _use("mountPath"),
    ("CustomResourceDefinitionSpec", "validation"): _use("versions", "[].schema: the schema belongs to each version"),
    ("CustomResourceDefinitionSpec", "version"): _use("versions", " with name, served and storage"),
}
