"""What an earlier run found is found again, and only where nothing has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcheck.cache import store as caching
from kcheck.cache.location import cache_folder
from kcheck.cache.store import Cache, clear, contents
from kcheck.check import fingerprint
from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.fingerprint import program_state
from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Setting, choose
from kcheck.run import run as running
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.external.catalog import add_schemas
from kcheck.schema.store import Store
from tests.run.texts import CRD, POD, THING, TYPO

NAME = "name"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


class Runs:
    """Runs over one folder with one cache; `checked` holds the files that were checked anew, in the last of them."""

    def __init__(self, folder: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        self.input = folder / "input"
        self.cache = folder / "cache"
        self.input.mkdir()
        self.registry = registry
        self.checked: list[str] = []
        self.settings: dict[str, Setting] = {}
        self.version = "1.36"
        self.schemas: tuple[Path, ...] = ()
        monkeypatch.chdir(self.input)
        monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
        one = FileChecker.check_file

        def watched(checker: FileChecker, task: Task, final: bool) -> Outcome:
            self.checked.append(task.source.path)
            return one(checker, task, final)

        monkeypatch.setattr(FileChecker, "check_file", watched)

    def __call__(self, **files: str) -> Report:
        for name, text in files.items():
            (self.input / f"{name}.yaml").write_text(text)
        self.checked.clear()
        return run_pipeline(discover(["."]), self.session(), cache=self.cache)

    def session(self) -> Session:
        store = Store(load(self.version))
        for path in self.schemas:
            add_schemas(store, path)
        return Session(self.registry, choose(self.registry, settings=self.settings), [store], schemas=self.schemas)


@pytest.fixture
def runs(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, registry, monkeypatch)


def test_what_has_not_changed_is_not_checked(runs: Runs) -> None:
    first = runs(a=POD, b=TYPO, c="a: b: c\n", d="x: 1\n", e="# kcheck: ignore[unknown-field] wanted\n" + TYPO)
    assert len(runs.checked) == 5
    assert runs() == first
    assert runs.checked == []
    again = runs(b=POD)
    assert runs.checked == ["b.yaml"]
    assert {f.rule for f in first.findings} - {f.rule for f in again.findings} == {"unknown-field"}


def test_a_definition_that_changes_concerns_its_objects_alone(runs: Runs) -> None:
    def wrong(report: Report) -> list[Finding]:
        return [f for f in report.findings if f.rule == "wrong-type"]

    assert wrong(runs(crd=CRD, thing=THING, pod=POD))
    assert wrong(runs())
    assert runs.checked == []
    assert not wrong(runs(crd=CRD.replace("integer", "string")))
    assert sorted(runs.checked) == ["crd.yaml", "thing.yaml"]
    (runs.input / "crd.yaml").unlink()
    assert runs().without_schema


def test_rules_options_and_versions_count(runs: Runs) -> None:
    runs(a=TYPO)
    runs.settings = {"unknown-field": Setting(on=False)}
    assert "unknown-field" not in {f.rule for f in runs().findings}
    assert runs.checked == ["a.yaml"]
    runs.version = "1.30"
    runs()
    assert runs.checked == ["a.yaml"]


def test_work_on_a_rule_shows_at_once(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(a=POD)
    monkeypatch.setattr(fingerprint, "__version__", "99")
    runs()
    assert runs.checked == ["a.yaml"]
    states = iter(range(10**9))
    monkeypatch.setattr(fingerprint, "_state", lambda path: f"{path} {next(states)}")
    runs()
    assert runs.checked == ["a.yaml"]


@pytest.mark.parametrize("folder", [".", "pages", "__pycache__"])
def test_schemas_count_by_what_is_in_them(runs: Runs, tmp_path: Path, folder: str) -> None:
    place = tmp_path / "schemas"
    (place / folder).mkdir(parents=True)
    crd = place / folder / "crd.yaml"
    runs.schemas = (place,)

    def write(kind: str) -> None:
        crd.write_text(CRD.replace("integer", kind))
        os.utime(crd, ns=(10**18, 10**18))

    write("integer")
    runs(a=THING)
    runs()
    assert runs.checked == []
    write("boolean")
    runs()
    assert runs.checked == ["a.yaml"]
    crd.rename(place / folder / "other.yaml")
    runs()
    assert runs.checked == ["a.yaml"]


def test_schemas_count_with_what_they_refer_to(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "thing_v1.json").write_text('{"properties": {"spec": {"$ref": "../shared/spec.json#/a"}}}')
    (tmp_path / "shared").mkdir()
    runs.schemas = (tmp_path / "schemas",)
    states = set()
    for text in ('{"a": {"$ref": "more.json"}}', '{"a": {"$ref": "none.json"}}', '{"a": {"$ref": "more.json"}}'):
        (tmp_path / "shared" / "spec.json").write_text(text)
        (tmp_path / "shared" / "more.json").write_text(f'{{"title": "{len(states)}"}}')
        states.add(program_state(runs.session()))
    assert len(states) == 3


@pytest.mark.parametrize("damage", [b"", b"x", b"kcheck cache 3 little\n", None])
def test_damaged_packs_are_ignored(runs: Runs, damage: bytes | None) -> None:
    first = runs(a=POD, b=TYPO)
    for pack in runs.cache.iterdir():
        data = pack.read_bytes()
        pack.write_bytes(data[:-3] + b"xyz" if damage is None else damage)
    assert runs() == first
    assert len(runs.checked) == 2
    assert runs() == first
    assert runs.checked == []


def test_a_cache_folder_that_is_a_file_is_ignored(runs: Runs) -> None:
    runs.cache.write_text("a file")
    assert runs(a=POD) == runs()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_home_is_ignored(runs: Runs) -> None:
    runs.cache.mkdir(mode=0o500)
    assert runs(a=POD) == runs()


def test_folders_do_not_mix(tmp_path: Path) -> None:
    one = Cache(tmp_path, "one")
    one.put("00", NAME, "key", [b"value"])
    one.save()
    assert Cache(tmp_path, "one").get("00", NAME, "key") == [b"value"]
    assert Cache(tmp_path, "one").get("00", NAME, "other") is None
    assert Cache(tmp_path, "one").get("00", NAME, "other", "key") == [b"value"]
    assert Cache(tmp_path, "one").get("01", NAME, "key") is None
    assert Cache(tmp_path, "two").get("00", NAME, "key") is None


def test_some_keys_of_a_name_are_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "here")
    for key in ("1", "2", "3", "2"):
        cache.put("00", NAME, key, [key.encode()])
    assert cache.get_all("00", NAME) == [[b"2"], [b"3"]]
    assert cache.get_all("00", "other") == []


def test_what_is_asked_for_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000_000
    monkeypatch.setattr("time.time", lambda: now)
    cache = Cache(tmp_path, "here")
    cache.put("00", "used", "key", [b"1"])
    cache.put("00", "left", "key", [b"2"])
    cache.save()
    for _ in range(2):
        now += caching._SECONDS_PER_DAY * caching._MAX_AGE_DAYS * 2 // 3
        cache = Cache(tmp_path, "here")
        assert cache.get("00", "used", "key") == [b"1"]
        cache.save()
    assert Cache(tmp_path, "here").get("00", "left", "key") is None


def test_it_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "MAX_BYTES", 50_000)
    monkeypatch.setattr(caching, "_MAX_PACK_BYTES", 20_000)
    for place in range(12):
        cache = Cache(tmp_path, str(place))
        for number in range(30):
            cache.put("00", str(number), "key", [b"x" * 1000])
        cache.save()
        assert contents(tmp_path).size < 72_000
    assert Cache(tmp_path, "11").get("00", "0", "key") or Cache(tmp_path, "11").get("00", "29", "key")


def test_it_can_be_cleared(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "here")
    cache.put("00", NAME, "key", [b"value"])
    cache.save()
    (tmp_path / "notes.txt").write_text("not ours")
    assert clear(tmp_path).packs == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/kcheck")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/me")
    assert cache_folder() == Path("/me/.cache/kcheck")
    monkeypatch.setenv("KCHECK_CACHE_DIR", "/there")
    assert cache_folder() == Path("/there")


def program(folder: Path, cache: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "KCHECK_CACHE_DIR": str(cache), "KCHECK_NO_CACHE": "0"}
    command = [sys.executable, "-m", "kcheck", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_runs_at_the_same_time_agree(tmp_path: Path) -> None:
    folder, cache = tmp_path / "input", tmp_path / "cache"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.yaml").write_text(f"---\n{TYPO}" * 20)
    check = ("check", "--isolated", "--format", "concise", ".")
    together = [program(folder, cache, *check) for _ in range(4)]
    answers = {process.communicate(timeout=300) for process in together}
    answers.add(program(folder, cache, *check).communicate(timeout=300))
    answers.add(program(folder, cache, *check, "--no-cache").communicate(timeout=300))
    assert len(answers) == 1
    assert contents(cache).packs > 0
    reported, _ = program(folder, cache, "cache", "info").communicate(timeout=300)
    assert str(cache) in reported
    program(folder, cache, "cache", "clear").communicate(timeout=300)
    assert contents(cache).packs == 0
    program(folder, cache, *check, "--no-cache").communicate(timeout=300)
    assert contents(cache).packs == 0
