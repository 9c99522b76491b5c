"""`kcheck baseline create` and `kcheck baseline update`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import click

from kcheck.baseline.baseline import Baseline, Entry, Root, entries_of, expanded, fingerprints_of
from kcheck.baseline.file import BadBaseline, baseline_text, read_baseline
from kcheck.check.time_limit import Budget
from kcheck.cli.baseline_search import path_of_baseline
from kcheck.cli.charts import helm_option, note_unrendered_charts
from kcheck.cli.checkout import leads_out
from kcheck.cli.input import Input, check_input, create_session, find_files, input_options, without_baseline
from kcheck.cli.output import written
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import Failure, find_config
from kcheck.config.config import Config
from kcheck.finding.finding import Finding
from kcheck.finding.fingerprint import Fingerprint
from kcheck.finding.report import BaselineCoverage
from kcheck.finding.severity import Severity
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS
from kcheck.text.words import counted

_QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but warnings.")


@click.group(short_help="Accept the current findings, so that only new ones are reported.", invoke_without_command=True)
@click.pass_context
def baseline(context: click.Context) -> None:
    """Accept the current findings of a project, so that kcheck check reports only new ones. Without a command, create the baseline.

    The baseline is the file .kcheck-baseline.json next to the config or in the root of the repository, or the file in --baseline or in the
    key baseline of the config. Commit it.
    """
    if context.invoked_subcommand is None:
        create.invoke(create.make_context("create", [], parent=context))


@baseline.command(short_help="Write the current findings to the baseline.")
@click.option("--force", is_flag=True, help="Replace an existing baseline.")
@click.option("--add-ignores", is_flag=True, help="Add ignore comments to the files instead, and write no baseline.")
@click.option("--reason", default="", metavar="TEXT", help="Reason in the comments of --add-ignores.")
@_QUIET
@helm_option
@input_options
def create(force: bool, add_ignores: bool, reason: str, quiet: bool, **values: Any) -> None:
    """Write the current findings to the baseline. PATHS are files and folders. [default: the current folder]

    Findings about files that cannot be read or parsed are always reported, so they are not in the baseline.

    Exit status: 0 success, 2 the baseline could not be written.
    """
    project = _Project.of(values)
    if add_ignores:
        from kcheck.cli.add_ignores import add_ignore_comments

        # The comments of a template depend on its text, not only on what it renders.
        note_unrendered_charts(find_files(project.inputs, project.config, Budget()), "add ignore comments to templates by hand")
        sys.exit(add_ignore_comments(project.inputs._replace(helm="off"), project.config, project.registry, reason, quiet))
    if reason:
        raise click.UsageError("--reason requires --add-ignores")
    if os.path.lexists(project.path) and not force:
        raise Failure(f"kcheck: {project.path} already exists; use kcheck baseline update, or --force to replace it")
    found = project.check(Baseline(project.root, ()), quiet).new
    least = Severity.parse(project.inputs.severity)
    entries = entries_of(fingerprints_of((f for f in _coverable(found) if f.severity >= least), project.root))
    project.write(entries)
    _warn_unreadable(found)
    if not quiet:
        click.echo(f"Wrote {counted(_size(entries), 'finding')} to {_shown(project.path)}.")


@baseline.command(short_help="Remove findings that no longer occur from the baseline.")
@click.option("--add-new", is_flag=True, help="Also add findings that are not in the baseline.")
@_QUIET
@helm_option
@input_options
def update(add_new: bool, quiet: bool, **values: Any) -> None:
    """Remove findings that no longer occur from the baseline, and update those whose file, object or text has changed.

    PATHS are files and folders [default: the current folder]. Findings of other files and of rules that --select or --ignore turns off are
    kept. New findings are added only with --add-new.

    Exit status: 0 success, 2 the baseline could not be updated.
    """
    project = _Project.of(values)
    try:
        old = read_baseline(project.path)
    except BadBaseline as error:
        raise Failure(f"kcheck: baseline: {error}") from None
    coverage = project.check(old, quiet)
    known, new = (fingerprints_of(_coverable(found), project.root) for found in (coverage.known, coverage.new))
    kept = coverage.unchecked + (coverage.disabled if project.is_selective else [])
    entries = entries_of([*kept, *known, *(new if add_new else [])])
    _warn_unreadable(coverage.new)
    if entries != entries_of(expanded(old.entries)) or len(entries) != len(old.entries):
        project.write(entries)
    if not quiet:
        removed = old.size - len(kept) - len(known)
        _print_changes(project.path, entries, _Changes(removed, _changed(old.entries, known), len(new), add_new))


class _Project(NamedTuple):
    """A project and its baseline file."""

    inputs: Input
    registry: Registry
    config: Config
    path: str

    @classmethod
    def of(cls, values: dict[str, Any]) -> _Project:
        inputs = Input.pop_from(values)
        if inputs.no_baseline:
            raise click.UsageError("--no-baseline cannot be combined with kcheck baseline")
        if "-" in inputs.paths:
            raise click.UsageError("a baseline needs files, not standard input")
        registry = Registry.load()
        report_plugin_failures(registry)
        config = find_config(inputs.options, registry)
        path = path_of_baseline(inputs.baseline, inputs.isolated, config)
        inputs = inputs._replace(baseline=None, no_baseline=True)
        return cls(inputs, registry, config, path)

    @property
    def root(self) -> Root:
        return Root.of(os.path.dirname(self.path) or ".")

    @property
    def is_selective(self) -> bool:
        """Whether the rules differ from those of the config."""
        return bool(self.inputs.select or self.inputs.ignore or self.inputs.preset)

    def check(self, known: Baseline, quiet: bool) -> BaselineCoverage:
        """Returns how all findings relate to a baseline."""
        session = create_session(self.inputs, self.config, self.registry)
        session.baseline = known
        found = without_baseline(find_files(self.inputs, self.config, session.budget), self.path)
        report = check_input(self.inputs, found, session, quiet)
        assert report.coverage is not None
        return report.coverage

    def write(self, entries: Sequence[Entry]) -> None:
        """Writes the baseline. Raises Failure."""
        if real := leads_out(self.path):
            raise Failure(f"kcheck: {self.path} is a symbolic link to {real}, outside the repository or current folder")
        try:
            with written(self.path) as out:
                out.write(baseline_text(entries))
        except OSError as error:
            raise Failure(f"kcheck: {self.path} cannot be written: {error.strerror or error}") from None


class _Changes(NamedTuple):
    """Numbers of findings that `update` removed, whose line changed, and that are new. `added`: whether the new ones were added."""

    removed: int
    changed: int
    new: int
    added: bool


def _print_changes(path: str, entries: Sequence[Entry], changes: _Changes) -> None:
    parts = [
        f"{counted(number, 'finding')} {what}"
        for number, what in ((changes.removed, "removed"), (changes.changed, "changed"), (changes.new if changes.added else 0, "added"))
        if number
    ]
    if parts:
        click.echo(f"Updated {_shown(path)}: {', '.join(parts)}. It contains {counted(_size(entries), 'finding')}.")
    else:
        click.echo(f"{_shown(path)} is up to date. It contains {counted(_size(entries), 'finding')}.")
    if changes.new and not changes.added:
        click.echo(f"{counted(changes.new, 'new finding')} not added; fix or suppress them, or use --add-new.", err=True)


def _changed(old: Iterable[Entry], known: Iterable[Fingerprint]) -> int:
    """Returns the number of known findings that have another fingerprint than before."""
    return (Counter(known) - Counter(expanded(old))).total()


def _coverable(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule not in ALWAYS]


def _warn_unreadable(findings: Sequence[Finding]) -> None:
    """Reports the findings that cannot be in a baseline."""
    glyphs = Glyphs.of(sys.stderr)
    for finding in findings:
        if finding.rule in ALWAYS:
            place = f"{finding.file}:{finding.range.line}"
            click.echo(glyphs.visible(f"kcheck: not in the baseline: {place}: {finding.rule}: {finding.message}"), err=True)
    if any(finding.rule in ALWAYS for finding in findings):
        click.echo("kcheck: fix these files, or exclude them in the config", err=True)


def _size(entries: Iterable[Entry]) -> int:
    return sum(entry.times for entry in entries)


def _shown(path: str) -> str:
    return Glyphs.of(sys.stdout).visible(path)
