"""The option for the program that renders charts, and notes of commands that render none."""

from __future__ import annotations

import os
import posixpath

import click

from kcheck.cli.options import option
from kcheck.discovery.discover import Discovery
from kcheck.helm.settings import Helm
from kcheck.text.words import counted


def _absolute(context: click.Context, parameter: click.Parameter, path: str) -> str:
    if path in ("", "off"):
        return path
    if not os.access(path, os.X_OK):
        raise click.UsageError(f"--helm: {path} is not a program")
    # Earlier revisions are checked in another folder.
    return os.path.abspath(path)


helm_option = option(
    "--helm",
    default="",
    metavar="PATH",
    callback=_absolute,
    help="Render charts with this program, or off to skip charts. [default: helm in PATH]",
)


def state_of_helm(helm: Helm | None) -> str:
    """Return a text that changes when another program renders charts."""
    if helm is None:
        return ""
    from kcheck.helm.program import find_program, program_state

    program = find_program() if helm.program is None else helm.program
    return program_state(program) if program else "none"


def note_unrendered_charts(found: Discovery, why: str) -> None:
    """Print how many charts of an input are not rendered. `why`: such as "kcheck diff does not render charts"."""
    number = sum(posixpath.basename(target.path) == "Chart.yaml" for target in found.targets)
    if number:
        click.echo(f"kcheck: {counted(number, 'chart')} skipped: {why}", err=True)
