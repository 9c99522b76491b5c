"""`kcheck policy`: test, list, explain and create user-defined policies."""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "test": "Run the examples and tests of policies.",
    "list": "List the policies.",
    "explain": "Show a policy.",
    "new": "Create a short rule with examples.",
    "which": "Show which policies judge an object, and what excludes the others.",
    "coverage": "Show which policies match and deny objects of the input.",
    "convert": "Print short rules as ValidatingAdmissionPolicies.",
    "bundle": "Print a folder of policies for the cluster.",
}


class _PolicyCommands(click.Group):
    """The commands, each in a separate module: policy_test for test."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kcheck.cli.policy_{cmd_name}"), f"policy_{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_PolicyCommands, short_help="Test, list, explain and create user-defined policies.")
def policy() -> None:
    """Test, list, explain and create user-defined policies: ValidatingAdmissionPolicies and short rules."""
