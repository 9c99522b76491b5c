"""What holds after fixes, over a corpus, mutations of it, and whole repositories with their kustomizations.

    python benchmarks/fix_property.py [--files FOLDER] [--every N] [--repositories FOLDER] [--show N]

Applies all fixes of all rules, safe ones alone and together with unsafe ones, to copies. Each file of --files is fixed as it is, with a
typical mistake (tests/advice/mistakes.py), and with CRLF line endings. Each repository is fixed as a whole; then its kustomizations
are built with `kubectl kustomize` and compared with the builds from before: a field may change only if a fix changed a field of this path
in some file. Prints the number of fixes and of violations, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kustomize_builds import built, kustomizations  # noqa: E402

from kcheck.discovery.discover import discover  # noqa: E402
from kcheck.text.source import Source  # noqa: E402
from kcheck.yaml.parse import parse  # noqa: E402
from tests.advice.mistakes import with_mistake  # noqa: E402
from tests.run.fix_property import EVERY, FixTrial  # noqa: E402

SHARED = ROOT.parent / "shared"
_MAX_BYTES = 20_000


def main() -> int:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--files", type=Path, default=SHARED / "corpus" / "manifests", metavar="FOLDER")
    flags.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth file")
    flags.add_argument("--repositories", type=Path, default=SHARED / "repositories", metavar="FOLDER")
    flags.add_argument("--show", type=int, default=10, metavar="N", help="number of violations to print per row")
    given = flags.parse_args()
    random = Random(15)
    files = [path for path in sorted(given.files.rglob("*.yaml"))[:: given.every] if path.stat().st_size < _MAX_BYTES]
    variants: dict[str, Callable[[str], str | None]] = {
        "as it is": lambda text: text,
        "mistake": lambda text: with_mistake(random, text),
        "CRLF": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    }
    violations = 0
    print(f"{'input':<44}{'fixes':<8}{'files':>7}{'applied':>9}{'rules':>7}{'violations':>12}")
    for unsafe in (False, True):
        for name, change in variants.items():
            violations += _row(f"corpus, {name}", unsafe, _fixed_files(files, change, unsafe), given.show)
    for unsafe in (False, True):
        for folder in sorted(each for each in given.repositories.iterdir() if each.is_dir()):
            violations += _row(folder.name, unsafe, _fixed_repository(folder, unsafe), given.show)
    return 1 if violations else 0


def _row(name: str, unsafe: bool, result: tuple[int, FixTrial], show: int) -> int:
    count, trial = result
    kind = "unsafe" if unsafe else "safe"
    print(f"{name:<44}{kind:<8}{count:>7}{trial.fixes.total():>9}{len(trial.fixes):>7}{len(trial.wrong):>12}", flush=True)
    for each in trial.wrong[:show]:
        print(f"    {each[:400]}")
    return len(trial.wrong)


def _fixed_files(files: list[Path], change: Callable[[str], str | None], unsafe: bool) -> tuple[int, FixTrial]:
    trial, count = FixTrial(unsafe, EVERY), 0
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            try:
                text = change(path.read_bytes().decode())
            except UnicodeDecodeError:
                continue
            if text is not None:
                copy = Path(folder, path.parent.name, path.name)
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(text.encode())
                trial.fix_file(copy)
                count += 1
    return count, trial


def _fixed_repository(repository: Path, unsafe: bool) -> tuple[int, FixTrial]:
    """Fixes a copy of a repository and compares the builds of its kustomizations."""
    trial = FixTrial(unsafe, EVERY)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, repository.name)
        shutil.copytree(repository, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        for each in (copy, *copy.rglob("*")):
            if not each.is_symlink():
                each.chmod(0o755 if each.is_dir() else 0o644)
        before = {each: built(copy / each, None)[0] for each in kustomizations(copy)}
        found = discover([str(copy)], root=str(copy))
        texts = {Path(target.path): Path(target.path).read_bytes() for target in found.targets if Path(target.path).is_file()}
        changed = trial.fix_files(found)
        intended: Counter[str] = Counter()
        for path in changed:
            intended.update(_changed_paths(texts[path].decode(errors="replace"), path.read_bytes().decode(errors="replace")))
        for each, old in before.items():
            if old and changed:
                new, error = built(copy / each, None)
                if not new:
                    trial.wrong.append(f"{each} cannot be built now: {error.strip()}")
                trial.wrong += [f"{each}: {path} has changed" for path in sorted(_changed_paths(old, new) - intended.keys())] if new else []
    return len(texts), trial


def _changed_paths(before: str, after: str) -> set[str]:
    """The paths of values that are in one of two texts only, without the indexes of lists."""
    old, new = (
        Counter(leaf for document in parse(Source("", text)) for leaf in _leaves(document.root.plain())) for text in (before, after)
    )
    return {path for path, _ in (old - new) | (new - old)}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _leaves(child, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for child in value:
            yield from _leaves(child, f"{path}[]")
    else:
        yield path, repr(value)


if __name__ == "__main__":
    sys.exit(main())
