"""The objects in folders of manifests, and the findings of kcheck and other linters ("peers"). Each repository is checked separately."""

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
from kcheck.finding.role import PATCH, UNKNOWN
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
"""Peers that check every file. The others identify an object by its name and report only one of several objects with the same name."""

Options = frozenset[tuple[str, str, Any]]
"""(rule, option, value)."""


class Key(NamedTuple):
    """The identity of an object for a peer. `file`: "" for peers that only use the name."""

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
    """An object of a manifest. `part`: whether its file contains kustomize patches."""

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
        """The object as plain values."""
        plain = self.resource.node.plain()
        return plain if isinstance(plain, dict) else {}

    def at(self, *path: str) -> Any:
        """Returns the value at a path of keys, {} if there is none."""
        value: Any = self.content
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return {} if value is None else value

    @cached_property
    def template(self) -> dict[str, Any]:
        """The Pod or Pod template, {} if there is none."""
        places = [(), ("spec", "template"), ("spec", "jobTemplate", "spec", "template")]
        way = places[0] if self.kind == "Pod" else places[2] if self.kind == "CronJob" else places[1]
        found = self.at(*way)
        return found if isinstance(found, dict) else {}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its Pods."""
        labels = (self.template.get("metadata") or {}).get("labels")
        return labels if isinstance(labels, dict) else {}

    @property
    def template_names(self) -> set[str]:
        """The names that Checkov uses for its Pods."""
        own = (self.template.get("metadata") or {}).get("name")
        name = self.name
        return {own or name, ".".join([name, *(f"{key}-{value}" for key, value in self.labels.items())])}

    @property
    def pod(self) -> dict[str, Any]:
        spec = self.template.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers without init containers."""
        return [c for c in self.pod.get("containers") or () if isinstance(c, dict)]

    def key(self, peer: str) -> Key:
        return Key(self.repo, self.file if peer in BY_FILE else "", self.kind, self.name)


@dataclass
class Repository:
    """A repository: its objects and the findings of kcheck for each set of options."""

    name: str
    objects: list[Object] = field(default_factory=list)
    found: dict[Options, list[Ours]] = field(default_factory=dict)


def judge(folder: Path, runs: Mapping[Options, Iterable[str]], registry: Registry) -> Iterator[Repository]:
    """Yields each repository of a folder, checked by kcheck once for each set of options with its rules.

    Peers assume that the input is complete, so kcheck runs with `complete`.
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
                report = build_report((), stage.check_input(found), session)
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
                    part = stage.roles.after_reading(target, UNKNOWN).name == PATCH
                    repository.objects.append(Object(place.name, _within(folder, target.path), line, resource, part))
        _give_objects(repository)
        yield repository


def _give_objects(repository: Repository) -> None:
    """Assigns findings about a text position to the object that contains it."""
    starts: dict[str, list[Object]] = defaultdict(list)
    for each in repository.objects:
        starts[each.file].append(each)
    for options, found in repository.found.items():
        for number, finding in enumerate(found):
            before = [each for each in starts.get(finding.file, ()) if each.line <= finding.line] if not finding.kind else []
            if before:
                repository.found[options][number] = finding._replace(kind=before[-1].kind, name=before[-1].resource.name)


def theirs(folder: Path) -> dict[str, set[Key]]:
    """Returns the findings of the peers: objects by "peer/check"."""
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
