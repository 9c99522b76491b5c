"""What is remembered of a run gives the report that a run without memory gives, and spares what nothing new asks for."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck.cache import store as caching
from kcheck.cache.canonical import canonical
from kcheck.cache.results import LazyFacts
from kcheck.check.file import DamagedCache, FileChecker, Outcome, Relations, Task
from kcheck.check.session import Session
from kcheck.codec.encoding import encode, packed, unpacked
from kcheck.discovery.discover import discover
from kcheck.facts.facts import Facts
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.graph.relations import graph_of
from kcheck.reporters.json import write
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, Setting, choose
from kcheck.run import run as running
from kcheck.run.bundle_stage import _ReportBuilder
from kcheck.run.run import WorkerFactory, check_all_files, run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from tests.run.texts import CRD, THING

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec:
      containers:
      - name: main
        image: example.com/app:{tag}
        ports: [{{name: web, containerPort: {port}}}]
        envFrom: [{{configMapRef: {{name: {other}}}}}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {{name: {name}}}
spec: {{selector: {{app: {app}}}, ports: [{{port: 80, targetPort: {port}}}]}}
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: '{tag}'}}\n"
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}}}
spec: {{minAvailable: {replicas}, selector: {{matchLabels: {{app: {app}}}}}}}
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}}}
spec:
  rules:
  - host: {app}.example.com
    http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: {other}, port: {{number: 80}}}}}}}}]}}
"""
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{template: {{metadata: {{labels: {{app: {app}}}}}}}}}\n"
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: {name}
contexts: [{{name: {name}, context: {{cluster: {app}, user: {other}}}}}]
clusters: [{{name: {app}, cluster: {{server: 'https://example.com'}}}}]
"""
KINDS = (DEPLOYMENT, DEPLOYMENT, SERVICE, CONFIG_MAP, BUDGET, INGRESS, KUBECONFIG)
IGNORES = (
    "",
    "",
    "  # kcheck: ignore[practice] wanted",
    "  # kcheck: ignore[pdb-blocks-eviction] wanted",
    "  # kcheck: ignore[nothing] wanted",
)


class Runs:
    """Runs over one folder with one memory.

    Of the last of them: `checked`: the files that were checked anew; `judged`: how often relations were; `read`: how many files had
    their facts read.
    """

    def __init__(self, folder: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        self.input = folder / "input"
        self.cache = folder / "cache"
        self.input.mkdir()
        self.registry = registry
        self.settings: dict[str, Setting] = {}
        self.ignore: list[str] = []
        self.by_file: Callable[[str], RuleSet] | None = None
        self.complete = False
        self.paths: Iterable[str] = (".",)
        self.checked: list[str] = []
        self.judged = self.read = 0
        monkeypatch.chdir(self.input)
        monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
        one, relations = FileChecker.check_file, _ReportBuilder.relations

        def watched(checker: FileChecker, task: Task, final: bool) -> Outcome:
            self.checked.append(task.source.path)
            return one(checker, task, final)

        def judge(conclusion: _ReportBuilder) -> Relations:
            self.judged += 1
            return relations(conclusion)

        def read(data: bytes, kind: object) -> object:
            self.read += kind == list[Facts]
            return unpacked(data, kind)

        monkeypatch.setattr(FileChecker, "check_file", watched)
        monkeypatch.setattr(_ReportBuilder, "relations", judge)
        monkeypatch.setattr("kcheck.cache.results.unpacked", read)

    def session(self) -> Session:
        rules = choose(self.registry, ["all"], self.ignore, self.settings)
        return Session(self.registry, rules, [Store(load("1.36"))], self.complete, self.by_file)

    def __call__(self, **files: str) -> Report:
        """Write some files and check all of them."""
        for name, text in files.items():
            (self.input / f"{name}.yaml").write_text(text)
        self.checked.clear()
        self.judged = self.read = 0
        return run_pipeline(discover(self.paths), self.session(), cache=self.cache)

    def afresh(self) -> Report:
        """The report of a run that remembers nothing."""
        return run_pipeline(discover(self.paths), self.session(), cache=None)


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture
def runs(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, registry, monkeypatch)


def text(report: Report) -> str:
    out = io.StringIO()
    write(report, out)
    return out.getvalue()


class Names(NamedTuple):
    name: str = "web"
    app: str = "web"
    other: str = "settings"
    port: int = 8080
    replicas: int = 2
    tag: str = "1.0"

    def fill(self, kind: str) -> str:
        return kind.format(**self._asdict())


def world() -> dict[str, str]:
    made = {"web": DEPLOYMENT, "service": SERVICE, "budget": BUDGET, "ingress": INGRESS}
    return {name: Names().fill(kind) for name, kind in made.items()}


def test_unchanged_inputs_need_no_relation_rules(runs: Runs) -> None:
    first = runs(**world())
    assert (len(runs.checked), runs.judged) == (4, 1)
    assert runs() == first
    assert (runs.checked, runs.judged, runs.read) == ([], 0, 0)


def test_what_no_fact_tells_asks_for_no_relations(runs: Runs) -> None:
    runs(**world())
    report = runs(web=Names(tag="1.1").fill(DEPLOYMENT) + "# a comment\n")
    assert (runs.checked, runs.judged) == (["web.yaml"], 0)
    assert runs.read == 0, "the facts have the bytes that they had before"
    assert report == runs.afresh()
    runs(web=Names(tag="1.2").fill(DEPLOYMENT))
    assert runs.judged == 0


def test_a_fact_that_changes_asks_for_them(runs: Runs) -> None:
    first = runs(**world())
    second = runs(web=Names(app="app").fill(DEPLOYMENT))
    assert runs.judged == 1
    assert second == runs.afresh() != first
    # Back and forth: both are kept.
    assert runs(web=Names().fill(DEPLOYMENT)) == first
    assert runs(web=Names(app="app").fill(DEPLOYMENT)) == second
    assert (runs.checked, runs.judged, runs.read) == ([], 0, 0)


def test_moved_findings_have_their_new_lines(runs: Runs) -> None:
    first = runs(**world())
    report = runs(budget="\n\n" + Names().fill(BUDGET))
    assert runs.judged == 1
    assert text(report) == text(runs.afresh()) != text(first)


def test_what_moves_and_is_in_no_relation_asks_for_none(runs: Runs) -> None:
    runs(**world(), other=Names(name="settings").fill(CONFIG_MAP))
    report = runs(other="# a comment\n\n" + Names(name="settings").fill(CONFIG_MAP))
    assert (runs.checked, runs.judged) == (["other.yaml"], 0)
    assert text(report) == text(runs.afresh())
    # Nor where it moves on, though another run has remembered what it says now.
    report = runs(other="\n\n\n" + Names(name="settings").fill(CONFIG_MAP))
    assert runs.judged == 0
    assert text(report) == text(runs.afresh())
    # What it says counts as ever.
    runs(other="\n" + Names(name="another").fill(CONFIG_MAP))
    assert runs.judged == 1


def test_what_changes_places_has_not_only_moved(runs: Runs) -> None:
    documents = [Names(name=name).fill(CONFIG_MAP) for name in ("a", "b")]
    runs(pair="---\n".join(documents))
    runs(pair="---\n".join(reversed(documents)))
    assert runs.judged == 1


def test_rules_and_the_input_count(runs: Runs, registry: Registry) -> None:
    first = runs(**world())
    relation = "pdb-blocks-eviction"
    assert relation in {f.rule for f in first.findings}

    def differs() -> bool:
        report = runs()
        assert runs.judged == 1
        fresh = runs.afresh()
        assert text(report) == text(fresh)
        return text(report) != text(first)

    runs.settings = {relation: Setting(severity=Severity.INFO)}
    assert differs()
    runs.settings, runs.ignore = {}, [relation]
    assert differs()
    runs.ignore = []
    runs.complete = True
    assert differs()
    runs.complete = False
    runs.paths = ("web.yaml", "service.yaml")
    assert differs()
    runs.paths = (".",)
    silent, rules = choose(registry, ["all"], [relation]), choose(registry, ["all"])
    runs.by_file = lambda file: silent if file == "budget.yaml" else rules
    assert differs()
    runs.by_file = None
    assert runs() == first
    assert runs.judged == 0


def test_an_ignore_applies_at_once(runs: Runs) -> None:
    first = runs(**world())
    report = runs(web=Names().fill(DEPLOYMENT).replace("name: web}\n", "name: web}  # kcheck: ignore[practice] wanted\n", 1))
    assert report == runs.afresh()
    assert report.suppressed > first.suppressed


class Edits:
    """Random edits of a small folder whose objects name each other."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.known: list[str] = []

    def names(self) -> Names:
        pick = self.chance.choice
        app = partial(pick, ["web", "web", "api", "db"])
        return Names(app(), app(), pick(["web", "api", "settings"]), pick([80, 8080]), pick([1, 2]), pick(["1", "2"]))

    def document(self) -> str:
        made = self.names().fill(self.chance.choice(KINDS))
        return made.replace("\n", self.chance.choice(IGNORES) + "\n", 1) + self.chance.choice(["", "", "# a comment\n", "\n"])

    def file(self) -> str:
        kind = self.chance.randrange(12)
        if kind == 0:
            return CRD.replace("integer", self.chance.choice(["integer", "string"]))
        if kind == 1:
            return THING
        if kind == 2:
            return "a: b: c\n"
        return "---\n".join(self.document() for _ in range(self.chance.choice([1, 1, 2, 3])))

    def kustomization(self) -> str:
        return f"patches: [{{path: f{self.chance.randrange(8)}.yaml}}]\nresources: [f{self.chance.randrange(8)}.yaml]\n"

    def make(self) -> None:
        for _ in range(self.chance.choice([0, 1, 1, 1, 3])):
            path = self.folder / self.chance.choice(["", "sub"]) / f"f{self.chance.randrange(8)}.yaml"
            path.parent.mkdir(exist_ok=True)
            chosen = self.chance.randrange(10)
            if chosen == 0:
                path.unlink(missing_ok=True)
            elif chosen == 1:
                (path.parent / "kustomization.yaml").write_text(self.kustomization())
            elif chosen == 2 and path.exists():
                path.write_text(path.read_text() + self.chance.choice(["# more\n", "---\n" + self.document()]))
            elif chosen in (5, 6) and path.exists():
                lines = path.read_text().splitlines(keepends=True)
                lines.insert(self.chance.choice([0, self.chance.randrange(len(lines) + 1)]), self.chance.choice(["# between\n", "\n"]))
                path.write_text("".join(lines))
            elif chosen == 3:
                path.write_text(self.names().fill(PATCH))
            elif chosen == 4 and self.known:
                path.write_text(self.chance.choice(self.known))
            else:
                self.known.append(self.file())
                path.write_text(self.known[-1])


