"""Path patterns of the command line (if not expanded by the shell), of `exclude` in the config, and of .gitignore files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from kcheck.text.pattern import pattern as lazy_pattern

_GLOB_CHARACTER = lazy_pattern(r"[*?[]")
_TOKEN = lazy_pattern(r"\\.|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[^\\*?\[]+|.", re.DOTALL)
_IN_BRACKETS = lazy_pattern(r"\[:(\w+):\]|\\(.)|([\[\]^&|~]|(?<=-)-)", re.DOTALL)
_FOLDERS = "(?:[^/]++/)*?"
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z", "xdigit": "0-9a-fA-F", "space": r"\s"}


def is_glob(path: str) -> bool:
    return _GLOB_CHARACTER.search(path) is not None


def path_regex(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that must match a whole path.

    '*' and '?' match within a name, '**' any number of folders, '[a-z]' and '[!a-z]' one character; a backslash escapes the next
    character. An invalid pattern matches nothing.

    The expression never backtracks: the part after a '*' or '**' has a fixed number of characters or names up to the next one, so
    its first occurrence is as good as any later one and is kept (an atomic group). Only the part after the last one must reach the
    end.
    """
    *folders, last = pattern.split("/")
    blocks = [""]
    for part in folders:
        if part == "**":
            blocks.append("")
        else:
            blocks[-1] += _part_regex(part) + "/"
    end = ".+" if last == "**" else _part_regex(last)
    if len(blocks) == 1:
        return _compiled(blocks[0] + end)
    first, *between, final = blocks
    return _compiled(first + "".join(f"(?>{_FOLDERS}{block})" for block in between) + f"{_FOLDERS}{final}{end}")


def _folder_regex(pattern: str) -> re.Pattern[str]:
    """Compile an expression for folders that may contain matches of the pattern."""
    regex = ""
    for part in reversed(pattern.split("/")[:-1]):
        regex = ".*" if part == "**" else _part_regex(part) + (f"(?:/{regex})?" if regex else "")
    return _compiled(regex)


def _compiled(regex: str) -> re.Pattern[str]:
    try:
        return re.compile(regex, re.DOTALL)
    except re.error:  # a range such as [z-a]
        return re.compile("(?!)")


def _part_regex(pattern: str) -> str:
    """Return the regular expression of one path part of a pattern."""
    parts = [""]
    for token in _TOKEN.findall(pattern):
        if token[0] == "*":
            parts.append("")
        elif token == "?":
            parts[-1] += "[^/]"
        elif token[0] == "[" and len(token) > 1:
            negated = token[1] in "!^"
            body = _IN_BRACKETS.sub(lambda m: _CLASSES.get(m[1], "") if m[1] else re.escape(m[2] or m[3]), token[1 + negated : -1])
            parts[-1] += f"(?!/)[{'^' if negated else ''}{body}]"
        else:
            parts[-1] += re.escape(token[1:] if token[0] == "\\" else token)
    if len(parts) == 1:
        return parts[0]
    first, *between, final = parts
    return first + "".join(f"(?>[^/]*?{part})" for part in between if part) + f"(?>[^/]*{final})"


class Glob:
    """A glob of the command line. The search skips folders that cannot contain matches."""

    def __init__(self, pattern: str) -> None:
        self._path_regex = path_regex(pattern)
        self._folder_regex = _folder_regex(pattern)
        suffix = os.path.splitext(pattern.rpartition("/")[2])[1]
        self.names_suffix = bool(suffix) and not is_glob(suffix)
        """Whether the pattern has an explicit suffix, such as 'k8s/*.tpl'."""

    def matches(self, path: str) -> bool:
        return self._path_regex.fullmatch(path) is not None

    def reaches_into(self, folder: str) -> bool:
        """Whether a path inside the folder may match."""
        return self._folder_regex.fullmatch(folder) is not None


class Excludes:
    """Globs relative to the folder `root`.

    A glob without '/' matches names at any depth; one that matches a folder excludes its content.
    """

    def __init__(self, patterns: Sequence[str], root: str = ".") -> None:
        self._start = os.path.join(os.path.realpath(root), "") if patterns else ""
        self._globs: list[tuple[re.Pattern[str], str]] = []
        for pattern in patterns:
            path = pattern.rstrip("/")
            core = path.removeprefix("./").removeprefix("/").removesuffix("/**")
            self._globs.append((path_regex(core if "/" in path else f"**/{core}"), pattern))

    def match_with_folders(self, real: str) -> str:
        """Return the first glob that excludes this path or a folder that contains it, or ""."""
        while len(real) >= len(self._start) and self._globs:
            if pattern := self.match(real):
                return pattern
            real = os.path.dirname(real)
        return ""

    def match(self, real: str) -> str:
        """Return the first glob that excludes this path (absolute, without links), or ""."""
        if not self._globs or not real.startswith(self._start):
            return ""
        path = real[len(self._start) :].replace(os.sep, "/")
        return next((pattern for regex, pattern in self._globs if regex.fullmatch(path)), "")
