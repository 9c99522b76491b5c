"""`kcheck check --since REV` in real git repositories: refused changes, consequences, and `--new`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kcheck.cli.revision import Revision
from kcheck.discovery.load import LIMIT
from tests.cli.conftest import POD, Outcome, Program
from tests.cli.test_hook import CONFIG_MAP, DEPLOYMENT, SERVICE
from tests.git import GitRepository, git, ignore_git_settings

IMMUTABLE = CONFIG_MAP.replace("\ndata:", "\nimmutable: true\ndata:")
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
"""
OLD_FAULT = POD.replace("  containers:", "  hostNetwork: true\n  containers:")


class Repository(GitRepository):
    """A repository in the current folder, and `kcheck check --since` for its files."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def check(self, *arguments: str, since: str = "HEAD", paths: tuple[str, ...] = (".",)) -> Outcome:
        return self.program("check", *paths, "--since", since, *arguments)

    def findings(self, *arguments: str, since: str = "HEAD", paths: tuple[str, ...] = (".",)) -> list[str]:
        """The findings as FILE:LINE rule."""
        done = self.check("--format", "concise", "--quiet", *arguments, since=since, paths=paths)
        assert done.code in (0, 1), done.err
        return [":".join(line.split(":")[:2]) + " " + line.split("[")[1].split("]")[0] for line in done.out.splitlines()]


@pytest.fixture
def repository(program: Program, monkeypatch: pytest.MonkeyPatch) -> Repository:
    ignore_git_settings(monkeypatch)
    return Repository(program)


CHANGED = IMMUTABLE.replace("info", "debug")


@pytest.mark.parametrize(
    ("change", "file"),
    [
        pytest.param({"k8s/config.yaml": CHANGED}, "k8s/config.yaml", id="edited"),
        pytest.param({"k8s/config.yaml": None, "k8s/other.yaml": CHANGED}, "k8s/other.yaml", id="renamed"),
        pytest.param({"k8s/config.yaml": None, "apps/shop/config.yaml": CHANGED}, "apps/shop/config.yaml", id="moved"),
        pytest.param({"k8s/config.yaml": None, "k8s/deployment.yaml": f"{DEPLOYMENT}---\n{CHANGED}"}, "k8s/deployment.yaml", id="joined"),
    ],
)
def test_refused_changes_name_the_older_place(repository: Repository, change: dict[str, str | None], file: str) -> None:
    repository.commit({"k8s/config.yaml": IMMUTABLE, "k8s/deployment.yaml": DEPLOYMENT})
    repository.write(change)
    report = json.loads(repository.check("--select", "spec", "--format", "json").out)
    assert [(f["file"], f["rule"]) for f in report["findings"]] == [(file, "immutable-data")]
    related = report["findings"][0]["related"]
    assert [(each["file"], each["range"]["start"]["line"]) for each in related] == [("HEAD:k8s/config.yaml", 6)]


def test_committed_and_uncommitted_changes_count(repository: Repository) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    git("tag", "start")
    repository.commit({"config.yaml": CHANGED})
    assert repository.findings(since="start") == ["config.yaml:6 immutable-data"]
    assert repository.findings(since="HEAD") == []
    repository.write({"config.yaml": IMMUTABLE})
    assert repository.findings(since="start") == []
    assert repository.findings(since="HEAD") == ["config.yaml:6 immutable-data"]


def test_three_dots_mean_the_common_ancestor(repository: Repository) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    git("branch", "-M", "main")
    git("checkout", "--quiet", "-b", "topic")
    repository.commit({"pod.yaml": POD})
    git("checkout", "--quiet", "main")
    repository.commit({"config.yaml": CHANGED})
    git("checkout", "--quiet", "topic")
    assert repository.findings("--select", "spec", since="main") == ["config.yaml:6 immutable-data"]
    assert repository.findings("--select", "spec", since="main...") == []


def test_places_do_not_depend_on_how_paths_are_written(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit({"k8s/config.yaml": IMMUTABLE})
    repository.write({"k8s/config.yaml": CHANGED})
    here = Path.cwd()
    found = ["config.yaml:6 immutable-data"]
    assert repository.findings(paths=("k8s/config.yaml",)) == [f"k8s/{each}" for each in found]
    assert repository.findings(paths=("k8s/*.yaml",)) == [f"k8s/{each}" for each in found]
    assert repository.findings("--new", paths=(str(here / "k8s"),)) == [f"{here}/k8s/{each}" for each in found]
    monkeypatch.chdir("k8s")
    assert repository.findings("--new") == found
    monkeypatch.chdir(here.parent)
    assert repository.findings("--new", paths=(here.name,)) == [f"{here.name}/k8s/{each}" for each in found]


def test_standard_input_takes_the_place_of_its_file(repository: Repository) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    arguments = ("check", "-", "--stdin-filename", "config.yaml", "--since", "HEAD", "--format", "concise", "--quiet")
    assert "immutable-data" in repository.program(*arguments, stdin=CHANGED.encode()).out
    assert repository.program(*arguments, stdin=IMMUTABLE.encode()).out == ""


def test_line_endings_are_no_changes(repository: Repository) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    Path("config.yaml").write_bytes(IMMUTABLE.replace("\n", "\r\n").encode())
    revision = Revision("HEAD", ["."])
    assert revision.is_unchanged("config.yaml", Path("config.yaml").read_bytes())
    assert not revision.is_unchanged("config.yaml", CHANGED.encode())


def test_removed_objects_are_known(repository: Repository) -> None:
    repository.commit({"config.yaml": CONFIG_MAP, "web.yaml": DEPLOYMENT, "service.yaml": SERVICE, "claim.yaml": CLAIM})
    repository.write({"config.yaml": None, "claim.yaml": None})
    expected = ["claim.yaml:4 removed-persistent-volume-claim", "web.yaml:25 missing-config-map"]
    assert repository.findings() == expected
    # The whole of a folder may be gone.
    repository.write({"web.yaml": None})
    assert repository.findings() == [expected[0], "service.yaml:6 service-without-pods"]


def test_a_service_whose_selector_changes_loses_its_pods(repository: Repository) -> None:
    repository.commit({"a/web.yaml": DEPLOYMENT, "b/service.yaml": SERVICE, "a/config.yaml": CONFIG_MAP})
    repository.write({"b/service.yaml": SERVICE.replace("app: web", "tier: front")})
    assert repository.findings() == ["b/service.yaml:6 service-without-pods"]


def test_objects_that_move_out_of_the_input_are_not_removed(repository: Repository) -> None:
    repository.commit({"k8s/claim.yaml": CLAIM, "k8s/pod.yaml": POD})
    repository.write({"k8s/claim.yaml": None, "other/storage.yaml": CLAIM.replace("1Gi", "2Gi")})
    assert repository.findings(paths=("k8s",)) == []
    repository.write({"other/storage.yaml": None})
    assert repository.findings(paths=("k8s",)) == ["k8s/claim.yaml:4 removed-persistent-volume-claim"]


def test_objects_may_get_a_namespace(repository: Repository) -> None:
    repository.commit({"claim.yaml": CLAIM})
    repository.write({"claim.yaml": CLAIM.replace("  name: data", "  name: data\n  namespace: shop")})
    assert repository.findings() == []


def test_only_new_findings(repository: Repository) -> None:
    repository.commit({"old.yaml": OLD_FAULT, "moved.yaml": OLD_FAULT.replace("name: web", "name: moved")})
    new = OLD_FAULT.replace("name: web", "name: new")
    repository.write({"moved.yaml": None, "k8s/there.yaml": "# moved\n" + OLD_FAULT.replace("name: web", "name: moved"), "new.yaml": new})
    select = ("--select", "host-network")
    assert len(repository.findings(*select)) == 3
    assert repository.findings(*select, "--new") == ["new.yaml:6 host-network"]
    assert "2 older findings of HEAD not listed" in repository.check(*select, "--new").out
    report = json.loads(repository.check(*select, "--new", "--format", "json").out)
    assert (len(report["findings"]), report["summary"]["known"]) == (1, 2)
    run = json.loads(repository.check(*select, "--new", "--format", "sarif").out)["runs"][0]
    assert [each["baselineState"] for each in run["results"]] == ["new"]
    assert run["properties"]["known"] == 2
    assert repository.check(*select, "--new", since="HEAD", paths=("old.yaml",)).code == 0


def test_the_cause_of_a_new_finding_may_be_elsewhere(repository: Repository) -> None:
    repository.commit({"config.yaml": CONFIG_MAP, "web.yaml": DEPLOYMENT, "old.yaml": OLD_FAULT})
    repository.write({"config.yaml": CONFIG_MAP.replace("web-config", "web-settings")})
    assert repository.findings("--new") == ["web.yaml:25 missing-config-map"]


def test_the_cache_changes_no_result(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    repository.commit({"config.yaml": IMMUTABLE, "claim.yaml": CLAIM, "old.yaml": OLD_FAULT})
    repository.write({"config.yaml": CHANGED})
    for _ in range(2):
        assert repository.findings("--new") == ["config.yaml:6 immutable-data"]
    repository.write({"claim.yaml": None})
    for _ in range(2):
        assert repository.findings("--new") == ["claim.yaml:4 removed-persistent-volume-claim", "config.yaml:6 immutable-data"]
    repository.write({"config.yaml": IMMUTABLE, "claim.yaml": CLAIM})
    for _ in range(2):
        assert repository.findings("--new") == []


def test_nothing_of_the_repository_is_executed(repository: Repository) -> None:
    marker = Path("executed").absolute()
    tool = Path("tool").absolute()
    repository.commit({".gitattributes": "*.yaml filter=evil diff=evil\n", "config.yaml": IMMUTABLE, "pod.yaml": POD})
    tool.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    tool.chmod(0o755)
    hooks = Path("hooks")
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(tool.read_text())
        (hooks / name).chmod(0o755)
    for key in ("filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.external", "core.fsmonitor",
                "core.pager", "core.editor", "core.sshCommand", "diff.evil.command"):  # fmt: skip
        git("config", key, str(tool))
    git("config", "core.hooksPath", str(hooks.absolute()))
    repository.write({"config.yaml": None, "moved.yaml": CHANGED})
    assert repository.findings("--new", "--select", "spec") == ["moved.yaml:6 immutable-data"]
    assert repository.program("diff", "--since", "HEAD").code == 1
    assert not marker.exists()


def test_contents_that_are_not_in_the_repository_are_not_fetched(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    clone = tmp_path_factory.mktemp("clone")
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{Path.cwd()}", str(clone))
    (clone / "config.yaml").write_text(CHANGED)
    done = repository.check(paths=(str(clone),))
    assert done.code == 2
    assert "revision HEAD has no content for config.yaml" in done.err


def test_shallow_clones_and_wrong_revisions_are_explained(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    repository.commit({"config.yaml": CHANGED})
    clone = tmp_path_factory.mktemp("clone")
    git("clone", "--quiet", "--depth", "1", f"file://{Path.cwd()}", str(clone))
    done = repository.check(since="HEAD~1", paths=(str(clone),))
    assert done.code == 2
    assert "unknown revision HEAD~1" in done.err
    assert "shallow clone" in done.err
    done = repository.check(since="--output=x")
    assert done.code == 2
    assert "unknown revision --output=x" in done.err
    assert not Path("x").exists()


def test_files_of_submodules_count_as_unchanged(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> None:
    inner = tmp_path_factory.mktemp("inner")
    git("-C", str(inner), "init", "--quiet")
    (inner / "config.yaml").write_text(IMMUTABLE)
    git("-C", str(inner), "add", ".")
    git("-C", str(inner), "commit", "--quiet", "--message", "change")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    repository.commit({"config.yaml": CONFIG_MAP})
    repository.write({"inner/config.yaml": CHANGED})
    assert repository.findings() == []
    assert repository.findings(paths=("inner",)) == ["inner/config.yaml:6 immutable-data"]


def test_links_lead_only_to_files_of_the_tree(repository: Repository, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text(POD)
    repository.write({"k8s/pod.yaml": POD})
    Path("inside.yaml").symlink_to("k8s/pod.yaml")
    Path("absolute.yaml").symlink_to(outside)
    Path("above.yaml").symlink_to(f"../{outside.name}")
    repository.commit({})
    with Revision("HEAD", ["."]).exported(lambda _: True, charts=False) as tree:
        assert sorted(path.name for path in Path(tree).rglob("*.yaml")) == ["inside.yaml", "pod.yaml"]
    assert repository.findings("--new", "--select", "spec") == []


def test_trees_made_by_hand_write_nothing_outside(repository: Repository) -> None:
    """git refuses to add such paths, but an unpacked repository may contain them."""
    repository.commit({"pod.yaml": POD})
    blob = git("rev-parse", "HEAD:pod.yaml").strip()
    raw = b"".join(b"100644 " + name + b"\0" + bytes.fromhex(blob) for name in (b"..", b".git", b"pod.yaml"))
    Path("tree").write_bytes(raw)
    tree = git("hash-object", "-t", "tree", "-w", "--literally", "tree").strip()
    commit = git("commit-tree", "-m", "evil", tree).strip()
    revision = Revision(commit, ["."])
    assert list(revision.entries) == ["pod.yaml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--new",), "--new requires --since"),
        (("--since", "HEAD", "--before", "."), "--since cannot be combined with --before"),
        (("--since", "HEAD", "--fix"), "--since cannot be combined with --fix or --diff"),
        (("--since", "HEAD", "--shard", "1/2"), "--since cannot be combined with --shard"),
        (("-", "--since", "HEAD"), "use --stdin-filename"),
    ],
)
def test_wrong_use_is_an_error(repository: Repository, arguments: tuple[str, ...], message: str) -> None:
    repository.commit({"pod.yaml": POD})
    done = repository.program("check", *arguments)
    assert done.code == 2
    assert message in done.err


def test_paths_must_be_in_one_repository(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> None:
    repository.commit({"pod.yaml": POD})
    outside = tmp_path_factory.mktemp("outside")
    (outside / "pod.yaml").write_text(POD)
    done = repository.check(paths=(str(outside),))
    assert (done.code, "is not in the working tree of a git repository" in done.err) == (2, True)
    git("-C", str(outside), "init", "--quiet")
    done = repository.check(paths=(".", str(outside)))
    assert (done.code, "are in different git repositories" in done.err) == (2, True)


def test_git_is_required(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit({"pod.yaml": POD})
    monkeypatch.setenv("PATH", "")
    done = repository.check()
    assert (done.code, "git was not found" in done.err) == (2, True)


def test_files_above_the_limit_are_not_read(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def no_renames(_: object, added: dict[str, bytes]) -> dict[str, str]:
        read.extend(added)
        return {}

    monkeypatch.setattr("kcheck.cli.since.find_renames", no_renames)
    repository.commit({"pod.yaml": POD})
    repository.write({"new.yaml": CONFIG_MAP, "large.yaml": ""})
    os.truncate("large.yaml", LIMIT + 1)
    assert repository.findings("--select", "unreadable-file") == ["large.yaml:1 unreadable-file"]
    assert read == ["new.yaml"]
