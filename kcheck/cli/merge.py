"""`kcheck merge SHARD...`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from kcheck.check.file import Checked
from kcheck.check.session import Session
from kcheck.cli.reporting import LEVELS, Reporting, filter_by_severity, report_options, shown_report, style_options
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import Failure, find_config, require_kustomize
from kcheck.rule.registry import Registry
from kcheck.run.bundle_stage import build_report
from kcheck.shards.files import BadShard, read_shards


@click.command(short_help="Merge the results of shards into one report.")
@click.argument("shards", nargs=-1, required=True, type=click.Path())
@report_options
@click.option("--severity", type=LEVELS, default="info", help="Report only findings of this severity or higher. [default: info]")
@click.option(
    "--config", type=click.Path(exists=True, dir_okay=False), default=None, help="The config with the variables, if kustomizations use any."
)
@style_options
def merge(shards: tuple[str, ...], severity: str, config: str | None, **values: Any) -> None:
    """Merge the results of kcheck check --shard I/N into one report. SHARDS are the files of all N parts.

    The report is the same as that of a run without --shard. If the input has kustomizations, their files must be in the same place as in
    that run, because kustomizations are built when the shards are merged.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 the report could not be created.
    """
    reporting = Reporting.pop_from(values)
    registry = Registry.load()
    report_plugin_failures(registry)
    outputs = reporting.outputs(registry)
    try:
        head, checked, session = read_shards(shards, registry)
        if head.spec.renders:
            session.kustomize = require_kustomize()
        report = build_report(head.passed, _with_sources(checked, session, config, registry), session)
    except BadShard as error:
        raise Failure(f"kcheck: {error}") from None
    report = filter_by_severity(shown_report(report, session), severity)
    report.has_files = False
    sys.exit(reporting.publish_report(report, outputs, registry, head.fail_on))


def _with_sources(checked: Iterator[Checked], session: Session, config: str | None, registry: Registry) -> Iterator[Checked]:
    """Yields the files, and requires what builds need if there are kustomizations. Raises Failure."""
    is_first = True
    for each in checked:
        if any(facts.kustomization is not None for facts in each.outcome.facts):
            if not os.path.exists(each.path):
                raise Failure(
                    f"kcheck: {each.path} does not exist here: kustomizations are built when shards are merged; "
                    "run kcheck merge in the folder and checkout of the shards"
                )
            if is_first:
                _fill_in_variables(session, config, registry)
                is_first = False
        yield each


def _fill_in_variables(session: Session, path: str | None, registry: Registry) -> None:
    """Sets the values of the variables, which shards do not contain."""
    if session.substitution is None:
        return
    from kcheck.check.substitution import Substitution

    variables = find_config(path, False, registry).variables
    if missing := session.substitution.variables.keys() - variables.keys():
        raise Failure(f"kcheck: the config defines no variable {', '.join(sorted(missing))}; use the config of the shards (--config)")
    session.substitution = Substitution(variables)
