"""The program `kcheck`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from importlib import import_module

import click

from kcheck import __version__
from kcheck.cli.streams import Unwritable, guard_streams

# Each command's module is imported when it is called: `kcheck --version` and completion stay quick.
_COMMANDS = {
    "check": "Check files and folders.",
    "merge": "Make one report of shards.",
    "graph": "Draw how objects refer to each other.",
    "explain": "Show the page of a rule.",
    "rules": "List the rules.",
    "migrate": "Come over from kube-linter, kube-score, polaris or checkov.",
    "cache": "Show or clear the cache.",
    "completion": "Print the completion script of a shell.",
}


class Commands(click.Group):
    """The commands by name, each in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kcheck.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a word on what was probably meant."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from kcheck.kube.suggestions import nearest

            near = nearest(name, _COMMANDS)
            hint = f"did you mean {near}?" if near else f"write one of {', '.join(_COMMANDS)}, e.g. kcheck check {name}"
            raise click.UsageError(f"no command {name!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", prog_name="kcheck", message="%(prog)s %(version)s")
def kcheck() -> None:
    """Check Kubernetes manifests: what the API server would refuse, and what it accepts and hurts later.

    Exit status: 0 nothing found, 1 findings at or above --fail-on, 2 the check could not be made.
    """


def program() -> None:
    """`main` in its own process, which exits at once: the system frees its memory faster than Python takes all objects apart."""
    guard_streams()
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int) and threading.active_count() == 1 and not _is_watched():
            atexit._run_exitfuncs()
            sys.stderr.flush()
            os._exit(end.code)
        raise


def _is_watched() -> bool:
    """Whether a debugger or a profiler is there, which has something to say at the end."""
    # Since Python 3.12 they may use this instead; at most six.
    monitoring = getattr(sys, "monitoring", None)
    tools = any(map(monitoring.get_tool, range(6))) if monitoring is not None else False
    return tools or sys.gettrace() is not None or sys.getprofile() is not None


def main() -> None:
    """Run the program. Whatever keeps it from doing its job ends it with 2: 1 is for findings."""
    # Next to nothing of a run becomes garbage before its end, and looking for some costs a fifth of a small one.
    gc.disable()
    try:
        status = 0
        try:
            status = kcheck.main(prog_name="kcheck", standalone_mode=False) or 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
        # While a failure can still be reported.
        sys.stdout.flush()
        sys.exit(status)
    except click.ClickException as error:
        from kcheck.reporters.terminal_safe import Glyphs

        # A message names paths and words that other people may have chosen: no terminal is to obey them.
        glyphs = Glyphs.of(sys.stderr)
        vars(error)["message"] = "\n".join(map(glyphs.visible, error.message.split("\n")))
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        # Ctrl-C: as a shell counts it, 128 and the number of the signal.
        sys.exit(130)
    except BrokenPipeError:
        from kcheck.cli.output import close_quietly

        close_quietly()
        sys.exit(2)
    except Unwritable as error:
        print(f"kcheck: the output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        from kcheck.check.memory_limit import lift_limit

        lift_limit()
        print("kcheck: out of memory: check fewer files at a time", file=sys.stderr)
        sys.exit(2)
    except Exception:
        if _is_folder_gone():
            print("kcheck: the current folder does not exist any more: change to another one", file=sys.stderr)
            sys.exit(2)
        import traceback

        traceback.print_exc()
        print("kcheck: this is a mistake in kcheck itself, not in your files", file=sys.stderr)
        sys.exit(2)
    finally:
        gc.freeze()


def _is_folder_gone() -> bool:
    """Whether the current folder was deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
