"""The order of built objects (`sortOptions`)."""

from __future__ import annotations

from kcheck.kustomize.identity import FIRST, LAST, rank, written
from kcheck.kustomize.item import Item
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node


def ordered(items: list[Item], options: Node) -> list[Item]:
    """Objects in the order of the setting; without one, kinds that others need come first. Raises BadInput."""
    order = options["order"].text
    if options and order not in ("fifo", "legacy"):
        raise BadInput(f"sortOptions.order {order!r} is neither fifo nor legacy", options)
    if order == "fifo":
        if options["legacySortOptions"]:
            raise BadInput("sortOptions.legacySortOptions needs order: legacy", options["legacySortOptions"])
        return items
    legacy = options["legacySortOptions"]
    first = [node.text for node in legacy["orderFirst"]] if legacy else FIRST
    last = [node.text for node in legacy["orderLast"]] if legacy else LAST

    def key(item: Item) -> tuple[int, str, str, str, str]:
        id = item.id
        gvk = id.gvk
        kind = f"{gvk.kind}.{gvk.version or '[noVer]'}.{gvk.group or '[noGrp]'}"
        return rank(gvk.kind, first, last), written(gvk), kind, id.namespace or "~X", id.name

    return sorted(items, key=key)
