"""`kcheck completion SHELL`"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_KCHECK_COMPLETE"
"""The variable that click reads if the program is called `kcheck`."""


@click.command(short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell. To install it, run:

    \b
    bash   echo 'eval "$(kcheck completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(kcheck completion zsh)"' >> ~/.zshrc
    fish   kcheck completion fish > ~/.config/fish/completions/kcheck.fish
    """
    from kcheck.cli.main import kcheck

    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(kcheck, {}, "kcheck", _VARIABLE).source())
