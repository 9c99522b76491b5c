"""From the paths of the command line to the list of files to check."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from kcheck.discovery.gitignore import Rules, ignoring, outer_rules, repository_rules, with_file
from kcheck.discovery.glob import Excludes, Glob, is_glob
from kcheck.finding.report import SkippedFile
from kcheck.text.pattern import pattern as late
from kcheck.text.record import NamedTuple

SUFFIXES = (".yaml", ".yml", ".json", ".kubeconfig")

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr"})
CACHES = frozenset(
    {"__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".terraform", ".terragrunt-cache", ".tox", ".nox"}
)
INSTALLED = frozenset({"node_modules", ".venv", "venv"})
SKIPPED_FOLDERS = VERSION_CONTROL | CACHES | INSTALLED
"""Folders that are not walked into unless they are named themselves; other hidden folders are."""

DRAFT = ".kcheck-draft-"
# What a shell's <(command) puts on the command line: a pipe that has its writer, so reading it ends.
_DESCRIPTOR = late(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")


class Target(NamedTuple):
    """A file to check. `path`: as the user wrote the way to it, with '/', fit to be opened; a mere display name where `stdin` is set.

    `named`: it stood on the command line itself, rather than in a folder or behind a glob.
    `data`: what it shall hold from now on, where that is not written yet.
    """

    path: str
    named: bool
    stdin: bool = False
    data: bytes | None = None


class UnreadablePath(NamedTuple):
    """Something that should have been checked and could not be read, and why; `line` counts from 1."""

    file: str
    message: str
    line: int = 1


class NoSuchPath(Exception):
    """Paths of the command line that name nothing: a usage error. `messages`: one for each."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


class Discovery(NamedTuple):
    """The files to check, each once: in the order of the command line, sorted by path parts within a folder.

    `passed`: what was left out, and why. `unreadable`: what should have been looked at and could not be.
    """

    targets: Sequence[Target] = ()
    passed: Sequence[SkippedFile] = ()
    unreadable: Sequence[UnreadablePath] = ()


def discover(
    paths: Iterable[str], *, exclude: Sequence[str] = (), root: str = ".", gitignore: bool = True, stdin_name: str = "<stdin>"
) -> Discovery:
    """Expand files, folders, globs and '-'. `exclude`: globs relative to `root`, the folder of the config file.

    Raises NoSuchPath where a path names nothing or a glob matches nothing.
    """
    search = _Search(Excludes(exclude, root), gitignore)
    missing = [message for path in paths if (message := search.argument(path, stdin_name))]
    if missing:
        raise NoSuchPath(missing)
    return search.result()


def is_descriptor(path: str) -> bool:
    """Whether a path is one of our own open file descriptors, such as /dev/fd/63."""
    return path.startswith(("/dev/", "/proc/")) and _DESCRIPTOR.fullmatch(path) is not None


def what_is(mode: int) -> str:
    """The words for a thing that is no regular file."""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


class _FoundPath(NamedTuple):
    target: Target
    real: str
    link: bool


class _Folder(NamedTuple):
    """A folder to walk. `shown`: what the user sees; `real`: the same without links, a slash behind it.

    `rules`: what is ignored around it, None outside repositories; `glob`: what its files must match, None where all are wanted.
    """

    shown: str
    real: str
    rules: Rules | None
    glob: Glob | None


