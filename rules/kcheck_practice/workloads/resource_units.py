"""Amounts of resources in a unit that nobody means. Source: the documentation's page "Resource Management for Pods and Containers"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kcheck.api import ERROR, Edit, Fix, Node, Problem, pattern, quantity, rule

_TYPES = (
    "core/v1 ResourceRequirements", "core/v1 VolumeResourceRequirements", "core/v1 LimitRangeItem", "core/v1 ResourceQuotaSpec",
    "core/v1 EmptyDirVolumeSource",
)  # fmt: skip
_LISTS = ("requests", "limits", "min", "max", "default", "defaultRequest", "hard")
_BYTES = pattern(r"(?:(?:requests|limits)\.)?(?:memory|storage|ephemeral-storage|hugepages-.+)|sizeLimit")
_CPU = pattern(r"(?:(?:requests|limits)\.)?cpu")
# Less than this many bytes holds no page of memory and no file; more than this many cores has no node.
_FEWEST_BYTES, _MOST_CORES = 1024, 1000


@rule(
    "wrong-resource-unit",
    "CPU or memory quantity has the wrong unit (such as memory: 128m)",
    severity=ERROR,
    groups=("resources",),
    fixable=True,
    types=_TYPES,
)
def resource_unit(owner: Node) -> Iterator[Problem]:
    """`m` is a thousandth: 128m of memory is an eighth of a byte. 256Mi of CPU are 268 million cores."""
    amounts = [*owner.entries, *(entry for name in _LISTS for entry in owner[name].entries)]
    for name, node in amounts:
        unit = _unit(name)
        if not unit or not isinstance(node.value, (str, int, float)):
            continue
        text = str(node.value)
        try:
            amount = quantity.parse(text)
        except quantity.BadQuantity:
            continue
        yield from _bytes(name, node, text, amount) if unit == "bytes" else _cores(node, text, amount, owner)


@lru_cache(maxsize=256)
def _unit(name: str) -> str:
    """What the amounts of a resource are counted in, "" where nobody knows."""
    return "bytes" if _BYTES.fullmatch(name) else "cores" if _CPU.fullmatch(name) else ""


def _bytes(name: str, node: Node, text: str, amount: quantity.Quantity) -> Iterator[Problem]:
    value = amount.milli
    if not 0 < value < _FEWEST_BYTES * 1000:
        return
    number = text.rstrip("m")
    what = "thousandths of a byte" if text.endswith("m") else "single bytes"
    fix = None
    if number.isdigit() and node.style == "":
        # Where keys are quoted it may be JSON, which knows no bare texts.
        written = f'"{number}Mi"' if isinstance(node.key, Node) and node.key.style == '"' else f"{number}Mi"
        fix = Fix(f"write {number}Mi", (Edit(node.start, node.end, written),), safe=False)
    yield Problem(node, f"{name} {text} counts {what}", help=f"write {number}Mi for mebibytes", fix=fix)


def _cores(node: Node, text: str, amount: quantity.Quantity, owner: Node) -> Iterator[Problem]:
    if amount.scaled() < _MOST_CORES or "hard" in owner:
        return
    number = re.match(r"[0-9.]*", text)
    yield Problem(
        node, f"cpu {text} means {amount.scaled()} cores", help=f"write {(number[0] if number else '')}m for thousandths of a core"
    )
