"""`kcheck files PATH...`"""

from __future__ import annotations

import json
from typing import Any, TextIO

import click

from kcheck.check.session import Session
from kcheck.cli.checkout import require_output
from kcheck.cli.input import Input, create_session, find_files, input_options, read_roles
from kcheck.cli.output import publish
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import find_config
from kcheck.finding.role import SKIPPED
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.run.run import FileRole

VERSION = 1
"""Version of the JSON format. Increased when a field is removed or changes its meaning, not when a field is added."""


@click.command(short_help="Show the role and deployment unit of each file.")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="Output format. [default: text]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the list to a file instead of standard output.")
@input_options
def files(format: str, output: str | None, **values: Any) -> None:
    """Show the role of each file, the reason, which rules apply to it, and its deployment unit.

    PATHS are files, folders (searched recursively) or '-' for standard input. Rules do not run.

    Exit status: 0 success, 2 the files could not be read.
    """
    inputs = Input.pop_from(values)._replace(baseline=None, no_baseline=True)
    registry = Registry.load()
    report_plugin_failures(registry)
    require_output(output)
    config = find_config(inputs.options, registry)
    session = create_session(inputs, config, registry)
    found = read_roles(inputs, find_files(inputs, config, session.budget), session)
    write = _write_json if format == "json" else _write_text

    def write_list(out: TextIO, colour: bool) -> None:
        write(found, session, out)

    publish(output, "never", write_list)


def _rules_of(role: str, session: Session) -> str:
    """Returns which rules apply to files with a role: all, some or none."""
    if role in SKIPPED:
        return "none"
    return "some" if session.is_limited(role) else "all"


def _write_json(found: list[FileRole], session: Session, out: TextIO) -> None:
    rows = [
        {
            "file": file,
            "role": role.name,
            "rules": _rules_of(role.name, session),
            "reason": role.reason,
            "unit": None if unit is None else {"kind": unit.kind, "path": unit.path},
        }
        for file, role, unit in found
    ]
    json.dump({"version": VERSION, "files": rows}, out, indent=2)
    out.write("\n")


def _write_text(found: list[FileRole], session: Session, out: TextIO) -> None:
    glyphs = Glyphs.of(out)
    rows = [
        (role.name, _rules_of(role.name, session), *map(glyphs.visible, (file, "-" if unit is None else unit.title, role.reason)))
        for file, role, unit in found
    ]
    titles = ("ROLE", "RULES", "FILE", "UNIT", "REASON")
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles) - 1)]
    for row in (titles, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        out.write("  ".join((*cells, row[-1])) + "\n")
