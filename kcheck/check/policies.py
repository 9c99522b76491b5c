"""The verdicts of user-defined policies on an object, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kcheck.check.session import Session
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem, Related
from kcheck.kube import placeholders
from kcheck.kube.resource import Resource
from kcheck.policy.verdict import PolicyNotice, Verdict
from kcheck.rule.ruleset import RuleSet
from kcheck.rule.user_policies import FAMILY
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.yaml.node import Node


def policy_findings(resource: Resource, session: Session, rules: RuleSet, stores: Sequence[Store], locator: Locator) -> Iterator[Finding]:
    """Yield the findings of the enabled policies for an object, for each Kubernetes version."""
    for store in stores:
        for each in session.policy_set(store).verdicts(resource, rules.policies.is_evaluated):
            if isinstance(each, PolicyNotice):
                yield from _notice(each, session)
            elif rules.policies.is_enabled(each.id):
                yield from _finding(each, resource, session, rules, locator)


def policy_object_problems(resource: Resource, session: Session, store: Store) -> Iterator[tuple[str, Problem]]:
    """Yield the problems of a policy or binding that the API server accepts, with the rules that report them."""
    from kcheck.policy.admission.policy_checks import binding_problems, policy_problems

    yield from policy_problems(resource, store)
    if session.policies is not None and resource.kind.endswith("Binding"):
        yield from binding_problems(resource, session.policy_set(store).admission_policies)


def _notice(notice: PolicyNotice, session: Session) -> Iterator[Finding]:
    active = session.rules_for(notice.place.file).active.get(notice.rule)
    if active is not None:
        yield Finding(notice.rule, active.severity, active.rule.family, notice.message, notice.place, help=notice.help)


def _finding(verdict: Verdict, resource: Resource, session: Session, rules: RuleSet, locator: Locator) -> Iterator[Finding]:
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
    yield Finding(verdict.id, severity, FAMILY, message, place, verdict.reason, related, None, "", masked(verdict.help), policy=evidence)


def _node_of(verdict: Verdict, resource: Resource) -> Node:
    """Return the node of the field that decided: the API server merges the stringData of a Secret into its data."""
    node = resource.node.at(*verdict.path)
    if not node.exists and verdict.path[:1] == ("data",) and resource.is_a("core Secret"):
        written = resource.node.at("stringData", *verdict.path[1:])
        return written if written.exists else node
    return node
