"""Subtraction of a baseline from a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from kcheck.baseline.baseline import Baseline, Root, expanded, fingerprints_of
from kcheck.baseline.matching import TIERS, compare
from kcheck.finding.fingerprint import Fingerprint
from kcheck.finding.report import BaselineCoverage, Report
from kcheck.rule.ruleset import ALWAYS, RuleSet

RulesFor = Callable[[str], RuleSet]
"""Returns the rules that apply to a file."""


def cover(report: Report, baseline: Baseline, rules_for: RulesFor) -> BaselineCoverage:
    """Returns which findings of a report are in a baseline."""
    charts = (f"{folder or '.'}/" for folder in report.charts)
    files = _RunFiles([*report.roles, *(each.file for each in report.passed), *charts], baseline.root)
    candidates: list[Fingerprint] = []
    unchecked: list[Fingerprint] = []
    disabled: list[Fingerprint] = []
    rules: dict[str, RuleSet] = {}
    for each in expanded(baseline.entries):
        path = files.path(each.file)
        if path is None:
            unchecked.append(each)
            continue
        if path not in rules:
            rules[path] = rules_for(path)
        (candidates if rules[path].runs(each.rule) else disabled).append(each)
    # A finding that repeats another one says nothing new, even if the other one is in the baseline.
    found = report.without_echoes().findings
    coverable = [finding for finding in found if finding.rule not in ALWAYS]
    compared = compare(candidates, fingerprints_of(coverable, baseline.root), TIERS)
    new = [*(finding for finding in found if finding.rule in ALWAYS), *(coverable[number] for number in compared.new)]
    known = [coverable[number] for _, number in compared.known]
    gone = [candidates[number] for number in compared.gone]
    # A finding may have moved to a file that was not checked.
    if unchecked or not baseline.complete:
        unchecked, gone = unchecked + gone, []
    return BaselineCoverage(sorted(new, key=lambda f: f.order), known, gone, unchecked, disabled)


def restrict(baseline: Baseline, paths: Iterable[str]) -> Baseline:
    """Returns the entries of a baseline that a run on these files may match, for another machine that does not have the files."""
    files = _RunFiles(paths, baseline.root)
    entries = tuple(entry for entry in baseline.entries if files.path(entry.fingerprint.file) is not None)
    return baseline._replace(entries=entries, complete=len(entries) == len(baseline.entries))


class _RunFiles:
    """The files of a run: those that it checks, and those that it skips on purpose."""

    def __init__(self, paths: Iterable[str], root: Root) -> None:
        self._root = root
        self._paths: dict[str, str | None] = {root.relative(path): path for path in paths}
        folders = [file for file, path in self._paths.items() if path and path.endswith("/")]
        self._folders = tuple(f"{file}/" if file not in ("", ".") else "" for file in folders)

    def path(self, file: str) -> str | None:
        """Returns the path of a file of the baseline; None if it exists but is not in the run, so that it still has its findings."""
        if file not in self._paths:
            path = os.path.join(self._root.folder, file)
            # A file that does not exist may have been renamed.
            self._paths[file] = None if os.path.lexists(path) and not file.startswith(self._folders) else path
        return self._paths[file]
