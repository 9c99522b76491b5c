"""What holds for a run: the flags of the command line, and where they say nothing the config."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kcheck.config.config import Config, Overrides
from kcheck.config.search import find
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.schema.builtin.definitions import UnknownVersion, load
from kcheck.schema.store import Store


class Failure(click.ClickException):
    """Why the job could not be done, where the way the program was called is not to blame."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


class FileRules:
    """The rule set of each file, by the overrides of the config that take it."""

    def __init__(self, config: Config, registry: Registry, select: Sequence[str], ignore: Sequence[str]) -> None:
        self._overrides = Overrides(config)
        self._registry = registry
        self._select = select
        self._ignore = ignore
        self._chosen: dict[tuple[int, ...], RuleSet] = {}

    def __call__(self, file: str) -> RuleSet:
        numbers = self._overrides.of(file)
        if numbers not in self._chosen:
            self._chosen[numbers] = choose(self._registry, self._select, self._ignore, self._overrides.settings(numbers))
        return self._chosen[numbers]


def find_config(given: str | None, isolated: bool, registry: Registry, notes: bool = True) -> Config:
    """The config that is given, or the nearest one upwards from the current folder. Raises a ClickException for one with mistakes.

    `notes`: whether to name config files of other users, which are ignored.
    """
    if given and isolated:
        raise click.UsageError("--config and --isolated contradict each other")
    file = Path(given) if given else None if isolated else find(Path("."), _note_foreign if notes else None)
    if file is None:
        return Config(Path(os.path.realpath(".")))
    # Most runs have no config file, so what reads one is loaded late.
    from kcheck.config.file import read
    from kcheck.config.mistake import BadConfig

    try:
        return read(file, registry)
    except BadConfig as error:
        raise Failure("\n".join(map(str, error.mistakes))) from None


def _note_foreign(file: Path) -> None:
    from kcheck.reporters.terminal_safe import Glyphs

    shown = Glyphs.of(sys.stderr).visible(str(file))
    click.echo(f"kcheck: ignored {shown}: it belongs to another user; use --config to apply it", err=True)


def make_stores(kubernetes: str, schemas: Sequence[str], config: Config, registry: Registry) -> list[Store]:
    """A store for each version to check against, the newest last, with the kinds that flags, config and plug-ins add. Raises UsageError."""
    stores = [Store(load(version)) for version in (_versions(kubernetes) if kubernetes else config.kubernetes or ("",))]
    for store in stores:
        store.pods = config.pods
    added = [*registry.schemas, *(map(Path, schemas) if schemas else config.schemas)]
    if added:
        # Kinds of one's own are the exception, and what reads them takes long to load.
        from kcheck.schema.external.catalog import BadSchemas, read_schemas

        try:
            for path in added:
                found = read_schemas(path)
                for store in stores:
                    found.add_to(store)
        except BadSchemas as error:
            raise Failure(f"kcheck: schemas: {error}") from None
    return stores


def _versions(text: str) -> tuple[str, ...]:
    from kcheck.config.versions import parse_versions

    try:
        return parse_versions(text)
    except UnknownVersion as error:
        raise click.UsageError(f"--kubernetes: {error}") from None


def read_size(text: str) -> int:
    """Bytes that a flag means: 5000000, 5M, 64Mi. Raises UsageError."""
    from kcheck.kube.quantity import BadQuantity, parse

    try:
        size = parse(text).scaled()
    except BadQuantity as error:
        raise click.UsageError(f"--max-file-size: {error}") from None
    if size <= 0:
        raise click.UsageError(f"--max-file-size: {text} leaves nothing to read")
    return size
