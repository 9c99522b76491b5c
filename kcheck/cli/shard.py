"""`kcheck check --shard I/N`: a part of the input, checked for `kcheck merge`."""

from __future__ import annotations

import re
from typing import TextIO

import click

from kcheck.check.session import Session
from kcheck.check.session_spec import session_spec_of
from kcheck.cli.input import Input, share_checked
from kcheck.cli.output import publish
from kcheck.cli.reporting import Reporting
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery
from kcheck.shards.files import Head, write_shard
from kcheck.shards.selection import Share

_MOST = 10_000


def check_shard(
    text: str, given: Input, telling: Reporting, found: Discovery, session: Session, config: Config, scheduler: str
) -> None:  # fmt: skip
    """Check the part of the input that `--shard` names and write it. Raises ClickException."""
    share = _share(text)
    if not telling.output:
        raise click.UsageError("--shard: say with --output where the shard is to be written")
    if any(target.stdin for target in found.targets):
        raise click.UsageError("--shard: standard input is not the same on all machines: name files or folders")
    if given.severity != "info" or telling.fail_on or telling.format != "text":
        raise click.UsageError("--shard: --severity, --fail-on and --format are for kcheck merge, which writes the report")
    checked = share_checked(given, found, session, share, telling.quiet, scheduler)
    files = [*(target.path for target in found.targets), *(fault.file for fault in found.unreadable)]
    head = Head(share.number, share.of, session_spec_of(session, files), share.input, share.files, config.fail_on, tuple(found.passed))

    def write(out: TextIO, colour: bool) -> None:
        write_shard(head, checked, out)

    publish(telling.output, "never", write)
    if not telling.quiet:
        click.echo(f"shard {head.title}: {len(checked)} of {share.files} files; kcheck merge makes a report of all shards", err=True)


def _share(text: str) -> Share:
    match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text, re.ASCII)
    number, of = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= of <= _MOST:
        raise click.UsageError(f"--shard: {text!r} is no part: write 1/3, 2/3 and 3/3 for three machines")
    return Share(number, of)
