"""Expands the paths of the command line to the list of files to check."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Sequence

from kcheck.discovery.gitignore import Rules, ignoring_rule, outer_rules, repository_rules, with_folder_rules
from kcheck.discovery.glob import Excludes, Glob, is_glob
from kcheck.finding.report import SkippedFile
from kcheck.text.pattern import pattern as lazy_pattern
from kcheck.text.record import NamedTuple

SUFFIXES = (".yaml", ".yml", ".json", ".kubeconfig")

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr"})
CACHES = frozenset(
    {"__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".terraform", ".terragrunt-cache", ".tox", ".nox"}
)
INSTALLED = frozenset({"node_modules", ".venv", "venv"})
SKIPPED_FOLDERS = VERSION_CONTROL | CACHES | INSTALLED
"""Folders that are skipped unless they are named explicitly. Other hidden folders are searched."""

STDIN = "<stdin>"
"""The name of standard input, unless the user names it."""

DRAFT = ".kcheck-draft-"
# The path that a shell passes for <(command): a pipe with a writer, so reading it terminates.
_DESCRIPTOR = lazy_pattern(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")


class Target(NamedTuple):
    """A file to check.

    Attributes:
        path: The path as written by the user, with '/'; only a display name if `stdin` is set.
        named: Whether it is an argument of the command line, rather than found in a folder or by a glob.
        stdin: Whether the content is that of standard input.
        data: Content that replaces that of the file: not written yet, or already read from standard input.
        start: Offset in the path from which its folders indicate what the file is: after the folder on the command line.
    """

    path: str
    named: bool
    stdin: bool = False
    data: bytes | None = None
    start: int = 0


class UnreadablePath(NamedTuple):
    """A path that could not be read, with the reason. `line` counts from 1."""

    file: str
    message: str
    line: int = 1


class NoSuchPath(Exception):
    """Paths of the command line that do not exist, which is a usage error. `messages`: one for each path."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


class Discovery(NamedTuple):
    """The files to check, each once, in the order of the command line; within a folder sorted by path parts.

    Attributes:
        targets: The files to check.
        passed: Skipped files and folders with the reason.
        unreadable: Paths that could not be read.
        partial: Normalized paths of folders of which files are arguments of the command line, and others are not in the input.
    """

    targets: Sequence[Target] = ()
    passed: Sequence[SkippedFile] = ()
    unreadable: Sequence[UnreadablePath] = ()
    partial: frozenset[str] = frozenset()


def discover(
    paths: Iterable[str], *, exclude: Sequence[str] = (), root: str = ".", gitignore: bool = True, stdin_name: str = STDIN
) -> Discovery:
    """Expand files, folders, globs and '-'.

    `exclude`: globs relative to `root`, the folder of the config file. `stdin_name`: the name of standard input; if it is the path of a
    file, standard input takes the place of this file. Raises NoSuchPath if a path does not exist or a glob has no
    matches.
    """
    search = _Search(Excludes(exclude, root), gitignore)
    missing = [message for path in paths if (message := search.add_argument(path, stdin_name))]
    if missing:
        raise NoSuchPath(missing)
    return search.result()


def may_be_manifest(path: str) -> bool:
    """Whether a search of folders finds a file, by its path."""
    return path.lower().endswith(SUFFIXES) and SKIPPED_FOLDERS.isdisjoint(path.split("/"))


def is_descriptor(path: str) -> bool:
    """Whether a path is an open file descriptor of this process, such as /dev/fd/63."""
    return path.startswith(("/dev/", "/proc/")) and _DESCRIPTOR.fullmatch(path) is not None


def describe_file_type(mode: int) -> str:
    """Describe a file type other than a regular file."""
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
    """A folder to search.

    Attributes:
        shown: The path as displayed.
        real: The path without symbolic links, with a trailing slash.
        rules: The gitignore rules in effect, None outside repositories.
        glob: The pattern that files must match, None for all files.
    """

    shown: str
    real: str
    rules: Rules | None
    glob: Glob | None


