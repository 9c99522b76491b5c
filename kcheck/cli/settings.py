"""The config and errors of a run, as the command line reports them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kcheck.config.config import Config
from kcheck.engine import settings
from kcheck.engine.error import Error, InvalidConfig, InvalidOption
from kcheck.engine.options import CheckOptions
from kcheck.rule.registry import PluginFailure, Registry


class Failure(click.ClickException):
    """An error that is not a usage error. Exits with status 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turns the errors of a run into errors of the command line."""
    try:
        yield
    except InvalidOption as error:
        raise click.UsageError(str(error)) from None
    except InvalidConfig as error:
        raise Failure(str(error)) from None
    except Error as error:
        raise Failure(f"kcheck: {error}") from None


def find_config(options: CheckOptions, registry: Registry) -> Config:
    """Returns the config in the file of the options, otherwise the nearest config in the current folder and its parents.

    Plug-ins of the config that could not be loaded are reported. Raises ClickException for errors.
    """
    known = len(registry.failures)
    try:
        with reported_errors():
            return settings.find_config(options, registry, _report_foreign)
    finally:
        report_failures(registry.failures[known:])


def load_registry(local_rules: bool | None, config: str | None = None) -> Registry:
    """Returns the rules for a command without input: those of plug-ins and, if they may run, of the config.

    `config`: the path of the config, None for that of the current folder. Plug-ins that could not be loaded are reported. Raises
    ClickException for an invalid config.
    """
    registry = Registry.load()
    report_failures(registry.failures)
    if local_rules:
        find_config(CheckOptions(config=config, local_rules=True), registry)
    return registry


def report_failures(failures: list[PluginFailure]) -> None:
    """Prints plug-ins that could not be loaded. The exit status of a check is then 2, because their rules did not run."""
    for failure in failures:
        click.echo(_visible(f"kcheck: plug-in {failure.name} could not be loaded: {failure.reason}"), err=True)


def _report_foreign(file: Path) -> None:
    click.echo(_visible(f"kcheck: ignored {file}: it belongs to another user; use --config to apply it"), err=True)


def _visible(text: str) -> str:
    from kcheck.reporters.terminal_safe import Glyphs

    return Glyphs.of(sys.stderr).visible(text)


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
