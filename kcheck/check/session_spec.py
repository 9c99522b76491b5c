"""What a session is made of, as plain data: another machine makes the same session of it, or says why it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from kcheck import __version__
from kcheck.check.fingerprint import program_digest, schemas_digest
from kcheck.check.session import Session
from kcheck.finding.severity import Severity
from kcheck.rule.options import BadOption
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.schema.builtin.definitions import UnknownVersion, load
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple


class RuleTerms(NamedTuple):
    """`severity`: as a word; `options`: by name, in JSON."""

    severity: str
    options: str


class IncompatibleSpec(Exception):
    """Terms that this program cannot keep; the message says why."""


class SessionSpec(NamedTuple):
    """`version`, `program`: of kcheck, and a digest of its code and its plug-ins; `kubernetes`: versions, the oldest first; `schemas`: a
    digest of those that were given; `complete`: the input is all there is; `rules`: the rule sets that there are, by rule id;
    `files`: the number of the one that holds for a file, 0 for those that are not there.
    """

    version: str
    program: str
    kubernetes: tuple[str, ...]
    schemas: str
    complete: bool
    rules: tuple[Mapping[str, RuleTerms], ...]
    files: Mapping[str, int]


def session_spec_of(session: Session, files: Iterable[str]) -> SessionSpec:
    """The terms of a session, for these files."""
    sets: dict[int, int] = {}
    rules: list[RuleSet] = []
    numbers: dict[str, int] = {}
    for file in ("", *files) if session.by_file is None else files:
        found = session.rules_for(file)
        if id(found) not in sets:
            sets[id(found)] = len(rules)
            rules.append(found)
        if sets[id(found)]:
            numbers[file] = sets[id(found)]
        if session.by_file is None:
            break
    versions = tuple(store.definitions.version for store in session.stores)
    program, schemas = program_digest(session.registry), schemas_digest(session.schemas)
    return SessionSpec(__version__, program, versions, schemas, session.complete, tuple(map(_rule_terms, rules)), numbers)


def _rule_terms(rules: RuleSet) -> dict[str, RuleTerms]:
    return {id: RuleTerms(active.severity.word, json.dumps(active.options)) for id, active in rules.active.items()}


def session_of(terms: SessionSpec, registry: Registry, stores: Callable[[list[Store]], None] = lambda stores: None) -> Session:
    """The session of terms. `stores`: adds the kinds to them that were given besides. Raises OtherProgram."""
    if terms.version != __version__:
        raise IncompatibleSpec(f"made with kcheck {terms.version}, and this is kcheck {__version__}")
    if terms.program != program_digest(registry):
        raise IncompatibleSpec("made with other code of kcheck or its plug-ins than there is here")
    sets = [_rule_set(each, registry) for each in terms.rules] or [RuleSet()]
    if not all(0 <= number < len(sets) for number in terms.files.values()):
        raise IncompatibleSpec(f"made with more than {len(sets)} sets of rules, and it has no others")
    try:
        made = [Store(load(version)) for version in terms.kubernetes]
    except UnknownVersion as error:
        raise IncompatibleSpec(str(error)) from None
    stores(made)

    def by_file(file: str) -> RuleSet:
        return sets[terms.files.get(file, 0)]

    return Session(registry, sets[0], made, terms.complete, by_file if len(sets) > 1 else None)


def _rule_set(terms: Mapping[str, RuleTerms], registry: Registry) -> RuleSet:
    active = {}
    for id, (severity, options) in terms.items():
        rule = registry.rules.get(id)
        if rule is None:
            raise IncompatibleSpec(f"made with a rule {id}, which is not installed here")
        try:
            given = json.loads(options)
            if not isinstance(given, dict):
                raise ValueError(f"{options} are no options")
            values = {name: rule.options[name].read(value) for name, value in given.items()}
            active[id] = Active(rule, Severity.parse(severity), values)
        except (KeyError, ValueError, BadOption) as error:
            raise IncompatibleSpec(f"made with another rule {id}: {error}") from None
    return RuleSet(active)
