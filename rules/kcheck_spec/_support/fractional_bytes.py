"""The warning of the API server about quantities that are not an integer number of bytes."""

from __future__ import annotations

from kcheck.api import Edit, Fix, Node, Problem, pattern

_MILLI = pattern(r"\+?(\d+)m")
_BARE = pattern(r"\+?(\d*\.\d*[1-9])")


def fractional_bytes(node: Node, name: str) -> Problem:
    """The problem of a quantity with a fraction of a byte. `name`: the resource, as the message names it."""
    written = str(node.value)
    milli, bare = _MILLI.fullmatch(written), _BARE.fullmatch(written)
    meant = f"{milli[1]}Mi" if milli else f"{bare[1]}Gi" if bare else ""
    unit = ' ("m" is milli)' if milli else ""
    fix = None
    if meant and node.style == "" and node.end - node.start == len(written) and not (isinstance(node.key, Node) and node.key.style == '"'):
        fix = Fix(f"replace {written} with {meant}", (Edit(node.start, node.end, meant),), safe=False)
    help = f"did you mean {meant}?" if meant else "use an integer number of bytes"
    return Problem(node, f"{name}: {written} is not an integer number of bytes{unit}", help=help, fix=fix)
