"""The settings of a run, from command line options and config. Options take precedence."""

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
    """An error that is not a usage error. Exits with status 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


class FileRules:
    """Returns the rule set of a file, depending on the overrides that match it."""

    def __init__(self, config: Config, registry: Registry, select: Sequence[str], ignore: Sequence[str]) -> None:
        self._overrides = Overrides(config)
        self._registry = registry
        self._select = select
        self._ignore = ignore
        self._preset = config.preset
        self._chosen: dict[tuple[int, ...], RuleSet] = {}

    def __call__(self, file: str) -> RuleSet:
        numbers = self._overrides.of(file)
        if numbers not in self._chosen:
            self._chosen[numbers] = choose(self._registry, self._select, self._ignore, self._overrides.settings(numbers), self._preset)
        return self._chosen[numbers]


def find_config(path: str | None, isolated: bool, registry: Registry, notes: bool = True) -> Config:
    """Returns the config in `path`, otherwise the nearest config in the current folder and its parents. Raises ClickException for errors.

    `notes`: whether to report config files that are ignored because they belong to other users.
    """
    if path and isolated:
        raise click.UsageError("--config and --isolated cannot be combined")
    file = Path(path) if path else None if isolated else find(Path("."), _report_foreign if notes else None)
    if file is None:
        return Config(Path(os.path.realpath(".")))
    # Imported late: most runs have no config file.
    from kcheck.config.file import read
    from kcheck.config.mistake import BadConfig

    try:
        return read(file, registry)
    except BadConfig as error:
        raise Failure("\n".join(map(str, error.mistakes))) from None


def _report_foreign(file: Path) -> None:
    from kcheck.reporters.terminal_safe import Glyphs

    shown = Glyphs.of(sys.stderr).visible(str(file))
    click.echo(f"kcheck: ignored {shown}: it belongs to another user; use --config to apply it", err=True)


def make_stores(kubernetes: str, schemas: Sequence[str], config: Config, registry: Registry) -> list[Store]:
    """Returns a schema store for each Kubernetes version, newest last, with the schemas of options, config and plug-ins added.

    Raises UsageError for an unknown version, Failure for invalid schemas.
    """
    stores = [Store(load(version)) for version in (_versions(kubernetes) if kubernetes else config.kubernetes or ("",))]
    for store in stores:
        store.pods = config.pods
    added = [*registry.schemas, *(map(Path, schemas) if schemas else config.schemas)]
    if added:
        # Imported late: few runs have additional schemas, and the module takes long to load.
        from kcheck.schema.external.catalog import BadSchemas, read_schemas

        try:
            for path in added:
                schemas_in_path = read_schemas(path)
                for store in stores:
                    schemas_in_path.add_to(store)
        except BadSchemas as error:
            raise Failure(f"kcheck: schemas: {error}") from None
    return stores


def _versions(text: str) -> tuple[str, ...]:
    from kcheck.config.versions import parse_versions

    try:
        return parse_versions(text)
    except UnknownVersion as error:
        raise click.UsageError(f"--kubernetes: {error}") from None


def require_kustomize() -> tuple[str, ...]:
    """Returns the command that builds kustomizations. Raises UsageError if it is not installed."""
    from kcheck.kustomize.program import find_program

    command = find_program()
    if not command:
        raise click.UsageError("--render: neither kustomize nor kubectl is in PATH; install one of them or omit --render")
    return command


def read_size(text: str) -> int:
    """Returns the bytes of a size such as 5000000, 5M or 64Mi. Raises UsageError."""
    from kcheck.kube.quantity import BadQuantity, parse

    try:
        size = parse(text).scaled()
    except BadQuantity as error:
        raise click.UsageError(f"--max-file-size: {error}") from None
    if size <= 0:
        raise click.UsageError(f"--max-file-size: {text} is not greater than 0")
    return size
