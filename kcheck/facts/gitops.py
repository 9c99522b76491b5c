"""What an object of Argo CD or Flux says of where manifests come from and where they go."""

from __future__ import annotations

from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple


class Origin(NamedTuple):
    """A repository, and the folder in it ("" where none is named). Of a project: patterns."""

    repository: str
    path: str
    place: Location


class Goal(NamedTuple):
    """A namespace of a cluster, which is known by its address or its name. Of a project: patterns."""

    server: str
    cluster: str
    namespace: str
    place: Location


class Delivery(NamedTuple):
    """Of an Application or a Kustomization of Flux what it delivers; of an AppProject what its Applications may."""

    origins: tuple[Origin, ...] = ()
    goals: tuple[Goal, ...] = ()
