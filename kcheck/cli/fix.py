"""`kcheck check --fix` and `--diff`: the files that fixing changes are written, or shown."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import ExitStack

import click

from kcheck.check.session import Session
from kcheck.cli.checkout import leads_out
from kcheck.cli.draft import Draft
from kcheck.cli.input import Input, checked, session_of
from kcheck.cli.output import diff, print_text
from kcheck.cli.reporting import Reporting
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, is_descriptor
from kcheck.finding.report import Report
from kcheck.redaction.document_secrets import shown_text
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.run.fixing import Fixed, Fixing

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
        self.named = {target.path for target in found.targets if target.named}

    def show(self, unsafe: bool) -> int:
        """Print what would change; the exit status."""
        fixing = Fixing(self.found, unsafe)
        report = fixing.fix_all(self.check)
        # There is no report that would say so.
        unchecked = [f for f in report.findings if f.rule in _UNCHECKED]
        for finding in unchecked:
            _tell(f"{finding.file}:{finding.range.start.line}: {finding.concise}")
        files = fixing.files
        shown = ((path, shown_text(path, fixed.source.text), shown_text(path, fixed.text)) for path, fixed in sorted(files.items()))
        print_text("".join(diff(*each) for each in shown))
        if files and not self.telling.quiet:
            click.echo(f"Would fix {_amount(files.values())}.", err=True)
        return 2 if _tell_changed(fixing.changed) or unchecked else 1 if files else 0

    def fix(self, unsafe: bool, drafts: ExitStack) -> Fixes:
        """Fix in memory and write `drafts`: no file changes before they are committed."""
        fixing = Fixing(self.found, unsafe)
        report = fixing.fix_all(self.check)
        fixes = Fixes(report, unsafe)
        failed = [path for path in sorted(fixing.files) if not self.stage(path, fixing.files[path], fixes, drafts)]
        for path in failed:
            del fixing.files[path]
        if failed:
            fixes.report = self.check(fixing.fixed_input())
        fixes.whole = not (_tell_changed(fixing.changed) or failed)
        return fixes

    def stage(self, path: str, fixed: Fixed, fixes: Fixes, drafts: ExitStack) -> bool:
        """Write the draft of a file, if the file is as it was read and may be written."""
        if path not in self.named and (target := leads_out(path, self.given.paths)):
            return _tell(f"{path} is a link to {target}, outside the repository or current folder: it is not fixed")
        # What a link leads to may change at any time.
        real = os.path.realpath(path)
        try:
            mode = os.stat(real).st_mode
            if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
                return _tell(f"{path} is read-only: it is not fixed")
            draft = Draft(real)
            drafts.callback(draft.discard)
            with draft.file:
                draft.file.write(fixed.after)
            if not _is_unchanged(real, fixed):
                return not _tell_changed([path])
        except OSError as error:
            return _tell_unwritable(path, error)
        fixes.staged.append((path, fixed, draft))
        return True

    def check(self, found: Discovery) -> Report:
        """Each time with a session of its own: what a definition said before it was fixed must not stay. Without the cache: what others may
        have written there must not be written into files.
        """
        session, self.session = self.session or session_of(self.given, self.config, self.registry), None
        return checked(self.given._replace(no_cache=True), found, session, self.telling.quiet, self.scheduler)


class Fixes:
    """Fixed files that are not in place yet, and the `report` on what is left. `whole`: whether nothing had to be left out."""

    def __init__(self, report: Report, unsafe: bool) -> None:
        self.report = report
        self.whole = True
        self.staged: list[tuple[str, Fixed, Draft]] = []
        self._unsafe = unsafe
        self._done: list[Fixed] = []

    def commit(self) -> bool:
        """Replace the files; whether all could be replaced and nothing was left out before."""
        for path, fixed, draft in self.staged:
            try:
                if _is_unchanged(draft.path, fixed):
                    draft.commit()
                    self._done.append(fixed)
                else:
                    self.whole = not _tell_changed([path])
            except OSError as error:
                self.whole = _tell_unwritable(path, error)
        return self.whole

    def summary(self) -> str:
        """The closing line."""
        line = f"Fixed {_amount(self._done)}." if self._done else "Nothing was fixed."
        if not self._unsafe and (more := sum(f.fix is not None and not f.fix.safe for f in self.report.findings)):
            line += f" {_many(more, 'finding')} left with an unsafe fix: --unsafe-fixes makes it, too."
        return line


def _is_unchanged(path: str, fixed: Fixed) -> bool:
    """Whether a file holds what was checked. Raises OSError."""
    with open(path, "rb") as now:
        return now.read() == fixed.before


def _tell_unwritable(path: str, error: OSError) -> bool:
    return _tell(f"{path} cannot be written: {error.strerror or error}")


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
