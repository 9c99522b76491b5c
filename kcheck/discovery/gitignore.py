"""The rules of git for ignored files: .gitignore files from the root of the repository downwards, and .git/info/exclude."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from kcheck.discovery.glob import path_regex
from kcheck.text.pattern import pattern as lazy_pattern
from kcheck.text.record import NamedTuple


class _IgnoreRule(NamedTuple):
    """A line of a .gitignore file. `name_only`: it has no slash and matches names at any depth; `folders_only`: it ends with a slash."""

    line: str
    regex: re.Pattern[str]
    ignores: bool
    name_only: bool
    folders_only: bool


class _IgnoreFile(NamedTuple):
    """The rules of one file, the last line first. `start`: length of the path of its folder with trailing slash."""

    name: str
    start: int
    rules: Sequence[_IgnoreRule]


Rules = tuple[_IgnoreFile, ...]
"""The files in effect in a folder, the innermost first. The first file with a matching rule decides."""

OnUnreadable = Callable[[str, OSError], None]
"""Called with the path of an unreadable .gitignore file and the error."""

# A backslash preserves the space after it.
_TRAILING_SPACES = lazy_pattern(r"(?<!\\) +\Z")


def outer_rules(real: str, on_unreadable: OnUnreadable) -> Rules | None:
    """Return the rules that apply around a folder (absolute path without links), or None outside repositories.

    The .gitignore of the folder itself is not included. If git ignores the folder, the result is empty: a user who names such a
    folder wants to check it.
    """
    above: list[str] = []
    folder = real
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        above.append(folder)
        folder = parent
    rules = repository_rules(folder, on_unreadable)
    for inner in reversed(above):
        if os.path.lexists(os.path.join(folder, ".gitignore")):
            rules = with_folder_rules(rules, folder, on_unreadable)
        if ignoring_rule(rules, inner, folder=True):
            return ()
        folder = inner
    return rules


def repository_rules(root: str, on_unreadable: OnUnreadable) -> Rules:
    """Return the rules of a repository in .git/info/exclude."""
    git = os.path.join(root, ".git")
    if os.path.isfile(git):  # a worktree or a submodule: the file contains the path of the folder
        try:
            with open(git, encoding="utf-8", errors="surrogateescape") as file:
                git = os.path.join(root, file.read().removeprefix("gitdir:").strip())
            with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
                git = os.path.join(git, file.read().strip())
        except (OSError, ValueError):
            pass  # only worktrees have a common folder, and a damaged .git file ignores nothing
    path = os.path.join(git, "info", "exclude")
    return _read_rules(path, ".git/info/exclude", root, on_unreadable) if os.path.isfile(path) else ()


def with_folder_rules(rules: Rules, folder: str, on_unreadable: OnUnreadable) -> Rules:
    """Return the rules inside a folder that has a .gitignore file."""
    path = os.path.join(folder, ".gitignore")
    return _read_rules(path, ".gitignore", folder, on_unreadable) + rules if os.path.isfile(path) else rules


def ignoring_rule(rules: Rules, real: str, *, folder: bool) -> str:
    """Return the rule that ignores a path as 'file: line', or "" if the path is not ignored. No parent of the path may be ignored."""
    name = os.path.basename(real)
    for file in rules:
        path = real[file.start :].replace(os.sep, "/")
        for rule in file.rules:
            if (folder or not rule.folders_only) and rule.regex.fullmatch(name if rule.name_only else path):
                return f"{file.name}: {rule.line}" if rule.ignores else ""
    return ""


def is_ignored(path: str) -> bool:
    """Return whether git would ignore a path that need not exist: a build creates it.

    Outside of repositories, for example in an archive of one, the .gitignore files of all folders above apply.
    """
    folder, real = os.path.split(os.path.abspath(path))
    folders = [folder]
    while not os.path.lexists(os.path.join(folders[-1], ".git")) and folders[-1] != os.path.dirname(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    rules: Rules = repository_rules(folders[-1], _ignore_unreadable)
    for outer, inner in zip(reversed(folders), [*reversed(folders[:-1]), ""], strict=True):
        rules = with_folder_rules(rules, outer, _ignore_unreadable)
        if ignoring_rule(rules, inner or os.path.join(folder, real), folder=bool(inner)):
            return True
    return False


def _ignore_unreadable(path: str, error: OSError) -> None:
    """An unreadable file ignores nothing here: the search for files reports it."""


def _read_rules(path: str, name: str, folder: str, on_unreadable: OnUnreadable) -> Rules:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError as error:
        on_unreadable(path, error)
        return ()
    rules = [rule for line in reversed(lines) if (rule := _parse_rule(line)) is not None]
    return (_IgnoreFile(name, len(os.path.join(folder, "")), rules),) if rules else ()


def _parse_rule(line: str) -> _IgnoreRule | None:
    """Parse a line like git does. Returns None for comments, empty lines and lines without a pattern."""
    line = _TRAILING_SPACES.sub("", line)
    if line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line[negated:]
    core = pattern.removesuffix("/")
    if not core:
        return None
    return _IgnoreRule(line, path_regex(core.removeprefix("/")), not negated, "/" not in core, core != pattern)
