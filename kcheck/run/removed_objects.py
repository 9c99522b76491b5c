"""The objects that a change of files removes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress

from kcheck.check.document import check_objects
from kcheck.check.session import Session
from kcheck.check.time_limit import OutOfBudget
from kcheck.discovery.discover import Target
from kcheck.discovery.load import load_file
from kcheck.facts.facts import Facts
from kcheck.finding.role import SKIPPED
from kcheck.repository.roles import RoleFinder
from kcheck.rule.ruleset import RuleSet
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def removed_objects(before: Iterable[Target], after: Iterable[Target], session: Session) -> list[Facts]:
    """Return the objects of files that are no longer in them, or whose Pods have other labels.

    Args:
        before: The files before the change.
        after: The same files after the change, without those that it deletes.
        session: Determines which files contain objects.
    """
    earlier = [facts for facts in _facts(before, session) if facts.id.name and facts.is_complete]
    now = {_signature(facts) for facts in _facts(after, session)} if earlier else set()
    return [facts for facts in earlier if _signature(facts) not in now]


def _facts(targets: Iterable[Target], session: Session) -> list[Facts]:
    """Return the facts of manifests. Files that cannot be read or parsed have none."""
    targets = list(targets)
    roles = RoleFinder((target.path for target in targets), session.roles, session.judges_as_server)
    no_rules = RuleSet()
    found: list[Facts] = []
    for target in targets:
        role = roles.after_reading(target, roles.before_reading(target))
        source = None if role.name in SKIPPED or session.is_limited(role.name) else load_file(target)
        if isinstance(source, Source):
            with suppress(OutOfBudget), session.budget.limited(len(source.text)):
                for document in parse(source):
                    found += check_objects(document, session, no_rules, session.rules).facts
    return found


def _signature(facts: Facts) -> Hashable:
    """Return what other objects find an object by: its identity and the labels of its Pods."""
    return facts.named.identity, tuple(frozenset(pod.labels.items()) for pod in facts.pods)
