"""The verdicts of user-defined policies on an object, as findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from kcheck.check.session import Session
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Correction, Fix
from kcheck.finding.problem import Problem, Related
from kcheck.kube import placeholders
from kcheck.kube.resource import Resource
from kcheck.policy.verdict import PolicyNotice, ProposedChange, Verdict
from kcheck.rule.ruleset import RuleSet
from kcheck.rule.user_policies import FAMILY
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.yaml.node import Node

FixOf = Callable[[Correction], Fix | None]
"""Makes edits of the text of a change, if the text allows them."""


def policy_findings(
    resource: Resource, session: Session, rules: RuleSet, stores: Sequence[Store], locator: Locator, fix_of: FixOf
) -> Iterator[Finding]:
    """Yield the findings of the enabled policies for an object, for each Kubernetes version."""
    for store in stores:
        for each in session.policy_set(store).verdicts(resource, rules.policies.is_evaluated):
            if isinstance(each, PolicyNotice):
                yield from _notice(each, session)
            elif rules.policies.is_enabled(each.id):
                yield from _finding(each, resource, session, rules, locator, fix_of)


def policy_object_problems(resource: Resource, session: Session, store: Store) -> Iterator[tuple[str, Problem]]:
    """Yield the problems of a policy or binding that the API server accepts, with the rules that report them."""
    from kcheck.policy.admission.policy_checks import binding_problems, policy_problems

    active = session.rules_for(resource.document.source.path).active
    yield from policy_problems(resource, store, active.__contains__)
    if session.policies is not None and resource.kind.endswith("Binding"):
        yield from binding_problems(resource, session.policy_set(store).admission_policies, store)


def _notice(notice: PolicyNotice, session: Session) -> Iterator[Finding]:
    active = session.rules_for(notice.place.file).active.get(notice.rule)
    if active is not None:
        yield Finding(notice.rule, active.severity, active.rule.family, notice.message, notice.place, help=notice.help)


def _finding(
    verdict: Verdict, resource: Resource, session: Session, rules: RuleSet, locator: Locator, fix_of: FixOf
) -> Iterator[Finding]:  # fmt: skip
    node = _node_of(verdict, resource)
    if not session.judges_placeholders and (placeholders.is_unknown(node) or placeholders.is_quoted(verdict.message)):
        return
    secrets, guarded = locator.secrets, locator.is_guarded()

    def masked(text: str) -> str:
        shown = secrets.message(text, guarded, node)
        return session.substitution.conceal(shown)[0] if session.substitution is not None else shown

    evidence = verdict.evidence._replace(variables=tuple((name, masked(value)) for name, value in verdict.evidence.variables))
    severity = rules.policies.severity(verdict.id, verdict.severity)
    message = masked(verdict.message.replace("\n", "\\n"))
    related = (Related(verdict.place, "the expression that decided"),)
    place = locator.place(node)
    change = correction_of(verdict.changes, resource, verdict.is_safe)
    fix = fix_of(change) if change is not None else None
    fix = secrets.fix(fix, guarded) if fix is not None else None
    if fix is not None and session.substitution is not None and any(masked(edit.text) != edit.text for edit in fix.edits):
        fix = None
    yield Finding(verdict.id, severity, FAMILY, message, place, verdict.reason, related, fix, "", masked(verdict.help), policy=evidence)


def correction_of(changes: Sequence[ProposedChange], resource: Resource, safe: bool) -> Correction | None:
    """Return the change of the text that the fix of a policy means, None if it changes nothing."""
    found: Correction | None = None
    for each in changes:
        step = _step(each, resource.node.at(*each.path), safe)
        if step is not None:
            found = step if found is None else found.also(step)
    return found


def _step(change: ProposedChange, node: Node, safe: bool) -> Correction | None:
    value = json.loads(change.json)
    if change.action == "remove":
        return Correction.remove(node, safe=safe) if node.exists else None
    if change.action == "add":
        if node.is_list and len(node):
            return Correction.append(node, value, safe=safe)
        return Correction.set(node, [value], safe=safe)
    return Correction.set(node, value, safe=safe) if node.plain() != value else None


def _node_of(verdict: Verdict, resource: Resource) -> Node:
    """Return the node of the field that decided: the API server merges the stringData of a Secret into its data."""
    node = resource.node.at(*verdict.path)
    if not node.exists and verdict.path[:1] == ("data",) and resource.is_a("core Secret"):
        written = resource.node.at("stringData", *verdict.path[1:])
        return written if written.exists else node
    return node
