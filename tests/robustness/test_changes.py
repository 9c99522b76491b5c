"""Files that change, vanish or appear while they are looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kcheck.check.session import Session
from kcheck.discovery import load as loading
from kcheck.discovery.discover import discover
from kcheck.finding.report import Report
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run import file_stage
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"
TYPO = POD.replace("image:", "imagePullpolicy: Always, image:")


def check(folder: Path) -> Report:
    registry = Registry.load()
    return run_pipeline(discover([str(folder)]), Session(registry, choose(registry), [Store(load("1.36"))]))


def reported(report: Report, file: str) -> set[str]:
    return {finding.rule for finding in report.findings if Path(finding.file).name == file}


@pytest.mark.parametrize("change", ["gone", "a folder", "a pipe", "a loop"])
def test_a_file_that_is_replaced_before_it_is_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Between finding a file and reading it."""
    (tmp_path / "a.yaml").write_text(POD)
    (tmp_path / "b.yaml").write_text(TYPO)
    before = file_stage.load_file

    def late(target, *rest):  # type: ignore[no-untyped-def]
        path = Path(target.path)
        if path.name == "a.yaml" and path.is_file():
            path.unlink()
            if change == "a folder":
                path.mkdir()
            elif change == "a pipe":
                os.mkfifo(path)
            elif change == "a loop":
                path.symlink_to(path)
        return before(target, *rest)

    monkeypatch.setattr(file_stage, "load_file", late)
    report = check(tmp_path)
    assert reported(report, "a.yaml") == {"unreadable-file"}
    assert "unknown-field" in reported(report, "b.yaml")


def test_a_file_is_read_once_and_judged_as_it_was_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text(TYPO)
    before = file_stage.load_file
    reads = []

    def overwritten(target, *rest):  # type: ignore[no-untyped-def]
        source = before(target, *rest)
        reads.append(target.path)
        Path(target.path).write_text(POD)
        return source

    monkeypatch.setattr(file_stage, "load_file", overwritten)
    assert "unknown-field" in reported(check(tmp_path), "a.yaml")
    assert len(reads) == 1


def test_a_large_input_is_read_twice_and_reported_as_it_is_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond what is kept in memory a file is read again; it may have changed or gone by then."""
    (tmp_path / "a.yaml").write_text(TYPO)
    (tmp_path / "b.yaml").write_text(TYPO)
    monkeypatch.setattr(file_stage, "MAX_KEPT_CHARS", 0)
    before = file_stage.load_file
    seen: set[str] = set()

    def late(target, *rest):  # type: ignore[no-untyped-def]
        name = Path(target.path).name
        if name in seen and name == "a.yaml":
            Path(target.path).unlink()
        elif name in seen:
            Path(target.path).write_text(POD)
        seen.add(name)
        return before(target, *rest)

    monkeypatch.setattr(file_stage, "load_file", late)
    report = check(tmp_path)
    assert reported(report, "a.yaml") == {"unreadable-file"}
    assert "unknown-field" not in reported(report, "b.yaml")


def test_a_file_that_is_cut_while_it_is_read_is_read_as_far_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    size = loading.os.fstat

    def larger(descriptor: int) -> os.stat_result:
        found = list(size(descriptor))
        found[6] += 1_000_000
        return os.stat_result(found)

    monkeypatch.setattr(loading.os, "fstat", larger)
    assert check(tmp_path).documents == 1


def test_a_folder_that_may_not_be_read_never_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests: root may read all."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a.yaml").write_text(TYPO)
    (tmp_path / "b.yaml").write_text(TYPO)
    scan = os.scandir

    def refused(path: str = ".") -> object:
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    report = check(tmp_path)
    assert reported(report, "closed") == {"unreadable-file"}
    assert "unknown-field" in reported(report, "b.yaml")


def test_a_file_that_may_not_be_read_never_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text(TYPO)
    real = os.open

    def refused(path: str, *rest: int, **more: int) -> int:
        if os.fspath(path).endswith("a.yaml"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(loading.os, "open", refused)
    assert reported(check(tmp_path), "a.yaml") == {"unreadable-file"}
