"""Finds the relations of all objects for policies: with the facts and within the deployment units that rules across objects use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kcheck.check.file import Checked
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.kube.resource import resources
from kcheck.policy.policy_input import RelatedObject
from kcheck.policy.relations import pod_of
from kcheck.policy.rules.cel_types import Occurrences
from kcheck.repository.units import find_units
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

_SELECTING = frozenset(("service", "budget", "policy", "pod-monitor"))
"""The aims of selectors whose relations lead to the Pods that they match."""
_TEMPLATES = Occurrences(("core/v1 PodTemplateSpec",))


def find_relations(
    texts: Iterable[tuple[str, str]],
    session: Session,
    check_files: Callable[[Session, Discovery], list[Checked]],
    abridged: bool = False,
) -> tuple[RelatedObject, ...]:
    """Return the related objects in files (paths and contents). The files are checked without rules, which yields their facts.

    `abridged`: whether objects are examples, which need only the fields that a rule reads; otherwise such objects are patches.
    """
    texts = list(texts)
    quiet = session.without_rules()
    quiet.policies, quiet.policy_settings, quiet.helm = None, type(session.policy_settings)(), None
    quiet.factory = None
    targets = [Target(path, named=False, data=text.encode("utf-8", "surrogatepass")) for path, text in texts]
    checked = check_files(quiet, Discovery(targets, partial=frozenset(session.partial_folders)))
    facts_by_file = [(each.path, each.outcome.facts) for each in checked]
    if abridged:
        facts_by_file = [(path, [replace(each, is_complete=True) for each in facts]) for path, facts in facts_by_file]
    finder = _RelationFinder(session, facts_by_file)
    return finder.objects(_objects_in(texts), session.stores[-1])


class _RelationFinder:
    def __init__(self, session: Session, facts_by_file: list[tuple[str, Sequence[Facts]]]) -> None:
        self.facts = [facts for _, found in facts_by_file for facts in found if facts.id.name]
        self.numbers = {id(facts): number for number, facts in enumerate(self.facts)}
        self.references: list[dict[int, None]] = [{} for _ in self.facts]
        self.selected: list[dict[int, None]] = [{} for _ in self.facts]
        by_file: Mapping[str, Sequence[Facts]] = dict(facts_by_file)
        renderings = () if session.charts is None else session.charts.units()
        units = find_units(facts_by_file, session.complete_part, session.partial_folders, renderings)
        whole = Bundle((facts for found in by_file.values() for facts in found), session.complete, list(by_file))
        for unit, files in units.all:
            own = [facts for file in files for facts in by_file[file]]
            bundle = Bundle(own, session.is_complete(unit, 0), (), unit, whole)
            for facts in own:
                if id(facts) in self.numbers:
                    self.add(facts, bundle)

    def add(self, facts: Facts, bundle: Bundle) -> None:
        """Add the relations of an object in a unit."""
        number = self.numbers[id(facts)]
        for reference in facts.references:
            for other in bundle.resolve(facts, reference):
                target = self.numbers.get(id(other), number)
                if target != number and not reference.place.field.startswith("metadata.ownerReferences"):
                    self.references[number][target] = None
        for each in facts.selectors:
            if each.aim in _SELECTING:
                for other, _ in bundle.pods_matching(facts, each.selector):
                    target = self.numbers.get(id(other), number)
                    if target != number:
                        self.selected[number][target] = None

    def objects(self, values: Mapping[tuple[object, ...], Any], store: Store) -> tuple[RelatedObject, ...]:
        """Return the objects with their relations. `values`: the objects in JSON by file, document and id."""
        found = []
        for number, facts in enumerate(self.facts):
            own, place = facts.id, facts.place
            value = values.get((place.file, place.document, own)) or {
                "apiVersion": own.api_version, "kind": own.kind, "metadata": {"name": own.name, "namespace": own.namespace}
            }  # fmt: skip
            pods = tuple(json.dumps(each, default=str) for each in _pods_of(value, store))
            found.append(
                RelatedObject(
                    place.file, own.api_version, own.kind, own.namespace, own.name, json.dumps(value, default=str), pods,
                    tuple(sorted(self.references[number])), tuple(sorted(self.selected[number])),
                )
            )  # fmt: skip
        return tuple(found)


def _objects_in(texts: Iterable[tuple[str, str]]) -> dict[tuple[object, ...], Any]:
    found: dict[tuple[object, ...], Any] = {}
    for path, text in texts:
        for document in parse(Source(path, text)):
            for resource in resources(document):
                found.setdefault((path, document.index, resource.id), resource.node.plain())
    return found


def _pods_of(value: Mapping[str, Any], store: Store) -> list[Mapping[str, Any]]:
    """Return the Pods of an object in JSON: itself, or those that it creates from its templates."""
    api_version, kind = str(value.get("apiVersion")), str(value.get("kind"))
    if (api_version, kind) == ("v1", "Pod"):
        return [value]
    builtin = store.builtin(api_version, kind)
    if builtin is None or kind in ("PodTemplate", "ControllerRevision"):
        return []
    return [pod_of(template, value) for _, template in _TEMPLATES.find(value, builtin.shape) if isinstance(template, Mapping)]