class _Search:
    """The paths of one command line, taken in one by one."""

    def __init__(self, excludes: Excludes, gitignore: bool) -> None:
        self._excludes = excludes
        self._gitignore = gitignore
        self._chosen: dict[str, Target] = {}
        self._order: list[str] = []
        self._passed: dict[str, str] = {}
        self._unreadable: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def result(self) -> Discovery:
        targets = [self._chosen[real] for real in self._order]
        checked = {target.path for target in targets}
        passed = [SkippedFile(file, why) for file, why in self._passed.items() if file not in checked]
        unreadable = [UnreadablePath(file, why) for file, why in self._unreadable.items()]
        return Discovery(targets, sorted(passed, key=lambda p: _order(p.file)), sorted(unreadable, key=lambda u: _order(u.file)))

    def argument(self, path: str, stdin_name: str) -> str:
        """Take in one path of the command line; what is wrong with it, where it names nothing."""
        if path == "-":
            self._take([_FoundPath(Target(stdin_name, named=True, stdin=True), "-", link=False)])
            return ""
        shown = _normal(path)
        try:
            link = os.path.islink(path)
            mode = os.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            if is_glob(path):
                return self._expand(shown)
            return f"no such file or folder: {path}" + (" (it is a link to nothing)" if link else "")
        except OSError as error:
            self._cannot_read(shown, error)
            return ""
        if stat.S_ISDIR(mode):
            self._take(self._walk(shown, None))
        elif stat.S_ISREG(mode) or is_descriptor(path):
            self._take([_FoundPath(Target(shown, named=True), self._real(path, link), link)])
        else:
            self._unreadable[shown] = f"not a file but {what_is(mode)}, so it was not opened"
        return ""

    def _expand(self, pattern: str) -> str:
        parts = pattern.split("/")
        first = next(i for i, part in enumerate(parts) if is_glob(part))
        base = "/".join(parts[:first]) or ("/" if first else "")
        if os.path.isdir(base or "."):
            before = len(self._passed) + len(self._unreadable)
            found = self._walk(base, Glob("/".join(parts[first:])))
            self._take(found)
            if found or len(self._passed) + len(self._unreadable) > before:
                return ""
        return f"no file matches {pattern}"

    def _take(self, found: list[_FoundPath]) -> None:
        """Add what is new. Of a file and links to it the file is taken, and a name of the command line before both."""
        fresh = []
        for target, real, _ in sorted(found, key=lambda f: ("1" if f.link else "0") + _order(f.target.path)):
            old = self._chosen.setdefault(real, target)
            if old is target:
                fresh.append(real)
            elif target.named and not old.named:
                self._chosen[real] = target
            elif target.path != old.path:
                self._passed[target.path] = f"the same file as {old.path}, which is checked"
        self._order += sorted(fresh, key=lambda real: _order(self._chosen[real].path))

    def _real(self, path: str, link: bool) -> str:
        """The path without links; a folder is resolved once for all its files."""
        if link:
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def _walk(self, shown: str, glob: Glob | None) -> list[_FoundPath]:
        """The files of a folder and of all below it. Links to folders are not followed: what they lead to is checked where it stands."""
        real = os.path.realpath(shown or ".")
        rules = outer_rules(real, self._no_rules) if self._gitignore else None
        # A glob is matched with what stands behind the folder.
        start = len(_join(shown, ""))
        found: list[_FoundPath] = []
        stack = [_Folder(shown, os.path.join(real, ""), rules, glob)]
        while stack:
            folder = stack.pop()
            try:
                with os.scandir(folder.shown or ".") as listing:
                    entries = list(listing)
            except OSError as error:
                self._cannot_read(_join(folder.shown, "") or "./", error)
                continue
            names = [entry.name for entry in entries]
            if self._gitignore:
                folder = self._with_own_rules(folder, names)
            above = _join(folder.shown, "")
            for name, entry in zip(names, entries, strict=True):
                path = above + name
                try:
                    if entry.is_dir():
                        stack += self._subfolder(folder, entry, path, start)
                    elif _wanted(folder.glob, name, path, start):
                        found += self._file(folder, entry, path)
                except OSError as error:
                    self._cannot_read(path, error)
        return found

    def _with_own_rules(self, folder: _Folder, names: list[str]) -> _Folder:
        rules = repository_rules(folder.real, self._no_rules) if ".git" in names else folder.rules
        if rules is not None and ".gitignore" in names:
            rules = with_file(rules, folder.real, self._no_rules)
        return folder if rules is folder.rules else folder._replace(rules=rules)

    def _subfolder(self, folder: _Folder, entry: os.DirEntry[str], path: str, start: int) -> list[_Folder]:
        glob = folder.glob
        if glob is not None and glob.matches(path[start:]):
            glob = None
        elif glob is not None and not glob.reaches_into(path[start:]):
            return []
        real = folder.real + entry.name
        if entry.name in SKIPPED_FOLDERS:
            why = f"folders named {entry.name} are not searched"
        else:
            why = self._left_out(folder, real, is_folder=True)
        if not (why := why or ("a link to a folder, not followed: name it to have it checked" if entry.is_symlink() else "")):
            return [_Folder(path, real + os.sep, folder.rules, glob)]
        if entry.name not in VERSION_CONTROL:
            self._passed[path + "/"] = why
        return []

    def _file(self, folder: _Folder, entry: os.DirEntry[str], path: str) -> list[_FoundPath]:
        """The one file, or nothing with a note. Raises OSError where the entry cannot be looked at."""
        real = folder.real + entry.name
        link = entry.is_symlink()
        why = self._left_out(folder, real, is_folder=False)
        if not why and (link or not entry.is_file(follow_symlinks=False)):
            mode = entry.stat().st_mode
            if not stat.S_ISREG(mode):
                why = f"{what_is(mode)}, not a file"
        if why:
            self._passed[path] = why
            return []
        return [_FoundPath(Target(path, named=False), os.path.realpath(real) if link else real, link)]

    def _left_out(self, folder: _Folder, real: str, *, is_folder: bool) -> str:
        if pattern := self._excludes.match(real):
            return f"excluded by the config: {pattern}"
        if folder.rules and (rule := ignoring(folder.rules, real, folder=is_folder)):
            return f"ignored by {rule}"
        return ""

    def _cannot_read(self, shown: str, error: OSError) -> None:
        self._unreadable[shown] = f"cannot be read: {error.strerror or error}"

    def _no_rules(self, path: str, error: OSError) -> None:
        self._passed[path] = f"its rules are not followed, it cannot be read: {error.strerror or error}"


def _wanted(glob: Glob | None, name: str, path: str, start: int) -> bool:
    """Whether a file of a folder is asked for. `start`: where in its path a glob begins."""
    # Drafts of kcheck, and links to nothing by which Emacs locks files.
    if name.startswith((".#", DRAFT)):
        return False
    usual = name.lower().endswith(SUFFIXES)
    return usual if glob is None else (usual or glob.names_suffix) and glob.matches(path[start:])


def _normal(path: str) -> str:
    """The path with '/', without './' and slashes at the end; the current folder is the empty text. '..' stays: it may follow a link."""
    path = path.replace(os.sep, "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _join(folder: str, name: str) -> str:
    return folder + name if folder in ("", "/") else f"{folder}/{name}"


def _order(path: str) -> str:
    """What sorts paths as lists of their parts would, in a third of the time: no name has anything before a NUL in it."""
    return path.replace("/", "\0")
