"""The git repository of the current folder: its files, what has changed, and its content in earlier revisions."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from kcheck.cli.earlier_tree import EarlierTree
from kcheck.cli.revision import is_below, whole_folders
from kcheck.cli.settings import Failure


class GitRepository:
    """The repository of the current folder. All paths are relative to the current folder and use '/'. Raises Failure outside a repository.

    Attributes:
        root: The absolute path of the working tree, without symbolic links.
    """

    def __init__(self) -> None:
        self.root = os.path.realpath(_git("rev-parse", "--show-toplevel").rstrip("\n"))
        self._folder = os.path.relpath(os.path.realpath("."), self.root)
        # A file with conflicts has several entries.
        self._index = list(dict.fromkeys(_paths(_git("ls-files", "-z", "--", ":/"))))

    def files(self) -> list[str]:
        """Return the files in the index that exist in the working tree."""
        return [path for path in self._index if os.path.exists(path)]

    def base_revisions(self, from_ref: str, to_ref: str) -> list[str]:
        """Return the commits that the working tree is compared with; none in a repository without commits.

        Without `from_ref`, these are HEAD and, while a merge is concluded, the merged commits. Otherwise it is the common ancestor of
        `from_ref` and `to_ref`. Raises Failure for unknown revisions.
        """
        if from_ref:
            start, end = self._commit(from_ref), self._commit(to_ref or "HEAD")
            for ref, commit in ((from_ref, start), (to_ref or "HEAD", end)):
                if not commit:
                    raise Failure(f"kcheck: unknown revision {ref}; fetch it, or use another --from-ref")
            return [_git("merge-base", start, end, allowed=(0, 1)).strip() or start]
        head = self._commit("HEAD")
        return [head, *self._merged_commits()] if head else []

    def tree_of(self, commit: str) -> str:
        """Return the id of the tree of a commit."""
        return _git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").strip()

    def tree_of_index(self) -> str:
        """Return the id of the tree that a commit of the index has; "" if the working tree has other content, or there are conflicts."""
        try:
            _git("diff", "--quiet", "--no-ext-diff", "--ignore-submodules")
            return _git("write-tree").strip()
        except Failure:
            return ""

    def changed_files(self, commit: str) -> set[str]:
        """Return the files of the working tree that differ from a commit, including deleted ones."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules")
        return set(map(self._relative, _paths(_git("diff", *options, commit, "--"))))

    def contents(self, commit: str, files: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those of the files that a commit has."""
        # A request is one line.
        asked = [path for path in files if "\n" not in path]
        requests = "".join(f"{commit}:./{path}\n" for path in asked)
        output = os.fsencode(_git("cat-file", "--batch", stdin=requests))
        contents = {}
        for path in asked:
            head, _, output = output.partition(b"\n")
            if head.endswith(b" missing"):
                continue
            size = int(head.rpartition(b" ")[2])
            if b" blob " in head:
                contents[path] = output[:size]
            output = output[size + 1 :]
        return contents

    @contextmanager
    def checked_out(self, commit: str, wanted: Callable[[str], bool], charts: bool) -> Iterator[tuple[EarlierTree, list[str]]]:
        """Write the wanted files of a commit, all files below kustomizations and, with `charts`, those of charts to a temporary folder, and
        yield it with their paths.

        Files that are not checked out in the working tree, because of a sparse checkout, are left out.
        """
        absent = {path for path in self._index if not os.path.lexists(path)} - self.changed_files(commit)
        names = _paths(_git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))
        whole = whole_folders(names, charts)
        names = [name for name in names if (wanted(name) or is_below(name, whole)) and self._relative(name) not in absent]
        with tempfile.TemporaryDirectory(prefix="kcheck-") as temporary:
            tree = os.path.join(os.path.realpath(temporary), "tree")
            # The index of the user stays as it is.
            environment = {"GIT_INDEX_FILE": os.path.join(temporary, "index")}
            options = ("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false")
            _git(*options, "read-tree", commit, environment=environment)
            selected = "".join(f"{name}\0" for name in names)
            checkout = ("checkout-index", "--quiet", "-z", "--stdin", f"--prefix={tree}/")
            _git(*options, *checkout, environment=environment, folder=self.root, stdin=selected)
            # Marks the root of the repository.
            os.makedirs(tree, exist_ok=True)
            with open(os.path.join(tree, ".git"), "w"):
                pass
            files = [self._relative(name) for name in names if os.path.exists(os.path.join(tree, name))]
            yield EarlierTree(tree, self.root, os.path.realpath(".")), files

    def _relative(self, path: str) -> str:
        """Return a path relative to the current folder for one relative to the root."""
        return path if self._folder == "." else os.path.relpath(path, self._folder).replace(os.sep, "/")

    def _commit(self, ref: str) -> str:
        """Return the id of a commit, "" if there is none."""
        return _git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{ref}^{{commit}}", allowed=(0, 1)).strip()

    def _merged_commits(self) -> list[str]:
        try:
            with open(_git("rev-parse", "--git-path", "MERGE_HEAD").rstrip("\n"), encoding="ascii") as file:
                return file.read().split()
        except OSError:
            return []


def _paths(output: str) -> list[str]:
    return [path for path in output.split("\0") if path]


def _git(
    *arguments: str, environment: dict[str, str] | None = None, folder: str = ".", stdin: str = "", allowed: Iterable[int] = (0,)
) -> str:  # fmt: skip
    """Run git and return its output. Raises Failure if it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            env={**os.environ, **(environment or {})},
            cwd=folder,
            input=os.fsencode(stdin),
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise Failure("kcheck: git was not found; install it, or use kcheck check") from None
    if done.returncode not in allowed:
        raise Failure(f"kcheck: git {arguments[0]} failed: {os.fsdecode(done.stderr).strip()}")
    return os.fsdecode(done.stdout)