class _Search:
    """Collects the files of one command line."""

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
        passed = [SkippedFile(file, reason) for file, reason in self._passed.items() if file not in checked]
        unreadable = [UnreadablePath(file, reason) for file, reason in self._unreadable.items()]
        passed.sort(key=lambda p: _sort_key(p.file))
        unreadable.sort(key=lambda u: _sort_key(u.file))
        return Discovery(targets, passed, unreadable, _partial_folders(targets))

    def add_argument(self, path: str, stdin_name: str) -> str:
        """Add a path of the command line. Returns an error message if it does not exist."""
        if path == "-":
            named = stdin_name != STDIN
            target = Target(_normalized(stdin_name) if named else stdin_name, named=True, stdin=True)
            self._add([_FoundPath(target, os.path.realpath(stdin_name) if named else path, link=False)])
            return ""
        shown = _normalized(path)
        try:
            link = os.path.islink(path)
            mode = os.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            if is_glob(path):
                return self._expand(shown)
            return f"no such file or folder: {path}" + (" (broken symbolic link)" if link else "")
        except OSError as error:
            self._add_unreadable(shown, error)
            return ""
        if stat.S_ISDIR(mode):
            self._add(self._walk(shown, None))
        elif stat.S_ISREG(mode) or is_descriptor(path):
            self._add([_FoundPath(Target(shown, named=True), self._resolve(path, link), link)])
        else:
            self._unreadable[shown] = f"{describe_file_type(mode)}, not a regular file: not opened"
        return ""

    def _expand(self, pattern: str) -> str:
        parts = pattern.split("/")
        first = next(i for i, part in enumerate(parts) if is_glob(part))
        base = "/".join(parts[:first]) or ("/" if first else "")
        if os.path.isdir(base or "."):
            before = len(self._passed) + len(self._unreadable)
            found = self._walk(base, Glob("/".join(parts[first:])))
            self._add(found)
            if found or len(self._passed) + len(self._unreadable) > before:
                return ""
        return f"no file matches {pattern}"

    def _add(self, found: list[_FoundPath]) -> None:
        """Add new files. A file takes precedence over links to it, and a path of the command line over both."""
        new = []
        for target, real, link in sorted(found, key=lambda f: ("1" if f.link else "0") + _sort_key(f.target.path)):
            old = self._chosen.setdefault(real, target)
            if old is target:
                new.append(real)
            elif target.stdin or (old.stdin and not link):
                # The content of standard input replaces the one on disk.
                self._chosen[real] = (old if target.stdin else target)._replace(stdin=True)
            elif target.named and not old.named:
                self._chosen[real] = target
            elif target.path != old.path:
                self._passed[target.path] = f"the same file as {old.path}, which is checked"
        self._order += sorted(new, key=lambda real: _sort_key(self._chosen[real].path))

    def _resolve(self, path: str, link: bool) -> str:
        """Return the path without symbolic links. A folder is resolved once for all its files."""
        if link:
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def _walk(self, shown: str, glob: Glob | None) -> list[_FoundPath]:
        """Return the files in a folder and its subfolders. Links to folders are not followed."""
        real = os.path.realpath(shown or ".")
        rules = outer_rules(real, self._add_unreadable_rules) if self._gitignore else None
        # A glob is matched with the path below its fixed folder.
        start = len(_join(shown, ""))
        found: list[_FoundPath] = []
        stack = [_Folder(shown, os.path.join(real, ""), rules, glob)]
        while stack:
            folder = stack.pop()
            try:
                with os.scandir(folder.shown or ".") as listing:
                    entries = list(listing)
            except OSError as error:
                self._add_unreadable(_join(folder.shown, "") or "./", error)
                continue
            names = [entry.name for entry in entries]
            if self._gitignore:
                folder = self._with_inner_rules(folder, names)
            above = _join(folder.shown, "")
            for name, entry in zip(names, entries, strict=True):
                path = above + name
                try:
                    if entry.is_dir():
                        stack += self._check_folder_entry(folder, entry, path, start)
                    elif _has_checked_name(folder.glob, name, path, start):
                        found += self._check_file_entry(folder, entry, path, start)
                except OSError as error:
                    self._add_unreadable(path, error)
        return found

    def _with_inner_rules(self, folder: _Folder, names: list[str]) -> _Folder:
        rules = repository_rules(folder.real, self._add_unreadable_rules) if ".git" in names else folder.rules
        if rules is not None and ".gitignore" in names:
            rules = with_folder_rules(rules, folder.real, self._add_unreadable_rules)
        return folder if rules is folder.rules else folder._replace(rules=rules)

    def _check_folder_entry(self, folder: _Folder, entry: os.DirEntry[str], path: str, start: int) -> list[_Folder]:
        glob = folder.glob
        if glob is not None and glob.matches(path[start:]):
            glob = None
        elif glob is not None and not glob.reaches_into(path[start:]):
            return []
        real = folder.real + entry.name
        if entry.name in SKIPPED_FOLDERS:
            reason = f"folders named {entry.name} are not searched"
        else:
            reason = self._exclusion_reason(folder, real, is_folder=True)
        if not (reason := reason or ("symbolic link to a folder, not followed: pass its path to check it" if entry.is_symlink() else "")):
            return [_Folder(path, real + os.sep, folder.rules, glob)]
        if entry.name not in VERSION_CONTROL:
            self._passed[path + "/"] = reason
        return []

    def _check_file_entry(self, folder: _Folder, entry: os.DirEntry[str], path: str, start: int) -> list[_FoundPath]:
        """Return the file, or record reason it is skipped. Raises OSError if the entry cannot be examined."""
        real = folder.real + entry.name
        link = entry.is_symlink()
        reason = self._exclusion_reason(folder, real, is_folder=False)
        if not reason and (link or not entry.is_file(follow_symlinks=False)):
            mode = entry.stat().st_mode
            if not stat.S_ISREG(mode):
                reason = f"{describe_file_type(mode)}, not a regular file"
        if reason:
            self._passed[path] = reason
            return []
        return [_FoundPath(Target(path, named=False, start=start), os.path.realpath(real) if link else real, link)]

    def _exclusion_reason(self, folder: _Folder, real: str, *, is_folder: bool) -> str:
        if pattern := self._excludes.match(real):
            return f"excluded by the config: {pattern}"
        if folder.rules and (rule := ignoring_rule(folder.rules, real, folder=is_folder)):
            return f"ignored by {rule}"
        return ""

    def _add_unreadable(self, shown: str, error: OSError) -> None:
        self._unreadable[shown] = f"cannot be read: {error.strerror or error}"

    def _add_unreadable_rules(self, path: str, error: OSError) -> None:
        self._passed[path] = f"its rules are not applied, because it cannot be read: {error.strerror or error}"


