"""Applies fixes to files, or prints the changes as a diff: `kcheck fix`, `kcheck check --fix` and `--diff`."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack

import click

from kcheck.check.session import Session
from kcheck.cli.checkout import leads_out
from kcheck.cli.draft import Draft
from kcheck.cli.input import Input, check_input, create_session
from kcheck.cli.output import diff, print_text
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, is_descriptor
from kcheck.finding.report import Report
from kcheck.redaction.document_secrets import shown_text
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.run.fixing import Accept, Fixed, Fixing
from kcheck.text.words import counted

_UNCHECKED = frozenset({"internal-error", "unreadable-file"})


class Fixer:
    """Checks and fixes files. Raises UsageError for standard input and pipes, which can only be read once.

    Attributes:
        accept: asked before each fix; None to apply all of them.
        only: paths of the files that may be changed; None for all.
    """

    def __init__(
        self,
        inputs: Input,
        found: Discovery,
        session: Session,
        config: Config,
        quiet: bool,
        scheduler: str = "",
        accept: Accept | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        if any(target.stdin or is_descriptor(target.path) for target in found.targets):
            raise click.UsageError("fixes need files: standard input and pipes can only be read once")
        self.inputs = inputs
        self.quiet = quiet
        self.accept = accept
        self.only = only
        self.registry = session.registry
        self.session: Session | None = session
        self.config = config
        self.scheduler = scheduler
        self.found = found
        self.named = {target.path for target in found.targets if target.named}

    def show_diff(self, unsafe: bool) -> int:
        """Prints the changes as a diff and returns the exit status."""
        fixing = Fixing(self.found, unsafe, self.accept, self.only)
        report = fixing.fix_all(self.check_files)
        # Printed here because --diff writes no report.
        unchecked = [f for f in report.findings if f.rule in _UNCHECKED]
        for finding in unchecked:
            _warn(f"{finding.file}:{finding.range.start.line}: {finding.concise}")
        files = fixing.files
        shown = ((path, shown_text(path, fixed.source.text), shown_text(path, fixed.text)) for path, fixed in sorted(files.items()))
        print_text("".join(diff(*each) for each in shown))
        if files and not self.quiet:
            click.echo(f"Would fix {_counts(files.values())}.", err=True)
        return 2 if _warn_changed(fixing.changed) or unchecked else 1 if files else 0

    def fix_files(self, unsafe: bool, drafts: ExitStack) -> Fixes:
        """Fixes in memory and writes `drafts`. No file changes before the result is committed."""
        fixing = Fixing(self.found, unsafe, self.accept, self.only)
        report = fixing.fix_all(self.check_files)
        fixes = Fixes(report, unsafe)
        failed = [path for path in sorted(fixing.files) if not self.stage(path, fixing.files[path], fixes, drafts)]
        for path in failed:
            del fixing.files[path]
        if failed:
            fixes.report = self.check_files(fixing.fixed_input())
        fixes.complete = not (_warn_changed(fixing.changed) or failed)
        fixes.unchecked = any(finding.rule in _UNCHECKED for finding in fixes.report.findings)
        return fixes

    def stage(self, path: str, fixed: Fixed, fixes: Fixes, drafts: ExitStack) -> bool:
        """Writes the draft of a file if the file is unchanged and writable. Returns whether it was written."""
        return stage_file(path, fixed, None if path in self.named else self.inputs.paths, fixes, drafts)

    def check_files(self, found: Discovery) -> Report:
        """Checks files in a new session, as a fix may change a CustomResourceDefinition that the old session has read. The cache is not
        used, because other users may have written to it and fixes would end up in files.
        """
        session, self.session = self.session or create_session(self.inputs, self.config, self.registry), None
        return check_input(self.inputs._replace(no_cache=True), found, session, self.quiet, self.scheduler)


def stage_file(path: str, fixed: Fixed, roots: Sequence[str] | None, fixes: Fixes, drafts: ExitStack) -> bool:
    """Writes the draft of a file if the file is unchanged and writable. Returns whether it was written.

    `roots`: folders that a symbolic link must not leave, besides the repository; None for a file that the user named.
    """
    if roots is not None and (target := leads_out(path, roots)):
        return _warn(f"not fixed: {path} is a symbolic link to {target}, outside the repository or current folder")
    # The target of a link may change at any time, so it is resolved once.
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
            return _warn(f"not fixed: {path} is read-only")
        draft = Draft(real)
        drafts.callback(draft.discard)
        with draft.file:
            draft.file.write(fixed.after)
        if not _is_unchanged(real, fixed):
            return not _warn_changed([path])
    except OSError as error:
        return _warn_unwritable(path, error)
    fixes.staged.append((path, fixed, draft))
    return True


class Fixes:
    """Fixed files that are not committed yet.

    Attributes:
        report: The remaining findings.
        complete: Whether every file could be fixed.
        unchecked: Whether a file could not be checked.
        staged: Path, fixed content and draft of each file.
    """

    def __init__(self, report: Report, unsafe: bool) -> None:
        self.report = report
        self.complete = True
        self.unchecked = False
        self.staged: list[tuple[str, Fixed, Draft]] = []
        self._unsafe = unsafe
        self._done: list[Fixed] = []

    def commit(self) -> bool:
        """Replaces the files. Returns whether every file could be fixed."""
        for path, fixed, draft in self.staged:
            try:
                if _is_unchanged(draft.path, fixed):
                    draft.commit()
                    self._done.append(fixed)
                else:
                    self.complete = not _warn_changed([path])
            except OSError as error:
                self.complete = _warn_unwritable(path, error)
        return self.complete

    @property
    def written(self) -> list[Fixed]:
        """The files that were replaced."""
        return self._done

    def summary(self, flag: str = "--unsafe-fixes") -> str:
        """Returns the last line of the output. `flag`: the option that also applies unsafe fixes."""
        line = f"Fixed {_counts(self._done)}." if self._done else "No fixes applied."
        if not self._unsafe and (unsafe := sum(f.fix is not None and not f.fix.safe for f in self.report.findings)):
            line += f" {counted(unsafe, 'more finding')} can be fixed with {flag}."
        return line


def _is_unchanged(path: str, fixed: Fixed) -> bool:
    """Whether a file still has the content that was checked. Raises OSError."""
    with open(path, "rb") as now:
        return now.read() == fixed.before


def _warn_unwritable(path: str, error: OSError) -> bool:
    return _warn(f"not fixed: {path} cannot be written: {error.strerror or error}")


def _warn_changed(paths: Iterable[str]) -> bool:
    """Prints a warning for each file that has changed. Returns whether there are any."""
    warned = [_warn(f"not fixed: {path} has changed since it was checked") for path in paths]
    return bool(warned)


def _warn(message: str) -> bool:
    """Prints a warning and returns False, the result of the failed operation."""
    click.echo(Glyphs.of(sys.stderr).visible(f"kcheck: {message}"), err=True)
    return False


def _counts(files: Iterable[Fixed]) -> str:
    listed = list(files)
    return f"{counted(sum(file.findings for file in listed), 'finding')} in {counted(len(listed), 'file')}"
