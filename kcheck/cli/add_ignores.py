"""`--add-ignores`: adds ignore comments for findings to the files."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import click

from kcheck.baseline.baseline import Baseline, Root, fingerprints_of
from kcheck.check.ignore_comments import add_comments
from kcheck.cli.fixer import Fixes, stage_file
from kcheck.cli.input import Input, check_input, create_session, find_files
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, Target, is_descriptor
from kcheck.discovery.load import load_file
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS
from kcheck.run.fixing import Fixed
from kcheck.text.source import Source
from kcheck.text.words import counted

_MAX_REASON = 200
_MAX_ROUNDS = 3


def add_ignore_comments(inputs: Input, config: Config, registry: Registry, reason: str, quiet: bool) -> int:
    """Adds an ignore comment for each finding that is not in the baseline, and returns the exit status.

    0: all findings are suppressed, 1: some are not. No file changes before the result is checked. Raises ClickException.
    """
    if len(reason) > _MAX_REASON or not reason.isprintable():
        raise click.UsageError(f"--reason must be one line of at most {_MAX_REASON} characters")
    adder = _IgnoreAdder(inputs, config, registry)
    if any(target.stdin or is_descriptor(target.path) for target in adder.found.targets):
        raise click.UsageError("--add-ignores needs files: standard input and pipes can only be read once")
    adder.add(reason)
    with ExitStack() as drafts:
        status = adder.write(drafts)
    _report_uncovered(adder.uncovered)
    if not quiet:
        files = sum(1 for fixed in adder.files.values() if fixed.text != fixed.source.text)
        number = sum(fixed.findings for fixed in adder.files.values())
        added = f"Added ignore comments for {counted(number, 'finding')} in {counted(files, 'file')}."
        click.echo(added if number else "No ignore comments added.")
    return status


class _IgnoreAdder:
    """Adds comments in memory, and checks the result.

    Attributes:
        found: The files.
        files: The files with comments, by path.
        uncovered: The findings that are not suppressed.
        covered: The findings that comments suppress, by path.
    """

    def __init__(self, inputs: Input, config: Config, registry: Registry) -> None:
        # The cache is not used, because other users may have written to it and its findings would end up in files.
        self.inputs = inputs._replace(no_cache=True)
        self.config = config
        self.registry = registry
        self.found = find_files(inputs, config, create_session(inputs, config, registry).budget)
        self.files: dict[str, Fixed] = {}
        self.uncovered: list[Finding] = []
        self.covered: dict[str, list[Finding]] = {}

    def check(self, found: Discovery) -> list[Finding]:
        """Returns the findings in files that are not in the baseline."""
        session = create_session(self.inputs, self.config, self.registry)
        session.baseline = session.baseline or Baseline(Root.of("."), ())
        report = check_input(self.inputs._replace(severity="info"), found, session, quiet=True)
        assert report.coverage is not None
        least = Severity.parse(self.inputs.severity)
        return [each for each in report.coverage.new if each.severity >= least]

    def add(self, reason: str) -> None:
        """Adds the comments. A file with comments that have an unexpected result is left as it is."""
        targets = {target.path: target for target in self.found.targets}
        findings = self.check(self.found)
        # A comment may reveal a finding that repeated the suppressed one.
        for _ in range(_MAX_ROUNDS):
            changed = False
            for path, wanted in _by_file(findings).items():
                changed |= self.add_to_file(path, targets.get(path), wanted, reason)
            if not changed or not (findings := self.unexpected()):
                return
        while findings:
            for path in {finding.file for finding in findings}:
                if path in self.files:
                    del self.files[path]
                    self.uncovered += self.covered.pop(path)
            findings = [finding for finding in self.unexpected() if finding.file in self.files]

    def add_to_file(self, path: str, target: Target | None, findings: Sequence[Finding], reason: str) -> bool:
        """Adds comments to a file. Returns whether it changed."""
        fixed = self.files.get(path)
        source = fixed.source if fixed is not None else None if target is None else load_file(target)
        coverable = [each for each in findings if each.rule not in ALWAYS]
        self.uncovered += [each for each in findings if each.rule in ALWAYS]
        if not isinstance(source, Source):
            self.uncovered += coverable
            return False
        text = source.text if fixed is None else fixed.text
        commented = add_comments(Source(path, text), coverable, reason, self.registry)
        self.uncovered += commented.uncovered
        if not commented.covered:
            return False
        covered = self.covered.setdefault(path, [])
        covered += commented.covered
        self.files[path] = Fixed(source, commented.text, Counter(each.rule for each in covered))
        return True

    def unexpected(self) -> list[Finding]:
        """Returns the findings, other than the uncovered ones, that exist with the comments."""
        targets = [
            target._replace(data=self.files[target.path].after) if target.path in self.files else target for target in self.found.targets
        ]
        root = Root.of(".")
        found = self.check(self.found._replace(targets=targets))
        left = Counter(fingerprints_of(self.uncovered, root))
        unexpected = []
        for finding, fingerprint in zip(found, fingerprints_of(found, root), strict=True):
            left[fingerprint] -= 1
            if left[fingerprint] < 0:
                unexpected.append(finding)
        return unexpected

    def write(self, drafts: ExitStack) -> int:
        """Writes the files and returns the exit status."""
        named = {target.path for target in self.found.targets if target.named}
        fixes = Fixes(Report(), False)
        written = [
            stage_file(path, self.files[path], None if path in named else self.inputs.paths, fixes, drafts) for path in sorted(self.files)
        ]
        complete = fixes.commit() and all(written)
        return 2 if not complete else 1 if self.uncovered else 0


def _by_file(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    by_file: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.file].append(finding)
    return by_file


def _report_uncovered(findings: Iterable[Finding]) -> None:
    glyphs = Glyphs.of(sys.stderr)
    listed: Sequence[Finding] = sorted(findings, key=lambda f: f.order)
    for finding in listed:
        text = f"no ignore comment possible: {finding.file}:{finding.range.line}: {finding.rule}: {finding.concise}"
        click.echo(glyphs.visible(f"kcheck: {text}"), err=True)
    if any(finding.file.endswith(".json") for finding in listed):
        click.echo("kcheck: JSON has no comments; use a baseline, overrides in the config, or the annotation kcheck.dev/ignore", err=True)
