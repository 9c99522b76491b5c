"""No file has wording that the glossary of CONTRIBUTING.md rules out, but for those that are still to be rewritten (pending.txt)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, load_tool

WORDING = load_tool("wording")


def _shown(path: Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    return [f"{name}:{hit.line}:{hit.column}: {hit.phrase}; use {hit.instead}" for hit in WORDING.hits(path)]


def test_files_that_are_rewritten_have_no_banned_wording() -> None:
    pending = set(WORDING.pending())
    found = [line for path in WORDING.files() if path.relative_to(ROOT).as_posix() not in pending for line in _shown(path)]
    assert not found, "\n".join(found)


def test_pending_files_are_still_to_be_rewritten() -> None:
    """The list only gets shorter."""
    known = {path.relative_to(ROOT).as_posix() for path in WORDING.files()}
    done = [name for name in WORDING.pending() if name not in known or not WORDING.hits(ROOT / name)]
    assert not done, "run python tools/wording.py --prune, these have no banned wording: " + ", ".join(done)


PYTHON = '''\
"""A finding is told."""
told = "fine"
message = f"{told} stands here: take {told} away"
# Nobody asks for
# what is passed over.
'''


def test_texts_docstrings_and_comments_are_read_and_names_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(PYTHON)
    found = [(hit.line, hit.column, hit.phrase) for hit in WORDING.hits(path)]
    assert found == [(1, 17, "told"), (3, 20, "stands"), (3, 33, "take ...... away"), (4, 3, "Nobody"), (5, 11, "passed over")]


def test_a_glossary_may_name_what_it_rules_out(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("mend\n<!-- glossary -->\nmend\n<!-- /glossary -->\n  it is no name\n")
    assert [(hit.line, hit.phrase) for hit in WORDING.hits(path)] == [(1, "mend"), (5, "is no")]


@pytest.mark.parametrize(
    "text",
    [
        "a whole number",
        "nobody looks at it: take it away",
        "the value is no IP address",
        "Mission: C10.",
        "requests stands in this map",
        "whoever asks",
    ],
)
def test_banned(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(text)
    assert WORDING.hits(path)


@pytest.mark.parametrize("text", ["is no longer served", "standard output", "remove it", "it is not a valid name"])
def test_allowed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(text)
    assert not WORDING.hits(path)
