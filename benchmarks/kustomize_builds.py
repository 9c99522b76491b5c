"""Compare kcheck's model of `kustomize build` with `kubectl kustomize`, object by object.

    python benchmarks/kustomize_builds.py [FOLDER ...] [--keep FOLDER] [--only PATH] [--show N]

Builds every kustomization below the folders (by default ../shared/repositories and ../shared/corpus/manifests; each folder in them is an
separate input) with both, unless something in it is remote, and prints the share of objects that are equal: by identity, namespace,
labels, selectors, images, references, and as a whole; and every difference. kubectl runs without network and with a time limit; --keep
holds its output for the next comparison.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kcheck.kustomize.build import Build, KustomizationBuilder
from kcheck.kustomize.library import NAMES, Library, reader
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
ASPECTS = ("namespace", "name", "labels", "selectors", "images", "references", "whole")
_REFERENCES = frozenset((
    "configMap", "configMapRef", "configMapKeyRef", "secret", "secretRef", "secretKeyRef", "secretName", "serviceAccountName",
    "claimName",
    "roleRef", "subjects", "scaleTargetRef", "serviceName", "service", "imagePullSecrets", "secrets", "ingressClassName",
    "storageClassName",
    "priorityClassName", "volumeName", "resourceNames", "backend", "backendRefs", "parentRefs",
))  # fmt: skip
_SELECTORS = frozenset(("selector", "podSelector", "labelSelector", "namespaceSelector", "objectSelector", "matchLabels"))
Plain = dict[str, Any]


def inputs(arguments: list[str]) -> list[Path]:
    """The folders that are separate inputs."""
    if arguments:
        return [Path(each).resolve() for each in arguments]
    return [each for top in ("repositories", "corpus/manifests") for each in sorted((SHARED / top).resolve().iterdir()) if each.is_dir()]


def kustomizations(root: Path) -> list[str]:
    """The folders of an input that have a kustomization."""
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        if any(name in names for name in NAMES):
            found.append(os.path.relpath(folder, root))
    return found


def built(folder: Path, keep: Path | None) -> tuple[str, str]:
    """What kubectl makes of a kustomization: its output and, where it refuses, what it says."""
    kept = None if keep is None else keep / hashlib.sha256(str(folder).encode()).hexdigest()[:20]
    if kept is not None and kept.exists():
        code, _, text = kept.read_text(encoding="utf-8").partition("\n")
        return (text, "") if code == "0" else ("", text)
    nowhere = "http://127.0.0.1:9"
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "file", "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "https_proxy": nowhere}
    try:
        run = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, timeout=60, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return "", "time limit"
    output, complaint = run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")
    if kept is not None:
        keep.mkdir(parents=True, exist_ok=True)  # type: ignore[union-attr]
        kept.write_text(f"{run.returncode}\n{output if run.returncode == 0 else complaint}", encoding="utf-8")
    return (output, "") if run.returncode == 0 else ("", complaint or "failed")


def identity(value: Plain) -> tuple[str, str, str, str]:
    metadata = value.get("metadata") or {}
    return str(value.get("apiVersion")), str(value.get("kind")), str(metadata.get("namespace") or ""), str(metadata.get("name"))


def parts(value: Any, names: frozenset[str], path: str = "") -> Iterator[tuple[str, Any]]:
    """The values of some fields."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key in names:
                yield f"{path}.{key}", child
            else:
                yield from parts(child, names, f"{path}.{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from parts(child, names, f"{path}[{index}]")


def aspect(value: Plain, name: str) -> Any:
    if name == "whole":
        return value
    if name in ("namespace", "name"):
        return (value.get("metadata") or {}).get(name)
    names = {"labels": frozenset(("labels",)), "selectors": _SELECTORS, "images": frozenset(("image",)), "references": _REFERENCES}[name]
    return dict(parts(value, names))


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Where two values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            if key not in ours:
                yield f"{path}.{key}: missing, kubectl has {theirs[key]!r:.120}"
            elif key not in theirs:
                yield f"{path}.{key}: {ours[key]!r:.120}, kubectl has none"
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif type(ours) is not type(theirs) or ours != theirs:
        yield f"{path}: {ours!r:.120}, kubectl has {theirs!r:.120}"


class Comparison:
    """Counts of one run."""

    def __init__(self, show: int) -> None:
        self.show = show
        self.equal: Counter[str] = Counter()
        self.objects = 0
        self.states: Counter[str] = Counter()
        self.lines: list[str] = []
        self.ordered = 0

    def compare(self, where: str, build: Build, theirs: list[Plain]) -> None:
        ours = [each.node.plain() for each in build.objects]
        self.ordered += [identity(each) for each in ours] == [identity(each) for each in theirs]
        found = {identity(each): each for each in ours}
        for each in theirs:
            self.objects += 1
            id = identity(each)
            match = found.pop(id, None)
            if match is None:
                # The same object under another name or namespace.
                match = next((other for other in ours if identity(other)[:2] == id[:2] and identity(other)[3] == id[3]), None)
                self.lines.append(f"{where}: {' '.join(id)}: not built{'' if match is None else ' in this namespace'}")
            if match is None:
                continue
            unequal = [name for name in ASPECTS if list(differences(aspect(match, name), aspect(each, name)))]
            self.equal.update(name for name in ASPECTS if name not in unequal)
            if unequal:
                texts = list(differences(match, each))
                self.lines += [f"{where}: {' '.join(id)} ({', '.join(unequal)}): {text}" for text in texts[: self.show]]
        self.lines += [f"{where}: {' '.join(id)}: built, but not by kubectl" for id in found]


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folders", nargs="*")
    options.add_argument("--keep", type=Path)
    options.add_argument("--only", default="")
    options.add_argument("--show", type=int, default=5)
    given = options.parse_args()
    comparison, spent, refused = Comparison(given.show), 0.0, []
    for root in inputs(given.folders):
        start = time.process_time()
        builder = KustomizationBuilder(Library(reader(str(root))))
        builds = {folder: builder.build(folder) for folder in kustomizations(root) if given.only in f"{root.name}/{folder}"}
        spent += time.process_time() - start
        for folder, build in builds.items():
            where = f"{root.name}/{folder}"
            if build.is_component:
                comparison.states["component"] += 1
                continue
            if any(problem.kind == "remote" for problem in build.problems):
                comparison.states["remote"] += 1
                continue
            output, complaint = built(root / folder, given.keep)
            said = [builder.library.describe(problem) for problem in build.problems]
            if complaint:
                comparison.states["refused by kubectl, reported by kcheck" if said else "refused by kubectl, NOT reported"] += 1
                refused.append(f"{where}: {complaint.strip().splitlines()[-1][:300]}\n    kcheck: {said[:3]}")
                continue
            comparison.states["built"] += 1
            if said:
                comparison.states["built, with problems reported"] += 1
                refused += [f"{where}: built by kubectl; kcheck: {line}" for line in said]
            documents = [document.root.plain() for document in parse(Source("kubectl", output))]
            comparison.compare(where, build, documents)
    report(comparison, refused, spent)
    return 0


def report(comparison: Comparison, refused: list[str], spent: float) -> None:
    print("\n".join(refused))
    print("\n".join(comparison.lines))
    print(f"kustomizations: {dict(comparison.states)}; {spent:.2f} s of CPU for all builds")
    for name in ASPECTS:
        share = comparison.equal[name] / comparison.objects if comparison.objects else 1
        print(f"{name:12} {comparison.equal[name]:6} of {comparison.objects} objects equal ({share:.2%})")
    print(f"order        {comparison.ordered:6} of {comparison.states['built']} builds equal")


if __name__ == "__main__":
    sys.exit(main())
