"""`kcheck check --shard I/N`: checks a part of the input, for `kcheck merge`."""

from __future__ import annotations

import re
from typing import TextIO

import click

from kcheck.baseline.baseline import Baseline
from kcheck.check.session import Session
from kcheck.check.session_spec import SessionSpec, session_spec_of
from kcheck.cli.input import Input, check_share
from kcheck.cli.output import publish
from kcheck.cli.reporting import Reporting
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery
from kcheck.shards.files import Head, write_shard
from kcheck.shards.selection import Share

_MAX_SHARDS = 10_000


def check_shard(
    text: str, inputs: Input, reporting: Reporting, found: Discovery, session: Session, config: Config, scheduler: str
) -> None:  # fmt: skip
    """Checks the part of the input that `--shard` selects and writes the result. Raises ClickException."""
    share = _parse_share(text)
    if not reporting.output:
        raise click.UsageError("--shard requires --output, the file for the result")
    if any(target.stdin for target in found.targets):
        raise click.UsageError("--shard does not support standard input; pass files or folders")
    if inputs.severity != "info" or reporting.fail_on or reporting.formats:
        raise click.UsageError("--shard cannot be combined with --severity, --fail-on or --format; pass them to kcheck merge")
    checked = check_share(inputs, found, session, share, reporting.quiet, scheduler)
    files = [*(target.path for target in found.targets), *(fault.file for fault in found.unreadable)]
    head = Head(
        share.number,
        share.of,
        _without_values(session_spec_of(session, files))._replace(baseline=_baseline(found, session)),
        share.input,
        share.files,
        config.fail_on,
        tuple(found.passed),
    )

    def write(out: TextIO, colour: bool) -> None:
        write_shard(head, checked, out)

    publish(reporting.output, "never", write)
    if not reporting.quiet:
        click.echo(f"shard {head.title}: {len(checked)} of {share.files} files checked; run kcheck merge with all shards", err=True)


def _without_values(spec: SessionSpec) -> SessionSpec:
    """Returns a specification without the values of variables, which may be secret."""
    return spec._replace(variables=dict.fromkeys(spec.variables, ""))


def _baseline(found: Discovery, session: Session) -> Baseline | None:
    """Returns the part of the baseline that applies to the input: kcheck merge has no files."""
    if session.baseline is None:
        return None
    # Imported late: most runs have no baseline.
    from kcheck.baseline.subtraction import restrict

    return restrict(session.baseline, [*(target.path for target in found.targets), *(each.file for each in found.passed)])


def _parse_share(text: str) -> Share:
    match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text, re.ASCII)
    number, of = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= of <= _MAX_SHARDS:
        raise click.UsageError(f'--shard: "{text}" is not a valid shard; use for example 1/3, 2/3 and 3/3 on three machines')
    return Share(number, of)
