"""`kcheck merge SHARD...`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from kcheck.check.file import Checked
from kcheck.check.session import Session
from kcheck.cli.options import local_rules_option, option
from kcheck.cli.reporting import LEVELS, Reporting, report_options, style_options
from kcheck.cli.settings import Failure, find_config, load_registry, require_kustomize
from kcheck.engine.check import shown_report
from kcheck.engine.options import CheckOptions
from kcheck.rule.registry import Registry
from kcheck.run.bundle_stage import build_report
from kcheck.shards.files import BadShard, read_shards


@click.command(short_help="Merge the results of shards into one report.")
@click.argument("shards", nargs=-1, required=True, type=click.Path())
@report_options
@click.option("--severity", type=LEVELS, default="info", help="Report only findings of this severity or higher. [default: info]")
@option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    help="The config of the shards, for its local rules and the variables in kustomizations.",
)
@style_options
@local_rules_option
def merge(shards: tuple[str, ...], severity: str, config: str | None, local_rules: bool | None, **values: Any) -> None:
    """Merge the results of kcheck check --shard I/N into one report. SHARDS are the files of all N parts.

    The report is the same as that of a run without --shard. If the input has kustomizations, their files must be in the same place as in
    that run, because kustomizations are built when the shards are merged.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 the report could not be created.
    """
    reporting = Reporting.pop_from(values)
    registry = load_registry(local_rules, config)
    outputs = reporting.outputs(registry)
    try:
        head, checked, session = read_shards(shards, registry)
        if head.spec.renders:
            session.kustomize = require_kustomize()
        options = CheckOptions(config=config, local_rules=local_rules)
        report = build_report(head.passed, _with_sources(checked, session, options, registry), session)
    except BadShard as error:
        raise Failure(f"kcheck: {error}") from None
    report = shown_report(report, session, severity)
    report.has_files = False
    sys.exit(reporting.publish_report(report, outputs, registry, head.fail_on))


def _with_sources(checked: Iterator[Checked], session: Session, options: CheckOptions, registry: Registry) -> Iterator[Checked]:
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
                _fill_in_variables(session, options, registry)
                is_first = False
        yield each


def _fill_in_variables(session: Session, options: CheckOptions, registry: Registry) -> None:
    """Sets the values of the variables, which shards do not contain."""
    if session.substitution is None:
        return
    from kcheck.check.substitution import Substitution

    variables = find_config(options, registry.copy()).variables
    if missing := session.substitution.variables.keys() - variables.keys():
        raise Failure(f"kcheck: the config defines no variable {', '.join(sorted(missing))}; use the config of the shards (--config)")
    session.substitution = Substitution(variables)
