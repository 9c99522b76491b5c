"""The rules that select the requests of a webhook or admission policy.

Source: validateRuleWithOperations, validateRule, validateResources, validateNamedRuleWithOperations, validateMatchResources
(pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, declare, fields, names, remove, validator
from kcheck_spec.objects.common_constraints import not_supported, one_of, require

admission_rule = declare(
    "invalid-admission-rule", "Invalid rule of a webhook or admission policy (operations, apiGroups, resources)", fixable=True
)

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")


# Types without v1beta1: webhooks became stable before the oldest supported version of Kubernetes.
_STABLE = frozenset(
    {
        "RuleWithOperations", "ValidatingWebhook", "MutatingWebhook", "WebhookClientConfig", "ServiceReference",
        "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
    }
)  # fmt: skip


def in_versions(*kinds: str) -> tuple[str, ...]:
    """The names of these API types in all versions of admissionregistration that have them."""
    versions = {kind: ("v1",) if kind in _STABLE else ("v1", "v1beta1") for kind in kinds}
    return tuple(f"admissionregistration/{version} {kind}" for kind in kinds for version in versions[kind])


_RULES = in_versions("RuleWithOperations", "NamedRuleWithOperations")


def _operations(operations: Node) -> Iterator[Problem]:
    yield from _redundant_with_wildcard(operations, "operations")
    for each in operations:
        if each.value.__class__ in (str, type(None)) and each.text not in OPERATIONS:
            yield not_supported(each, OPERATIONS)


def _groups(groups: Node) -> Iterator[Problem]:
    yield from _redundant_with_wildcard(groups, "apiGroups")


def _versions(versions: Node) -> Iterator[Problem]:
    yield from _redundant_with_wildcard(versions, "apiVersions")
    for each in versions:
        if each.value in (None, ""):
            yield require(each, Complaint("apiVersions has an empty entry", 'set it to a version such as v1, or use "*" as the only entry'))


def _redundant_with_wildcard(listed: Node, what: str) -> Iterator[Problem]:
    for each in listed:
        if each.text == "*" and len(listed) > 1:
            message = f'"*" cannot be combined with other {what}'
            yield Problem(each, message, help="remove the other entries, or remove this one", reason="Invalid", field=listed)
            return


def _resources(resources: Node) -> Iterator[Problem]:
    """Yield empty entries of resources, and those that another entry includes."""
    seen: set[str] = set()
    words = [each.text for each in resources]
    for each in resources:
        name, slash, sub = each.text.partition("/")
        if each.value in (None, ""):
            yield require(each, Complaint("resources has an empty entry", "set it to a resource such as pods, or remove it"))
        elif slash:
            for wider in (f"{name}/*", f"*/{sub}"):
                if wider in seen:
                    yield Problem(each, f'resource "{each.text}" is included in "{wider}"', help="remove one of them", reason="Invalid")
            seen.add(each.text)
    if len(words) > 1 and "*/*" in words:
        message = Complaint('"*/*" cannot be combined with other resources', "remove the other entries, or remove this one")
        yield Problem(resources[words.index("*/*")], message, reason="Invalid", field=resources)
    bare = [word for word in words if word and "/" not in word]
    # The API server only looks at the last resource without a subresource.
    if "*" in words and bare[-1] != "*":
        help = "remove the other entries without a subresource, or remove this one"
        message = Complaint('"*" cannot be combined with other resources that have no subresource', help)
        yield Problem(resources[words.index("*")], message, reason="Invalid", field=resources)


def _names(listed: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for each in listed:
        if wrong := names.path_segment(each.text):
            yield Problem(each, wrong, reason="Invalid")
        if each.text in seen:
            yield Problem(each, f'duplicate resourceNames entry "{each.text}"', help=remove(), reason="Duplicate")
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
    "operations": 'list operations such as [CREATE], or use ["*"]',
    "apiGroups": 'list API groups such as [apps] ([""] is the core group), or use ["*"]',
    "apiVersions": 'list API versions such as [v1], or use ["*"]',
    "resources": 'list resources such as [pods], or use ["*"]',
}


@validator(_RULES, rule=admission_rule)
def rules_are_complete(rule: Node) -> Iterator[Problem]:
    """Yield the required lists of a rule that are missing or empty."""
    for key, hint in _EXAMPLES.items():
        if not len(rule[key]):
            yield require(rule[key], Complaint(f"{key} is required", hint))
