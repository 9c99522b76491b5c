"""Objects that an older state of the input has and the input has not."""

from __future__ import annotations

from kcheck.facts.facts import Facts
from kcheck.kube.location import Location, ObjectId
from kcheck.text.record import NamedTuple


class RemovedObject(NamedTuple):
    """An object that is no longer in the input.

    Attributes:
        facts: the facts of the object in the older state.
        place: where reports show it: in its older file if that was removed, otherwise at the first object of the file.
        older_place: the location of the object in the older state. The file is named as in `origin/main:web.yaml`.
        state: the older state in words, such as "origin/main".
        successor: the new object that it seems to have been renamed to, None if there is none.
        is_kept: whether annotations prevent that the usual tools delete the object from the cluster.
        defines: the kind that a CustomResourceDefinition defines.
    """

    facts: Facts
    place: Location
    older_place: Location
    state: str
    successor: ObjectId | None = None
    is_kept: bool = False
    defines: str = ""

    @property
    def id(self) -> ObjectId:
        """The identity of the object."""
        return self.facts.id

    @property
    def title(self) -> str:
        """Kind and quoted name, such as `Deployment "web"`."""
        return self.facts.title
