"""`kcheck merge SHARD...`"""

from __future__ import annotations

import sys
from typing import Any

import click

from kcheck.cli.reporting import LEVELS, Reporting, report_options, sift, style_options
from kcheck.cli.selection import tell_failures
from kcheck.cli.settings import Failure
from kcheck.rule.registry import Registry
from kcheck.run.bundle_stage import build_report
from kcheck.shards.files import BadShard, read_shards


@click.command(short_help="Make one report of shards.")
@click.argument("shards", nargs=-1, required=True, type=click.Path())
@report_options
@click.option("--severity", type=LEVELS, default="info", help="Show findings from this level on.")
@style_options
def merge(shards: tuple[str, ...], severity: str, **values: Any) -> None:
    """Make one report of all shards that kcheck check --shard I/N has written: the one that a run without shards gives.

    Exit status: 0 nothing found, 1 findings at or above --fail-on, 2 the report could not be made.
    """
    telling = Reporting.taken(values)
    registry = Registry.load()
    tell_failures(registry)
    reporter = telling.reporter(registry)
    try:
        head, checked, session = read_shards(shards, registry)
        report = sift(build_report(head.passed, checked, session), severity)
    except BadShard as error:
        raise Failure(f"kcheck: {error}") from None
    sys.exit(telling.tell(report, reporter, registry, head.fail_on))
