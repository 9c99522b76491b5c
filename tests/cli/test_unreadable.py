"""The rule unreadable-file: a file that could not be read never passes."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import POD, Program

OFF = ("--select", "naked-pod", "--ignore", "all", "--fail-on", "error", "--severity", "error")


def test_one_of_several_is_a_finding(program: Program, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(POD)
    (tmp_path / "binary.yaml").write_bytes(b"name: \xff\n")
    found = program("check", "good.yaml", "binary.yaml", *OFF)
    assert found.code == 1
    assert "error[unreadable-file]" in found.out


def test_an_input_that_cannot_be_read_is_an_error(program: Program, tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_text(POD)
    found = program("check", "big.yaml", "--max-file-size", "10", *OFF)
    assert found.code == 2
    assert "exceed the limit of 10" in found.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission(program: Program, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(POD)
    (tmp_path / "secret.yaml").chmod(0)
    assert "unreadable-file" in program("check", ".").out
