"""Files with objects that the cluster already has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kcheck.check.document import check_objects
from kcheck.check.session import Session
from kcheck.discovery.discover import Target, UnreadablePath
from kcheck.discovery.load import load_file
from kcheck.engine.error import Error
from kcheck.facts.facts import Facts
from kcheck.rule.ruleset import RuleSet
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def load_provided(paths: Iterable[str | Path]) -> list[Source]:
    """Returns these files: manifests, or the output of kubectl get. Raises Error if a file cannot be read."""
    sources = []
    for path in map(str, paths):
        source = load_file(Target(path, True))
        if isinstance(source, UnreadablePath):
            raise Error(f"provided: {path}: {source.message}")
        sources.append(source)
    return sources


def facts_of(sources: Iterable[Source], session: Session) -> tuple[Facts, ...]:
    """Returns the facts of the objects in files. Raises Error for invalid files."""
    return tuple(f for source in sources for f in _facts_in(source, session))


def _facts_in(source: Source, session: Session) -> list[Facts]:
    documents = parse(source)
    for document in documents:
        if document.fault is not None:
            line = source.position(document.fault.start).line
            raise Error(f"provided: {source.path}:{line}: {document.fault.message}")
    no_rules = RuleSet()
    found = [facts for document in documents for facts in check_objects(document, session, no_rules, session.rules).facts]
    if not found:
        raise Error(f"provided: {source.path} contains no Kubernetes object")
    return found
