"""Measure whether `--render` maps built objects and their fields to the files that they come from.

    python benchmarks/kustomize_places.py [FOLDER ...] [--show N]

Builds every kustomization below the folders (by default the folders in ../shared/repositories) that has no remote entries with kustomize or
kubectl. The file of an object must be the one in the annotation that kustomize adds. A field whose value differs from the one in this file
is changed: the text at its place must be the value, or a part of it (a name without its prefix or hash, an image without its tag). Prints
the numbers, and the fields without such a text.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kcheck.kustomize.build import Build, BuiltObject, KustomizationBuilder
from kcheck.kustomize.library import NAMES, Library, reader
from kcheck.kustomize.nodes import text_of
from kcheck.kustomize.program import ORIGIN, KustomizeOutput, RenderingFailed, find_program, render
from kcheck.kustomize.remote import downloads
from kcheck.kustomize.rendering import RenderedBuild
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

REPOSITORIES = Path(__file__).resolve().parent.parent.parent / "shared/repositories"
Key = tuple[str, str, str, str]


def leaves(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """The scalars below a node by their paths."""
    if node.is_map:
        for key, child in node.entries:
            yield from leaves(child, (*path, key))
    elif node.is_list:
        for index, child in enumerate(node):
            yield from leaves(child, (*path, index))
    else:
        yield path, node


def key_of(node: Node) -> Key:
    metadata = node["metadata"]
    return node["apiVersion"].text, node["kind"].text, text_of(metadata["namespace"]), text_of(metadata["name"])


class Measurement:
    """The places in the builds of one folder."""

    def __init__(self, root: Path, counts: Counter[str], others: list[str]) -> None:
        self.root = root
        self.library = Library(reader(str(root)))
        self.counts = counts
        self.others = others

    def measure(self, folder: str) -> None:
        """Measure one kustomization."""
        build = KustomizationBuilder(self.library).build(folder)
        if build.is_component or self.may_download(build):
            self.counts["components" if build.is_component else "remote entries or charts, not built"] += 1
            return
        try:
            output = render(find_program(), str(self.root / folder))
        except RenderingFailed:
            self.counts["refused by kustomize"] += 1
            return
        self.counts["builds"] += 1
        origins = {key_of(each.root): text_of(each.root.at("metadata", "annotations", ORIGIN)) for each in parse(Source("", output.text))}
        for each in RenderedBuild(self.library, str(self.root), build, output).build().objects:
            wanted = self.file_in(origins.get(key_of(each.node), ""), output)
            file = self.library.locate(each.origin.start).source.path
            self.counts["objects"] += 1
            self.counts["objects in the file that kustomize names"] += file == wanted
            if file != wanted:
                self.others.append(f"{folder}: {key_of(each.node)}: {file}, not {wanted}")
            self.measure_fields(folder, each, file)

    def may_download(self, build: Build) -> bool:
        pieces = [piece for each in build.reads if (piece := self.library.kustomization(each)) is not None]
        roots = [document.root for piece in pieces for document in self.library.documents(piece)]
        return any(each.kind == "remote" for each in build.problems) or any(
            root["helmCharts"] or next(downloads(root), None) is not None for root in roots
        )

    def file_in(self, origin: str, output: KustomizeOutput) -> str:
        match = re.search(r"^(?:path|configuredIn): (.*)$", origin, re.MULTILINE)
        return os.path.normpath(os.path.join(output.folder, match[1])) if match else ""

    def measure_fields(self, folder: str, built: BuiltObject, file: str) -> None:
        """Count where the fields of an object are."""
        before = {} if built.generated else self.fields_before(built)
        for path, leaf in leaves(built.node):
            source, start, end = self.library.extent(leaf.start, leaf.end)
            text, value = source.text[start:end].strip().strip("\"'"), text_of(leaf)
            if before.get(path) == value:
                self.counts["unchanged fields"] += 1
                self.counts["unchanged fields in the file of the object"] += source.path == file
                continue
            self.counts["changed fields"] += 1
            if text == value or leaf.style in ("|", ">"):
                self.counts["changed fields whose value is at their place"] += 1
            elif text and text in value:
                self.counts["changed fields of whose value a part is at their place"] += 1
            else:
                self.others.append(f"{folder}: {key_of(built.node)}: {path} is {value[:60]!r}; {source.path} has {text[:60]!r}")

    def fields_before(self, built: BuiltObject) -> dict[tuple[str | int, ...], str]:
        """The fields of an object in its file."""
        source, offset = self.library.locate(built.origin.start)
        root = next((each.root for each in parse(source) if each.start <= offset <= each.end), Node(None, 0, 0))
        if root["kind"].text.endswith("List"):
            root = next((each for each in root["items"] if each.start <= offset <= each.end), root)
        return {path: text_of(leaf) for path, leaf in leaves(root)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    others: list[str] = []
    for root in options.folders or sorted(each for each in REPOSITORIES.iterdir() if each.is_dir()):
        for folder, _, names in sorted(os.walk(root.resolve())):
            if any(name in names for name in NAMES):
                Measurement(root.resolve(), counts, others).measure(os.path.relpath(folder, root.resolve()))
    for name, number in counts.items():
        print(f"{number:7,} {name}")
    print(f"{len(others):7,} others")
    for each in others[: options.show]:
        print(f"        {each}")


if __name__ == "__main__":
    main()
