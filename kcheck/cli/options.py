"""Options whose default values come from environment variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_PREFIX = "KCHECK_"


def option(name: str, *more: str, **settings: Any) -> Callable[..., Any]:
    """Like `click.option`, for an option that the environment may set: --fail-on is KCHECK_FAIL_ON."""
    return click.option(name, *more, envvar=variable_of(name), **settings)


def variable_of(name: str) -> str:
    """Returns the environment variable of an option, such as KCHECK_FAIL_ON for --fail-on."""
    return _PREFIX + name.partition("/")[0].lstrip("-").replace("-", "_").upper()


class LocalPath(click.Path):
    """A path that exists. A URL is an error that says what to do: kcheck opens no network connection."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "://" in str(value):
            self.fail(f"{value} is a URL; download the file first, e.g. kubectl get crd -o yaml > crds.yaml", param, ctx)
        return super().convert(value, param, ctx)


local_rules_option = option(
    "--allow-local-rules/--no-local-rules",
    "local_rules",
    default=None,
    help="Whether to run the Python files that the config names in plugins. [default: fail if there are any]",
)
