"""`kcheck merge SHARD...`"""

from __future__ import annotations

import sys
from typing import Any

import click

from kcheck.cli.options import local_rules_option
from kcheck.cli.reporting import LEVELS, Reporting, report_options, style_options
from kcheck.cli.settings import Failure, load_registry
from kcheck.engine.check import shown_report
from kcheck.run.bundle_stage import build_report
from kcheck.shards.files import BadShard, read_shards


@click.command(short_help="Merge the results of shards into one report.")
@click.argument("shards", nargs=-1, required=True, type=click.Path())
@report_options
@click.option("--severity", type=LEVELS, default="info", help="Report only findings of this severity or higher. [default: info]")
@style_options
@local_rules_option
def merge(shards: tuple[str, ...], local_rules: bool | None, severity: str, **values: Any) -> None:
    """Merge the results of kcheck check --shard I/N into one report. SHARDS are the files of all N parts.

    The report is the same as that of a run without --shard.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 the report could not be created.
    """
    reporting = Reporting.pop_from(values)
    registry = load_registry(local_rules)
    outputs = reporting.outputs(registry)
    try:
        head, checked, session = read_shards(shards, registry)
        report = shown_report(build_report(head.passed, checked, session), session, severity)
        report.has_files = False
    except BadShard as error:
        raise Failure(f"kcheck: {error}") from None
    sys.exit(reporting.publish_report(report, outputs, registry, head.fail_on))
