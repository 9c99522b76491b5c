"""The same input gives the same bytes, however it is found and by however many processes it is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness.conftest import run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples several times over, enough for processes to share."""
    folder = tmp_path_factory.mktemp("input")
    files = [path for path in sorted(EXAMPLES.rglob("*.yaml")) if path.name != ".kcheck.yaml"]
    size = 0
    for copy in range(1000):
        for number, path in enumerate(files):
            text = path.read_text()
            (folder / f"{copy}-{number}.yaml").write_text(text)
            size += len(text)
        if size > 700_000:
            break
    return folder


@pytest.mark.parametrize("form", ["json", "sarif", "text"])
def test_reports_are_the_same_to_the_byte(folder: Path, form: str) -> None:
    names = sorted(path.name for path in folder.iterdir())
    orders = [["."], ["."], ["."], names[::-1], names]
    reports = set()
    for number, order in enumerate(orders):
        arguments = ["check", "--isolated", "--as-found", "--format", form, "--jobs", str(number % 3 + 1), *order]
        told = run(folder, *arguments, environment={"PYTHONHASHSEED": str(number * 7)})
        assert told.code in (0, 1)
        reports.add(told.out)
    assert len(reports) == 1
