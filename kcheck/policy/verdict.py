"""What policies say of an object, independent of their language."""

from __future__ import annotations

from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.problem import Reason
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple

Path = tuple[str | int, ...]
"""The keys and indexes from the root of an object to a value."""


class ProposedChange(NamedTuple):
    """A change that the fix of a policy makes. `action`: set, add (to a list) or remove; `json`: the value in JSON."""

    action: str
    path: Path
    json: str


class Verdict(NamedTuple):
    """A policy denies an object, or warns of it.

    Attributes:
        id: The id of the policy, such as policy/replica-limit.
        message: What is wrong.
        severity: The severity that the policy gives it.
        path: The field that decided. It may be absent from the manifest: the API server sets defaults.
        evidence: What decided.
        place: The location of the expression or rule in the policy.
        help: What to do, "" if the policy does not say.
        reason: The reason of the API server.
        changes: The changes of its fix.
        is_safe: Whether the fix is applied without --unsafe.
    """

    id: str
    message: str
    severity: Severity
    path: Path
    evidence: PolicyEvidence
    place: Location
    help: str = ""
    reason: Reason = ""
    changes: tuple[ProposedChange, ...] = ()
    is_safe: bool = False


class PolicyNotice(NamedTuple):
    """A policy could not be evaluated. Equal notices of several objects are reported once, at the policy.

    Attributes:
        rule: The rule that reports it.
        policy: The id of the policy.
        message: What could not be evaluated.
        help: What to do.
        place: The location in the policy.
    """

    rule: str
    policy: str
    message: str
    help: str
    place: Location


def shown_path(path: Path) -> str:
    """Return a path such as spec.ports[0].name."""
    return "".join(f"[{each}]" if isinstance(each, int) or not each.isidentifier() else f".{each}" for each in path).removeprefix(".")