@pytest.mark.parametrize("seed", range(4))
def test_after_any_edits_the_report_is_that_of_a_cold_run(runs: Runs, seed: int) -> None:
    edits = Edits(runs.input, seed)
    spared = 0
    for _ in range(12):
        edits.make()
    for _ in range(40):
        edits.make()
        if edits.chance.random() < 0.1:
            runs.complete = not runs.complete
        if edits.chance.random() < 0.1:
            runs.paths = edits.chance.choice([(".",), ("sub", "."), (".", "sub")])
            (runs.input / "sub").mkdir(exist_ok=True)
        if edits.chance.random() < 0.1:
            runs.settings = edits.chance.choice([{}, {"practice": Setting(severity=Severity.INFO)}])
            runs.ignore = edits.chance.choice([[], ["spec"], ["pdb-blocks-eviction"]])
        report = runs()
        spared += not runs.judged
        fresh = runs.afresh()
        assert text(report) == text(fresh)
        assert report.passed == fresh.passed
        assert graph_of(report) == graph_of(fresh)
    assert spared > 3


def test_a_graph_of_a_warm_run_is_the_graph(runs: Runs) -> None:
    cold = graph_of(runs(**world()))
    warm = runs()
    assert runs.read == 0
    assert graph_of(warm) == cold
    assert runs.read == 4


