"""The modules that implement the libraries of `kcheck.cel.language.declarations`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from kcheck.cel.values.values import Value

_MODULES = {
    "standard": "conversions", "times": "times", "strings": "strings", "formatting": "formatting", "regexes": "regexes", "urls": "urls",
    "lists": "lists", "optionals": "optionals", "sets": "lists", "authorization": "authorization", "quantities": "quantities",
    "addresses": "addresses", "formats": "formats", "semvers": "semvers", "jsonpatch": "strings",
    "relations": "relations",
}  # fmt: skip


def functions(library: str) -> dict[str, Callable[..., Value]]:
    """Return the functions of a library by overload id; the module is imported when an expression first needs it."""
    found: dict[str, Callable[..., Value]] = import_module(f"kcheck.cel.library.{_MODULES[library]}").FUNCTIONS
    return found
