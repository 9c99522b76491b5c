"""What git ignores: .gitignore files from the repository's root downwards, and .git/info/exclude."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from kcheck.discovery.glob import path_regex
from kcheck.text.pattern import pattern as late
from kcheck.text.record import NamedTuple


class _IgnoreRule(NamedTuple):
    """A line. `name_only`: it has no slash, so it is about names at any depth; `folders_only`: it ends with one."""

    line: str
    regex: re.Pattern[str]
    ignores: bool
    name_only: bool
    folders_only: bool


class _IgnoreFile(NamedTuple):
    """The rules of one file, the last line first; `start`: length of its folder's path with the slash behind it."""

    name: str
    start: int
    rules: Sequence[_IgnoreRule]


Rules = tuple[_IgnoreFile, ...]
"""The files in force in a folder, the one nearest to it first: the first that has a rule for a path decides."""

Trouble = Callable[[str, OSError], None]
"""Told of a file of rules that cannot be read."""

# A backslash keeps the space behind it.
_TRAILING_SPACES = late(r"(?<!\\) +\Z")


def outer_rules(real: str, trouble: Trouble) -> Rules | None:
    """The rules in force around a folder (absolute, without links), its own .gitignore not yet read; None outside repositories.

    Where git ignores the folder itself there are none: who names such a folder means to have it checked.
    """
    above: list[str] = []
    folder = real
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        above.append(folder)
        folder = parent
    rules = repository_rules(folder, trouble)
    for inner in reversed(above):
        if os.path.lexists(os.path.join(folder, ".gitignore")):
            rules = with_file(rules, folder, trouble)
        if ignoring(rules, inner, folder=True):
            return ()
        folder = inner
    return rules


def repository_rules(root: str, trouble: Trouble) -> Rules:
    """The rules that a repository keeps to itself, in .git/info/exclude."""
    git = os.path.join(root, ".git")
    if os.path.isfile(git):  # a worktree or a submodule: the file says where the folder is
        try:
            with open(git, encoding="utf-8", errors="surrogateescape") as file:
                git = os.path.join(root, file.read().removeprefix("gitdir:").strip())
            with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
                git = os.path.join(git, file.read().strip())
        except (OSError, ValueError):
            pass  # only worktrees have a common folder, and a damaged .git hides nothing
    path = os.path.join(git, "info", "exclude")
    return _read(path, ".git/info/exclude", root, trouble) if os.path.isfile(path) else ()


def with_file(rules: Rules, folder: str, trouble: Trouble) -> Rules:
    """The rules inside a folder that has a .gitignore."""
    path = os.path.join(folder, ".gitignore")
    return _read(path, ".gitignore", folder, trouble) + rules if os.path.isfile(path) else rules


def ignoring(rules: Rules, real: str, *, folder: bool) -> str:
    """The rule that ignores a path none of whose parents is ignored, as 'file: line'; nothing where it is not ignored."""
    name = os.path.basename(real)
    for file in rules:
        path = real[file.start :].replace(os.sep, "/")
        for rule in file.rules:
            if (folder or not rule.folders_only) and rule.regex.fullmatch(name if rule.name_only else path):
                return f"{file.name}: {rule.line}" if rule.ignores else ""
    return ""


def _read(path: str, name: str, folder: str, trouble: Trouble) -> Rules:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError as error:
        trouble(path, error)
        return ()
    rules = [rule for line in reversed(lines) if (rule := _rule(line)) is not None]
    return (_IgnoreFile(name, len(os.path.join(folder, "")), rules),) if rules else ()


def _rule(line: str) -> _IgnoreRule | None:
    """A line as git reads it; None for a comment, a blank line, and one without a pattern."""
    line = _TRAILING_SPACES.sub("", line)
    if line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line[negated:]
    core = pattern.removesuffix("/")
    if not core:
        return None
    return _IgnoreRule(line, path_regex(core.removeprefix("/")), not negated, "/" not in core, core != pattern)
