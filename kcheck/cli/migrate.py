"""`kcheck migrate FILE...`"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from kcheck.check.session import Session
from kcheck.cli.checkout import leads_out, require_output
from kcheck.cli.output import diff, print_text, written
from kcheck.cli.selection import tell_failures
from kcheck.cli.settings import Failure, find_config, make_stores
from kcheck.discovery.discover import Discovery, NoSuchPath, Target, UnreadablePath, discover
from kcheck.discovery.load import load_file
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


@click.command(short_help="Come over from kube-linter, kube-score, polaris or checkov.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--from", "tool", type=click.Choice(sorted(PEERS)), default=None, help="Whose config it is. [default: as its content says]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the config to a file that is not there yet.")
@click.option("--force", is_flag=True, help="Let --output replace a file.")
@click.option("--write", is_flag=True, help="Change the manifests instead of showing what would change.")
@click.option("--keep", is_flag=True, help="Leave the annotations of the other tools beside ours.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False), default=None, help="The config by which manifests are looked at.")
def migrate(paths: tuple[str, ...], tool: str | None, output: str | None, force: bool, write: bool, keep: bool, config: str | None) -> None:
    """Turn configs of other linters into a .kcheck.yaml, printed, and their ignores in manifests into ours, printed as a diff.

    kube-score has no config but its command line: a script that calls it, or  kcheck migrate --from kube-score -- ARGS.
    What has no counterpart is told on standard error.

    Exit status: 0 done, 2 it could not be made.
    """
    require_output(output)
    registry = Registry.load()
    tell_failures(registry)
    intake = Intake(ConfigDraft(Counterparts(registry)))
    if tool == "kube-score" and any(path.startswith("-") and path != "-" for path in paths):
        intake.command_line(paths, "the command line")
    else:
        _take(intake, paths, tool or "")
    if intake.draft.origins and intake.manifests and not (output or write):
        raise click.UsageError("a config and manifests at once: let one of them go elsewhere, with --output FILE or --write")
    _tell(intake.draft.settled())
    rewritten = _rewrite(intake, keep, config) if intake.concerns_manifests else []
    if intake.draft.origins:
        _write_config(config_text(intake.draft), output, force)
    elif output:
        raise click.UsageError("--output: there is no config among the files")
    for each in rewritten:
        if write:
            if each.source.path not in paths and (real := leads_out(each.source.path, paths)):
                raise Failure(f"kcheck: {each.source.path} is a link to {real}, outside the repository or current folder")
            with _writing(each.source.path), written(each.source.path) as out:
                out.buffer.write(each.source.encode(each.text))
        else:
            path = each.source.path
            print_text(diff(path, shown_text(path, each.source.text), shown_text(path, each.text)))
    sys.exit(2 if registry.failures else 0)


def _take(intake: Intake, paths: Sequence[str], tool: str) -> None:
    """Read the files, those of folders as far as they are of use. Raises ClickException for one that makes no sense."""
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
        raise click.UsageError("a manifest on standard input cannot be looked at twice: name the file")
    if unreadable := next(iter(found.unreadable), None):
        raise Failure(f"kcheck: {unreadable.file}: {unreadable.message}")


@dataclass(slots=True)
class _Rewritten:
    source: Source
    text: str


def _rewrite(intake: Intake, keep: bool, config: str | None) -> list[_Rewritten]:
    """The manifests that change, with their new text."""
    found = _finder(intake, config) if intake.manifests else None
    rewritten = []
    used = set()
    for source, documents in intake.manifests:
        assert found is not None
        manifest = Manifest(source, documents, intake.draft.counterparts, found, keep)
        text = manifest.rewritten(intake.exemptions)
        used |= manifest.used
        _tell(manifest.notes)
        if text != source.text:
            rewritten.append(_Rewritten(source, text))
    for exemption in intake.exemptions:
        if exemption not in used:
            where = "nothing of it is in these manifests" if intake.manifests else "name the manifests, too, to write it into them"
            _tell([Note(exemption.file, exemption.line, f"polaris {exemption}: kcheck says so at the objects: {where}")])
    return rewritten


def _finder(intake: Intake, config: str | None) -> Found:
    """What every rule there is finds in the manifests, with the options that hold here or will."""
    registry = intake.draft.counterparts.registry
    here = find_config(config, False, registry)
    rules = choose(registry, ("all",), (), merge(dict(here.settings), intake.draft.settings()))
    session = Session(registry, rules, make_stores("", (), here, registry), here.complete, schemas=(*registry.schemas, *here.schemas))
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
        raise click.UsageError(f"--output: {output} is there already: say --force to replace it")
    with _writing(output), written(output) as out:
        out.write(text)


class _writing:
    """Makes an OSError of writing a file one that is told in a line."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise Failure(f"kcheck: {self.path} cannot be written: {error.strerror or error}")


def _tell(notes: Sequence[Note]) -> None:
    glyphs = Glyphs.of(sys.stderr)
    for note in notes:
        click.echo(glyphs.visible(str(note)), err=True)
