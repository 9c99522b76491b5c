"""The options of commands that evaluate the policies of an input."""

from __future__ import annotations

from kcheck.cli.options import LocalPath, option
from kcheck.cli.policy_sources import Command, source_options


def input_policy_options(command: Command) -> Command:
    """Adds the options that decide which policies apply to an input."""
    add = option(
        "--policies", multiple=True, type=LocalPath(exists=True), metavar="PATH", help="File or folder with policies. Repeatable."
    )  # fmt: skip
    return source_options(add(command))
