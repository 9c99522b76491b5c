"""Whole runs on one input: check, fix, report, draw, migrate, merge. Nothing may fail that says `internal-error`."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from kcheck.check.session import Session
from kcheck.check.session_spec import session_spec_of
from kcheck.config.file import read as read_config
from kcheck.config.mistake import BadConfig
from kcheck.discovery.discover import Discovery, Target
from kcheck.finding.report import Report, RuleNote
from kcheck.graph.relations import graph_of
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.input import Intake, Unrecognised
from kcheck.migration.manifest import Manifest
from kcheck.migration.writing import config_text
from kcheck.reporters import Style, find_reporter
from kcheck.reporters.plugin import BUILT_IN
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.run.bundle_stage import build_report
from kcheck.run.fixing import Fixing
from kcheck.run.run import WorkerFactory, check_all_files, run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.external.catalog import BadSchemas, read_schemas
from kcheck.schema.store import Store
from kcheck.shards.files import BadShard, Head, read_shards, write_shard
from kcheck.shards.selection import Share
from kcheck.text.edit import apply_edits
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse
from tests.fuzz import sentences
from tests.fuzz.mutation import SCALARS, TOKENS, mutated, mutated_value, places, value
from tests.fuzz.seeds import ROOT, manifests

FORMS = ("text", "json", "dot", "mermaid", "html")
NAME = "<stdin>"
HOSTILE = frozenset("\x1b\x07\x9b\u202e\u2066\x00")
"""Characters that must not appear in terminal output."""


@cache
def registry() -> Registry:
    return Registry.load()


@cache
def rules() -> RuleSet:
    """All rules that there are."""
    return choose(registry(), ("all",))


@cache
def _compiled() -> Session:
    return Session(registry(), rules(), [])


def session(complete: bool = False) -> Session:
    """A session that has seen nothing yet, but for its rules, which are compiled once."""
    made = Session(registry(), rules(), [Store(load())], complete)
    made.plans = _compiled().plans
    return made


def report_of(text: str, of: Session | None = None) -> Report:
    """The report of a text on standard input."""
    stream = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    return run_pipeline(Discovery([Target(NAME, True, stdin=True)]), of or session(len(text) % 2 == 0), stdin=stream)


def no_failure(report: Report) -> Report:
    for finding in report.findings:
        assert finding.rule != "internal-error", finding.message
        assert finding.message.strip(), finding.rule
        assert "\n" not in finding.message, finding.rule
    return report


@cache
def trees() -> tuple[Any, ...]:
    """The values of all seeds that are read."""
    found = [document.root.plain() for text in manifests() for document in parse(Source("", text)) if document.fault is None]
    return tuple(each for each in found if isinstance(each, dict))


def copied(data: Any) -> Any:
    return json.loads(json.dumps(data))


def hold_manifest(text: str) -> None:
    """Nothing fails, every form of the report can be written and is safe on a terminal, and fixes do no harm."""
    report = no_failure(report_of(text))
    report.rules = {f.rule: RuleNote(f.rule, "title", f.severity, f.family, "", "") for f in report.findings}
    for form in BUILT_IN:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", newline="")
        form.load()(report, out, Style(colour=False))
        out.seek(0)
        shown = out.read()
        if form.name in ("json", "sarif"):
            json.loads(shown)
        else:
            assert not HOSTILE & set(shown), form
    _hold_fixes(text, report)


def _hold_fixes(text: str, report: Report) -> None:
    """A fix leaves a file that can be read, JSON where it was, with nothing else in it changed; made once, it is not asked for again."""
    fixed = [finding for finding in report.findings if finding.fix is not None and finding.file == NAME]
    # Bytes that are not UTF-8 are read differently than they are written here.
    if not fixed or text != text.encode("utf-8", "replace").decode():
        return
    before = parse(Source(NAME, text))
    faults = sum(document.fault is not None for document in before)
    for finding in fixed[:5]:
        assert finding.fix is not None
        repaired = apply_edits(text, finding.fix.edits)
        after = parse(Source(NAME, repaired))
        reported = (finding.rule, finding.fix)
        assert sum(document.fault is not None for document in after) <= faults, reported
        assert _may_follow(after, before), reported
        assert _is_json(repaired) or not _is_json(text), reported
        at = finding.place.document
        end = at + 1 + len(after) - len(before)
        others = [d.root.plain() for n, d in enumerate(before) if n != at]
        assert [d.root.plain() for n, d in enumerate(after) if not at <= n < end] == others, reported
        if finding is fixed[0]:
            again = [(f.rule, f.fix, f.place.start) for f in report_of(repaired).findings]
            assert (finding.rule, finding.fix, finding.place.start) not in again, reported
    _hold_fixing(text)


def _hold_fixing(text: str) -> None:
    """All fixes together, safe or not, in as many rounds as it takes: the same holds, and afterwards there is nothing to fix."""
    path = scratch() / "fixed.yaml"
    path.write_bytes(text.encode())
    before = parse(Source("", text))
    fixing = _fixing(path, len(text) % 2 == 0)
    for fixed in fixing.files.values():
        assert fixed.text != text
        after = parse(Source("", fixed.text))
        assert _may_follow(after, before)
        assert sum(document.fault is not None for document in after) <= sum(document.fault is not None for document in before)
        assert _is_json(fixed.text) or not _is_json(text)
        path.write_bytes(fixed.after)
        assert not _fixing(path, len(text) % 2 == 0).files


def _fixing(path: Path, complete: bool) -> Fixing:
    fixing = Fixing(Discovery([Target(str(path), True)]), unsafe=True)
    no_failure(fixing.fix_all(lambda found: run_pipeline(found, session(complete))))
    assert not fixing.changed
    return fixing


def _may_follow(after: Sequence[Document], before: Sequence[Document]) -> bool:
    """Whether fixes may make these documents of the others: there are as many, unless separators divide objects with the same keys."""
    duplicates, known = (sum(len(document.duplicates) for document in documents) for documents in (after, before))
    return len(after) == len(before) or (len(after) > len(before) and duplicates < known)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def many(random: Random) -> str:
    """What is small many times over: work that grows with the square of something shows."""
    tree = copied(random.choice(trees()))
    size = len(json.dumps(tree))
    times = min(random.choice((50, 300, 1000)), 40_000 // size)
    if random.random() < 0.4:
        holder, at = random.choice(list(places(tree)))
        if isinstance(holder, list):
            holder[at:] = [named(holder[at], number) for number in range(times)]
        elif isinstance(holder[at], dict) and holder[at]:
            key, inner = random.choice(list(holder[at].items()))
            holder[at].update({f"{key}{number}": inner for number in range(times)})
        elif isinstance(holder[at], str):
            holder[at] = holder[at] * times
        return json.dumps(tree)
    made = [json.dumps(named(mutated_value(random, copied(tree)) if random.random() < 0.3 else tree, number)) for number in range(times)]
    comment = random.choice(("", "", " # kcheck: ignore[all]", " # kcheck: ignore[latest-tag]", " # kchek: ignore[x]"))
    if random.random() < 0.5:
        return (comment + "\n---\n").join(made)
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {each}{comment}\n" for each in made)


def hold_many(text: str) -> None:
    """Nothing fails, and what takes the time is kcheck alone."""
    find_reporter("text", BUILT_IN).load()(no_failure(report_of(text)), io.StringIO(), Style(colour=False))


def named(data: Any, number: int) -> Any:
    """The same under a name of its own, half the time."""
    data = copied(data)
    for holder in (data, data.get("metadata") if isinstance(data, dict) else None):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str) and number % 2:
            holder["name"] = f"{holder['name']}-{number}"
    return data


def ignores(random: Random) -> str:
    """A manifest with comments and annotations that look like ignores."""
    lines = random.choice(manifests()).split("\n")
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(lines) - 1)
        said = (
            sentences.comment(random).replace("\n", " ")
            if random.random() < 0.6
            else "# kcheck: ignore[" + random.choice(sorted(rules().active)) + "] x"
        )
        match random.randint(0, 3):
            case 0:
                lines[at] += "  " + said
            case 1:
                lines.insert(at, " " * random.randint(0, 8) + said)
            case 2:
                lines[at] = lines[at].replace(
                    "metadata:", "metadata:\n  annotations: {kcheck.dev/ignore: " + json.dumps(said.lstrip("# ")) + "}"
                )
            case _:
                lines[at] = lines[at].replace("metadata: {", 'metadata: {annotations: {"kcheck.dev/ignore": ' + json.dumps(said) + "}, ")
    text = "\n".join(lines)
    return mutated(random, text) if random.random() < 0.3 else text


def custom(random: Random) -> str:
    """A definition of a kind, and objects of it."""
    schema = sentences.schema(random)
    schema["type"] = "object" if random.random() < 0.95 else schema.get("type")
    version: dict[str, Any] = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if random.random() < 0.3:
        version["subresources"] = {
            "status": {},
            "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".x"},
        }
    if random.random() < 0.2:
        version["additionalPrinterColumns"] = value(random)
    if random.random() < 0.2:
        version["selectableFields"] = [{"jsonPath": random.choice((".spec.a", ".spec.b[0]", "x", ""))}]
    names = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    crd: Any = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }  # fmt: skip
    if random.random() < 0.3:
        crd = mutated_value(random, crd)
    made = [crd]
    for _ in range(random.randint(0, 2)):
        thing = sentences.instance(random, schema)
        head = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
        made.append({**thing, **head} if isinstance(thing, dict) else {**head, "spec": thing})
    return "\n---\n".join(map(json.dumps, made))


def json_schema(random: Random) -> str:
    """A JSON Schema and an object, in one text."""
    schema: Any = sentences.schema(random)
    if random.random() < 0.3:
        schema = mutated_value(random, schema)
    text = json.dumps(schema)
    if random.random() < 0.1:
        text = mutated(random, text)
    given = sentences.instance(random, schema)
    head = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    return json.dumps([text, {**given, **head} if isinstance(given, dict) else {**head, "spec": given}])


@cache
def scratch() -> Path:
    """A folder for inputs that must be files."""
    return Path(tempfile.mkdtemp(prefix="kcheck-fuzz-"))


def hold_json_schema(made: str) -> None:
    schema, thing = json.loads(made)
    folder = scratch() / "schemas"
    folder.mkdir(exist_ok=True)
    (folder / "thing_v1.json").write_text(schema, encoding="utf-8", errors="surrogatepass")
    of = session()
    try:
        read_schemas(folder).add_to(of.stores[0])
    except BadSchemas:
        return
    report = report_of(json.dumps(thing), of)
    for finding in report.findings:
        # A schema that is none is reported so: nothing of its kind looks clean.
        assert finding.rule != "internal-error" or "BadSchema" in finding.message, finding.message


@cache
def config_seeds() -> tuple[str, ...]:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    blocks = [block.partition("```")[0] for block in pages.split("```yaml\n")[1:]]
    own = (
        "kubernetes: 1.30-1.36\ncomplete: true\nfail-on: error\nexclude: ['**/x', a/*]\nschemas: [.]\n",
        "rules:\n  practice: off\n  latest-tag: error\n  registry: {allowed: [a, b]}\noverrides:\n- files: ['a/**']\n  rules: {all: on}\n",
        "pods:\n  example.com/Thing: spec.template\n",
    )
    return (*own, *blocks)


def config(random: Random) -> str:
    seeds = config_seeds()
    if random.random() < 0.3:
        parsed = [each for text in seeds for each in parse(Source("", text)) if each.fault is None]
        return json.dumps(mutated_value(random, copied(random.choice(parsed).root.plain()), trees()))
    text = random.choice(seeds)
    if random.random() < 0.3:
        id = random.choice(sorted(registry().rules))
        options = {name.replace("_", "-"): random.choice(SCALARS) for name in registry().rules[id].options}
        text += f"\nrules: {{{id}: {json.dumps(options or random.choice(SCALARS))}}}\n"
    return mutated(random, text, seeds)


def hold_config(text: str) -> None:
    path = scratch() / ".kcheck.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        found = read_config(path, registry())
    except BadConfig as error:
        mistakes = error.mistakes
        assert mistakes
        assert all(mistake.message and mistake.line >= 1 for mistake in mistakes)
        return
    chosen = choose(registry(), (), (), found.settings)
    of = Session(registry(), chosen, [Store(load(found.kubernetes[-1] if found.kubernetes else ""))], found.complete)
    of.stores[0].pods = found.pods
    no_failure(report_of(manifests()[len(text) % len(manifests())], of))


@cache
def shard_lines() -> tuple[str, ...]:
    """A shard as it is written."""
    of = session()
    folder = ROOT / "examples" / "bad"
    files = sorted(folder.glob("*.yaml"))[:2]
    share = Share(1, 1)
    found = Discovery([Target(str(path.relative_to(ROOT)), True) for path in files])
    checked = check_all_files(Discovery([Target(str(path), True) for path in files]), of, WorkerFactory(of, 1, None), share=share)
    terms = session_spec_of(of, [target.path for target in found.targets])
    out = io.StringIO()
    from kcheck.finding.severity import WARNING

    write_shard(Head(1, 1, terms, share.input, share.files, WARNING, ()), checked, out)
    return tuple(out.getvalue().splitlines()[:-1])


def shard(random: Random) -> str:
    """A shard that somebody has changed, its check sum put right."""
    lines = list(shard_lines())
    for _ in range(random.randint(0, 2)):
        at = random.randint(0, len(lines) - 1)
        if random.random() < 0.2:
            lines.insert(at, lines[random.randint(0, len(lines) - 1)])
        else:
            lines[at] = json.dumps(mutated_value(random, json.loads(lines[at])))
    if random.random() < 0.3:
        at = random.randint(0, len(lines) - 1)
        lines[at] = mutated(random, lines[at])
    body = "".join(line + "\n" for line in lines)
    digest = blake2b(body.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return mutated(random, body) if random.random() < 0.1 else body + json.dumps({"digest": digest}) + "\n"


def hold_shard(text: str) -> None:
    path = scratch() / "shard"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        head, checked, of = read_shards([str(path)], registry())
        report = build_report(head.passed, checked, of)
    except BadShard as error:
        said = str(error)
        assert said.strip()
        return
    for form in BUILT_IN:
        form.load()(report, io.StringIO(), Style(colour=False))


def hold_graph(text: str) -> None:
    """The graph has no edge to nowhere, and every form of it can be written and is safe on a terminal."""
    drawn = graph_of(no_failure(report_of(text)))
    assert all(edge.source in drawn.by_id and edge.target in drawn.by_id for edge in drawn.edges)
    for form in FORMS:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", newline="")
        import_module(f"kcheck.graph.{form}").write(drawn, out, Style(colour=False))
        out.seek(0)
        shown = out.read()
        if form == "json":
            json.loads(shown)
        assert not HOSTILE & set(shown), form


_PEERS = (
    "checks:\n  addAllBuiltIn: true\n  doNotAutoAddDefaults: false\n  include: [latest-tag]\n  exclude: [run-as-non-root]\n"
    "  ignorePaths: [a/**]\n"
    "customChecks:\n- name: x\n  template: required-label\n  params: {key: a, value: b}\n  scope: {objectKinds: [DeploymentLike]}\n",
    "checks:\n  tagNotSpecified: danger\n  cpuLimitsMissing: ignore\nexemptions:\n- namespace: a\n  controllerNames: [b]\n"
    "  containerNames: [c]\n"
    "  rules: [tagNotSpecified]\ncustomChecks:\n  x: {successMessage: a, failureMessage: b, category: c, target: Container, schema: {}}\n",
    "check: [CKV_K8S_8, CKV_K8S_1*]\nskip-check: CKV_K8S_9\nframework: kubernetes\nskip-path: [a, 'b/.*']\nsoft-fail-on: [CKV_K8S_20]\n",
    "#!/bin/sh\nkube-score score --ignore-test pod-networkpolicy --enable-optional-test x -o ci a.yaml | cat\n",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n  annotations:\n"
    "    ignore-check.kube-linter.io/latest-tag: why\n    # about\n"
    "    kube-score/ignore: pod-probes, container-image-tag\n    polaris.fairwinds.com/tagNotSpecified-exempt: 'true'\n"
    "    checkov.io/skip1: CKV_K8S_8=because\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata:\n      labels: {a: b}\n"
    "      annotations: {kube-linter.io/ignore-all: x, b: c}\n    spec: {containers: [{name: c, image: nginx}]}\n",
)  # fmt: skip
_MARKS = (
    "ignore-check.kube-linter.io/latest-tag", "kube-linter.io/ignore-all", "kube-score/ignore", "kube-score/enable",
    "polaris.fairwinds.com/exempt",
    "polaris.fairwinds.com/cpuLimitsMissing-exempt", "checkov.io/skip2", "bridgecrew.io/skip", "kcheck.dev/ignore",
)  # fmt: skip


def migrated(random: Random) -> str:
    """A config of another tool, or a manifest with annotations of one."""
    if random.random() < 0.6:
        text = random.choice(_PEERS)
        if random.random() < 0.5:
            text = text.replace("annotations:\n", f"annotations:\n{' ' * 4}{random.choice(_MARKS)}: {random.choice(TOKENS)}\n")
        return mutated(random, text, (*_PEERS, *manifests()))
    tree = copied(random.choice(trees()))
    metadata = tree.setdefault("metadata", {})
    if isinstance(metadata, dict):
        marks = {random.choice(_MARKS): random.choice(("true", "CKV_K8S_8=x", "pod-probes", *SCALARS)) for _ in range(3)}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **marks} if random.random() < 0.9 else value(random)
    return json.dumps(tree, indent=random.choice((None, 2)))


def hold_migration(text: str) -> None:
    """Any file is taken in or refused; the config made of it can be read; a manifest says what it said, and is migrated once."""
    source = Source("a.yaml", text)
    intake = Intake(ConfigDraft(Counterparts(registry())))
    for tool in ("", "kube-linter", "kube-score", "polaris", "checkov"):
        try:
            intake.file(Source("a.yaml" if not tool else f"{tool}.yaml", text), tool)
        except Unrecognised as error:
            said = str(error)
            assert said
    for note in intake.draft.settled():
        assert str(note).strip()
    path = scratch() / "migrated.yaml"
    path.write_text(config_text(intake.draft), encoding="utf-8", errors="surrogatepass")
    try:
        read_config(path, registry())
    except BadConfig as error:
        raise AssertionError(f"the config is none: {error.mistakes}") from error
    found = rules().active.keys()
    for read, documents in intake.manifests[:1]:
        if any(document.duplicates for document in documents):
            # Of two annotations of one name the second counts, and when it is gone the first.
            continue
        new = Manifest(read, documents, intake.draft.counterparts, lambda file, span: frozenset(found)).rewritten(intake.exemptions)
        again = Source(source.path, new)
        twice = Manifest(again, parse(again), intake.draft.counterparts, lambda file, span: frozenset(found)).rewritten(intake.exemptions)
        assert twice == new, "a second migration changes more"
