"""Finds the older version of an object: the one of the same group, kind, namespace and name, if possible in the same file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kcheck.changes.old_files import OldFiles
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.object_change import OlderObject
from kcheck.kube.resource import Resource, resources
from kcheck.schema.locator import Locator
from kcheck.text.digest import digest_of_parts
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

_FORMER_GROUPS = {
    ("extensions", "DaemonSet"): "apps",
    ("extensions", "Deployment"): "apps",
    ("extensions", "ReplicaSet"): "apps",
    ("extensions", "Ingress"): "networking.k8s.io",
    ("extensions", "NetworkPolicy"): "networking.k8s.io",
    ("extensions", "PodSecurityPolicy"): "policy",
    ("events.k8s.io", "Event"): "",
}
"""The group in which the API server stores the objects of a kind that several groups serve."""

_WORD = pattern(r"\w+")

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name."""

ANY_NAMESPACE = "*"
"""The namespace in the identity of the first object of a file with its name, in any namespace."""


class OldObjects:
    """The objects of an older state of the input.

    Files are parsed when they are needed: a file whose text did not change contains no changed object, and a file that does not contain the
    name of an object does not contain the object.
    """

    def __init__(self, files: OldFiles) -> None:
        self._files = files
        self._parsed: dict[str, dict[Identity, OlderObject]] = {}
        self._paths_by_word: dict[str, list[str]] | None = None
        self._digest = b""
        self._last: tuple[Source, bool] | None = None

    @property
    def files(self) -> OldFiles:
        """The files that contain the objects."""
        return self._files

    @property
    def digest(self) -> bytes:
        """A digest of everything that findings about changes depend on: the content of all files."""
        if not self._digest:
            sources = [(path, self._files.read(path)) for path in self._files.paths]
            parts = [part for path, source in sources if source is not None for part in (path, source.path, source.text)]
            self._digest = digest_of_parts(*(part.encode("utf-8", "surrogatepass") for part in (self._files.state, *parts)))
        return self._digest

    def is_unchanged(self, source: Source) -> bool:
        """Return whether a file has the same text as its counterpart."""
        # Asked for every document of a file.
        if self._last is None or self._last[0] is not source:
            self._last = source, self._files.is_unchanged(source)
        return self._last[1]

    def find(self, resource: Resource) -> OlderObject | None:
        """Return the older version of an object, None if the object is new or has not changed."""
        found = self.match(resource)
        return None if found is None or _text_of(found.resource) == _text_of(resource) else found

    def match(self, resource: Resource) -> OlderObject | None:
        """Return the older version of an object, None if the object is new."""
        if not resource.name:
            return None
        identity = identity_of(resource)
        return self._search(identity, resource) or self._search((*identity[:2], ANY_NAMESPACE, identity[3]), resource)

    def _search(self, identity: Identity, resource: Resource) -> OlderObject | None:
        for path in self._candidates(resource):
            source = self._files.read(path)
            if source is not None and (path in self._parsed or resource.name in source.text):
                found = self._objects_in(path, source).get(identity)
                if found is not None and _may_be_same(found.resource, resource):
                    return found
        return None

    def _candidates(self, resource: Resource) -> Iterator[str]:
        """Yield the old files that may contain an object, beginning with the counterpart of its file."""
        first = self._files.counterpart(resource.document.source.path)
        if first is not None:
            yield first
        words = _WORD.findall(resource.name)
        yield from (each for each in (self._paths_with(words[0]) if words else self._files.paths) if each != first)

    def _paths_with(self, word: str) -> Sequence[str]:
        """Return the old files that contain a word. All are read at the first call, because each new object is searched in all of them."""
        if self._paths_by_word is None:
            found = defaultdict(list)
            for path in self._files.paths:
                source = self._files.read(path)
                for each in set(_WORD.findall(source.text)) if source is not None else ():
                    found[each].append(path)
            self._paths_by_word = found
        return self._paths_by_word.get(word, ())

    def _objects_in(self, path: str, source: Source) -> dict[Identity, OlderObject]:
        if path not in self._parsed:
            found: dict[Identity, OlderObject] = {}
            for document in parse(source):
                if document.fault is None:
                    for resource in resources(document):
                        older = OlderObject(resource, self._files.state, _place_of(resource))
                        identity = identity_of(resource)
                        found.setdefault(identity, older)
                        found.setdefault((*identity[:2], ANY_NAMESPACE, identity[3]), older)
            self._parsed[path] = found
        return self._parsed[path]


def identity_of(resource: Resource) -> Identity:
    """Return what identifies an object in a cluster."""
    return stored_group(resource.group, resource.kind), resource.kind, resource.namespace, resource.name


def stored_group(group: str, kind: str) -> str:
    """Return the API group in which the API server stores the objects of a kind, if several groups serve it."""
    return _FORMER_GROUPS.get((group, kind), group)


def _may_be_same(old: Resource, new: Resource) -> bool:
    """Return whether the namespaces do not differ. A manifest without one gets it from kubectl or kustomize."""
    return not old.namespace or not new.namespace or old.namespace == new.namespace


def _text_of(resource: Resource) -> str:
    return resource.document.source.text[resource.node.start : resource.node.end]


def _place_of(resource: Resource) -> Location:
    locator = Locator(resource.document, resource)
    locator.id = ObjectId(resource.api_version, resource.kind, resource.namespace, resource.name)
    return locator.place(resource.node)
