"""The kinds that the rules of an admission policy match, with their types.

The type checker of the API server looks at ten kinds at most, and ignores rules with wildcards and subresources (typechecking.go). Here
wildcards are followed as well: a problem of expressions is reported for them only if every kind behind the wildcard has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.policy.admission.definitions import AdmissionRule, MatchResources
from kcheck.policy.admission.matching import is_exempt
from kcheck.policy.resource_names import ResourceName, kind_of_resource, resource_of
from kcheck.schema.builtin.api_resources import served
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple

MAX_KINDS = 300
"""Kinds for which the expressions of a policy are analysed."""

_OPERATIONS = ("CREATE", "UPDATE", "DELETE")
"""What `*` means for resources: CONNECT is for subresources such as pods/exec."""

_OPTIONS = {
    "eviction": ("policy/v1", "Eviction"), "binding": ("v1", "Binding"), "scale": ("autoscaling/v1", "Scale"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
}  # fmt: skip
"""The kinds of objects of subresources, where they differ from the kind of the resource."""

_SAME_KIND = frozenset(("status", "ephemeralcontainers", "resize", "approval", "finalize"))


class MatchedKind(NamedTuple):
    """A kind that rules match.

    Attributes:
        name: The kind.
        shape: Its type.
        operations: The operations that the rules name for it, without wildcards.
        subresource: The subresource, "" for the resource itself.
        wildcard: The wildcard that matches the kind, "" without wildcards: a problem counts only if all kinds of a wildcard have it.
        is_named: Whether a rule names the kind.
    """

    name: ResourceName
    shape: Shape
    operations: frozenset[str]
    subresource: str = ""
    wildcard: str = ""
    is_named: bool = True

    @property
    def title(self) -> str:
        """The kind of the objects in requests."""
        part = self.shape.name.rpartition(" ")[2]
        return part if self.subresource and part else self.name.kind


class MatchedKinds(NamedTuple):
    """The kinds that rules match. `is_complete`: whether no other, unknown kind is matched."""

    kinds: tuple[MatchedKind, ...]
    is_complete: bool


def matched_kinds(match: MatchResources, store: Store) -> MatchedKinds:
    """Return the kinds that rules match in a Kubernetes version."""
    found: dict[tuple[ResourceName, str], MatchedKind] = {}
    unknown = False
    resources = list(_resources(store))
    for number, rule in enumerate(match.rules):
        for plural, sub in rule.resources:
            matched = [(name, shape) for name, shape in resources if _selects(rule, plural, name)]
            unknown = unknown or (plural != "*" and not matched)
            for name, shape in matched:
                operations = frozenset(_OPERATIONS) if "*" in rule.operations else rule.operations
                for each, of_part in _parts(name, shape, sub, store):
                    wildcard = _wildcard(rule, plural, sub, number)
                    old = found.get((name, each))
                    is_named = not wildcard
                    if old is not None:
                        operations, wildcard, is_named = operations | old.operations, wildcard or old.wildcard, is_named or old.is_named
                    found[name, each] = MatchedKind(name, of_part, operations, each, wildcard, is_named)
    whole = not any(_is_excluded(rule, each.name) for rule in match.excludes for each in found.values())
    kinds = [each for each in found.values() if whole or not any(_is_excluded(rule, each.name) for rule in match.excludes)]
    if len(kinds) > MAX_KINDS:
        return MatchedKinds((), False)
    every_group = any("*" in rule.groups for rule in match.rules)
    ordered = sorted(kinds, key=lambda each: (each.name.kind, each.name, each.subresource))
    return MatchedKinds(tuple(ordered), not every_group and not unknown)


def _resources(store: Store) -> Iterator[tuple[ResourceName, Shape]]:
    """Yield all resources with their types: built-in ones and those of definitions."""
    for api_version, kind in store.definitions.kinds():
        builtin = store.builtin(api_version, kind)
        name = resource_of(api_version, kind, store)
        # Others are lists, or objects of subresources.
        if builtin is not None and builtin.plural and kind_of_resource(name.group, name.plural) == kind and not is_exempt(name):
            yield name, builtin.shape
    for api_version, kind in dict.fromkeys((*store.unit_kinds, *store.custom)):
        added = store.added(api_version, kind)
        if added is not None and store.builtin(api_version, kind) is None and added.plural:
            yield resource_of(api_version, kind, store), added.shape or Shape("any")


def _selects(rule: AdmissionRule, plural: str, name: ResourceName) -> bool:
    return (
        plural in ("*", name.plural)
        and ("*" in rule.groups or name.group in rule.groups)
        and ("*" in rule.versions or name.version in rule.versions)
        and (rule.scope == "*" or (rule.scope == "Namespaced") == name.namespaced)
    )


def _parts(name: ResourceName, shape: Shape, sub: str, store: Store) -> Iterator[tuple[str, Shape]]:
    """Yield the resource itself or its subresources, with the types of their objects."""
    if sub in ("", "*"):
        yield "", shape
    known = served().get(name.group, {}).get(name.plural)
    parts = known.parts if known is not None else ("status", "scale")
    for each in parts if sub == "*" else (sub,) if sub in parts else ():
        if each in _SAME_KIND:
            yield each, shape
        else:
            builtin = store.builtin(*_OPTIONS[each]) if each in _OPTIONS else None
            yield each, builtin.shape if builtin is not None else Shape("any")


def _wildcard(rule: AdmissionRule, plural: str, sub: str, number: int) -> str:
    if plural == "*" or "*" in rule.groups:
        return f"rule {number} {plural}"
    return f"{plural}/{sub}" if "*" in rule.versions or sub == "*" else ""


def _is_excluded(rule: AdmissionRule, name: ResourceName) -> bool:
    """Return whether all requests for a resource that a rule excludes are excluded."""
    return not rule.names and "*" in rule.operations and any(_selects(rule, plural, name) for plural, sub in rule.resources if not sub)


def by_wildcard(kinds: tuple[MatchedKind, ...]) -> list[list[MatchedKind]]:
    """Return the kinds in groups that have a problem only together: each named kind, and all kinds of a wildcard."""
    groups: dict[object, list[MatchedKind]] = defaultdict(list)
    for number, each in enumerate(kinds):
        if each.is_named:
            groups[number].append(each)
        if each.wildcard:
            groups[each.wildcard].append(each)
    return list(groups.values())
