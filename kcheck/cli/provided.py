"""Files with objects that the cluster already has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kcheck.check.document import facts_of_documents
from kcheck.check.session import Session
from kcheck.cli.settings import Failure
from kcheck.facts.facts import Facts
from kcheck.text.source import Source, Undecodable
from kcheck.yaml.parse import parse


def read_provided(paths: Iterable[str | Path], session: Session) -> tuple[Facts, ...]:
    """Returns the facts of the objects in these files: manifests, or the output of kubectl get. Raises Failure for invalid files."""
    return tuple(f for path in paths for f in _read(str(path), session))


def _read(path: str, session: Session) -> list[Facts]:
    try:
        source = Source.decode(path, Path(path).read_bytes())
    except OSError as error:
        raise Failure(f"kcheck: provided: {path} cannot be read: {error.strerror or error}") from None
    except Undecodable as error:
        raise Failure(f"kcheck: provided: {path} is not text: {error}") from None
    documents = parse(source)
    for document in documents:
        if document.fault is not None:
            line = source.position(document.fault.start).line
            raise Failure(f"kcheck: provided: {path}:{line}: {document.fault.message}")
    found = facts_of_documents(documents, session, session.rules)
    if not found:
        raise Failure(f"kcheck: provided: {path} contains no Kubernetes object")
    return found
