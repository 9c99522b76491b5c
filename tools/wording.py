"""Report wording that the glossary in CONTRIBUTING.md replaces: python tools/wording.py FILE...

    python tools/wording.py rules/kcheck_spec/workloads/container_ports.py rules/kcheck_spec/pages/port-*.md
    python tools/wording.py --all       check all files that the test checks
    python tools/wording.py --prune     remove files without hits from tests/wording/pending.txt

In Python files, only strings, docstrings and comments are checked. The exit status is 1 if there are hits.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PENDING = ROOT / "tests" / "wording" / "pending.txt"
_OUTSIDE = ("MISSION.md", "COVERAGE.md", "CHANGELOG.md")
_NAMES_IN_TEXT = re.compile(r"\{[^{}'\"]*\}")
_GLOSSARY = re.compile(r"<!-- (/?)glossary -->")

# Patterns of wording to avoid, and what to write instead.
BANNED: tuple[tuple[str, str], ...] = (
    (r"\b(take|takes|took|taken|taking) (\S+ ){1,4}?away\b", "remove"),
    (r"\b(take|takes|took|taken|taking) away\b", "remove"),
    (r"\b(stand|stands|stood|standing)\b", "is, appears, is set"),
    (r"\b(mend|mends|mended|mending)\b", "fix"),
    (r"\bwhoever\b", "users or clients that"),
    (r"\bnobody\b", "no user, no client, nothing"),
    (r"\b(tell|tells|told|telling)\b", "report, show, say"),
    (r"\b(heed|heeds|heeded)\b", "apply, follow"),
    (r"\b(given|gives|give|giving) up\b", "deprecated, removed, stops"),
    (r"\bis no (?!longer\b|more\b|different\b|need\b)", "is not a valid ..., unknown ..., is not a ..."),
    (r"\bare no (?!longer\b|more\b)", "are not"),
    (r"\bpass(ed|es|ing)? over\b", "skip"),
    (r"\bMission: [LCEA]\d", "(remove it)"),
    (r"\blet (the two|both|them) agree\b", "make them equal"),
    (r"\b(keep|keeps|kept) apart\b", "separate"),
    (r"\b(bear|bears|bore|borne)\b", "carry, have"),
    (r"\bof (one's|your|its|their|our) own\b", "custom, its own ..., a separate ..."),
    (r"\bof (ours|theirs)\b", "our, their"),
    (r"\bha(s|ve) been left to\b", "is handled by"),
    (r"\blets? nothing\b", "blocks all"),
    (r"\bfolder of (its|the|a|whichever|one) nodes?\b", "hostPath volume"),
    (r"\bwhole numbers?\b", "integer"),
    (r"(?<!\")\bblanks?\b(?!\")", "whitespace"),
    (r"\bthe house\b|\bhouse rules?\b", "(say what is meant)"),
    (r"\b(come|comes|came) over\b", "(say what is meant)"),
    (r"\bchange under you\b", "change at any time"),
    (r"\bputs? down to\b|\bgoes? without saying\b", "(say what is meant)"),
)
_BANNED = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in BANNED]
_ANY = re.compile(rf"\b(?=\w)(?:{'|'.join(pattern for pattern, _ in BANNED)})", re.IGNORECASE)


class Hit(NamedTuple):
    """A phrase in a file. Line and column start at 1."""

    line: int
    column: int
    phrase: str
    instead: str


def hits(path: Path) -> list[Hit]:
    """Returns the banned phrases in a file, in order."""
    text = path.read_text(encoding="utf-8")
    # Most files have none. A search in the whole text, with placeholders as they are and as they are read, is faster than reading pieces.
    if _ANY.search(text) is None and (path.suffix != ".py" or _ANY.search(_hide_names(text)) is None):
        return []
    pieces = _of_python(text) if path.suffix == ".py" else _of_text(text)
    return sorted({hit for line, column, piece in pieces for hit in _of_piece(line, column, piece)})


def _of_piece(line: int, column: int, text: str) -> Iterator[Hit]:
    for banned, instead in _BANNED:
        for match in banned.finditer(text):
            before = text[: match.start()]
            lines = before.count("\n")
            at = match.start() - before.rfind("\n") if lines else column + match.start()
            yield Hit(line + lines, at, " ".join(match[0].split()), instead)


def _of_python(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields strings and comments with line and column. Consecutive comment lines are joined, as a sentence may contain line breaks."""
    comment: tuple[int, int, str] | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "COMMENT":
            if comment is not None and comment[0] + comment[2].count("\n") + 1 == token.start[0]:
                comment = (comment[0], comment[1], f"{comment[2]}\n{token.string}")
            else:
                if comment is not None:
                    yield comment
                comment = (token.start[0], token.start[1] + 1, token.string)
        elif kind in ("STRING", "FSTRING_MIDDLE"):
            # Placeholders of f-strings are code.
            yield token.start[0], token.start[1] + 1, _hide_names(token.string)
    if comment is not None:
        yield comment


def _hide_names(text: str) -> str:
    """Returns a text with dots for the placeholders in braces."""
    return _NAMES_IN_TEXT.sub(lambda match: "." * len(match[0]), text)


def _of_text(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields the lines outside of a glossary."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = _GLOSSARY.search(line)
        if mark is not None:
            inside = not mark[1]
        elif not inside:
            yield number, 1, line


def files() -> list[Path]:
    """Returns all files whose wording is tested."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("rules/**/*.md")]
    found += [*ROOT.glob("kcheck/**/*.py"), *ROOT.glob("rules/**/*.py")]
    return sorted(path for path in found if path.name not in _OUTSIDE)


def pending() -> list[str]:
    """Returns the files that are not rewritten yet, relative to the root of the project."""
    return [line for line in PENDING.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def _write(names: Iterable[str]) -> None:
    head = [line for line in PENDING.read_text(encoding="utf-8").splitlines() if line.startswith("#")] if PENDING.exists() else []
    PENDING.write_text("".join(f"{line}\n" for line in [*head, *sorted(names)]), encoding="utf-8")


def prune() -> None:
    """Removes files from the list that have been rewritten or deleted."""
    _write(name for name in pending() if (ROOT / name).is_file() and hits(ROOT / name))


def main() -> int:
    """Prints the hits in files. Returns the exit status."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true", help="check all files that the test checks")
    parser.add_argument("--prune", action="store_true", help="remove files without hits from the list of pending files")
    given = parser.parse_args()
    if given.prune:
        prune()
    found = 0
    for path in files() if given.all else given.files:
        for hit in hits(path):
            print(f"{path}:{hit.line}:{hit.column}: {hit.phrase}; use {hit.instead}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
