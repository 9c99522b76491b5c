"""What an untrusted checkout can make kcheck write, and which config files around it apply."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kcheck.cli import draft
from kcheck.cli.draft import Draft
from kcheck.config import search
from kcheck.discovery.discover import NoSuchPath, discover
from tests.robustness.conftest import Told, run

OLD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  serviceAccount: web\n  containers: [{name: c, image: 'b:1'}]\n"
NEW = OLD.replace("serviceAccount", "serviceAccountName")
FIX = ("check", "--fix", "--isolated", "--select", "deprecated-service-account-field")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository beside files that do not belong to it."""
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    (folder / "k8s").mkdir()
    (folder / "a.yaml").write_text(OLD)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.yaml").write_text(OLD)
    return folder


def refused(reported: Told, checkout: Path) -> bool:
    """Whether a run wrote nothing outside and said why."""
    outside = checkout.parent / "outside"
    unchanged = [path.name for path in outside.iterdir()] == ["secret.yaml"] and (outside / "secret.yaml").read_text() == OLD
    return unchanged and reported.code == 2 and "outside the repository or current folder" in reported.err


@pytest.mark.parametrize("command", [["check", "--format", "json"], ["check", "--shard", "1/1"], ["graph"]], ids=" ".join)
def test_output_does_not_follow_a_link_out_of_the_checkout(command: list[str], checkout: Path) -> None:
    (checkout / "report").symlink_to("../outside/secret.yaml")
    (checkout / "new").symlink_to("../outside/new")
    (checkout / "folder").symlink_to("../outside")
    for output in ("report", "new", "folder/report", str(checkout / "report")):
        assert refused(run(checkout, *command, "--isolated", "--output", output, "a.yaml"), checkout), output
    assert refused(run(checkout / "k8s", *command, "--isolated", "--output", "../report", "../a.yaml"), checkout)


def test_output_follows_other_links(checkout: Path) -> None:
    outside = checkout.parent / "outside"
    (checkout / "inside").symlink_to("k8s/report")
    (checkout.parent / "mine").symlink_to("outside/report")
    for output, file in (("inside", checkout / "k8s/report"), ("../mine", outside / "report"), ("/dev/stdout", None)):
        reported = run(
            checkout,
            "check",
            "--isolated",
            "--fail-on",
            "info",
            "--select",
            "deprecated-service-account-field",
            "--output",
            output,
            "a.yaml",
        )
        assert reported.code == 1, reported.err
        assert b"a.yaml" in (reported.out if file is None else file.read_bytes())


def test_a_folder_without_a_repository_is_a_checkout(checkout: Path) -> None:
    (checkout / ".git").rmdir()
    (checkout / "report").symlink_to("../outside/secret.yaml")
    assert refused(run(checkout, "check", "--isolated", "--output", "report", "a.yaml"), checkout)


def test_fix_does_not_follow_a_link_that_it_found(checkout: Path) -> None:
    (checkout / "k8s/link.yaml").symlink_to("../../outside/secret.yaml")
    assert refused(run(checkout, *FIX, "."), checkout)
    # The rest is fixed.
    assert (checkout / "a.yaml").read_text() == NEW
    assert refused(run(checkout, *FIX, "--as-found", "k8s/link.yaml"), checkout)
    assert refused(run(checkout.parent, *FIX, "checkout/k8s"), checkout) is False


def test_fix_follows_a_link_that_is_named_or_stays_inside(checkout: Path) -> None:
    (checkout / "k8s/link.yaml").symlink_to("../../outside/secret.yaml")
    (checkout / "k8s/inside.yaml").symlink_to("../b.txt")
    (checkout / "b.txt").write_text(OLD)
    assert run(checkout, *FIX, "k8s/link.yaml").code == 0
    assert run(checkout, *FIX, "k8s").code == 0
    assert (checkout.parent / "outside/secret.yaml").read_text() == (checkout / "b.txt").read_text() == NEW
    assert (checkout / "k8s/link.yaml").is_symlink()


def test_migrate_does_not_follow_a_link_that_it_found(checkout: Path) -> None:
    text = OLD.replace("{name: a}", "\n  name: a\n  annotations: {ignore-check.kube-linter.io/run-as-non-root: why}")
    (checkout.parent / "outside/secret.yaml").write_text(text)
    (checkout / "a.yaml").unlink()
    (checkout / "k8s/link.yaml").symlink_to("../../outside/secret.yaml")
    reported = run(checkout, "migrate", "--write", "k8s")
    assert (reported.code, (checkout.parent / "outside/secret.yaml").read_text()) == (2, text)
    assert "outside the repository" in reported.err


def test_a_config_of_another_user_does_not_apply(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may put one into /tmp."""
    config = checkout.parent / ".kcheck.yaml"
    config.write_text("rules: {all: off}\n")
    (checkout / ".git").rmdir()
    assert search.find(checkout) == config
    owners = {config: {12345}}
    monkeypatch.setattr(search, "_owners", lambda path: owners.get(path, {os.geteuid()}))
    ignored: list[Path] = []
    assert search.find(checkout, ignored.append) is None
    assert ignored == [config]
    # In the current folder it is what the user chose to check.
    assert search.find(checkout.parent) == config
    owners[config] = {12345, os.geteuid()}
    assert search.find(checkout) is None
    # The owner of the current folder may decide how it is checked: in containers that is often not the user.
    owners[checkout] = {12345}
    assert search.find(checkout) == config


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files to others")
def test_the_user_hears_of_it(checkout: Path) -> None:
    (checkout.parent / ".kcheck.yaml").write_text("exclude: ['*']\n")
    os.chown(checkout.parent / ".kcheck.yaml", 12345, -1)
    (checkout / ".git").rmdir()
    reported = run(checkout, "check", "--fail-on", "info", "--select", "deprecated-service-account-field", "a.yaml")
    assert (reported.code, reported.err.count("it belongs to another user; use --config to apply it")) == (1, 1)
    assert run(checkout, "check", "--config", "../.kcheck.yaml", "--as-found", "a.yaml").code == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_draft_left_by_a_killed_run_is_ignored_and_removed(checkout: Path) -> None:
    code = (
        "import os, signal; from kcheck.cli.draft import Draft; "
        "draft = Draft('a.yaml'); draft.file.write(b'half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=checkout, check=False).returncode == -signal.SIGKILL
    (left,) = checkout.glob(".kcheck-draft-*")
    for path in (str(checkout), f"{checkout}/*"):
        assert left.name not in {Path(target.path).name for target in discover([path, str(checkout)]).targets}
    with pytest.raises(NoSuchPath):
        discover([f"{checkout}/*.tmp"])
    os.utime(left, (0, time.time() - draft.STALE - 1))
    assert run(checkout, *FIX, "a.yaml").code == 0
    assert not left.exists()
    assert (checkout / "a.yaml").read_text() == NEW


def test_a_draft_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    first, second = Draft(str(tmp_path / "a")), Draft(str(tmp_path / "a"))
    assert len(list(tmp_path.glob(".kcheck-draft-*"))) == 2
    for each in (first, second):
        each.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_names_of_any_length_have_drafts(tmp_path: Path) -> None:
    name = "a" * 250 + ".yaml"
    (tmp_path / name).write_text(OLD)
    assert run(tmp_path, *FIX, name).code == 0
    assert (tmp_path / name).read_text() == NEW
