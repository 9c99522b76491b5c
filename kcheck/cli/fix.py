"""`kcheck check --fix` and `--diff`: the files that fixing changes are written, or shown."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

import click

from kcheck.cli.input import Input, checked, session_of
from kcheck.cli.output import diff, print_text, written
from kcheck.cli.reporting import Reporting
from kcheck.config.config import Config
from kcheck.finding.report import Report
from kcheck.reporters.glyphs import Glyphs
from kcheck.run.discover import Discovery, is_descriptor
from kcheck.run.fixing import Fixed, Fixing
from kcheck.run.secrets import shown_text
from kcheck.run.session import Session

_UNCHECKED = frozenset({"internal-error", "unreadable-file"})


class Fixer:
    """Checks and fixes the files that were found. Raises UsageError for input that can be read but once."""

    def __init__(self, given: Input, telling: Reporting, found: Discovery, session: Session, config: Config, scheduler: str) -> None:
        if any(target.stdin or is_descriptor(target.path) for target in found.targets):
            raise click.UsageError("--fix and --diff are for files: standard input and pipes can be read but once")
        self.given = given
        self.telling = telling
        self.registry = session.registry
        self.session: Session | None = session
        self.config = config
        self.scheduler = scheduler
        self.found = found

    def show(self, unsafe: bool) -> int:
        """Print what would change; the exit status."""
        fixing = Fixing(self.found, unsafe)
        report = fixing.run(self.check)
        # There is no report that would say so.
        unchecked = [f for f in report.findings if f.rule in _UNCHECKED]
        for finding in unchecked:
            _tell(f"{finding.file}:{finding.range.start.line}: {finding.message}")
        files = fixing.files
        shown = ((path, shown_text(path, fixed.source.text), shown_text(path, fixed.text)) for path, fixed in sorted(files.items()))
        print_text("".join(diff(*each) for each in shown))
        if files and not self.telling.quiet:
            click.echo(f"Would fix {_amount(files.values())}.", err=True)
        return 2 if _tell_changed(fixing.changed) or unchecked else 1 if files else 0

    def fix(self, unsafe: bool) -> tuple[Report, str, bool]:
        """Write the files that change. Gives the report on what is left, a closing line, and whether all could be written."""
        fixing = Fixing(self.found, unsafe)
        report = fixing.run(self.check)
        failed = [path for path in sorted(fixing.files) if not _write(path, fixing.files[path])]
        for path in failed:
            del fixing.files[path]
        if failed:
            report = self.check(fixing.as_fixed())
        line = f"Fixed {_amount(fixing.files.values())}." if fixing.files else "Nothing was fixed."
        if not unsafe and (more := sum(f.fix is not None and not f.fix.safe for f in report.findings)):
            line += f" {_many(more, 'finding')} left with an unsafe fix: --unsafe-fixes makes it, too."
        return report, line, not (_tell_changed(fixing.changed) or failed)

    def check(self, found: Discovery) -> Report:
        """Each time with a session of its own: what a definition said before it was fixed must not stay."""
        session, self.session = self.session or session_of(self.given, self.config, self.registry), None
        return checked(self.given, found, session, self.telling.quiet, self.scheduler)


def _write(path: str, fixed: Fixed) -> bool:
    """Put the new text into a file, where that is still as it was read and may be written."""
    # Whatever a link on the way will say in a moment.
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
            return _tell(f"{path} is read-only: it is not fixed")
        with written(real) as out:
            out.buffer.write(fixed.after)
            out.flush()
            with open(real, "rb") as now:
                if now.read() != fixed.before:
                    raise _Changed
    except _Changed:
        return not _tell_changed([path])
    except OSError as error:
        return _tell(f"{path} cannot be written: {error.strerror or error}")
    return True


class _Changed(Exception):
    """Somebody else has written to a file in the meantime."""


def _tell_changed(paths: Iterable[str]) -> bool:
    """Name files that have changed; whether there are any."""
    told = [_tell(f"{path} has changed since it was checked: it is not fixed") for path in paths]
    return bool(told)


def _tell(message: str) -> bool:
    """Say what could not be done, which is False."""
    click.echo(Glyphs.of(sys.stderr).visible(f"kcheck: {message}"), err=True)
    return False


def _amount(files: Iterable[Fixed]) -> str:
    listed = list(files)
    return f"{_many(sum(file.findings for file in listed), 'finding')} in {_many(len(listed), 'file')}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
