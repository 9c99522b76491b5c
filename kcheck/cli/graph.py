"""`kcheck graph PATH...`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TextIO

import click

from kcheck.cli.checkout import require_output
from kcheck.cli.input import Input, checked, found_by, input_options, session_of
from kcheck.cli.output import publish
from kcheck.cli.selection import tell_failures
from kcheck.cli.settings import find_config
from kcheck.graph.graph import Graph
from kcheck.graph.relations import graph_of
from kcheck.graph.view import DEPTH, NotFound, around, of_kinds, of_namespaces
from kcheck.reporters.style import Style
from kcheck.rule.registry import Registry
from kcheck.text.record import NamedTuple

# Each is written by the module of its name.
_FORMATS = ("text", "json", "dot", "mermaid", "html")


@click.command(short_help="Draw how objects refer to each other.")
@click.option("--format", type=click.Choice(_FORMATS), default="text", help="[default: text]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the graph to a file, all at once.")
@click.option("--namespace", "-n", multiple=True, metavar="NAME", help="Only this namespace, and what belongs to none. Repeatable.")
@click.option("--kind", multiple=True, metavar="KIND", help="Only objects of this kind. Repeatable.")
@click.option("--focus", default="", metavar="KIND/NAME", help="Only what is near this object.")
@click.option("--depth", type=click.IntRange(min=0), default=DEPTH, metavar="N", help=f"How near, in edges. [default: {DEPTH}]")
@input_options
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Paint the text. [default: auto]")
def graph(**values: Any) -> None:
    """Draw how objects refer to each other: references, selectors, and what controllers make. '-' is standard input.

    Findings are shown at their objects and change nothing of the exit status: 0, or 2 where the graph could not be made.
    """
    given = Input.taken(values)
    flags = Flags(**values)
    registry = Registry.load()
    tell_failures(registry)
    require_output(flags.output)
    config = find_config(given.config, given.isolated, registry)
    session = session_of(given, config, registry)
    report = checked(given, found_by(given, config, session.budget), session, facts=True)
    drawn = _part(graph_of(report), flags)
    write: Callable[[Graph, TextIO, Style], None] = import_module(f"kcheck.graph.{flags.format}").write
    publish(flags.output, flags.color, lambda out, colour: write(drawn, out, Style(colour=colour)))
    broken = any(f.rule in ("internal-error", "unreadable-file") for f in report.findings)
    sys.exit(2 if registry.failures or broken else 0)


class Flags(NamedTuple):
    """The flags of this command alone, as click read them."""

    format: str
    output: str | None
    namespace: tuple[str, ...]
    kind: tuple[str, ...]
    focus: str
    depth: int
    color: str


def _part(drawn: Graph, flags: Flags) -> Graph:
    """The part that is asked for. Raises UsageError where there is none."""
    try:
        if flags.focus:
            drawn = around(drawn, flags.focus, flags.depth)
        if flags.namespace:
            drawn = of_namespaces(drawn, flags.namespace)
        if flags.kind:
            drawn = of_kinds(drawn, flags.kind)
    except NotFound as error:
        raise click.UsageError(str(error)) from None
    return drawn
