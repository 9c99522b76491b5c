"""Rule for resource quantities with a wrong unit.

Source: the Kubernetes documentation page "Resource Management for Pods and Containers".
"""

from __future__ import annotations

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
_NUMBER = pattern(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)(m|[KMGTPE]i?)?")
# Fewer bytes are not even a page of memory; no node has as many cores.
_MIN_BYTES, _MAX_CORES = 1024, 1000


@rule(
    "wrong-resource-unit",
    "CPU or memory quantity has the wrong unit (such as memory: 128m)",
    severity=ERROR,
    groups=("resources",),
    fixable=True,
    types=_TYPES,
)
def resource_unit(owner: Node) -> Iterator[Problem]:
    """Yields a Problem for bytes in thousandths, for a few single bytes, and for CPU in millions.

    The suffix m means a thousandth: memory 128m is 0.128 bytes. CPU 256Mi is 268 million cores. Malformed quantities are left to
    another rule.
    """
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
    """The unit of a resource, "bytes" or "cores"; "" for another resource."""
    return "bytes" if _BYTES.fullmatch(name) else "cores" if _CPU.fullmatch(name) else ""


def _bytes(name: str, node: Node, text: str, amount: quantity.Quantity) -> Iterator[Problem]:
    value = amount.milli
    if not 0 < value < _MIN_BYTES * 1000:
        return
    count = -(-value // 1000)
    meaning = f"{count} byte{'' if count == 1 else 's'}{' (m means milli)' if text.endswith('m') else ''}"
    number = text.rstrip("m")
    fix = None
    if number.isdigit() and node.style == "":
        # Where keys are quoted the file may be JSON, in which strings need quotes.
        written = f'"{number}Mi"' if isinstance(node.key, Node) and node.key.style == '"' else f"{number}Mi"
        fix = Fix(f"replace {text} with {number}Mi", (Edit(node.start, node.end, written),), safe=False)
    yield Problem(node, f"{name}: {text} means {meaning}", help=_suggestion(text, "Mi") or "use a unit such as Mi", fix=fix)


def _cores(node: Node, text: str, amount: quantity.Quantity, owner: Node) -> Iterator[Problem]:
    if amount.scaled() < _MAX_CORES or "hard" in owner:
        return
    yield Problem(node, f"cpu: {text} means {amount.scaled()} cores", help=_suggestion(text, "m") or "use cores, such as 500m or 2")


def _suggestion(text: str, unit: str) -> str:
    """Asks for the same number with another unit; "" where it cannot be read from the text."""
    match = _NUMBER.fullmatch(text)
    return f"did you mean {match[1]}{unit}?" if match is not None else ""
