"""Adopts kcheck in a repository with a baseline, and edits the repository.

    python benchmarks/baseline_edits.py [--edits 1000] [--batch 25] [--seed 1] FOLDER...

The folders are copied into one git repository with the config of the option --config, and `kcheck baseline create` is run. Then:

- `kcheck check` must find nothing;
- each of ten new mistakes in a Deployment must be the only finding;
- edits that only move or reformat (comments, blank lines, order of documents, objects in other files, names of files, indentation, quotes,
  line endings) must add no finding. kcheck checks the repository after each batch of edits.

Exits with 1 if anything else is found. Edits are random but depend only on the seed. After each edit, the values of all objects must be the
same as before; otherwise it is undone and another one is tried.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from kcheck.text.source import Source
from kcheck.yaml.parse import parse

DEPLOYMENT = "web/guestbook/frontend-deployment.yaml"
"""The end of the path of the file that gets the mistakes. Its container has a known finding."""

CONFIG = "roles: {'**/*.yaml': manifest}\nrules: {missing-memory-limit: on}\n"
"""All default rules also apply to examples, and one more rule has findings in most files."""

MISTAKES: dict[str, tuple[str, str]] = {
    "privileged-container": ("        env:\n", "        securityContext: {privileged: true}\n        env:\n"),
    "latest-tag": ("gb-frontend:v5", "gb-frontend:latest"),
    "unknown-field": ("  replicas: 3", "  replica: 3"),
    "selector-mismatch": ("      app: guestbook\n      tier: frontend\n  replicas", "      app: guests\n      tier: frontend\n  replicas"),
    "host-pid": ("      containers:\n", "      hostPID: true\n      containers:\n"),
    "duplicate-key": ("  replicas: 3\n", "  replicas: 3\n  replicas: 3\n"),
    "invalid-volume-mount": ("        env:\n", "        volumeMounts: [{name: cache, mountPath: /cache}]\n        env:\n"),
    "removed-api": ("apps/v1 ", "extensions/v1beta1 "),
    "invalid-port-number": ("containerPort: 80", "containerPort: 80000"),
    "missing-memory-limit": ("      containers:\n", "      containers:\n      - {name: proxy, image: 'example.com/proxy:1.2'}\n"),
}
"""The rule of each mistake, and the text that is replaced."""


def kcheck(folder: Path, *arguments: str) -> str:
    run = subprocess.run([sys.executable, "-m", "kcheck", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode == 2:
        raise SystemExit(f"kcheck {' '.join(arguments)} failed:\n{run.stderr}")
    return run.stdout


def findings(folder: Path) -> list[str]:
    """Returns the findings that are not in the baseline."""
    report = json.loads(kcheck(folder, "check", ".", "--format", "json", "--quiet"))
    return [f"{f['file']}:{f['range']['start']['line']}: {f['rule']}: {f['message']}" for f in report["findings"]]


def values_of(path: Path) -> list[str] | None:
    """Returns the values of the documents of a file in any order, None if they cannot be compared."""
    text = path.read_bytes().decode("utf-8")
    documents = parse(Source(str(path), text))
    if any(each.fault is not None or each.duplicates for each in documents):
        return None
    return sorted(json.dumps(each.root.plain(), sort_keys=True, default=repr) for each in documents)


class Editor:
    """Edits the files of a folder without changing what they mean."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.edits: dict[str, Callable[[list[str]], list[str] | None]] = {
            "comment": self.comment, "blank line": self.blank_line, "trailing comment": self.trailing_comment, "order": self.order,
            "indentation": self.indentation, "quotes": self.quotes, "line endings": self.line_endings,
        }  # fmt: skip
        self.applied: Counter[str] = Counter()
        # A kustomization lists its files by name.
        lists = "\n".join(path.read_text() for path in folder.rglob("kustomization.y*ml"))
        paths = sorted(path for path in folder.rglob("*.y*ml") if ".git" not in path.parts and values_of(path))
        self.fixed = {path for path in paths if path.name in lists or path.stem == "kustomization"}
        self.paths = paths

    def edit(self) -> None:
        """Applies one edit."""
        kinds = [*self.edits, "file name", "other file"]
        while True:
            kind, path = self.random.choice(kinds), self.random.choice(self.paths)
            if kind == "file name":
                done = self.rename(path)
            elif kind == "other file":
                done = self.move(path)
            else:
                done = self.rewrite(path, self.edits[kind])
            if done:
                self.applied[kind] += 1
                return

    def rewrite(self, path: Path, change: Callable[[list[str]], list[str] | None]) -> bool:
        before = path.read_bytes()
        values = values_of(path)
        lines = change(before.decode("utf-8").splitlines(keepends=True))
        if lines is None:
            return False
        path.write_bytes("".join(lines).encode("utf-8"))
        if path.read_bytes() != before and values_of(path) == values:
            return True
        path.write_bytes(before)
        return False

    def rename(self, path: Path) -> bool:
        new = path.with_name(f"renamed-{self.random.randrange(10**6)}-{path.name[-40:]}")
        if path in self.fixed:
            return False
        path.rename(new)
        self.paths[self.paths.index(path)] = new
        return True

    def move(self, path: Path) -> bool:
        """Moves the last document of a file to another file in the same folder."""
        others = [each for each in self.paths if each.parent == path.parent and each != path and each not in self.fixed]
        lines = path.read_bytes().decode("utf-8").splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
        if path in self.fixed or not others or not starts or starts[-1] == 0 or "\t" in "".join(lines):
            return False
        other = self.random.choice(others)
        kept, moved, target = "".join(lines[: starts[-1]]), "".join(lines[starts[-1] :]), other.read_bytes().decode("utf-8")
        before = [*(values_of(path) or ()), *(values_of(other) or ())]
        old = path.read_bytes(), other.read_bytes()
        path.write_bytes(kept.encode("utf-8"))
        other.write_bytes((target + ("" if target.endswith("\n") else "\n") + moved).encode("utf-8"))
        left = values_of(path)
        if left and sorted([*left, *(values_of(other) or ())]) == sorted(before) and not names_of(moved) & names_of(target):
            return True
        path.write_bytes(old[0])
        other.write_bytes(old[1])
        return False

    def comment(self, lines: list[str]) -> list[str]:
        at = self.random.randrange(len(lines) + 1)
        return [*lines[:at], f"{' ' * self.random.randrange(8)}# {self.random.random()}\n", *lines[at:]]

    def blank_line(self, lines: list[str]) -> list[str]:
        at = self.random.randrange(len(lines) + 1)
        return [*lines[:at], "\n" * self.random.randrange(1, 4), *lines[at:]]

    def trailing_comment(self, lines: list[str]) -> list[str]:
        at = self.random.randrange(len(lines))
        return [*lines[:at], f"{lines[at].rstrip()}  # {self.random.random()}\n", *lines[at + 1 :]]

    def order(self, lines: list[str]) -> list[str] | None:
        """Swaps two documents."""
        documents: list[list[str]] = [[]]
        for line in lines:
            if line.rstrip() == "---":
                documents.append([])
            else:
                documents[-1].append(line)
        if len(documents) < 3:
            return None
        first, second = self.random.sample(range(len(documents)), 2)
        documents[first], documents[second] = documents[second], documents[first]
        return [line for each in documents for line in ("---\n", *each, "\n")]

    def indentation(self, lines: list[str]) -> list[str] | None:
        """Indents a list more, or less, than the key above it."""
        starts = [number for number, line in enumerate(lines) if re.fullmatch(r"[ -]*[\w.-]+:\s*", line)]
        if not starts:
            return None
        start = self.random.choice(starts) + 1
        width = _width(lines[start - 1].replace("- ", "  "))
        end = start
        while (
            end < len(lines)
            and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip(" ")) >= width)
            and "---" not in lines[end]
        ):
            end += 1
        shift = self.random.choice((1, 2, -1, -2))
        block = [f"{' ' * shift}{line}" if shift > 0 else line[-shift:] for line in lines[start:end]]
        return [*lines[:start], *block, *lines[end:]]

    def quotes(self, lines: list[str]) -> list[str] | None:
        """Adds, removes or changes the quotes of a value."""
        found = [(number, match) for number, line in enumerate(lines) if (match := re.fullmatch(r"( *(?:- )*[\w./-]+: +)(\S+)(\s*)", line))]
        if not found:
            return None
        number, match = self.random.choice(found)
        quote = self.random.choice(("", "'", '"'))
        return [*lines[:number], f"{match[1]}{quote}{match[2].strip(chr(34) + chr(39))}{quote}{match[3]}", *lines[number + 1 :]]

    def line_endings(self, lines: list[str]) -> list[str]:
        ending = "\n" if lines[0].endswith("\r\n") else "\r\n"
        return [line.rstrip("\r\n") + ending for line in lines]


