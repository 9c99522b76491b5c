"""Which objects, and which values in them, a short rule applies to."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.resource_names import ResourceName, resource_of
from kcheck.policy.review import Review
from kcheck.policy.rules.cel_types import Occurrences
from kcheck.policy.rules.definitions import RuleScope
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store

_CORE = "core"


class ResolvedScope:
    """The scope of a rule for one Kubernetes version.

    Attributes:
        kinds: Pairs of apiVersion, "" for all versions, and kind; () for all kinds.
        types: The API types whose values are judged, () to judge objects.
        faults: Names that do not exist, with what to do.
    """

    def __init__(self, scope: RuleScope, store: Store) -> None:
        self.scope = scope
        self.store = store
        self.faults: list[tuple[str, str]] = []
        kinds: list[tuple[str, str]] = []
        types: list[str] = []
        names = set(store.definitions.types())
        for version, kind in scope.kinds:
            written = version.removeprefix(f"{_CORE}/")
            if written and store.builtin(written, kind) is None and f"{version} {kind}" in names:
                types.append(f"{version} {kind}")
            else:
                kinds.append((written, kind))
                self._check_kind(written, kind, sorted(names) if version else [])
        for each in scope.types:
            if each not in names:
                self.faults.append((each, _unknown_type(each, sorted(names))))
            types.append(each)
        self.kinds = tuple(kinds)
        self.types = tuple(types)
        self.occurrences = Occurrences(self.types)
        groups = {name.rpartition("/")[0] or _CORE for name, _ in store.definitions.kinds()}
        for group in scope.groups:
            near = nearest(group, sorted(groups)) if group not in groups and "." not in group else None
            if near is not None:
                self.faults.append((group, f'unknown API group "{group}"; {did_you_mean(near)}'))

    def _check_kind(self, version: str, kind: str, types: list[str]) -> None:
        """Record a kind that does not exist. `types`: the API types that may be meant."""
        if kind == "*" or kind in {each for _, each in self.store.components.kinds()}:
            return
        served = self.store.versions_of(kind)
        title = f"{version} {kind}".strip()
        if version and not self.store.serves_group(version) and "/" in version:
            return  # a custom resource whose definition is in the input
        if not served:
            same = [each for each in self.store.definitions.types() if each.rpartition(" ")[2] == kind]
            near = same[0] if same else self.store.kind_like(kind)
            last = kind.rpartition("/")[2]
            written = self.store.versions_of(last) if "/" in kind else []
            if types and (meant := nearest(f"{version if '/' in version else f'{_CORE}/{version}'} {kind}", types)):
                near = meant
            elif written:
                near = f"{written[0]} {last}"
            unknown = f"for a custom resource, write its apiVersion before the kind, such as example.com/v1 {last}"
            self.faults.append((title, f'unknown kind "{kind}"; {did_you_mean(near) if near else unknown}'))
        elif version and version not in served:
            self.faults.append((title, f'no kind "{kind}" in {version}; use {" or ".join(served)}'))

    def described_kinds(self) -> Iterator[tuple[ResourceName, Shape | None]]:
        """Yield the kinds that the scope names, or those that contain its types; with their types, None if unknown.

        Yields nothing if it applies to all kinds.
        """
        for version, kind in self.kinds:
            for each in [version] if version else self.store.versions_of(kind):
                builtin = self.store.builtin(each, kind)
                added = self.store.added(each, kind) if builtin is None else None
                shape = builtin.shape if builtin is not None else added.shape if added is not None else None
                if kind != "*":
                    yield resource_of(each, kind, self.store), shape

    def exclusion(self, review: Review) -> str:
        """Return the condition that excludes an object, "" if it is judged."""
        return self.excluding_kind(review) or self._excluding_labels(review)

    def excluding_kind(self, review: Review) -> str:
        """Return the condition that excludes all objects of a kind, "" if there is none."""
        name, version = review.name, review.resource.api_version
        if self.kinds and not any(kind in ("*", name.kind) and written in ("", version) for written, kind in self.kinds):
            return f"on: {_listed(' '.join(each).strip() for each in self.kinds)}"
        if self.scope.groups and (name.group or _CORE) not in self.scope.groups:
            return f"groups: {_listed(self.scope.groups)}"
        if self.types and not self.occurrences.leads_to(review.shape):
            return f"on: {_listed(self.types)}"
        return ""

    def _excluding_labels(self, review: Review) -> str:
        if self.scope.labels is not None and not self.scope.labels.matches(review.labels):
            return f"labels: {self.scope.labels}"
        globs = self.scope.namespaces
        if globs and not _selects(globs, review.namespace):
            return f"namespaces: {_listed(globs)}"
        return ""


def _selects(globs: tuple[str, ...], namespace: str) -> bool:
    wanted = [each for each in globs if not each.startswith("!")]
    excluded = any(fnmatchcase(namespace, each[1:]) for each in globs if each.startswith("!"))
    return not excluded and (not wanted or any(fnmatchcase(namespace, each) for each in wanted))


def _listed(names: Iterator[str] | tuple[str, ...]) -> str:
    return ", ".join(names)


def _unknown_type(name: str, known: list[str]) -> str:
    kind = name.rpartition(" ")[2]
    same = [each for each in known if each.rpartition(" ")[2] == kind and each != name]
    near = same[0] if same else nearest(name, known)
    return f'unknown API type "{name}"; {did_you_mean(near) if near else "write it as core/v1 Container"}'
