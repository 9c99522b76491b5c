"""Properties of fixes over the examples of the pages: benchmarks/fix_property.py checks the same over a corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.advice.mistakes import with_mistake
from tests.fuzz.seeds import manifests
from tests.run.fix_property import FixTrial


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("unsafe", "every"),
    [(False, 24), (True, 48), pytest.param(False, 12, marks=pytest.mark.slow), pytest.param(True, 12, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("change", [None, pytest.param(_crlf, marks=pytest.mark.slow)])
def test_fixes_of_examples(tmp_path: Path, change: Callable[[str], str] | None, unsafe: bool, every: int) -> None:
    trial = FixTrial(unsafe)
    for number, text in enumerate(manifests()[::every]):
        path = tmp_path / f"{number}.yaml"
        path.write_bytes((text if change is None else change(text)).encode())
        trial.fix_file(path)
    assert trial.wrong == []
    assert len(trial.fixes) > (240 if unsafe else 48) / every


@pytest.mark.slow
@pytest.mark.parametrize("unsafe", [False, True])
def test_fixes_of_mistakes(tmp_path: Path, unsafe: bool) -> None:
    trial, random = FixTrial(unsafe), Random(15)
    for number, text in enumerate(manifests()[::3]):
        changed = with_mistake(random, text)
        if changed is not None:
            path = tmp_path / f"{number}.yaml"
            path.write_bytes(changed.encode())
            trial.fix_file(path)
    assert trial.wrong == []
