"""Relations between the objects of an input, for expressions that know them. Their first argument answers all of them."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.values.values import EvaluationError, Opaque, Value

TYPE = "kcheck.Relations"
NAMES = ("podsOf", "servicesOf", "references", "referencedBy", "ownerOf", "namespaceOf")


class RelationSource(Opaque):
    """Answers which objects are related to an object."""

    __slots__ = ()

    cel_type = TYPE

    def related(self, relation: str, object: Value) -> Value:
        """Return the related objects in JSON. `relation`: one of NAMES. Raises EvaluationError."""
        raise EvaluationError(f"{relation} is not available here")


def _relation(name: str) -> Callable[..., Value]:
    def related(source: RelationSource, object: Value) -> Value:
        return source.related(name, object)

    return related


FUNCTIONS: dict[str, Callable[..., Value]] = {name: _relation(name) for name in NAMES}