def test_a_shard_of_what_is_remembered_is_the_same(runs: Runs) -> None:
    def shard() -> str:
        checked = check_all_files(discover(["."]), runs.session(), WorkerFactory(runs.session(), 1, runs.cache))
        return json.dumps([encode(each.outcome, Outcome) for each in checked])

    runs(**world())
    assert shard() == shard()
    runs.cache.rename(runs.cache.with_name("away"))
    assert json.loads(shard()) == json.loads(shard())


def replace_bytes(cache: Path, with_what: Callable[[bytes], bytes]) -> None:
    """Replace all bytes that are remembered, in packs that are whole to all appearance."""
    for path in cache.glob("*.pack"):
        pack = caching._read_pack(path)
        for name, entries in pack.entries.items():
            for entry in entries:
                pack.new[name, entry.key] = [with_what(bytes(part)) if part else part for part in pack.parts(name, entry)]
        caching._write_pack(path, pack)


@pytest.mark.parametrize("what", ["nonsense", "others", "list", "empty"])
def test_only_our_own_values_are_made(runs: Runs, what: str) -> None:
    first = runs(**world())
    data = {"others": packed(Severity.INFO, Severity), "list": packed([1, 2], list[int]), "empty": b""}.get(what, b"nonsense" * 4)
    replace_bytes(runs.cache, lambda _: data)
    assert text(runs()) == text(first)
    replace_bytes(runs.cache, lambda _: data)
    second = runs(web=Names(app="app").fill(DEPLOYMENT))
    for report in (second, runs(), runs()):
        assert text(report) == text(runs.afresh())
    runs()
    assert runs.checked == [], "what was damaged is remembered anew"


def test_late_facts_are_those_of_bytes() -> None:
    with pytest.raises(DamagedCache):
        len(LazyFacts(b"state", packed(["a text"], list[str])))
    with pytest.raises(DamagedCache):
        list(LazyFacts(b"state", b"nonsense"))
    assert LazyFacts(b"state", b"nonsense"), "whether there are some is known"


def test_what_is_the_same_has_the_same_bytes_in_any_process() -> None:
    program = (
        "from kcheck.cache.canonical import canonical; word = ''.join(['a', 'b'])\n"
        "print(canonical([frozenset({'x', 'y', word}), 'ab', word, {'k': frozenset()}]).hex())"
    )
    reported = {
        subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in "0123"
    }
    assert len(reported) == 1
    assert canonical({"a": 1, "b": 2}) != canonical({"b": 2, "a": 1})
