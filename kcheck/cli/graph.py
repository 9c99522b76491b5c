"""`kcheck graph PATH...`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import click

from kcheck.cli.charts import helm_option
from kcheck.cli.checkout import require_output
from kcheck.cli.input import Input, check_input, create_session, find_files, input_options
from kcheck.cli.output import publish
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import find_config
from kcheck.graph.graph import Graph
from kcheck.graph.relations import graph_of
from kcheck.graph.view import DEPTH, NotFound, around, of_kinds, of_namespaces
from kcheck.reporters.style import Style
from kcheck.rule.registry import Registry

# Each format is implemented by the module kcheck.graph.FORMAT.
_FORMATS = ("text", "json", "dot", "mermaid", "html")


@click.command(short_help="Show the relations between objects as a graph.")
@click.option("--format", type=click.Choice(_FORMATS), default="text", help="Output format. [default: text]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the graph to a file instead of standard output.")
@click.option(
    "--namespace",
    "-n",
    multiple=True,
    metavar="NAME",
    help="Show only this namespace and the cluster-scoped objects connected to it. Repeatable.",
)
@click.option("--kind", multiple=True, metavar="KIND", help="Show only objects of this kind. Repeatable.")
@click.option("--focus", default="", metavar="KIND/NAME", help="Show only this object and the objects near it.")
@click.option(
    "--depth", type=click.IntRange(min=0), default=DEPTH, metavar="N", help=f"Maximum distance from --focus, in edges. [default: {DEPTH}]"
)
@helm_option
@input_options
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]")
def graph(**values: Any) -> None:
    """Show the relations between objects as a graph: references, selectors, service addresses, and objects that controllers create.

    PATHS are files, folders (searched recursively) or '-' for standard input. The graph includes findings, but they do not affect the exit
    status.

    Exit status: 0 success, 2 the graph could not be created.
    """
    inputs = Input.pop_from(values)._replace(baseline=None, no_baseline=True)
    flags = Flags(**values)
    registry = Registry.load()
    report_plugin_failures(registry)
    require_output(flags.output)
    config = find_config(inputs.options, registry)
    session = create_session(inputs, config, registry)
    report = check_input(inputs, find_files(inputs, config, session.budget), session, facts=True)
    drawn = _part(graph_of(report), flags)
    write: Callable[[Graph, TextIO, Style], None] = import_module(f"kcheck.graph.{flags.format}").write
    publish(flags.output, flags.color, lambda out, colour: write(drawn, out, Style(colour=colour)))
    broken = any(f.rule in ("internal-error", "unreadable-file") for f in report.findings)
    sys.exit(2 if registry.failures or broken else 0)


class Flags(NamedTuple):
    """The options of this command only, as parsed by click."""

    format: str
    output: str | None
    namespace: tuple[str, ...]
    kind: tuple[str, ...]
    focus: str
    depth: int
    color: str


def _part(drawn: Graph, flags: Flags) -> Graph:
    """Returns the part of the graph that the options select. Raises UsageError for unknown names."""
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
