"""The files of a git revision, read from git objects.

Nothing is checked out and nothing is executed, because the repository may be untrusted: git runs without filters, hooks, file system
monitors and network access. Therefore files are also compared with those of the working tree here, rather than by `git diff`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import IO, NamedTuple

from kcheck.check.kustomizations import NAMES as KUSTOMIZATIONS
from kcheck.cli.settings import Failure
from kcheck.discovery.load import LIMIT

_GIT = ("git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-optional-locks")
_ENVIRONMENT = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_FILE, _PROGRAM, _LINK, _SUBMODULE = "100644", "100755", "120000", "160000"
_ANCESTOR = "..."
"""The end of a revision that means its common ancestor with HEAD, as in `git diff`."""

_SHOWN_ID = 10
"""Characters of a commit id that are shown."""

_HASHES = {40: "sha1", 64: "sha256"}


class TreeEntry(NamedTuple):
    """A file of a commit.

    Attributes:
        mode: The mode in git.
        id: The id of the content.
    """

    mode: str
    id: str


class Revision:
    """A commit of the repository that contains certain paths.

    Attributes:
        name: The revision as the user wrote it; for the common ancestor with HEAD, the beginning of its id.
        commit: The id of the commit.
        root: The absolute path of the working tree, without symbolic links.
    """

    def __init__(self, name: str, paths: Iterable[str]) -> None:
        """Raises Failure if the paths are not in one repository, or it does not have the revision."""
        self.root = _root_of(paths)
        self.commit = self._resolve(name)
        self.name = self.commit[:_SHOWN_ID] if name.endswith(_ANCESTOR) else name
        self._real_folders: dict[str, str] = {}

    @cached_property
    def entries(self) -> dict[str, TreeEntry]:
        """The files of the commit by their paths relative to the root. Paths that cannot exist in a working tree are left out."""
        entries = {}
        for line in self._git("ls-tree", "-r", "-z", "--full-tree", self.commit).split(b"\0"):
            attributes, _, path = line.partition(b"\t")
            name = os.fsdecode(path)
            if _is_safe(name):
                mode, _, id = attributes.decode("ascii").split(" ")
                entries[name] = TreeEntry(mode, id)
        return entries

    @cached_property
    def submodules(self) -> tuple[str, ...]:
        """The folders of submodules relative to the root, with a trailing slash. The commit does not contain their files."""
        return tuple(f"{path}/" for path, entry in self.entries.items() if entry.mode == _SUBMODULE)

    def files(self) -> Iterator[str]:
        """Yield the paths of regular files relative to the root. A link has the findings of the file that it leads to."""
        return (path for path, entry in self.entries.items() if entry.mode in (_FILE, _PROGRAM))

    def path_of(self, path: str) -> str:
        """Return the path relative to the root of a path relative to the current folder; "" if it is not in the working tree."""
        folder, name = os.path.split(os.path.abspath(path))
        full = os.path.join(self._real(folder), name)
        start = os.path.join(self.root, "")
        return full[len(start) :].replace(os.sep, "/") if full.startswith(start) else ""

    def shown(self, path: str) -> str:
        """Return the path relative to the current folder of a path relative to the root."""
        return os.path.relpath(os.path.join(self.root, path), os.path.realpath(".")).replace(os.sep, "/")

    def is_unchanged(self, path: str, data: bytes) -> bool:
        """Whether a file, by its path relative to the root, has this content in the commit; line endings do not count."""
        entry = self.entries.get(path)
        if entry is None or entry.mode not in (_FILE, _PROGRAM):
            return False
        return entry.id == self._id_of(data) or (b"\r\n" in data and entry.id == self._id_of(data.replace(b"\r\n", b"\n")))

    def read_files(self, paths: Iterable[str], limit: int = LIMIT) -> Iterator[tuple[str, bytes]]:
        """Yield the paths and contents of files of the commit. Files of more than `limit` bytes are left out.

        Raises Failure if the repository does not have the content, for example because it is a partial clone.
        """
        known = [(path, self.entries[path]) for path in paths]
        if not known:
            return
        process = subprocess.Popen(
            [*_GIT, "cat-file", "--batch"],
            cwd=self.root,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            for path, entry in known:
                with suppress(BrokenPipeError):
                    process.stdin.write(f"{entry.id}\n".encode())
                    process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) != 3 or header[1] != b"blob":
                    raise Failure(
                        f"kcheck: revision {self.name} has no content for {path} in this repository; git fetch it first, for example with "
                        "git fetch --refetch --filter=blob:limit=1g"
                    )
                size = int(header[2])
                if size <= limit:
                    yield path, process.stdout.read(size)
                    process.stdout.read(1)
                else:
                    _skip(process.stdout, size + 1)
            process.stdin.close()

    @contextmanager
    def exported(self, wanted: Callable[[str], bool], charts: bool) -> Iterator[str]:
        """Write the wanted files of the commit, all files below kustomizations and, with `charts`, those of charts, to a temporary folder
        and yield its path.

        `wanted`: is called with paths relative to the root. Links that lead out of the folder are left out, and so are files in submodules.
        """
        whole = whole_folders(self.entries, charts)
        with tempfile.TemporaryDirectory(prefix="kcheck-") as temporary:
            tree = os.path.join(os.path.realpath(temporary), "tree")
            os.makedirs(tree)
            # Marks the root of the repository.
            with open(os.path.join(tree, ".git"), "w"):
                pass
            chosen = {path: entry for path, entry in self.entries.items() if wanted(path) or is_below(path, whole)}
            for path, data in self.read_files(path for path, entry in chosen.items() if entry.mode in (_FILE, _PROGRAM)):
                file = os.path.join(tree, path)
                # Names that differ only in case may be one file here.
                with suppress(FileExistsError, NotADirectoryError):
                    os.makedirs(os.path.dirname(file), exist_ok=True)
                    with open(file, "xb") as stream:
                        stream.write(data)
            # Links are created last, so that no file is written through one of them.
            for path, data in self.read_files(path for path, entry in chosen.items() if entry.mode == _LINK):
                _create_link(tree, os.path.join(tree, path), os.fsdecode(data))
            yield tree

    def _real(self, folder: str) -> str:
        """Return a folder without symbolic links. It is resolved once for all its files."""
        if (real := self._real_folders.get(folder)) is None:
            real = self._real_folders[folder] = os.path.realpath(folder)
        return real

    def _resolve(self, name: str) -> str:
        """Return the id of the commit that a revision names; of the common ancestor with HEAD for `REV...`."""
        ref = name.removesuffix(_ANCESTOR)
        commit = self._commit(ref)
        if not name.endswith(_ANCESTOR):
            return commit
        found = self._git("merge-base", commit, self._commit("HEAD"), allowed=(0, 1)).decode().strip()
        if not found:
            raise Failure(f"kcheck: --since {name}: {ref} and HEAD have no common ancestor{self._shallow_hint()}")
        return found

    def _commit(self, ref: str) -> str:
        arguments = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        if not (commit := self._git(*arguments, allowed=(0, 1, 128)).decode().strip()):
            raise Failure(f"kcheck: --since: unknown revision {ref} in {self.root}{self._shallow_hint()}")
        return commit

    def _shallow_hint(self) -> str:
        """Return what to do if the history of the repository is incomplete."""
        is_shallow = self._git("rev-parse", "--is-shallow-repository").strip() == b"true"
        return "; this is a shallow clone: fetch the history with git fetch --unshallow, or fetch-depth: 0 in CI" if is_shallow else ""

    def _id_of(self, data: bytes) -> str:
        # Imported late: hooks import this module, too, and need no hashes.
        import hashlib

        hash = hashlib.new(_HASHES[len(self.commit)], usedforsecurity=False)
        hash.update(b"blob %d\0" % len(data))
        hash.update(data)
        return hash.hexdigest()

    def _git(self, *arguments: str, allowed: Sequence[int] = (0,)) -> bytes:
        return _run_git(arguments, self.root, allowed)


def whole_folders(paths: Iterable[str], charts: bool) -> set[str]:
    """Return the folders of kustomizations and, with `charts`, of charts: any file in them may matter."""
    names = (*KUSTOMIZATIONS, "Chart.yaml") if charts else KUSTOMIZATIONS
    return {os.path.dirname(path) for path in paths if os.path.basename(path) in names}


def is_below(path: str, folders: set[str]) -> bool:
    """Whether a file is in one of the folders or their subfolders."""
    while path:
        path = os.path.dirname(path)
        if path in folders:
            return True
    return False


def _root_of(paths: Iterable[str]) -> str:
    """Return the working tree that contains all the paths, without symbolic links. Raises Failure."""
    roots: dict[str, str] = {}
    folders = {os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or "."): path for path in paths}
    for folder, path in folders.items():
        # git cannot run in a folder that does not exist: the fixed part of a glob, or a deleted file.
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        try:
            root = _run_git(("rev-parse", "--show-toplevel"), folder)
        except Failure as failure:
            reason = failure.message.partition("fatal: ")[2] or failure.message
            raise Failure(f"kcheck: --since: {path} is not in the working tree of a git repository ({reason})") from None
        roots.setdefault(os.path.realpath(os.fsdecode(root).rstrip("\n")), path)
    if len(roots) > 1:
        first, second = list(roots.values())[:2]
        raise Failure(f"kcheck: --since: {first} and {second} are in different git repositories; check them separately")
    return next(iter(roots))


def _run_git(arguments: Sequence[str], folder: str, allowed: Sequence[int] = (0,)) -> bytes:
    """Run git without network and extensions, and return its output. Raises Failure if it fails."""
    try:
        done = subprocess.run([*_GIT, *arguments], env={**os.environ, **_ENVIRONMENT}, cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise Failure("kcheck: --since: git was not found; install it") from None
    if done.returncode not in allowed:
        raise Failure(f"kcheck: git {arguments[0]} failed: {os.fsdecode(done.stderr).strip()}")
    return done.stdout


def _is_safe(path: str) -> bool:
    """Whether a path of a tree is a path below the root, and no part of the repository itself. Trees may be made by hand."""
    if not path or (os.sep != "/" and (os.sep in path or ":" in path)):
        return False
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in path.split("/"))


def _create_link(tree: str, link: str, target: str) -> None:
    """Create a symbolic link, unless it leads out of the tree or its folder is a link."""
    folder = os.path.dirname(link)
    if os.path.realpath(folder) == folder and os.path.realpath(os.path.join(folder, target)).startswith(os.path.join(tree, "")):
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            os.symlink(target, link)


def _skip(stream: IO[bytes], size: int) -> None:
    while size > 0 and (read := len(stream.read(min(size, 1 << 20)))):
        size -= read
