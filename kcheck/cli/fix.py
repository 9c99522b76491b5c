"""`kcheck fix PATH...`"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import click

from kcheck.cli.fixer import Fixer, Fixes
from kcheck.cli.input import Input, create_session, find_files, input_options
from kcheck.cli.output import diff, is_terminal, print_text
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import find_config
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.redaction.document_secrets import shown_text
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.text.edit import apply_edits

_ANSWERS = "y: apply this fix, n: skip it, a: apply it and all others, q: skip it and all others"


@click.command(short_help="Apply fixes to files.")
@input_options
@click.option("--unsafe", is_flag=True, help="Also apply fixes that may change the behavior of an object.")
@click.option("--ask", is_flag=True, help="Show each fix and ask whether to apply it. Requires a terminal.")
@click.option("--diff", is_flag=True, help="Print the changes as a diff, without changing any file.")
@click.option("--quiet", "-q", is_flag=True, help="Print no progress and no list of files.")
def fix(unsafe: bool, ask: bool, diff: bool, quiet: bool, **values: Any) -> None:
    """Apply the fixes of findings to YAML and JSON manifests.

    PATHS are files and folders (searched recursively). `kcheck rules` shows which rules have fixes.

    Exit status: 0 all fixes were applied, whatever findings remain, 2 a file could not be checked or fixed. With --diff, 1 means that there
    are changes.
    """
    if ask and not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise click.UsageError("--ask requires a terminal")
    if ask and diff:
        raise click.UsageError("--ask cannot be combined with --diff")
    inputs = Input.pop_from(values)
    registry = Registry.load()
    report_plugin_failures(registry)
    config = find_config(inputs.options, registry)
    session = create_session(inputs, config, registry)
    found = find_files(inputs, config, session.budget)
    fixer = Fixer(inputs, found, session, config, quiet, accept=_Questions().accept if ask else None)
    if diff:
        sys.exit(2 if registry.failures else fixer.show_diff(unsafe))
    with ExitStack() as drafts:
        fixes = fixer.fix_files(unsafe, drafts)
        complete = fixes.commit()
    if not quiet:
        _print_files(fixes)
    click.echo(fixes.summary("--unsafe"))
    sys.exit(0 if complete and not fixes.unchecked and not registry.failures else 2)


def _print_files(fixes: Fixes) -> None:
    glyphs = Glyphs.of(sys.stdout)
    for file in fixes.written:
        rules = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(file.rules.items()))
        click.echo(f"{glyphs.visible(file.source.path)}: {rules}")


class _Questions:
    """Asks before each fix."""

    def __init__(self) -> None:
        self._every: bool | None = None

    def accept(self, finding: Finding, fix: Fix, text: str) -> bool:
        """Show the fix of a finding and return whether to apply it."""
        if self._every is not None:
            return self._every
        glyphs, range = Glyphs.of(sys.stdout), finding.range
        click.echo(glyphs.visible(f"{finding.file}:{range.line}:{range.column}: {finding.rule}: {finding.concise}"))
        click.echo(glyphs.visible(f"{'fix' if fix.safe else 'unsafe fix'}: {fix.title}"))
        # The whole text is redacted, since a line may be part of a secret value that begins on another one.
        print_text(diff(finding.file, shown_text(finding.file, text), shown_text(finding.file, apply_edits(text, fix.edits))))
        while True:
            click.echo("Apply this fix? [y,n,a,q,?] ", nl=False)
            line = sys.stdin.readline()
            answer = line.strip().lower()[:1]
            if answer in ("a", "q") or not line:
                self._every = answer == "a"
                return self._every
            if answer in ("y", "n"):
                return answer == "y"
            click.echo(_ANSWERS)
