"""Kustomizations of ours against what kubectl makes of them.

The file expected.yaml of each case was recorded with kubectl 1.32.4: `kubectl kustomize FOLDER > FOLDER/expected.yaml`.
"""

from pathlib import Path

import pytest

from kcheck.kustomize.build import KustomizationBuilder
from kcheck.kustomize.library import Library, reader
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

CASES = Path(__file__).parent / "cases"
EXPECTED = sorted(CASES.glob("**/expected.yaml"))


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.relative_to(CASES).parts[0])
def test_build_equals_that_of_kubectl(expected: Path) -> None:
    case = CASES / expected.relative_to(CASES).parts[0]
    library = Library(reader(str(case)))
    build = KustomizationBuilder(library).build(expected.parent.relative_to(case).as_posix())
    assert [library.describe(problem) for problem in build.problems] == []
    recorded = [document.root.plain() for document in parse(Source("expected.yaml", expected.read_text(encoding="utf-8")))]
    assert [each.node.plain() for each in build.objects] == recorded


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.relative_to(CASES).parts[0])
def test_each_node_has_a_place_in_a_file(expected: Path) -> None:
    case = CASES / expected.relative_to(CASES).parts[0]
    library = Library(reader(str(case)))
    for each in KustomizationBuilder(library).build(expected.parent.relative_to(case).as_posix()).objects:
        assert each.node.parent is None
        assert each.node.key is None
        for node in nodes(each.node):
            source, start = library.locate(node.start)
            assert Path(source.path).is_relative_to(case)
            assert 0 <= start <= start + node.end - node.start <= len(source.text)
            for child in node:
                assert child.parent is node
                assert child is node[child.name or child.keys[-1]]


def nodes(node: Node) -> list[Node]:
    return [node, *(each for child in node for each in nodes(child))]
