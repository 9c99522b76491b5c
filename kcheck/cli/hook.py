"""`kcheck hook FILE...`: checks the files of a commit in their repository, for pre-commit, prek and other managers of git hooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from typing import Any, NamedTuple

import click

from kcheck.baseline.new_findings import new_findings
from kcheck.cache.trees import TreeCache
from kcheck.check.kustomizations import NAMES as KUSTOMIZATIONS
from kcheck.check.session import Session
from kcheck.check.time_limit import Budget
from kcheck.cli.charts import helm_option, state_of_helm
from kcheck.cli.fixer import Fixer
from kcheck.cli.git import GitRepository
from kcheck.cli.input import Input, check_input, create_session, find_files, input_options_without_paths, used_cache
from kcheck.cli.reporting import Reporting, needs_facts, report_options, style_options
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import Failure, find_config
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, Target, may_be_manifest
from kcheck.discovery.glob import Excludes
from kcheck.engine.files import exclude_globs
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.role import COMPONENT, KUSTOMIZATION, OTHER, TOOL
from kcheck.rule.registry import Registry
from kcheck.run.removed_objects import removed_objects

_SHOWN_ID = 10
"""Characters of a commit id that are shown."""

_NO_MANIFESTS = (KUSTOMIZATION, COMPONENT, TOOL, OTHER)
"""Roles of files that are never checked themselves."""


@click.command(short_help="Check the files of a commit, and what it breaks elsewhere.")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False))
@report_options
@input_options_without_paths
@click.option(
    "--from-ref",
    default="",
    metavar="REV",
    envvar="PRE_COMMIT_FROM_REF",
    help="Compare with this revision instead of HEAD. [default: PRE_COMMIT_FROM_REF]",
)
@click.option(
    "--to-ref",
    default="",
    metavar="REV",
    envvar="PRE_COMMIT_TO_REF",
    help="With --from-ref, compare with the common ancestor of both. [default: PRE_COMMIT_TO_REF or HEAD]",
)
@click.option("--charts", is_flag=True, help="Also render and check Helm charts. Requires helm.")
@helm_option
@click.option("--fix", is_flag=True, help="Apply fixes to FILES, and report the remaining findings.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the behavior of an object. Requires --fix.")
@style_options
def hook(
    files: tuple[str, ...], from_ref: str, to_ref: str, charts: bool, fix: bool, unsafe_fixes: bool, **values: Any
) -> None:  # fmt: skip
    """Check the files of a commit, and what the commit breaks elsewhere.

    The command reads all manifests that git tracks. It reports the findings in FILES, and the findings in other files that the compared
    revision does not have. It is intended for hooks of pre-commit and prek.

    Exit status: 0 no findings, 1 findings at or above --fail-on or files changed by --fix, 2 the check could not be completed.
    """
    if unsafe_fixes and not fix:
        raise click.UsageError("--unsafe-fixes requires --fix")
    inputs = Input.pop_from({**values, "paths": (), "as_found": True, "stdin_filename": ""})
    if not charts:
        inputs = inputs._replace(helm="off")
    reporting = Reporting.pop_from({name: value for name, value in values.items() if name in Reporting._fields})
    repository = GitRepository()
    change = _CommittedFiles.read(repository, files, from_ref, to_ref)
    if not change.concerns_manifests(repository.files()):
        # Most commits in a repository of a program: they need no rules.
        if not reporting.quiet:
            click.echo("No manifests changed.", err=True)
        return
    registry = Registry.load()
    report_plugin_failures(registry)
    outputs = reporting.outputs(registry)
    config = find_config(inputs.options, registry)
    check = _HookCheck(inputs, reporting, registry, config, repository, change)
    status = check.fix(unsafe_fixes) if fix else 0
    report, elsewhere = check.report(needs_facts(outputs))
    status = max(status, reporting.publish_report(report, outputs, registry, config.fail_on))
    if elsewhere and not reporting.quiet:
        click.echo(_note(elsewhere, change.bases), err=True)
    if check.lacks_helm:
        raise Failure("kcheck: charts were not checked: helm is not installed. Install it, or use the hook kcheck")
    if (skipped := _skipped_manifest(report, check.passed)) is not None:
        message = f"kcheck: no manifest in the repository was checked; {skipped.file} was skipped: {skipped.why}"
        raise Failure(f"{message}. Without manifests, remove the hook")
    sys.exit(status)


class _CommittedFiles(NamedTuple):
    """What is committed.

    Attributes:
        files: The files that the manager of hooks passes.
        bases: The commits that the working tree is compared with.
        differences: The files that differ from each base, including deleted ones.
        changed: The files that differ from all bases; all files without a base.
    """

    files: frozenset[str]
    bases: list[str]
    differences: list[set[str]]
    changed: frozenset[str]

    @classmethod
    def read(cls, repository: GitRepository, files: Iterable[str], from_ref: str, to_ref: str) -> _CommittedFiles:
        bases = repository.base_revisions(from_ref, to_ref)
        differences = [repository.changed_files(base) for base in bases]
        changed = frozenset(set.intersection(*differences) if differences else repository.files())
        existing = set()
        for file in files:
            path = os.path.relpath(file).replace(os.sep, "/")
            if os.path.exists(path):
                existing.add(path)
            elif path not in changed:
                raise click.UsageError(f"no such file: {file}")
        return cls(frozenset(existing), bases, differences, changed)

    def concerns_manifests(self, tracked: Iterable[str]) -> bool:
        """Whether findings can differ from those of the bases, or files are passed."""
        differing = self.changed.union(*self.differences)
        # A kustomization may read files of any name.
        return bool(
            self.files
            or any(map(_may_be_in_chart, differing))
            or (differing and any(os.path.basename(path) in KUSTOMIZATIONS for path in tracked))
        )


class _HookCheck:
    """Checks a repository and selects the findings of a change."""

    def __init__(
        self, inputs: Input, reporting: Reporting, registry: Registry, config: Config, repository: GitRepository, change: _CommittedFiles
    ) -> None:  # fmt: skip
        self.inputs = inputs
        self.reporting = reporting
        self.registry = registry
        self.config = config
        self.repository = repository
        self.change = change
        self.found = _find_tracked(inputs, config, [*repository.files(), *change.files])
        # The findings in a link are those of the file that it leads to.
        self.passed = change.files.union(os.path.relpath(os.path.realpath(path)).replace(os.sep, "/") for path in change.files)
        self.trees: TreeCache | None = None
        self.lacks_helm = False

    def fix(self, unsafe: bool) -> int:
        """Fix the passed files and return the exit status."""
        if not any(f.fix is not None and (f.fix.safe or unsafe) and f.file in self.passed for f in self._check().findings):
            return 0
        # Fixes are never taken from the cache.
        session = create_session(self.inputs, self.config, self.registry)
        fixer = Fixer(self.inputs, self.found, session, self.config, self.reporting.quiet, only=self.passed)
        with ExitStack() as drafts:
            fixes = fixer.fix_files(unsafe, drafts)
            complete = fixes.commit()
        if not self.reporting.quiet:
            click.echo(fixes.summary(), err=True)
        return 2 if not complete else 1 if fixes.staged else 0

    def report(self, facts: bool = False) -> tuple[Report, int]:
        """Return the report of the findings that concern the change, and the number of those in files that are not passed.

        `facts`: whether the caller reads the facts of all objects.
        """
        report = self._check(facts)
        inside = [f for f in report.findings if f.file in self.passed]
        # A changed file that is not passed is one that the configuration of the hook excludes.
        candidates = {id(f) for f in report.findings if f.file not in self.passed and f.file not in self.change.changed}
        outside: list[Finding] = []
        # Nothing is new in a tree that is equal to one of the bases.
        if candidates and all(self.change.differences):
            earlier = [finding for base in self.change.bases for finding in self._earlier_findings(base)]
            outside = [f for f in new_findings(report.findings, earlier) if id(f) in candidates]
        self._remember(report)
        report.findings = sorted([*inside, *outside], key=lambda f: f.order)
        return report, len(outside)

    def _check(self, facts: bool = False) -> Report:
        """Check the whole repository."""
        session = create_session(self.inputs, self.config, self.registry)
        session.removed = self._removed_objects(session)
        if (folder := used_cache(self.inputs)) is not None:
            state = self.inputs, self.config, session.provided, session.policy_settings, state_of_helm(session.helm)
            self.trees = TreeCache(folder, session, repr(state))
        report = check_input(self.inputs, self.found, session, self.reporting.quiet, facts=facts)
        self.lacks_helm = session.charts is not None and session.charts.is_unrendered
        return report

    def _removed_objects(self, session: Session) -> tuple[Facts, ...]:
        """Return the objects of the bases that are no longer in the changed files, or whose Pods have other labels."""
        found: list[Facts] = []
        present = {target.path for target in self.found.targets}
        excludes = Excludes(*exclude_globs(self.inputs.options, self.config))
        for base, changed in zip(self.change.bases, self.change.differences, strict=True):
            manifests = sorted(path for path in changed if may_be_manifest(path) and not excludes.match(os.path.realpath(path)))
            if contents := self.repository.contents(base, manifests):
                before = [Target(path, False, data=data) for path, data in contents.items()]
                found += removed_objects(before, [Target(path, False) for path in manifests if path in present], session)
        return tuple(found)

    def _remember(self, report: Report) -> None:
        """Store the findings of the working tree: the next commit is compared with it."""
        if self.trees is not None and self.change.files.issubset(self.repository.files()) and (tree := self.repository.tree_of_index()):
            # The next commit may have another baseline.
            self.trees.put(tree, [*report.findings, *(report.coverage.known if report.coverage else ())])

    def _earlier_findings(self, commit: str) -> Iterable[Finding]:
        """Return the findings of a commit."""
        if self.trees is None:
            return self._findings_of(commit)
        tree = self.repository.tree_of(commit)
        found = self.trees.get(tree)
        if found is None:
            found = tuple(self._findings_of(commit))
            self.trees.put(tree, found)
        return found

    def _findings_of(self, commit: str) -> list[Finding]:
        with self.repository.checked_out(commit, may_be_manifest, self.inputs.helm != "off") as (tree, files):
            return tree.findings(self.inputs, self.config, self.registry, lambda inputs, config, _: _find_tracked(inputs, config, files))


def _skipped_manifest(report: Report, passed: Collection[str]) -> SkippedFile | None:
    """Return a passed file that users expect to be checked, if nothing in the repository was checked: a hook must not always succeed."""
    if report.files or report.findings:
        return None
    roles = {file: role.name for file, role in report.roles.items()}
    return next((each for each in report.passed if each.file in passed and roles.get(each.file) not in _NO_MANIFESTS), None)


def _find_tracked(inputs: Input, config: Config, files: Collection[str]) -> Discovery:
    """Return the files of a repository to check, as a search of its folders does. Other files of the folders do not count."""
    names = {path for path in files if may_be_manifest(path)}
    # A file takes precedence over links to it. Folders come before the files after them, as in a search.
    paths = sorted(names, key=lambda path: (os.path.islink(path), path.replace("/", "\0")))
    return find_files(inputs._replace(paths=tuple(paths)), config, Budget())._replace(partial=frozenset())


def _may_be_in_chart(path: str) -> bool:
    """Whether a file may be a manifest or belong to a chart, by its path."""
    return may_be_manifest(path) or path.endswith((".tpl", ".tgz")) or "templates/" in path


def _note(count: int, bases: list[str]) -> str:
    """Return the note about findings in files that are not passed."""
    subject, it = ("1 finding is in a file", "it") if count == 1 else (f"{count} findings are in files", "them")
    compared = " and ".join(commit[:_SHOWN_ID] for commit in bases)
    return f"kcheck: {subject} that this commit does not change; compared with {compared}, the commit causes {it}"
