"""The threat model of docs/robustness.md: rows that no other test proves, and that every test it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kcheck.config.file import read
from kcheck.config.mistake import BadConfig
from kcheck.rule.registry import Registry
from tests.robustness.conftest import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/robustness.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests/\w+/)?test_\w+\.py(?:::\w+)?)`", PAGE)))
BAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 3}\n"


@pytest.mark.parametrize("name", NAMED)
def test_every_test_that_the_page_names_exists(name: str) -> None:
    file, _, member = name.partition("::")
    path = ROOT / file if file.startswith("tests/") else ROOT / "tests/robustness" / file
    assert path.is_file(), f"{name} does not exist"
    if member:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        tables = {ast.unparse(target) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
        assert member in defined | tables, f"{name} does not exist"


def test_every_row_names_a_test() -> None:
    rows = [line for line in PAGE.split("## Fuzzing")[0].splitlines() if line.startswith("| ") and not line.rstrip().endswith("| test |")]
    assert len(rows) > 60
    assert not [row for row in rows if not re.search(r"`[\w/]*test_\w+\.py(?:::\w+)?` \|$", row)]
    # A name in another form would not be checked.
    assert not re.findall(r"test_\w+", re.sub(r"`(?:tests/\w+/)?test_\w+\.py(?:::\w+)?`", "", PAGE))


def test_nothing_swallows_every_exception() -> None:
    """A check that failed must not look like one that found nothing."""
    found = []
    for path in sorted((ROOT / "kcheck").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            broad = isinstance(node, ast.Call) and ast.unparse(node) in ("suppress(Exception)", "suppress(BaseException)")
            bare = isinstance(node, ast.ExceptHandler) and node.type is None
            empty = (
                isinstance(node, ast.ExceptHandler)
                and node.type is not None
                and ast.unparse(node.type) in ("Exception", "BaseException")
                and all(isinstance(each, ast.Pass) for each in node.body)
            )
            if broad or bare or empty:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "plugins: [evil]\n",
        "output: /tmp/owned\n",
        "cache: /tmp/owned\n",
        "jobs: 100\n",
        "rules: {internal-error: off}\n",
        "rules: {unreadable-file: off}\n",
        "overrides: [{files: ['*'], rules: {internal-error: {severity: info}}}]\n",
        "fail-on: !!python/object/apply:os.system ['touch owned']\n",
    ],
)
def test_a_config_decides_what_is_reported_and_nothing_else(text: str, tmp_path: Path) -> None:
    (tmp_path / ".kcheck.yaml").write_text(text)
    (tmp_path / "evil.py").write_text("open('owned', 'w')\n")
    with pytest.raises(BadConfig):
        read(tmp_path / ".kcheck.yaml", Registry.load())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".kcheck.yaml", "evil.py"]


def test_isolated_ignores_the_config_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BAD)
    (tmp_path / ".kcheck.yaml").write_text("rules: {all: off}\n")
    assert run(tmp_path, "check", ".").code == 0
    assert run(tmp_path, "check", "--isolated", ".").code == 1


def test_comments_and_gitignore_hide_only_what_was_checked(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.yaml\n")
    (tmp_path / "a.yaml").write_text(BAD)
    (tmp_path / "b.yaml").write_bytes(b"# kcheck: ignore-file\n# kcheck: ignore-file[unreadable-file, internal-error]\n\0")
    assert run(tmp_path, "check", "--isolated", ".").code == 0
    assert run(tmp_path, "check", "--isolated", "a.yaml").code == 1
    reported = run(tmp_path, "check", "--isolated", "--format", "json", "b.yaml")
    assert (reported.code, reported.rules) == (2, {"unreadable-file"})


def test_a_link_may_show_a_file_of_elsewhere(tmp_path: Path) -> None:
    """The row documents this: only limiting what the user running kcheck may read prevents it."""
    (tmp_path / "elsewhere").write_text(BAD)
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout/a.yaml").symlink_to("../elsewhere")
    reported = run(tmp_path / "checkout", "check", "--isolated", ".")
    assert reported.code == 1
    assert b"data: {a: 3}" in reported.out