def _partial_folders(targets: Iterable[Target]) -> frozenset[str]:
    """Return the folders with files that are named one by one and with other YAML files that are not checked."""
    paths = {target.path for target in targets}
    named = {os.path.dirname(target.path) for target in targets if target.named and not target.stdin and not is_descriptor(target.path)}
    partial = (folder for folder in named if any(_join(folder, name) not in paths for name in _manifest_names(folder)))
    return frozenset(map(posixpath.normpath, partial))


def _manifest_names(folder: str) -> list[str]:
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return [name for name in names if name.endswith((".yaml", ".yml")) and not name.startswith(".")]


def _has_checked_name(glob: Glob | None, name: str, path: str, start: int) -> bool:
    """Whether the name of a file qualifies it. `start`: offset in the path from which a glob is matched."""
    # Exclude drafts of kcheck and the broken links that Emacs uses as lock files.
    if name.startswith((".#", DRAFT)):
        return False
    usual = name.lower().endswith(SUFFIXES)
    return usual if glob is None else (usual or glob.names_suffix) and glob.matches(path[start:])


def _normalized(path: str) -> str:
    """Normalize a path: separators '/', no './', no trailing slashes; the current folder is "". '..' is kept, it may follow a link."""
    path = path.replace(os.sep, "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _join(folder: str, name: str) -> str:
    return folder + name if folder in ("", "/") else f"{folder}/{name}"


def _sort_key(path: str) -> str:
    """Return a sort key that orders paths by their parts, in a third of the time: names cannot contain NUL characters."""
    return path.replace("/", "\0")
