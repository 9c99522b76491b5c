"""Discovery on real trees: what is found, in which order, what is left out and why."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kcheck.discovery.discover import Discovery, NoSuchPath, Target, discover
from kcheck.discovery.glob import Excludes, Glob, path_regex
from tests.conftest import examples
from tests.git import git

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(root: Path, *names: str, **texts: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OBJECT)
    for name, text in texts.items():
        (root / name).write_text(text)


def ignore(folder: Path, *lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("\n".join(lines) + "\n")


def found(*paths: str, **settings: object) -> list[str]:
    return [target.path for target in discover(paths, **settings).targets]  # type: ignore[arg-type]


def reasons(discovery: Discovery) -> dict[str, str]:
    return {note.file: note.why for note in discovery.passed}


class TestFilesAndFolders:
    def test_a_folder_is_walked_deep_in_the_order_of_path_parts(self, tree: Path) -> None:
        plant(tree, "k8s/z.yaml", "k8s/a-b/x.yml", "k8s/a/y.json", "k8s/a.yaml", "k8s/B.YAML", "k8s/readme.md", "k8s/a/deep/er/c.yaml")
        assert found("k8s") == ["k8s/B.YAML", "k8s/a/deep/er/c.yaml", "k8s/a/y.json", "k8s/a-b/x.yml", "k8s/a.yaml", "k8s/z.yaml"]

    @pytest.mark.parametrize(
        ("written", "shown"), [(".", "k8s/a.yaml"), ("./k8s", "k8s/a.yaml"), ("k8s//", "k8s/a.yaml"), ("k8s/../k8s", "k8s/../k8s/a.yaml")]
    )
    def test_paths_are_shown_as_they_were_written(self, tree: Path, written: str, shown: str) -> None:
        plant(tree, "k8s/a.yaml")
        assert found(written) == [shown]

    def test_an_absolute_path_stays_absolute(self, tree: Path) -> None:
        plant(tree, "k8s/a.yaml")
        assert found(str(tree)) == [f"{tree}/k8s/a.yaml"]

    def test_the_order_of_the_command_line_is_kept_and_nothing_comes_twice(self, tree: Path) -> None:
        plant(tree, "b.yaml", "a/x.yaml", "a/y.yaml")
        result = discover(["b.yaml", "a/y.yaml", "a", "./b.yaml", "."])
        assert result.targets == [Target("b.yaml", True), Target("a/y.yaml", True), Target("a/x.yaml", False, start=2)]
        assert discover(["a", "a/y.yaml"]).targets == [Target("a/x.yaml", False, start=2), Target("a/y.yaml", True)]

    def test_another_way_to_the_same_file_is_noted(self, tree: Path) -> None:
        plant(tree, "a.yaml", "k8s/b.yaml")
        result = discover(["a.yaml", "k8s/../a.yaml"])
        assert result.targets == [Target("a.yaml", True)]
        assert reasons(result) == {"k8s/../a.yaml": "the same file as a.yaml, which is checked"}

    def test_a_named_file_is_taken_whatever_its_suffix_and_whatever_ignores_it(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "*.txt", "venv/")
        plant(tree, "a.txt", "venv/b.yaml")
        result = discover([".", "a.txt", "venv/b.yaml"], exclude=["a.txt"])
        assert result.targets == [Target("a.txt", True), Target("venv/b.yaml", True)]

    def test_caches_and_installed_packages_are_not_searched_but_other_hidden_folders_are(self, tree: Path) -> None:
        plant(tree, ".git/a.yaml", "node_modules/b.json", "sub/.venv/c.yaml", ".deploy/d.yaml", "sub/.e.yaml")
        result = discover(["."])
        assert [t.path for t in result.targets] == [".deploy/d.yaml", "sub/.e.yaml"]
        assert reasons(result) == {
            "node_modules/": "folders named node_modules are not searched",
            "sub/.venv/": "folders named .venv are not searched",
        }
        assert found("node_modules") == ["node_modules/b.json"]

    def test_stdin_is_a_marker_with_a_name_to_show(self, tree: Path) -> None:
        plant(tree, "-")
        assert discover(["-", "-"]).targets == [Target("<stdin>", True, stdin=True)]
        assert discover(["-"], stdin_name="deploy.yaml").targets == [Target("deploy.yaml", True, stdin=True)]
        assert discover(["./-"]).targets == [Target("-", True)]

    def test_what_does_not_exist_is_an_error_and_all_of_it_is_reported(self, tree: Path) -> None:
        plant(tree, "a.yaml")
        (tree / "gone.yaml").symlink_to("nowhere")
        with pytest.raises(NoSuchPath) as error:
            discover(["a.yaml", "b.yaml", "a.yaml/c", "gone.yaml", ""])
        assert error.value.messages == (
            "no such file or folder: b.yaml",
            "no such file or folder: a.yaml/c",
            "no such file or folder: gone.yaml (broken symbolic link)",
            "no such file or folder: ",
        )

    @pytest.mark.parametrize("name", ["with space.yaml", "new\nline.yaml", "tab\t.yaml", "[1].yaml", "приве́т.yaml", "-x.yaml"])
    def test_strange_names(self, tree: Path, name: str) -> None:
        plant(tree, f"k8s/{name}")
        assert found("k8s") == [f"k8s/{name}"]
        assert found(f"k8s/{name}") == [f"k8s/{name}"]

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems demand UTF-8 names")
    def test_names_that_are_not_utf8(self, tree: Path) -> None:
        with open(os.fsencode(str(tree)) + b"/caf\xe9.yaml", "w") as file:
            file.write(OBJECT)
        (name,) = found(".")
        assert os.fsencode(name) == b"caf\xe9.yaml"
        assert os.path.exists(name)


class TestLinksAndOthers:
    def test_a_loop_of_folders_ends(self, tree: Path) -> None:
        plant(tree, "k8s/a.yaml")
        (tree / "k8s/again").symlink_to("..")
        result = discover(["k8s"])
        assert [t.path for t in result.targets] == ["k8s/a.yaml"]
        assert reasons(result) == {"k8s/again/": "symbolic link to a folder, not followed: pass its path to check it"}

    def test_a_named_link_to_a_folder_is_walked(self, tree: Path) -> None:
        plant(tree, "real/a.yaml")
        (tree / "link").symlink_to("real")
        assert found("link") == ["link/a.yaml"]
        assert found("link", "real") == ["link/a.yaml"]

    def test_of_a_file_and_links_to_it_the_file_is_taken(self, tree: Path) -> None:
        plant(tree, "z.yaml", "other/outside.yaml")
        (tree / "a.yaml").symlink_to("z.yaml")
        (tree / "b.yaml").symlink_to("a.yaml")
        result = discover(["."])
        assert [t.path for t in result.targets] == ["other/outside.yaml", "z.yaml"]
        assert reasons(result) == dict.fromkeys(("a.yaml", "b.yaml"), "the same file as z.yaml, which is checked")
        assert found("a.yaml", "z.yaml") == ["a.yaml"]

    def test_a_link_to_a_file_elsewhere_is_checked_under_its_name(self, tree: Path) -> None:
        plant(tree, "elsewhere/a.yaml", "k8s/b.yaml")
        (tree / "k8s/a.yaml").symlink_to("../elsewhere/a.yaml")
        assert found("k8s") == ["k8s/a.yaml", "k8s/b.yaml"]

    def test_links_that_lead_nowhere_are_reported(self, tree: Path) -> None:
        (tree / "gone.yaml").symlink_to("nowhere.yaml")
        (tree / "loop.yaml").symlink_to("loop.yaml")
        (tree / ".#lock.yaml").symlink_to("user@host.1")
        (tree / "notes").symlink_to("nowhere")
        result = discover(["."])
        assert result.targets == []
        assert {item.file: item.message for item in result.unreadable} == {
            "gone.yaml": "cannot be read: No such file or directory",
            "loop.yaml": "cannot be read: Too many levels of symbolic links",
        }

    def test_pipes_and_sockets_are_not_opened(self, tree: Path) -> None:
        os.mkfifo(tree / "pipe.yaml")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.yaml")
            result = discover(["."])
        assert result.targets == []
        assert reasons(result) == {"pipe.yaml": "a pipe, not a regular file", "socket.yaml": "a socket, not a regular file"}
        named = discover(["pipe.yaml"])
        assert (named.targets, named.unreadable[0].message) == ([], "a pipe, not a regular file: not opened")

    @pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
    def test_a_shell_substitution_is_taken(self, tree: Path) -> None:
        reader, writer = os.pipe()
        try:
            assert discover([f"/dev/fd/{reader}"]).targets == [Target(f"/dev/fd/{reader}", True)]
        finally:
            os.close(reader)
            os.close(writer)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_that_may_not_be_read_is_reported(self, tree: Path) -> None:
        plant(tree, "a.yaml", "secret/b.yaml")
        (tree / "secret").chmod(0)
        try:
            result = discover(["."])
        finally:
            (tree / "secret").chmod(0o700)
        assert [t.path for t in result.targets] == ["a.yaml"]
        assert [(u.file, u.message) for u in result.unreadable] == [("secret/", "cannot be read: Permission denied")]

    def test_a_folder_that_vanishes_is_reported(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tree, "a.yaml", "gone/b.yaml")
        listing = os.scandir

        def scandir(path: str) -> object:
            if path == "gone":
                shutil.rmtree("gone")
            return listing(path)

        monkeypatch.setattr(os, "scandir", scandir)
        result = discover(["."])
        assert [t.path for t in result.targets] == ["a.yaml"]
        assert [(u.file, u.message) for u in result.unreadable] == [("gone/", "cannot be read: No such file or directory")]


class TestGlobs:
    def test_a_glob_that_the_shell_left_is_expanded(self, tree: Path) -> None:
        plant(tree, "k8s/a.yaml", "k8s/x/b.yaml", "k8s/x/y/c.yml", "k8s/x/notes.md", "other/d.yaml")
        assert found("k8s/**/*.yaml") == ["k8s/a.yaml", "k8s/x/b.yaml"]
        assert found("*/*.yaml") == ["k8s/a.yaml", "other/d.yaml"]
        assert found("k8s/?.y*ml") == ["k8s/a.yaml"]
        assert found("**/[b-c].*") == ["k8s/x/b.yaml", "k8s/x/y/c.yml"]
        assert found(f"{tree}/k8s/[!x].yaml") == [f"{tree}/k8s/a.yaml"]

    def test_folders_that_match_are_walked(self, tree: Path) -> None:
        plant(tree, "apps/a/k8s/x.yaml", "apps/b/k8s/deep/y.yaml", "apps/b/src/z.yaml")
        assert found("apps/*/k8s") == ["apps/a/k8s/x.yaml", "apps/b/k8s/deep/y.yaml"]
        assert found("apps/b/**") == ["apps/b/k8s/deep/y.yaml", "apps/b/src/z.yaml"]

    def test_another_suffix_is_taken_where_the_glob_names_it(self, tree: Path) -> None:
        plant(tree, "k8s/a.yaml", "k8s/b.tpl", "k8s/readme.md")
        assert found("k8s/*") == ["k8s/a.yaml"]
        assert found("k8s/*.tpl") == ["k8s/b.tpl"]

    def test_a_glob_obeys_excludes_and_ignored_files(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "gen/")
        plant(tree, "a.yaml", "gen/b.yaml", "vendor/c.yaml", "node_modules/d.yaml")
        assert found("**/*.yaml", exclude=["vendor"]) == ["a.yaml"]

    def test_a_glob_that_matches_nothing_is_an_error(self, tree: Path) -> None:
        plant(tree, "a.yaml")
        for pattern in ("*.yml", "nowhere/*.yaml", "a.yaml/*", "[z-a].yaml"):
            with pytest.raises(NoSuchPath, match="no file matches"):
                discover([pattern])
        (tree / "pipe.yml").symlink_to("nowhere")
        assert discover(["*.yml"]).unreadable

    def test_a_file_with_the_name_of_a_glob_is_a_file(self, tree: Path) -> None:
        plant(tree, "[a].yaml", "a.yaml")
        assert discover(["[a].yaml"]).targets == [Target("[a].yaml", True)]

    @pytest.mark.parametrize(
        ("pattern", "path", "matches"),
        [
            ("**/a", "a", True),
            ("**/a", "x/y/a", True),
            ("a/**/b", "a/b", True),
            ("a/**/b", "a/x/y/b", True),
            ("a/**", "a", False),
            ("a/**", "a/b/c", True),
            ("a*b", "a/b", False),
            ("a[!x]b", "a/b", False),
            ("a**b", "axxb", True),
            ("[]a]", "]", True),
            ("[a-]", "-", True),
            ("[[:digit:]]", "7", True),
            (r"\*", "*", True),
            (r"\*", "a", False),
            ("[", "[", True),
            ("[a--b]", "a", False),
            ("*", "new\nline", True),
        ],
    )
    def test_patterns(self, pattern: str, path: str, matches: bool) -> None:
        assert (path_regex(pattern).fullmatch(path) is not None) is matches

    @given(
        st.lists(st.sampled_from(["a", "b", "*", "**", "?"]), min_size=1, max_size=4),
        st.lists(st.sampled_from("ab"), min_size=1, max_size=5),
    )
    def test_no_folder_is_pruned_that_holds_a_match(self, pattern: list[str], path: list[str]) -> None:
        glob = Glob("/".join(pattern))
        if glob.matches("/".join(path)):
            above = ["/".join(path[:i]) for i in range(1, len(path))]
            assert all(glob.reaches_into(folder) or glob.matches(folder) for folder in above)


class TestExcludes:
    @pytest.mark.parametrize(
        ("pattern", "left"),
        [
            ("vendor", ["a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml"]),
            ("vendor/", ["a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml"]),
            ("/vendor", ["a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml", "k8s/vendor/d.yaml"]),
            ("./vendor/**", ["a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml", "k8s/vendor/d.yaml"]),
            ("vendor/**", ["a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml", "k8s/vendor/d.yaml"]),
            ("*.gen.yaml", ["a.yaml", "k8s/c.yaml", "k8s/vendor/d.yaml", "vendor/e.yaml"]),
            ("k8s/*.yaml", ["a.yaml", "k8s/vendor/d.yaml", "vendor/e.yaml"]),
            ("**", []),
        ],
    )
    def test_globs_relative_to_the_config(self, tree: Path, pattern: str, left: list[str]) -> None:
        plant(tree, "a.yaml", "k8s/b.gen.yaml", "k8s/c.yaml", "k8s/vendor/d.yaml", "vendor/e.yaml")
        assert found(".", exclude=[pattern]) == left

    def test_the_folder_of_the_config_counts_not_the_current_one(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tree, "project/k8s/a.yaml", "project/k8s/sub/b.yaml")
        monkeypatch.chdir(tree / "project/k8s")
        result = discover(["."], exclude=["k8s/sub"], root="..")
        assert [t.path for t in result.targets] == ["a.yaml"]
        assert reasons(result) == {"sub/": "excluded by the config: k8s/sub"}
        assert found(".", exclude=["sub"], root=str(tree / "elsewhere")) == ["a.yaml", "sub/b.yaml"]

    def test_a_named_folder_is_walked_although_it_is_excluded(self, tree: Path) -> None:
        plant(tree, "vendor/a.yaml")
        assert found("vendor", exclude=["vendor"]) == ["vendor/a.yaml"]

    def test_nothing_is_excluded_by_default(self) -> None:
        assert Excludes(()).match("/a/b") == ""


class TestIgnoredByGit:
    def test_nested_files_and_negation(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "# generated", "", "*.gen.yaml", "/out/", "!keep.gen.yaml", "logs/*", "!logs/keep")
        ignore(tree / "k8s", "!b.gen.yaml", "/local.yaml  ")
        plant(tree, "a.gen.yaml", "keep.gen.yaml", "out/c.yaml", "k8s/out/d.yaml", "k8s/b.gen.yaml", "k8s/local.yaml", "k8s/x/local.yaml")
        plant(tree, "logs/e.yaml", "logs/drop/f.yaml", "logs/keep/g.yaml")
        result = discover(["."])
        assert [t.path for t in result.targets] == [
            "k8s/b.gen.yaml", "k8s/out/d.yaml", "k8s/x/local.yaml", "keep.gen.yaml", "logs/keep/g.yaml",
        ]  # fmt: skip
        assert reasons(result) == {
            "a.gen.yaml": "ignored by .gitignore: *.gen.yaml",
            "k8s/local.yaml": "ignored by .gitignore: /local.yaml",
            "logs/drop/": "ignored by .gitignore: logs/*",
            "logs/e.yaml": "ignored by .gitignore: logs/*",
            "out/": "ignored by .gitignore: /out/",
        }

    def test_rules_above_the_named_folder_count_up_to_the_root_of_the_repository(self, tree: Path) -> None:
        ignore(tree, "*.yaml")
        (tree / "repo/.git").mkdir(parents=True)
        ignore(tree / "repo", "*.gen.yaml")
        ignore(tree / "repo/k8s", "sub/x.yaml")
        plant(tree, "repo/k8s/sub/a.gen.yaml", "repo/k8s/sub/x.yaml", "repo/k8s/sub/y.yaml")
        assert found("repo/k8s/sub") == ["repo/k8s/sub/y.yaml"]
        assert found("repo/k8s/sub", gitignore=False) == ["repo/k8s/sub/a.gen.yaml", "repo/k8s/sub/x.yaml", "repo/k8s/sub/y.yaml"]

    def test_outside_a_repository_nothing_is_ignored(self, tree: Path) -> None:
        ignore(tree, "*.yaml")
        plant(tree, "a.yaml")
        assert found(".") == ["a.yaml"]

    def test_a_repository_in_a_repository_has_its_own_rules(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "*.gen.yaml")
        (tree / "inner/.git/info").mkdir(parents=True)
        (tree / "inner/.git/info/exclude").write_text("private.yaml\n")
        plant(tree, "a.gen.yaml", "inner/b.gen.yaml", "inner/private.yaml")
        assert found(".") == ["inner/b.gen.yaml"]

    def test_info_exclude_counts_less_than_gitignore(self, tree: Path) -> None:
        (tree / ".git/info").mkdir(parents=True)
        (tree / ".git/info/exclude").write_text("a.yaml\nb.yaml\n")
        ignore(tree, "!b.yaml")
        plant(tree, "a.yaml", "b.yaml")
        result = discover(["."])
        assert [t.path for t in result.targets] == ["b.yaml"]
        assert reasons(result) == {"a.yaml": "ignored by .git/info/exclude: a.yaml"}

    def test_a_named_folder_is_walked_although_git_ignores_it(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "rendered/", "*.tmp.yaml")
        plant(tree, "rendered/sub/a.yaml", "rendered/b.tmp.yaml")
        assert found("rendered") == ["rendered/b.tmp.yaml", "rendered/sub/a.yaml"]
        assert found("rendered/sub") == ["rendered/sub/a.yaml"]

    def test_windows_line_ends_marks_and_bytes_that_are_not_text(self, tree: Path) -> None:
        (tree / ".git").mkdir()
        (tree / ".gitignore").write_bytes(b"\xef\xbb\xbfa.yaml\r\ncaf\xe9.yaml\r\n!\r\n/\r\n[z-a]\r\n")
        plant(tree, "a.yaml", "b.yaml")
        assert found(".") == ["b.yaml"]

    def test_rules_that_cannot_be_read_are_noted(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tree / ".git").mkdir()
        ignore(tree, "a.yaml")
        plant(tree, "a.yaml")

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
        result = discover(["."])
        assert [t.path for t in result.targets] == ["a.yaml"]
        assert [note.why for note in result.passed] == ["its rules are not applied, because it cannot be read: Permission denied"]

    @pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
    def test_a_worktree_has_the_rules_of_its_repository(self, tree: Path) -> None:
        git("init", "-q", "main", folder=tree)
        git("commit", "-q", "--allow-empty", "-m", "x", folder=tree / "main")
        git("worktree", "add", "-q", "../side", folder=tree / "main")
        (tree / "main/.git/info").mkdir(exist_ok=True)
        (tree / "main/.git/info/exclude").write_text("a.yaml\n")
        plant(tree, "side/a.yaml", "side/b.yaml")
        assert found("side") == ["side/b.yaml"]


NAMES = ("a", "b", "ab", "*", "**", "?", "*b", "[ab]", "[!a]*", "a.yaml", "*.yaml", "c.json", r"\a", "[[:alpha:]]", "a*.*")


@st.composite
def rules(draw: st.DrawFn) -> str:
    path = "/".join(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)))
    return draw(st.sampled_from(["", "", "!"])) + draw(st.sampled_from(["", "", "/"])) + path + draw(st.sampled_from(["", "", "/", "  "]))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    git("init", "-q", folder=root)
    for folder in ("", "a/", "b/", "a/a/", "a/b/", "b/ab/"):
        plant(root, *(f"{folder}{name}" for name in ("a.yaml", "ab.yaml", "c.json")))
    return root


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@examples(60, HealthCheck.function_scoped_fixture)
@given(files=st.dictionaries(st.sampled_from(["", "a", "b", "a/b"]), st.lists(rules(), min_size=1, max_size=4), max_size=3))
def test_the_files_that_git_would_add_are_found(repository: Path, files: dict[str, list[str]]) -> None:
    for folder, lines in files.items():
        ignore(repository / folder, *lines)
    try:
        listed = git("ls-files", "--others", "--exclude-standard", "-z", folder=repository).split("\0")
        assert set(found(str(repository))) == {f"{repository}/{name}" for name in keep_manifests(listed)}
    finally:
        for folder in files:
            (repository / folder / ".gitignore").unlink()


def keep_manifests(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.endswith((".yaml", ".json"))]
