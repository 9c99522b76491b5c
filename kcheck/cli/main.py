"""The entry point of the program `kcheck`."""

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

# The module of a command is imported when the command is called, so that `kcheck --version` and completion start fast.
_COMMANDS = {
    "check": "Check files and folders.",
    "fix": "Apply fixes to files.",
    "baseline": "Accept the current findings, so that only new ones are reported.",
    "diff": "Show which objects change, and which changes the API server refuses.",
    "hook": "Check the files of a commit, and what it breaks elsewhere.",
    "rules": "List or search the rules.",
    "explain": "Show the documentation of a rule or group.",
    "init": "Create a config for a repository.",
    "config": "Show the settings of a file and where they come from.",
    "files": "Show the role and deployment unit of each file.",
    "graph": "Show the relations between objects as a graph.",
    "defaults": "Show objects as the API server holds them, with their defaults marked.",
    "policy": "Test, list, explain and create user-defined policies.",
    "migrate": "Migrate from kube-linter, kube-score, Polaris or Checkov.",
    "merge": "Merge the results of shards into one report.",
    "cache": "Show or clear the cache.",
    "completion": "Print the completion script for a shell.",
}


class Commands(click.Group):
    """The commands, each in the module of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kcheck.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command as click does, but suggests the nearest command for an unknown one."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from kcheck.kube.suggestions import did_you_mean, nearest

            near = nearest(name, _COMMANDS)
            hint = did_you_mean(near, f"use one of {', '.join(_COMMANDS)}, e.g. kcheck check {name}")
            raise click.UsageError(f'unknown command "{name}"; {hint}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", prog_name="kcheck", message="%(prog)s %(version)s")
def kcheck() -> None:
    """kcheck: a linter for Kubernetes manifests.

    Finds errors that the API server rejects, and settings that it accepts but that cause problems later. Run 'kcheck COMMAND --help' for
    the options of a command.
    """


def program() -> None:
    """Runs `main` and exits the process without destroying Python objects: the operating system frees the memory faster."""
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
    """Whether a debugger or profiler is active, which may print its results at exit."""
    # Since Python 3.12, tools can register here instead. There are at most six.
    monitoring = getattr(sys, "monitoring", None)
    tools = any(map(monitoring.get_tool, range(6))) if monitoring is not None else False
    return tools or sys.gettrace() is not None or sys.getprofile() is not None


def main() -> None:
    """Runs the program. Every failure exits with status 2, as 1 means findings."""
    # A run creates almost no garbage before its end, and garbage collection takes a fifth of the time of a small run.
    gc.disable()
    try:
        status = 0
        try:
            status = kcheck.main(prog_name="kcheck", standalone_mode=False) or 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
        # Flush while a failure can still be reported.
        sys.stdout.flush()
        sys.exit(status)
    except click.ClickException as error:
        from kcheck.reporters.terminal_safe import Glyphs

        # A message may contain names from untrusted files, so escape sequences are made visible.
        glyphs = Glyphs.of(sys.stderr)
        vars(error)["message"] = "\n".join(map(glyphs.visible, error.message.split("\n")))
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        # Ctrl-C: 128 + SIGINT, as in a shell.
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
        print("kcheck: out of memory; check fewer files at a time", file=sys.stderr)
        sys.exit(2)
    except Exception:
        if _is_folder_gone():
            print("kcheck: the current folder no longer exists; change to another folder", file=sys.stderr)
            sys.exit(2)
        import traceback

        traceback.print_exc()
        print("kcheck: internal error: this is a bug in kcheck, please report it", file=sys.stderr)
        sys.exit(2)
    finally:
        gc.freeze()


def _is_folder_gone() -> bool:
    """Whether the current folder has been deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