def _width(line: str) -> int:
    """Returns the indentation of a line."""
    return len(line) - len(line.lstrip(" "))


def names_of(text: str) -> set[tuple[object, object]]:
    """Returns the kinds and names of the objects in a text: an object that is in a file twice is a new finding."""
    return {(each.root["kind"].value, each.root["metadata"]["name"].value) for each in parse(Source("", text))}


def adopt(folders: list[Path], into: Path, config: str) -> None:
    """Creates a git repository of the folders, with a config and a baseline."""
    (into / ".kcheck.yaml").write_text(config)
    for folder in folders:
        shutil.copytree(folder, into / folder.name, copy_function=shutil.copyfile)
    subprocess.run(["git", "-C", str(into), "init", "--quiet"], check=True)
    print(kcheck(into, "baseline", "create").strip())


def check_mistakes(folder: Path) -> Iterator[str]:
    """Yields what is wrong with the findings of each mistake."""
    path = next((each for each in sorted(folder.rglob("*.yaml")) if str(each).endswith(DEPLOYMENT)), None)
    if path is None:
        print(f"no file {DEPLOYMENT}: no mistakes made")
        return
    good = path.read_text()
    for rule, (old, new) in MISTAKES.items():
        assert old in good, rule
        path.write_text(good.replace(old, new, 1))
        found = findings(folder)
        if len(found) != 1 or f": {rule}: " not in found[0]:
            yield f"mistake {rule}: {len(found)} findings:" + "".join(f"\n  {each}" for each in found)
    path.write_text(good)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=25, help="edits between two checks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default=CONFIG, help="content of .kcheck.yaml")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as name:
        os.environ["KCHECK_CACHE_DIR"] = cache
        folder = Path(name)
        adopt(options.folders, folder, options.config)
        if found := findings(folder):
            wrong.append(f"{len(found)} findings after kcheck baseline create")
        wrong += check_mistakes(folder)
        print(f"mistakes: {len(MISTAKES)}, wrong: {len(wrong)}")
        editor = Editor(folder, options.seed)
        for number in range(1, options.edits + 1):
            editor.edit()
            if number % options.batch == 0 or number == options.edits:
                found = findings(folder)
                if found:
                    wrong.append(f"after {number} edits: {len(found)} findings:" + "".join(f"\n  {each}" for each in found[:10]))
                    break
        print("edits:", ", ".join(f"{count} {kind}" for kind, count in sorted(editor.applied.items())))
    print("\n".join(wrong) or "no unexpected findings")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
