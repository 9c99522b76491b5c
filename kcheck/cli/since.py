"""`--since REV`: how the input differs from a revision, and which findings are new."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

import click

from kcheck.baseline.new_findings import new_findings
from kcheck.cache.trees import TreeCache
from kcheck.changes.old_files import RevisionFiles
from kcheck.changes.old_objects import OldObjects
from kcheck.check.session import Session
from kcheck.check.time_limit import Budget
from kcheck.cli.charts import state_of_helm
from kcheck.cli.earlier_tree import EarlierTree
from kcheck.cli.input import Input, find_files, used_cache
from kcheck.cli.revision import Revision
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, Target, may_be_manifest
from kcheck.discovery.glob import Excludes, Glob, is_glob
from kcheck.discovery.load import LIMIT, read_file, with_standard_input
from kcheck.discovery.renames import find_renames
from kcheck.engine.files import exclude_globs
from kcheck.finding.finding import Finding
from kcheck.finding.rendered import rendered_path
from kcheck.finding.report import Report, SinceRevision
from kcheck.rule.registry import Registry
from kcheck.run.file_stage import has_charts
from kcheck.run.removed_objects import find_removed_objects, without_moved

_IGNORE_FILE = ".gitignore"
_INCOMPLETE = frozenset({"internal-error"})
"""Rules whose findings say that the check is incomplete. They are never old."""


class FileChanges(NamedTuple):
    """How the files of the input differ from those of a revision. Paths are relative to the current folder.

    Attributes:
        unchanged: The files of the input that the revision has with the same content. Files of submodules count as unchanged.
        old: The contents of the files in the revision that were changed or removed since.
        counterparts: The path in the revision of each changed file of the input.
        removed: The files of `old` that were part of the input and are no longer in it, under any name.
        changed: The other files of the input.
    """

    unchanged: frozenset[str]
    old: dict[str, bytes]
    counterparts: dict[str, str]
    removed: tuple[str, ...]
    changed: tuple[Target, ...]


class Since:
    """The comparison of the input with a revision."""

    def __init__(self, revision: str, inputs: Input, config: Config) -> None:
        """Raises ClickException if the revision or the repository of the paths cannot be read."""
        named = [path for path in inputs.paths if path != "-"]
        if "-" in inputs.paths:
            if not inputs.stdin_filename:
                raise click.UsageError("--since: standard input has no earlier revision; use --stdin-filename")
            named.append(inputs.stdin_filename)
        self.revision = Revision(revision, named)
        self.inputs = inputs._replace(paths=tuple(dict.fromkeys(named)))
        self.config = config
        self.changes = FileChanges(frozenset(), {}, {}, (), ())

    def compare_files(self, found: Discovery, session: Session) -> Discovery:
        """Let a session judge the changes of the input since the revision, and return the input with the content of standard input."""
        found = with_standard_input(found, LIMIT, sys.stdin.buffer if sys.stdin else None)
        self.changes = changes = self._file_changes(found)
        name, counterparts = self.revision.name, changes.counterparts
        # A file outside of the input may be the origin of a moved file, but its objects are not removed.
        inside = [path for path in (*counterparts.values(), *changes.removed) if path in changes.old]
        older = [Target(path, False, data=changes.old[path]) for path in inside]
        removed = find_removed_objects(older, changes.changed, counterparts, session, name, self.older_name)
        if removed.gone:
            removed = without_moved(removed, self._files_outside(found), session)
        session.removed, session.gone = removed
        charts = self._older_charts(found, session)
        old, same = {**changes.old, **charts}, {**counterparts, **dict(zip(charts, charts, strict=True))}
        session.before = OldObjects(RevisionFiles(name, old, same, changes.unchanged, self.older_name))
        if session.factory is not None:
            session.factory = partial(_recreate_session, session.factory, session.before)
        return found

    def _older_charts(self, found: Discovery, session: Session) -> dict[str, bytes]:
        """Return what the charts of the revision render, by the paths that the texts have during a check."""
        if session.helm is None or not has_charts(found):
            return {}
        with self.revision.exported(self._is_needed, charts=True) as root:
            tree = EarlierTree(root, self.revision.root, os.path.realpath("."))
            inputs = self.inputs._replace(paths=tuple(self._path_in(tree, path) for path in self.inputs.paths))
            texts = tree.rendered_charts(inputs, self.config, session.registry, _find)
        return {path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}

    def _file_changes(self, found: Discovery) -> FileChanges:
        """Compare the files of the input with the revision. Contents are read only of files that differ."""
        revision = self.revision
        unchanged = set()
        changed: dict[str, str] = {}
        added: dict[str, Target] = {}
        for target in found.targets:
            path = revision.path_of(target.path)
            if path not in self._files and os.path.islink(target.path):
                path = revision.path_of(os.path.realpath(target.path))
            if path.startswith(revision.submodules):
                unchanged.add(target.path)
            elif path not in self._files:
                added[target.path] = target
            elif (data := _content(target)) is not None and revision.is_unchanged(path, data):
                unchanged.add(target.path)
            else:
                changed[path] = target.path
        missing = [path for path in self._files if not os.path.lexists(os.path.join(revision.root, path))]
        contents = dict(revision.read_files([*changed, *missing]))
        removed = {path: contents[path] for path in missing if path in contents}
        renames = find_renames(removed, {path: data for path, target in added.items() if (data := _content(target)) is not None})
        counterparts = {new: old for old, new in (changed | renames).items()}
        gone = (path for path in removed if path not in renames and self._scope.contains(path))
        return FileChanges(
            frozenset(unchanged),
            {revision.shown(path): data for path, data in contents.items()},
            {new: revision.shown(old) for new, old in counterparts.items()},
            tuple(map(revision.shown, gone)),
            tuple(target for target in found.targets if target.path not in unchanged),
        )

    def _files_outside(self, found: Discovery) -> Iterator[Target]:
        """Yield the manifests of the repository that are not in the input."""
        inside = {self.revision.path_of(target.path) for target in found.targets}
        for target in find_files(self.inputs._replace(paths=(self.revision.root,)), self.config, Budget()).targets:
            if self.revision.path_of(target.path) not in inside:
                yield target

    def without_old_findings(self, report: Report, session: Session, registry: Registry) -> Report:
        """Return the report of the compared files without the findings that the revision has, too. `session`: the one of the report."""
        new = self.new_findings(report, session, registry)
        since = SinceRevision(self.revision.name, self.revision.commit, len(report.findings) - len(new))
        return replace(report, findings=new, since=since)

    def new_findings(self, report: Report, session: Session, registry: Registry) -> list[Finding]:
        """Return the findings of the compared files that the revision does not have. `session`: the one of the report."""
        moved = {old: new for new, old in self.changes.counterparts.items()}
        incomplete = [finding for finding in report.findings if finding.rule in _INCOMPLETE]
        found = [finding for finding in report.findings if finding.rule not in _INCOMPLETE]
        earlier = [_at_file(each, moved.get(each.file, each.file)) for each in self._earlier_findings(session, registry)]
        return sorted([*incomplete, *new_findings(found, earlier)], key=lambda finding: finding.order)

    def older_name(self, path: str) -> str:
        """Return the name of a file of the revision in reports. `git show NAME` prints the file, unless it was rendered."""
        if (rendered := rendered_path(path)) is not None:
            return f"{self.older_name(rendered.template)} (rendered)"
        return f"{self.revision.name}:{self.revision.path_of(path)}"

    @cached_property
    def _files(self) -> dict[str, None]:
        """The files of the revision that a search of its folders finds, relative to its root."""
        return dict.fromkeys(path for path in self.revision.files() if may_be_manifest(path) or self._scope.names(path))

    @cached_property
    def _scope(self) -> _Scope:
        return _Scope(self.revision, self.inputs, self.config)

    def _earlier_findings(self, session: Session, registry: Registry) -> Sequence[Finding]:
        """Return the findings of the revision, from the cache if it was checked before."""
        cache = None
        if (folder := used_cache(self.inputs)) is not None:
            cache = TreeCache(folder, session, repr(("since", self.inputs, self.config, session.provided, state_of_helm(session.helm))))
            if (known := cache.get(self.revision.commit)) is not None:
                return known
        with self.revision.exported(self._is_needed, self.inputs.helm != "off") as root:
            tree = EarlierTree(root, self.revision.root, os.path.realpath("."))
            inputs = self.inputs._replace(paths=tuple(self._path_in(tree, path) for path in self.inputs.paths))
            found = [_at_file(each, self._original(tree, each.file)) for each in tree.findings(inputs, self.config, registry, _find)]
        if cache is not None:
            cache.put(self.revision.commit, found)
        return found

    def _is_needed(self, path: str) -> bool:
        """Whether a file of the revision may matter for its findings."""
        return may_be_manifest(path) or path.rpartition("/")[2] == _IGNORE_FILE or self._scope.names(path)

    @cached_property
    def _is_inside(self) -> bool:
        """Whether the current folder is in the repository, so that relative paths have the same meaning in the tree."""
        return os.path.join(os.path.realpath("."), "").startswith(os.path.join(self.revision.root, ""))

    def _path_in(self, tree: EarlierTree, path: str) -> str:
        """Return a path of the command line as it is in the tree."""
        if self._is_inside and not os.path.isabs(path):
            return path
        folder, name = os.path.split(os.path.abspath(path))
        return tree.moved_folder(os.path.join(os.path.realpath(folder), name))

    def _original(self, tree: EarlierTree, file: str) -> str:
        """Return the path in the repository for one in the tree."""
        start = os.path.join(tree.root, "")
        if not file.startswith(start):
            return file
        path = file[len(start) :]
        is_relative = not self._is_inside and not all(map(os.path.isabs, self.inputs.paths))
        return self.revision.shown(path) if is_relative else os.path.join(tree.repository, path)


class _Scope:
    """The paths that belong to the input, whether they exist or not. They are relative to the root of the repository."""

    def __init__(self, revision: Revision, inputs: Input, config: Config) -> None:
        self._revision = revision
        self._excludes = Excludes(*exclude_globs(inputs.options, config))
        self._folders: list[str] = []
        self._named: set[str] = set()
        self._globs: list[Glob] = []
        for path in inputs.paths:
            if is_glob(path) and not os.path.lexists(path):
                self._globs.append(Glob(os.path.normpath(path).replace(os.sep, "/")))
                continue
            full = os.path.realpath(path)
            relative = "" if full == revision.root else revision.path_of(full)
            if os.path.isdir(path):
                self._folders.append(f"{relative}/" if relative else "")
            self._named.add(relative)

    def names(self, path: str) -> bool:
        """Whether a path is an argument of the command line."""
        return path in self._named

    def contains(self, path: str) -> bool:
        """Whether a path is part of the input."""
        if path in self._named:
            return True
        full = os.path.join(self._revision.root, path)
        if self._excludes.match_with_folders(full):
            return False
        return path.startswith(tuple(self._folders)) or any(each.matches(self._revision.shown(path)) for each in self._globs)


def _find(inputs: Input, config: Config, budget: Budget) -> Discovery:
    """Return the files to check in an earlier tree, in which some paths of the command line may not exist."""
    return find_files(inputs._replace(paths=tuple(_existing(inputs, config))), config, budget)


def _existing(inputs: Input, config: Config) -> Iterator[str]:
    for path in inputs.paths:
        try:
            find_files(inputs._replace(paths=(path,)), config, Budget())
        except click.UsageError:
            continue
        yield path


def _content(target: Target) -> bytes | None:
    """Return the content of a file of the input, None if it cannot be read here."""
    data = read_file(target)
    return data if isinstance(data, bytes) else None


def _recreate_session(factory: Callable[[], Session], before: OldObjects) -> Session:
    session = factory()
    session.before = before
    return session


def _at_file(finding: Finding, file: str) -> Finding:
    return finding if finding.file == file else finding._replace(place=finding.place._replace(file=file))
