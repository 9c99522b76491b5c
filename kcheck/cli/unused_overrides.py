"""Notes about overrides of the config that change nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from kcheck.cli.input import Input
from kcheck.config.config import Config, GlobsOfConfig, Overrides
from kcheck.finding.report import Report
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose


def report_unused_overrides(inputs: Input, config: Config, registry: Registry, report: Report) -> None:
    """Prints a note for each glob of an override that matches no file, and for each override that changes no rule.

    Only a run over the complete folder of the config, with the rules of the config, shows that.
    """
    covers = any(Path(os.path.realpath(path)) in (config.folder, *config.folder.parents) for path in inputs.paths)
    if not covers or inputs.select or inputs.ignore or inputs.preset or inputs.exclude:
        return
    glyphs = Glyphs.of(sys.stderr)
    files = [*report.roles, *(each.file for each in report.passed if not each.file.endswith("/"))]
    for note in _unused(config, registry, files):
        click.echo(glyphs.visible(f"kcheck: {note}"), err=True)


def _unused(config: Config, registry: Registry, files: Iterable[str]) -> Iterator[str]:
    globs = [
        (number, glob, place) for number, each in enumerate(config.overrides) for glob, place in zip(each.files, each.places, strict=True)
    ]
    matcher = GlobsOfConfig(config, enumerate(glob for _, glob, _ in globs))
    matched = {number for file in files for number in matcher.matching(file)}
    for index, (_, glob, place) in enumerate(globs):
        if index not in matched:
            yield f'{place}: the override applies to no file: no checked file matches "{glob}"'
    overrides = Overrides(config)
    combinations = {overrides.of(file) for file in files}
    rules = {numbers: choose(registry, settings=overrides.settings(numbers), preset=config.preset).active for numbers in combinations}
    for number in sorted({number for numbers in combinations for number in numbers}):
        if config.overrides[number].changes_cluster:
            continue
        with_it = [numbers for numbers in combinations if number in numbers]
        without = [tuple(other for other in numbers if other != number) for numbers in with_it]
        if all(
            rules[a] == choose(registry, settings=overrides.settings(b), preset=config.preset).active
            for a, b in zip(with_it, without, strict=True)
        ):
            yield f"{config.overrides[number].places[0]}: the override has no effect: its rules have these settings without it"
