"""Which requests a webhook or an admission policy is asked about.

Source: validateRuleWithOperations, validateRule, validateResources, validateNamedRuleWithOperations, validateMatchResources
(pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import not_supported, one_of, require

admission_rule = declare("invalid-admission-rule", "Invalid rule of a webhook or admission policy (operations, apiGroups, resources)")

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")


# Webhooks left beta before the oldest version that we know.
_STABLE = frozenset(
    {
        "RuleWithOperations", "ValidatingWebhook", "MutatingWebhook", "WebhookClientConfig", "ServiceReference",
        "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
    }
)  # fmt: skip


def in_versions(*kinds: str) -> tuple[str, ...]:
    """The API types of these names, in the versions that have them."""
    versions = {kind: ("v1",) if kind in _STABLE else ("v1", "v1beta1") for kind in kinds}
    return tuple(f"admissionregistration/{version} {kind}" for kind in kinds for version in versions[kind])


_RULES = in_versions("RuleWithOperations", "NamedRuleWithOperations")


def _operations(operations: Node) -> Iterator[Problem]:
    yield from _not_beside_all(operations, "operations")
    for each in operations:
        if each.value.__class__ in (str, type(None)) and each.text not in OPERATIONS:
            yield not_supported(each, OPERATIONS)


def _groups(groups: Node) -> Iterator[Problem]:
    yield from _not_beside_all(groups, "API groups")


def _versions(versions: Node) -> Iterator[Problem]:
    yield from _not_beside_all(versions, "API versions")
    for each in versions:
        if each.value in (None, ""):
            yield require(each, Complaint("an empty version is none", "write one such as v1, or '*'"))


def _not_beside_all(listed: Node, what: str) -> Iterator[Problem]:
    for each in listed:
        if each.text == "*" and len(listed) > 1:
            yield Problem(each, f"'*' means all {what}", help="keep it alone, or take it away", reason="Invalid", field=listed)
            return


def _resources(resources: Node) -> Iterator[Problem]:
    """Resources and subresources, '*' for any, none of them twice."""
    seen: set[str] = set()
    words = [each.text for each in resources]
    for each in resources:
        name, slash, sub = each.text.partition("/")
        if each.value in (None, ""):
            yield require(each, Complaint("an empty resource is none", "write a plural such as pods, or '*'"))
        elif slash:
            for wider in (f"{name}/*", f"*/{sub}"):
                if wider in seen:
                    yield Problem(each, f"{wider} includes {each.text}", help="take one of them away", reason="Invalid")
            seen.add(each.text)
    if len(words) > 1 and "*/*" in words:
        message = Complaint("'*/*' means all resources", "keep it alone, or take it away")
        yield Problem(resources[words.index("*/*")], message, reason="Invalid", field=resources)
    bare = [word for word in words if word and "/" not in word]
    # The server remembers the last resource without a subresource alone.
    if "*" in words and bare[-1] != "*":
        message = Complaint("'*' means all resources", "keep it and what has a subresource, or take it away")
        yield Problem(resources[words.index("*")], message, reason="Invalid", field=resources)


def _names(listed: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for each in listed:
        if wrong := names.path_segment(each.text):
            yield Problem(each, wrong, reason="Invalid")
        if each.text in seen:
            yield Problem(each, f"{each.text or 'an empty name'} is listed already", help="take it away", reason="Duplicate")
        seen.add(each.text)


tables = [
    fields(
        _RULES,
        operations=Constraint(admission_rule, _operations, closed=True),
        apiGroups=Constraint(admission_rule, _groups),
        apiVersions=Constraint(admission_rule, _versions),
        resources=Constraint(admission_rule, _resources),
        scope=one_of("*", "Cluster", "Namespaced", empty=False),
        resourceNames=Constraint(admission_rule, _names),
    ),
    fields(in_versions("MatchResources"), matchPolicy=one_of("Equivalent", "Exact", empty=False)),
]

_EXAMPLES = {
    "operations": "write [CREATE] or others, or ['*']",
    "apiGroups": "write [apps] or others, [''] for the core group, or ['*']",
    "apiVersions": "write [v1] or others, or ['*']",
    "resources": "write [pods] or others, or ['*']",
}


@validator(_RULES, rule=admission_rule)
def rules_are_complete(rule: Node) -> Iterator[Problem]:
    """An empty list is nothing, not everything."""
    for key, hint in _EXAMPLES.items():
        if not len(rule[key]):
            yield require(rule[key], Complaint(f"a rule must say its {key}", hint))
