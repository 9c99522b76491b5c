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
from kcheck.yaml.parse import parse


def read_provided(paths: Iterable[str | Path], session: Session) -> tuple[Facts, ...]:
    """Returns the facts of the objects in these files: manifests, or the output of kubectl get. Raises Error for invalid files."""
    return tuple(f for path in paths for f in _read(str(path), session))


def _read(path: str, session: Session) -> list[Facts]:
    source = load_file(Target(path, True))
    if isinstance(source, UnreadablePath):
        raise Error(f"provided: {path}: {source.message}")
    documents = parse(source)
    for document in documents:
        if document.fault is not None:
            line = source.position(document.fault.start).line
            raise Error(f"provided: {path}:{line}: {document.fault.message}")
    no_rules = RuleSet()
    found = [facts for document in documents for facts in check_objects(document, session, no_rules, session.rules).facts]
    if not found:
        raise Error(f"provided: {path} contains no Kubernetes object")
    return found
