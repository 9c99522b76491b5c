"""The same input gives the same bytes, however it is found, by however many processes or machines it is checked."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.seeds import manifests
from tests.robustness.conftest import run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
RUNS = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples of pages, among them several of one name, and the example application often enough for processes to share the work."""
    folder = tmp_path_factory.mktemp("input")
    for number, text in enumerate(manifests()[::5]):
        (folder / f"page-{number}.yaml").write_text(text)
    good = "\n---\n".join(path.read_text() for path in sorted((EXAMPLES / "good").glob("*.yaml")))
    for number in range(4):
        (folder / f"large-{number}.yaml").write_text("\n---\n".join([good] * (160_000 // len(good))))
    return folder


def shuffled(folder: Path, number: int) -> tuple[list[str], dict[str, str]]:
    """The arguments and the environment of a run: its number of processes, order of files and hash seed."""
    random = Random(number)
    names = sorted(path.name for path in folder.iterdir())
    order = [["."], names, random.sample(names, len(names))][number % 3]
    return ["--isolated", "--jobs", str(number % 4 + 1), *order], {"PYTHONHASHSEED": str(random.randrange(2**32))}


@pytest.mark.parametrize("form", ["json", "sarif", "text"])
def test_reports_are_the_same_to_the_byte(folder: Path, form: str) -> None:
    reports = set()
    for number in range(RUNS if form == "json" else 2):
        arguments, environment = shuffled(folder, number)
        reported = run(folder, "check", "--as-found", "--format", form, *arguments, environment=environment)
        assert reported.code == 1
        reports.add(reported.out)
    assert len(reports) == 1


@pytest.mark.parametrize("form", ["text", "json", "dot", "mermaid", "html"])
def test_graphs_are_the_same_to_the_byte(folder: Path, form: str) -> None:
    # Objects are in the order of the input, which is kept.
    graphs = set()
    for number in range(5 if form == "json" else 2):
        arguments, environment = shuffled(folder, number * 3)
        reported = run(folder, "graph", "--as-found", "--format", form, *arguments, environment=environment)
        assert reported.code == 0
        graphs.add(reported.out)
    assert len(graphs) == 1


def test_shards_make_the_same_report(folder: Path, tmp_path: Path) -> None:
    arguments, _ = shuffled(folder, 0)
    reports = {run(folder, "check", "--as-found", "--format", "json", *arguments).out}
    for of in (1, 3):
        shards = [str(tmp_path / f"{number}-{of}") for number in range(1, of + 1)]
        for number, shard in enumerate(shards, 1):
            reported = run(
                folder, "check", "--as-found", "--isolated", "--jobs", str(number), "--shard", f"{number}/{of}", "--output", shard, ".",
                environment={"PYTHONHASHSEED": str(number)},
            )  # fmt: skip
            assert reported.code == 0
        for order in (shards, shards[::-1]):
            reported = run(folder, "merge", "--format", "json", *order, environment={"PYTHONHASHSEED": str(of)})
            assert reported.code == 1
            reports.add(reported.out)
    assert len(reports) == 1
