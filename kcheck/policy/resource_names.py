"""The resource of an object, as requests name it: `pods` for a Pod."""

from __future__ import annotations

from functools import cache

from kcheck.schema.builtin.api_resources import served
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple


class ResourceName(NamedTuple):
    """The resource of a kind. `plural`: its name in URLs; `namespaced`: whether its objects belong to a namespace."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """The apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


def resource_of(api_version: str, kind: str, store: Store) -> ResourceName:
    """Return the resource of a kind. For a kind without definition, the plural is guessed as in apimachinery."""
    group, _, version = api_version.rpartition("/")
    found = store.builtin(api_version, kind)
    if found is not None:
        return ResourceName(group, version, found.plural or guessed_plural(kind), kind, found.namespaced)
    added = store.added(api_version, kind)
    plural = (added.plural if added is not None else "") or guessed_plural(kind)
    namespaced = added is None or added.namespaced is not False
    return ResourceName(group, version, plural, kind, namespaced)


def guessed_plural(kind: str) -> str:
    """Return the plural of a kind. Source: meta.UnsafeGuessKindToResource."""
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


@cache
def kind_of_resource(group: str, plural: str) -> str:
    """Return the kind of a built-in resource, "" if it is unknown."""
    found = served().get(group, {}).get(plural)
    return found.kind if found is not None else ""


_SHARED = {("", "events"): "events.k8s.io", ("events.k8s.io", "events"): ""}
"""Resources that are also served in another group."""


def equivalents(name: ResourceName, store: Store) -> tuple[ResourceName, ...]:
    """Return the other versions and groups in which the API server serves the same objects."""
    groups = {name.group}
    if (name.group, name.plural) in _SHARED:
        groups.add(_SHARED[name.group, name.plural])
    versions = [each for each in store.versions_of(name.kind) if each.rpartition("/")[0] in groups]
    found = []
    for each in versions:
        group, _, version = each.rpartition("/")
        if (group, version) != (name.group, name.version):
            found.append(name._replace(group=group, version=version))
    return tuple(found)
