"""Path patterns: of the command line, where the shell did not expand them, of the config's `exclude`, and of .gitignore files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from kcheck.text.pattern import pattern as late

_MAGIC = late(r"[*?[]")
_TOKEN = late(r"\\.|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[^\\*?\[]+|.", re.DOTALL)
_IN_BRACKETS = late(r"\[:(\w+):\]|\\(.)|([\[\]^&|~]|(?<=-)-)", re.DOTALL)
_FOLDERS = "(?:[^/]++/)*?"
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z", "xdigit": "0-9a-fA-F", "space": r"\s"}


def is_glob(path: str) -> bool:
    return _MAGIC.search(path) is not None


def path_regex(pattern: str) -> re.Pattern[str]:
    """What a pattern matches from end to end: '*' and '?' stay within a name, '**' is any number of folders, '[a-z]' and '[!a-z]' are
    one character, a backslash takes the next one literally. A pattern that makes no sense matches nothing.

    The expression never backtracks: what follows a '*' or '**' has a fixed number of characters or names up to the next one, so its first
    occurrence is as good as any later one and is kept (an atomic group). Only what follows the last one must reach the end.
    """
    *folders, last = pattern.split("/")
    blocks = [""]
    for part in folders:
        if part == "**":
            blocks.append("")
        else:
            blocks[-1] += _name(part) + "/"
    end = ".+" if last == "**" else _name(last)
    if len(blocks) == 1:
        return _compiled(blocks[0] + end)
    first, *between, final = blocks
    return _compiled(first + "".join(f"(?>{_FOLDERS}{block})" for block in between) + f"{_FOLDERS}{final}{end}")


def _folder_regex(pattern: str) -> re.Pattern[str]:
    """What matches the folders that may hold something that the pattern matches."""
    regex = ""
    for part in reversed(pattern.split("/")[:-1]):
        regex = ".*" if part == "**" else _name(part) + (f"(?:/{regex})?" if regex else "")
    return _compiled(regex)


def _compiled(regex: str) -> re.Pattern[str]:
    try:
        return re.compile(regex, re.DOTALL)
    except re.error:  # a range such as [z-a]
        return re.compile("(?!)")


def _name(pattern: str) -> str:
    """The regular expression of one part of a pattern, between two '/'."""
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
    """A glob of the command line, for a walk that prunes the folders in which nothing can match."""

    def __init__(self, pattern: str) -> None:
        self._whole = path_regex(pattern)
        self._above = _folder_regex(pattern)
        suffix = os.path.splitext(pattern.rpartition("/")[2])[1]
        self.names_suffix = bool(suffix) and not is_glob(suffix)
        """Whether it asks for a suffix of its own, as 'k8s/*.tpl' does."""

    def matches(self, path: str) -> bool:
        return self._whole.fullmatch(path) is not None

    def reaches_into(self, folder: str) -> bool:
        """Whether something inside the folder may match."""
        return self._above.fullmatch(folder) is not None


class Excludes:
    """Globs relative to the folder `root`. One without '/' matches a name at any depth; one that matches a folder takes all it holds."""

    def __init__(self, patterns: Sequence[str], root: str = ".") -> None:
        self._start = os.path.join(os.path.realpath(root), "") if patterns else ""
        self._globs: list[tuple[re.Pattern[str], str]] = []
        for pattern in patterns:
            path = pattern.rstrip("/")
            core = path.removeprefix("./").removeprefix("/").removesuffix("/**")
            self._globs.append((path_regex(core if "/" in path else f"**/{core}"), pattern))

    def match(self, real: str) -> str:
        """The first glob that takes this path (absolute, without links) out; nothing where none does."""
        if not self._globs or not real.startswith(self._start):
            return ""
        path = real[len(self._start) :].replace(os.sep, "/")
        return next((pattern for regex, pattern in self._globs if regex.fullmatch(path)), "")
