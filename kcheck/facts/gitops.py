"""Sources and destinations of manifests in objects of Argo CD and Flux."""

from __future__ import annotations

from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple


class Origin(NamedTuple):
    """A source of manifests. For an AppProject, the values are patterns.

    Attributes:
        repository: URL of the repository.
        path: folder in the repository, "" if not set.
        place: location of the field.
    """

    repository: str
    path: str
    place: Location


class Goal(NamedTuple):
    """A destination of manifests. For an AppProject, the values are patterns.

    Attributes:
        server: URL of the cluster.
        cluster: name of the cluster.
        namespace: namespace in the cluster.
        place: location of the field.
    """

    server: str
    cluster: str
    namespace: str
    place: Location


class Delivery(NamedTuple):
    """Sources and destinations of an Application or Flux Kustomization; for an AppProject, those that its Applications may use."""

    origins: tuple[Origin, ...] = ()
    goals: tuple[Goal, ...] = ()
