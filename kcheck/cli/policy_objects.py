"""The objects of an input and what the policies of a run say of them, for the commands of `kcheck policy`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kcheck.check.input_kinds import POLICY_MARKER
from kcheck.check.session import Session
from kcheck.cli.settings import Failure, find_config, reported_errors
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, UnreadablePath
from kcheck.discovery.load import LIMIT, load_file, with_standard_input
from kcheck.engine import files, settings
from kcheck.engine.options import CheckOptions
from kcheck.finding.role import SKIPPED, TESTS
from kcheck.kube.resource import Resource, resources
from kcheck.policy.policy_set import PolicySet
from kcheck.repository.roles import RoleFinder
from kcheck.rule.registry import Registry
from kcheck.run.file_stage import check_alone
from kcheck.run.policy_reading import add_policies
from kcheck.schema.crd.definitions import add_definitions
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse


class InputObjects(NamedTuple):
    """The objects of an input that policies apply to, in the order of the files.

    Attributes:
        objects: The objects, without those of tests.
        policies: The policies that are enforced on the input.
        session: The settings of the run.
        found: The files.
        config: The config.
    """

    objects: tuple[Resource, ...]
    policies: PolicySet
    session: Session
    found: Discovery
    config: Config


def read_objects(paths: Sequence[str], values: dict[str, Any]) -> InputObjects:
    """Returns the objects in paths, and the policies of the config, the options and the input. Raises ClickException."""
    options = CheckOptions(**values)
    registry = Registry.load()
    config = find_config(options, registry)
    with reported_errors():
        session = settings.create_session(options, config, registry)
        found = with_standard_input(
            files.find_files(paths, options, config, session.budget), LIMIT, sys.stdin.buffer if sys.stdin else None
        )
    finder = RoleFinder((target.path for target in found.targets), session.roles, session.judges_as_server)
    texts: list[tuple[str, str, str]] = []
    for target in found.targets:
        role = finder.before_reading(target)
        source = load_file(target)
        if not isinstance(source, UnreadablePath):
            finder.add_text(target.path, source.text)
            texts.append((target.path, source.text, finder.after_reading(target, role).name))
    candidates = [each for each in texts if POLICY_MARKER in each[1]] if session.policy_settings.from_input else []
    add_policies(session, candidates, texts, [path for path, _, _ in texts], check_files=check_alone)
    if session.policies is None:
        raise Failure("kcheck: no policies are enforced on this input; set policies in the config, or pass --policies PATH")
    documents = [each for path, text, role in texts if role not in SKIPPED and role not in TESTS for each in _documents(path, text)]
    store = session.stores[-1]
    add_definitions(store, documents)
    objects = tuple(each for document in documents for each in resources(document))
    return InputObjects(objects, session.policy_set(store), session, found, config)


def _documents(path: str, text: str) -> Iterator[Document]:
    yield from (each for each in parse(Source(path, text)) if each.fault is None)
