"""References to objects whose names or namespaces a build changed.

Source: api/filters/nameref of kustomize: which object a name means is decided by the names that objects had on the way.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.kustomize.fields import NameReference, find
from kcheck.kustomize.identity import NO_NAMESPACE, Gvk, gvk_of
from kcheck.kustomize.item import Item
from kcheck.kustomize.nodes import assign, is_scalar, made, put, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node

Complain = Callable[[str, str, Node], None]


class _Candidate:
    """What an object is called now, and was before."""

    __slots__ = ("effective", "first", "ids", "item", "name", "namespace")

    def __init__(self, item: Item) -> None:
        id = item.id
        self.item = item
        self.name = id.name
        self.namespace = id.namespace
        self.effective = id.effective
        self.ids = item.previous_ids
        self.first = (self.ids[0] if self.ids else id).effective


class Renaming:
    """Updates references among the objects of a build."""

    def __init__(self, items: list[Item], references: tuple[NameReference, ...]) -> None:
        self.items = items
        self._references = references
        self._all = [_Candidate(item) for item in items]
        self._by_name: dict[str, list[_Candidate]] = {}
        self._by_kind: dict[Gvk, list[tuple[Gvk, tuple[str, ...]]]] = {}
        for candidate in self._all:
            for name in {id.name for id in candidate.ids}:
                self._by_name.setdefault(name, []).append(candidate)

    def run(self) -> list[BadInput]:
        """Update all; gives what could not be decided."""
        named = [each for item in self.items for each in _account_namespaces(item)]
        faults = [BadInput("the namespace of a subject is empty", each) for each in named if each.held is None]
        if not self._by_name:
            return faults
        for item in self.items:
            for target, path in self._fields(item.first_id.gvk):
                try:
                    for node in find(item.node, path):
                        self._update(_Referrer(item, target, path), node)
                except BadInput as fault:
                    faults.append(fault if fault.node is not None else BadInput(fault.message, item.node))
        return faults

    def _fields(self, gvk: Gvk) -> list[tuple[Gvk, tuple[str, ...]]]:
        """The fields of a kind that hold names."""
        found = self._by_kind.get(gvk)
        if found is None:
            found = [(each.target, field.path) for each in self._references for field in each.fields if gvk.is_selected(field.gvk)]
            self._by_kind[gvk] = found
        return found

    def _update(self, referrer: _Referrer, node: Node) -> None:
        if node.held is None:
            return
        if node.is_list:
            for item in node:
                self._update(referrer, item)
        elif node.is_map:
            self._update_map(referrer, node)
        elif is_scalar(node):
            name = text_of(node)
            found = referrer.select(name, self._by_name.get(name, []), False)
            if found is not None and found.name != name:
                assign(node, found.name)
                referrer.item.changed("name", found.item.node.at("metadata", "name"), node)

    def _update_map(self, referrer: _Referrer, node: Node) -> None:
        """A map with `name`, and `namespace` where it is said."""
        if "name" not in node:
            raise BadInput("a reference has no name", node)
        name = text_of(node["name"])
        candidates = self._by_name.get(name, [])
        if "namespace" in node:
            namespace = text_of(node["namespace"])
            there = [each for each in candidates if each.first == namespace and namespace != NO_NAMESPACE]
            if not there and not any(each.first == namespace for each in self._could_be_meant(referrer)):
                there = [each for each in candidates if each.effective == namespace]
            candidates = there
        found = referrer.select(name, candidates, True)
        if found is None or (found.name == name and not found.namespace):
            return
        where = found.item.node.at("metadata", "name")
        if found.name != name:
            assign(node["name"], found.name)
            referrer.item.changed("name", where, node["name"])
        if found.namespace and text_of(node["namespace"]) != found.namespace:
            place = found.item.node.at("metadata", "namespace")
            if node["namespace"].exists:
                assign(node["namespace"], found.namespace, place)
            else:
                put(node, "namespace", made(found.namespace, place))
            referrer.item.changed("name", where, node["namespace"])

    def _could_be_meant(self, referrer: _Referrer) -> list[_Candidate]:
        return [each for each in self._all if referrer.reaches(each)]


class _Referrer:
    """An object with a field that refers to objects of a kind."""

    def __init__(self, item: Item, target: Gvk, path: tuple[str, ...]) -> None:
        self.item = item
        self.target = target
        self.path = path
        id = item.id
        self.effective = id.effective
        self.is_cluster_scoped = id.is_cluster_scoped
        self._namespaces: set[str] | None = None

    def reaches(self, candidate: _Candidate) -> bool:
        """Whether an object is where this one can refer to."""
        if self.is_cluster_scoped or candidate.effective in (NO_NAMESPACE, self.effective):
            return True
        return candidate.namespace in self.namespaces

    @property
    def namespaces(self) -> set[str]:
        """Those of the service accounts that a RoleBinding names."""
        if self._namespaces is None:
            self._namespaces = {text_of(each) for each in _account_namespaces(self.item)}
        return self._namespaces

    def select(self, name: str, candidates: list[_Candidate], by_namespace: bool) -> _Candidate | None:
        """The object that a name means. Raises BadInput where it may mean several."""
        if not candidates:
            return None
        role = self._role()
        found = [
            each
            for each in candidates
            if self.reaches(each)
            and any(id.gvk.is_selected(self.target) for id in each.ids)
            and (role is None or any(id.gvk.is_selected(role) for id in each.ids))
            and self._is_near(each)
        ]
        if len(found) == 1:
            return found[0]
        found = [each for each in found if each.item.may_follow(self.item, True)]
        if len(found) > 1:
            found = [each for each in found if each.item.may_follow(self.item, False)]
        if not found:
            return None
        if len({(each.name, each.namespace if by_namespace else "") for each in found}) > 1:
            raise BadInput(f"{name!r} may refer to {' or '.join(str(each.item.id) for each in found)}")
        return found[0]

    def _is_near(self, candidate: _Candidate) -> bool:
        if self.is_cluster_scoped or candidate.effective in (NO_NAMESPACE, self.effective):
            return True
        return candidate.item.kind == "ServiceAccount"

    def _role(self) -> Gvk | None:
        """The kind that a roleRef names."""
        if self.path[-2:] != ("roleRef", "name"):
            return None
        role = self.item.node["roleRef"]
        if "apiGroup" not in role or "kind" not in role:
            return None
        return gvk_of(f"{role['apiGroup'].text}/", role["kind"].text)._replace(version="")


def _account_namespaces(item: Item) -> list[Node]:
    """The namespaces that a RoleBinding says of its service accounts."""
    subjects = item.node["subjects"] if item.kind == "RoleBinding" else ()
    return [each["namespace"] for each in subjects if each["kind"].text == "ServiceAccount" and each["namespace"].exists]
