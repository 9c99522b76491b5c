"""`--output`: the file is there whole or as it was."""

import stat
from pathlib import Path

import pytest

from kcheck.cli.output import written


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    with written(str(tmp_path / "new")) as out:
        out.write("é\n")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new").read_bytes() == "é\n".encode()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("before")
    old.chmod(0o640)
    with written(str(old)) as out:
        out.write("after")
        assert old.read_text() == "before"
    assert old.read_text() == "after"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    with written(str(tmp_path / "link")) as out:
        out.write("after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "after"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("before")
    with pytest.raises(UnicodeEncodeError), written(str(tmp_path / "old")) as out:
        out.write("half, and then \ud800")
    assert [p.name for p in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "before"


def test_a_device_is_written_as_it_is() -> None:
    with written("/dev/null") as out:
        out.write("away")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
