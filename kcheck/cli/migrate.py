"""`kcheck migrate FILE...`"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from kcheck.check.time_limit import use_signals
from kcheck.cli.checkout import leads_out, require_output
from kcheck.cli.output import diff, print_text, written
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import Failure, find_config, reported_errors
from kcheck.discovery.discover import Discovery, NoSuchPath, Target, UnreadablePath, discover
from kcheck.discovery.load import load_file
from kcheck.engine.options import CheckOptions
from kcheck.engine.settings import create_session
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.input import Intake, Unrecognised
from kcheck.migration.manifest import Found, Manifest
from kcheck.migration.note import Note
from kcheck.migration.tools import PEERS
from kcheck.migration.writing import config_text
from kcheck.redaction.document_secrets import shown_text
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose, merge
from kcheck.run.run import run_pipeline
from kcheck.text.source import Source
from kcheck.text.span import Span


@click.command(short_help="Migrate from kube-linter, kube-score, Polaris or Checkov.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--from",
    "tool",
    type=click.Choice(sorted(PEERS)),
    default=None,
    help="The tool that the config belongs to. [default: detected from its content]",
)
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the config to a new file instead of standard output.")
@click.option("--force", is_flag=True, help="Allow --output to overwrite an existing file.")
@click.option("--write", is_flag=True, help="Rewrite the manifests instead of printing a diff.")
@click.option("--keep", is_flag=True, help="Keep the annotations of the other tools.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    help="Use this config file to check the manifests instead of searching for .kcheck.yaml.",
)
def migrate(paths: tuple[str, ...], tool: str | None, output: str | None, force: bool, write: bool, keep: bool, config: str | None) -> None:
    """Migrate from kube-linter, kube-score, Polaris or Checkov.

    FILEs are configs and manifests. A config is converted to .kcheck.yaml and printed. In manifests, the ignore annotations of the other
    tool are replaced by those of kcheck, and the changes are printed as a diff. Settings without an equivalent in kcheck are reported on
    standard error.

    kube-score has no config file, only command line arguments. Pass a script that calls kube-score, or run
    'kcheck migrate --from kube-score -- ARGS'.

    Exit status: 0 success, 2 the migration failed.
    """
    require_output(output)
    registry = Registry.load()
    report_plugin_failures(registry)
    intake = Intake(ConfigDraft(Counterparts(registry)))
    if tool == "kube-score" and any(path.startswith("-") and path != "-" for path in paths):
        intake.command_line(paths, "the command line")
    else:
        _read_files(intake, paths, tool or "")
    if intake.draft.origins and intake.manifests and not (output or write):
        raise click.UsageError("a config and manifests cannot both be printed to standard output; add --output FILE or --write")
    _print_notes(intake.draft.settled())
    rewritten = _rewrite_manifests(intake, keep, config) if intake.concerns_manifests else []
    if intake.draft.origins:
        _write_config(config_text(intake.draft), output, force)
    elif output:
        raise click.UsageError("--output: none of the files is a config")
    for each in rewritten:
        if write:
            if each.source.path not in paths and (real := leads_out(each.source.path, paths)):
                raise Failure(f"kcheck: {each.source.path} is a symbolic link to {real}, outside the repository or current folder")
            with _report_write_errors(each.source.path), written(each.source.path) as out:
                out.buffer.write(each.source.encode(each.text))
        else:
            path = each.source.path
            print_text(diff(path, shown_text(path, each.source.text), shown_text(path, each.text)))
    sys.exit(2 if registry.failures else 0)


def _read_files(intake: Intake, paths: Sequence[str], tool: str) -> None:
    """Reads the files. Unrecognized files in folders are skipped; for those named by the user ClickException is raised."""
    try:
        found = discover(paths)
    except NoSuchPath as error:
        raise click.UsageError("\n".join(error.messages)) from None
    for target in found.targets:
        source = load_file(target, stdin=sys.stdin.buffer if target.stdin else None)
        if isinstance(source, UnreadablePath):
            raise Failure(f"kcheck: {source.file}: {source.message}")
        try:
            intake.file(source, tool if target.named else "")
        except Unrecognised as error:
            if target.named:
                raise Failure(f"kcheck: {error}") from None
    if any(source.path == "<stdin>" for source, _ in intake.manifests):
        raise click.UsageError("manifests cannot be read from standard input, as they are read twice; pass the file")
    if unreadable := next(iter(found.unreadable), None):
        raise Failure(f"kcheck: {unreadable.file}: {unreadable.message}")


@dataclass(slots=True)
class _Rewritten:
    source: Source
    text: str


def _rewrite_manifests(intake: Intake, keep: bool, config: str | None) -> list[_Rewritten]:
    """Returns the manifests that change, with their new text."""
    found = _rules_by_span(intake, config) if intake.manifests else None
    rewritten = []
    used = set()
    for source, documents in intake.manifests:
        assert found is not None
        manifest = Manifest(source, documents, intake.draft.counterparts, found, keep)
        text = manifest.rewritten(intake.exemptions)
        used |= manifest.used
        _print_notes(manifest.notes)
        if text != source.text:
            rewritten.append(_Rewritten(source, text))
    for exemption in intake.exemptions:
        if exemption not in used:
            where = "it matches no object in these manifests" if intake.manifests else "pass the manifests as well to convert it"
            _print_notes([Note(exemption.file, exemption.line, f"polaris {exemption}: kcheck ignores findings in manifests only; {where}")])
    return rewritten


def _rules_by_span(intake: Intake, config: str | None) -> Found:
    """Returns a function that looks up the rules with findings in a span of a file. All rules are applied, with the options of the current
    and the new config.
    """
    registry = intake.draft.counterparts.registry
    options = CheckOptions(config=config)
    current = find_config(options, registry)
    rules = choose(registry, ("all",), (), merge(dict(current.settings), intake.draft.settings()))
    with reported_errors():
        use_signals()
        session = create_session(options, current._replace(overrides=()), registry)
    session.rules = rules
    report = run_pipeline(Discovery([Target(source.path, True) for source, _ in intake.manifests]), session)
    places: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for finding in report.findings:
        places[finding.file].append((finding.place.start, finding.rule))

    def found(file: str, span: Span) -> frozenset[str]:
        return frozenset(rule for start, rule in places[file] if span.start <= start < max(span.end, span.start + 1))

    return found


def _write_config(text: str, output: str | None, force: bool) -> None:
    if output is None:
        print_text(text)
        return
    if os.path.lexists(output) and not force:
        raise click.UsageError(f"--output: {output} already exists; use --force to overwrite it")
    with _report_write_errors(output), written(output) as out:
        out.write(text)


class _report_write_errors:
    """Context manager that turns an OSError into a Failure that names the file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise Failure(f"kcheck: {self.path} cannot be written: {error.strerror or error}")


def _print_notes(notes: Sequence[Note]) -> None:
    glyphs = Glyphs.of(sys.stderr)
    for note in notes:
        click.echo(glyphs.visible(str(note)), err=True)
