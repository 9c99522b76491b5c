"""What stands in folders of manifests: the objects, and what kcheck and its peers find in them, each repository judged on its own."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.discovery.load import load_file
from kcheck.kube.resource import Resource, resources
from kcheck.migration.tools import PEERS
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Setting, choose
from kcheck.run.bundle_stage import build_report
from kcheck.run.file_stage import FileStage
from kcheck.run.run import WorkerFactory, collector_paused
from kcheck.schema.builtin.definitions import load as load_definitions
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

BY_FILE = frozenset({"checkov", "kube-linter"})
"""Peers that judge every file; the others know an object by its name and tell of one of those that share it."""

Options = frozenset[tuple[str, str, Any]]
"""(rule, option, value)."""


class Key(NamedTuple):
    """An object as a peer tells it from others. `file`: "" for peers that go by the name alone."""

    repo: str
    file: str
    kind: str
    name: str


class Ours(NamedTuple):
    """A finding of kcheck."""

    rule: str
    file: str
    line: int
    field: str
    message: str
    kind: str
    name: str


@dataclass(frozen=True)
class Object:
    """An object of a manifest. `part`: its file holds patches for kustomize."""

    repo: str
    file: str
    line: int
    resource: Resource
    part: bool

    @property
    def kind(self) -> str:
        return self.resource.kind

    @property
    def name(self) -> str:
        return self.resource.name

    @property
    def folder(self) -> str:
        return self.file.rpartition("/")[0]

    @property
    def namespace(self) -> str:
        return self.resource.namespace

    @cached_property
    def content(self) -> dict[str, Any]:
        """All of it, as plain values."""
        plain = self.resource.node.plain()
        return plain if isinstance(plain, dict) else {}

    def at(self, *path: str) -> Any:
        """What stands under some keys, {} for nothing."""
        value: Any = self.content
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return {} if value is None else value

    @cached_property
    def template(self) -> dict[str, Any]:
        """The pod or its template, {} for what has none."""
        places = [(), ("spec", "template"), ("spec", "jobTemplate", "spec", "template")]
        way = places[0] if self.kind == "Pod" else places[2] if self.kind == "CronJob" else places[1]
        found = self.at(*way)
        return found if isinstance(found, dict) else {}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its pods."""
        labels = (self.template.get("metadata") or {}).get("labels")
        return labels if isinstance(labels, dict) else {}

    @property
    def template_names(self) -> set[str]:
        """The names that checkov has for its pods."""
        own = (self.template.get("metadata") or {}).get("name")
        name = self.name
        return {own or name, ".".join([name, *(f"{key}-{value}" for key, value in self.labels.items())])}

    @property
    def pod(self) -> dict[str, Any]:
        spec = self.template.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def containers(self) -> list[dict[str, Any]]:
        """Those that are no init containers."""
        return [c for c in self.pod.get("containers") or () if isinstance(c, dict)]

    def key(self, peer: str) -> Key:
        return Key(self.repo, self.file if peer in BY_FILE else "", self.kind, self.name)


@dataclass
class Repository:
    """One folder: its objects, and what kcheck finds under each set of options."""

    name: str
    objects: list[Object] = field(default_factory=list)
    found: dict[Options, list[Ours]] = field(default_factory=dict)


def judge(folder: Path, runs: Mapping[Options, Iterable[str]], registry: Registry) -> Iterator[Repository]:
    """Each repository of a folder, judged by kcheck once for each set of options, by the rules that go with it.

    To a peer its input is all that there is: kcheck is told the same (`complete`).
    """
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        found = discover([str(place)])
        repository = Repository(place.name)
        for options, rules in runs.items():
            settings: dict[str, dict[str, Any]] = defaultdict(dict)
            for rule, option, value in options:
                settings[rule][option] = value
            chosen = choose(registry, rules, settings={rule: Setting(options=values) for rule, values in settings.items()})
            session = Session(registry, chosen, [Store(load_definitions())], complete=True)
            stage = FileStage(session, WorkerFactory(session, 1, None))
            with collector_paused():
                report = build_report((), stage.run(found), session)
            repository.found[options] = [
                Ours(f.rule, _within(folder, f.file), f.range.start.line, f.place.field, f.message, f.object.kind, f.object.name)
                for f in report.findings
                if f.rule in rules
            ]
        for target in found.targets:
            source = load_file(target)
            for document in parse(source) if isinstance(source, Source) else ():
                for resource in resources(document):
                    line = document.source.position(resource.node.start).line
                    part = stage.kustomizations.is_part(target.path)
                    repository.objects.append(Object(place.name, _within(folder, target.path), line, resource, part))
        _give_objects(repository)
        yield repository


def _give_objects(repository: Repository) -> None:
    """Findings about a text are given to the object that it is in."""
    starts: dict[str, list[Object]] = defaultdict(list)
    for each in repository.objects:
        starts[each.file].append(each)
    for options, found in repository.found.items():
        for number, finding in enumerate(found):
            before = [each for each in starts.get(finding.file, ()) if each.line <= finding.line] if not finding.kind else []
            if before:
                repository.found[options][number] = finding._replace(kind=before[-1].kind, name=before[-1].resource.name)


def theirs(folder: Path) -> dict[str, set[Key]]:
    """What the peers found: objects by "peer/check"."""
    found: dict[str, set[Key]] = defaultdict(set)
    for peer in PEERS:
        file = folder / f"{peer}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            row = json.loads(line)
            path = (row["file"] or "") if peer in BY_FILE else ""
            found[f"{peer}/{row['check']}"].add(Key(row["repo"], path, row["kind"], row["name"] or ""))
    return dict(found)


def _within(folder: Path, path: str) -> str:
    return Path(path).relative_to(folder).as_posix()
