"""What the settings of a kustomization do to objects: namespace, names, labels, annotations, replicas, images.

Each function takes the objects and the setting's node. A value that a setting gives has the place of that setting; a name that gets a
prefix keeps the place where it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.kustomize.fields import Spec, find, merged, spec
from kcheck.kustomize.identity import Gvk
from kcheck.kustomize.item import Item
from kcheck.kustomize.nodes import assign, is_scalar, made, put, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
# Objects whose names say what they define.
_KEEP_NAMES = (Gvk(kind="CustomResourceDefinition"), Gvk(group="apiregistration.k8s.io", kind="APIService"), Gvk(kind="Namespace"))
_CONTAINERS = ("containers", "initContainers")
_NAME = ("metadata", "name")
_METADATA_NAMESPACE = ("metadata", "namespace")
_VERSIONED = pattern(r"(?::[a-zA-Z0-9_.{}-]*)?(?:@sha256:[a-zA-Z0-9_.{}-]*)?")


def set_namespace(items: Iterable[Item], setting: Node, specs: Iterable[Spec]) -> None:
    """Put objects into a namespace. Objects of kinds that kustomize does not know are taken for namespaced ones."""
    namespace = text_of(setting)
    seen: dict[object, Item] = {}
    for item in items:
        item.remember()
        node, api_version = item.node, item.node["apiVersion"].text
        if not item.id.is_cluster_scoped:
            _set_scalars(item, _METADATA_NAMESPACE, namespace, setting, True)
        if item.kind in _BINDINGS:
            for subject in node["subjects"]:
                if subject["name"].text == "default":
                    item.changed("namespace", setting, put(subject, "namespace", made(namespace, setting)))
        for each in specs:
            path = each.path
            if path == _METADATA_NAMESPACE or (path == _NAME and api_version != "v1"):
                continue
            if item.kind in _BINDINGS and path == ("subjects", "namespace"):
                continue
            if item.gvk.is_selected(each.gvk):
                _set_scalars(item, path, namespace, setting, each.create)
        id = item.id
        other = seen.setdefault((id.gvk, id.name, id.effective), item)
        if other is not item:
            raise BadInput(f"{id} exists twice in namespace {namespace!r}", item.node)


def _set_scalars(item: Item, path: tuple[str, ...], value: str, setting: Node, create: bool) -> None:
    for node in find(item.node, path, "scalar" if create else "", setting):
        if not is_scalar(node):
            raise BadInput(f"{'/'.join(path)} is not a scalar", node)
        assign(node, value, setting)
        if isinstance(node.key, Node) and node.key.start == node.key.end:
            node.key.start, node.key.end = setting.key_span
        item.changed(setting.name, setting, node)


def add_affix(items: Iterable[Item], setting: Node, specs: Iterable[Spec]) -> None:
    """Put a prefix (`namePrefix`) or a suffix (`nameSuffix`) to names."""
    affix, is_prefix = text_of(setting), setting.name == "namePrefix"
    for item in items:
        first = item.first_id.gvk
        if any(first.is_selected(each) for each in _KEEP_NAMES):
            continue
        for each in specs:
            if not first.is_selected(each.gvk):
                continue
            if each.path == _NAME:
                (item.prefixes if is_prefix else item.suffixes).append(affix)
                item.remember()
            if not item.gvk.is_selected(each.gvk):
                continue
            for node in find(item.node, each.path, "scalar" if each.create else "", setting):
                name = text_of(node)
                assign(node, f"{affix}{name}" if is_prefix else f"{name}{affix}")
                item.changed(setting.name, setting, node)


def set_entries(items: Iterable[Item], setting: Node, pairs: Node, specs: Iterable[Spec]) -> None:
    """Set labels or annotations in the maps that specifications name."""
    entries = sorted(pairs.entries)
    by_kind: dict[Gvk, list[Spec]] = {}
    specs = list(specs)
    for item in items:
        gvk = item.gvk
        wanted = by_kind.get(gvk)
        if wanted is None:
            wanted = by_kind[gvk] = [each for each in specs if gvk.is_selected(each.gvk)]
        for each in wanted:
            for node in find(item.node, each.path, "map" if each.create and entries else "", setting):
                if node.held is None:
                    node.held = {}
                if not node.is_map:
                    raise BadInput(f"{'/'.join(each.path)} is not a map", node)
                for _, value in entries:
                    key = value.key
                    assert isinstance(key, Node)
                    new = Node(text_of(value), value.start, value.end, value.style)
                    item.changed(setting.name or "labels", setting, put(node, key, new))


def set_replicas(items: Iterable[Item], setting: Node, specs: Iterable[Spec]) -> None:
    """Set the number of replicas of the workloads that have a name."""
    name, count, found = text_of(setting["name"]), setting["count"], False
    items = list(items)
    for each in specs:
        for item in items:
            if not any(id.name == name and id.gvk.is_selected(each.gvk) for id in item.ids):
                continue
            found = True
            if item.gvk.is_selected(each.gvk):
                for node in find(item.node, each.path, "scalar" if each.create else "", count):
                    assign(node, count.integer or 0, count)
                    item.changed("replicas", setting, node)
    if not found:
        raise BadInput(f"no workload named {name!r} has replicas", setting["name"])


def images_of(items: Iterable[Item], specs: Iterable[Spec]) -> list[tuple[Item, Node]]:
    """The images of objects: those of all lists called containers and initContainers, then those of the fields that specifications name.

    kustomize goes through both, so an image in a pod is changed twice, which shows where a setting appends a suffix.
    """
    specs = list(specs)
    items = [item for item in items if item.kind != "CustomResourceDefinition"]
    found = [(item, node) for item in items for node in _in_containers(item.node)]
    for item in items:
        for each in specs:
            if item.gvk.is_selected(each.gvk):
                found += [(item, node) for node in find(item.node, each.path)]
    return found


def _in_containers(node: Node) -> Iterator[Node]:
    for child in node:
        if child.is_map or child.is_list:
            yield from _in_containers(child)
            if node.is_map and child.is_list and child.name in _CONTAINERS:
                yield from (each["image"] for each in child if each["image"].exists)


def set_images(images: Iterable[tuple[Item, Node]], setting: Node) -> None:
    """Change the name, tag or digest of an image."""
    for item, node in images:
        _set_image(item, node, setting)


def _set_image(item: Item, node: Node, setting: Node) -> None:
    image, name = text_of(node), text_of(setting["name"])
    if not is_scalar(node):
        raise BadInput("an image is not a scalar", node)
    if not _is_image(image, name):
        return
    name, tag, digest = split_image(image)
    place: Node | None = None
    for field in ("newName", "tagSuffix", "digest", "newTag"):
        if text_of(setting[field]):
            place = setting[field]
    name = text_of(setting["newName"]) or name
    new_tag, new_digest = text_of(setting["newTag"]), text_of(setting["digest"])
    if new_tag or new_digest:
        tag, digest = new_tag, new_digest
    elif setting["tagSuffix"].text:
        tag, digest = tag + setting["tagSuffix"].text, ""
    text = name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
    if text != image:
        assign(node, text, place)
        item.changed("images", setting, node)


def _is_image(image: str, name: str) -> bool:
    """Whether a reference is of an image. kustomize reads the name as a regular expression; here it is one where it is not plain."""
    if image.startswith(name) and _VERSIONED.fullmatch(image, len(name)):
        return True
    if not any(char in "\\^$*+?()[]{}|" for char in name):
        return False
    from kcheck.regex.automaton import TooManySteps
    from kcheck.regex.parser import BadPattern
    from kcheck.regex.patterns import matches

    try:
        return matches(f"^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image)
    except (BadPattern, TooManySteps):
        return False


def split_image(image: str) -> tuple[str, str, str]:
    """Name, tag and digest of an image."""
    slash = max(image.find("/"), 0)
    rest, at, digest = image[slash:].partition("@")
    if ":" not in rest:
        return image[:slash] + rest, "", digest if at else ""
    name, _, tag = rest.partition(":")
    return image[:slash] + name, tag, digest


def label_specs(label: Node, specs: dict[str, tuple[Spec, ...]], own: tuple[Spec, ...]) -> list[Spec]:
    """The fields that an entry of `labels` is about. `own`: those that it names itself."""
    found = merged(own, specs["labels"])
    if label["includeSelectors"].boolean:
        return list(merged(found, specs["commonLabels"]))
    if label["includeTemplates"].boolean:
        found = merged(found, specs["templateLabels"])
    return list(merged(found, [spec("metadata/labels", create=True)]))
