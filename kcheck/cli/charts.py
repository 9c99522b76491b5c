"""The settings for charts, as the command line and the config give them."""

from __future__ import annotations

import os

import click

from kcheck.cli.input import Input, used_cache
from kcheck.cli.options import option
from kcheck.config.config import ChartsOfConfig, Config
from kcheck.helm.settings import Helm
from kcheck.workers.workers import default_jobs

helm_option = option(
    "--helm", default="", metavar="PATH", help="Render charts with this program, or off to skip charts. [default: helm in PATH]"
)


def helm_settings(path: str, inputs: Input, config: Config) -> Helm | None:
    """Returns how charts are rendered, None to skip them. Raises UsageError if the program does not exist.

    `path`: value of --helm, "" to search for helm in PATH when the first chart is found.
    """
    if path == "off":
        return None
    if path and not os.access(path, os.X_OK):
        raise click.UsageError(f"--helm: {path} is not a program")
    return Helm(os.path.abspath(path) if path else None, used_cache(inputs), inputs.jobs or default_jobs(), ChartsOfConfig(config).settings)
