"""A report in the forms that people, editors and CI read. Each reporter is a function (Report, TextIO, Style) -> None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TextIO

from kcheck.finding.report import Report
from kcheck.kube.suggestion import nearest
from kcheck.reporters.style import PLAIN, Style

__all__ = ["PLAIN", "REPORTERS", "Reporter", "Style", "UnknownFormat", "reporter"]

Reporter = Callable[[Report, TextIO, Style], None]

REPORTERS: dict[str, str] = {
    "text": "kcheck.reporters.text",
    "concise": "kcheck.reporters.concise",
    "json": "kcheck.reporters.json",
    "sarif": "kcheck.reporters.sarif",
    "github": "kcheck.reporters.github",
}
"""Built-in formats and their modules, in the order that help tells them."""


class UnknownFormat(ValueError):
    """A format that neither kcheck nor a plug-in has; the message says what there is."""


def reporter(name: str, added: Mapping[str, Reporter] | None = None) -> Reporter:
    """The function that writes a format; its module is imported now and not before. `added`: what plug-ins give, by format.

    A built-in format cannot be replaced: CI relies on its form. Raises UnknownFormat.
    """
    if name in REPORTERS:
        found: Reporter = import_module(REPORTERS[name]).write
        return found
    formats = [*REPORTERS, *sorted(added or ())]
    if added is None or name not in added:
        near = nearest(name, formats)
        hint = f": did you mean {near}?" if near else f": there are {', '.join(formats)}"
        raise UnknownFormat(f"no format {name!r}{hint}")
    return added[name]
