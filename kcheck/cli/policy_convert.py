"""`kcheck policy convert [PATH...]`"""

from __future__ import annotations

import sys
from typing import Any

import click

from kcheck.cli.policy_sources import find_policies, source_options
from kcheck.cli.policy_yaml import yaml_of
from kcheck.policy.rules.vap import Inconvertible, policy_of


@click.command(short_help="Print short rules as ValidatingAdmissionPolicies.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option("--to", type=click.Choice(("vap",)), default="vap", help="The language. [default: vap]")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Convert only this rule. Repeatable.")
@source_options
def policy_convert(paths: tuple[str, ...], to: str, ids: tuple[str, ...], **values: Any) -> None:
    """Print short rules as ValidatingAdmissionPolicies with bindings. PATHS: files and folders. [default: the policies of the config]

    A rule about an API type, such as core/v1 Container, becomes a policy about all kinds that contain it. Rules that read other objects of
    the input cannot be converted, because a policy judges one object.

    Exit status: 0 all rules are converted, 1 some cannot be converted.
    """
    sources, failed = find_policies(paths, values), False
    wanted = {each.removeprefix("policy/") for each in ids}
    for rule in sources.rules():
        if wanted and rule.name not in wanted:
            continue
        try:
            click.echo("".join(f"---\n{yaml_of(each)}" for each in policy_of(rule, sources.store)), nl=False)
        except Inconvertible as error:
            failed = True
            click.echo(f"kcheck: {rule.id} is not converted: {error}", err=True)
    sys.exit(1 if failed else 0)
