"""Admission policies that the API server accepts, but that do not do what they seem to do.

Source: the type checking of ValidatingAdmissionPolicies in k8s.io/apiserver (pkg/admission/plugin/policy/validating/typechecking.go), and
the documentation's page "Validating Admission Policy".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, WARNING, Bundle, Facts, Problem, declare, rule

_GROUPS = ("admission-policies",)
_POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_GROUP = "admissionregistration.k8s.io"

# kcheck/policy/admission/policy_checks.py reports these.
unknown_field = declare(
    "unknown-policy-field", "Policy expression reads a field that a matched kind does not have",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
type_mismatch = declare(
    "policy-type-mismatch", "Policy expression compares a field with a value that it never has",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
constant_expression = declare(
    "constant-policy-expression", "Policy expression is always true or always false",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
unmatched_rule = declare(
    "unmatched-policy-rule", "Resource rule or selector of an admission policy matches nothing",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
parameter_mismatch = declare(
    "policy-parameter-mismatch", "paramRef of a policy binding does not fit paramKind of its policy",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip

null_object = declare(
    "null-policy-object", "Policy expression reads object in DELETE requests or oldObject in CREATE requests",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
unguarded_field = declare(
    "unguarded-policy-field", "Policy expression reads an optional field without has()",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
rule_overlap = declare(
    "policy-rule-overlap", "Validation of an admission policy repeats a built-in rule",
    severity=INFO, groups=_GROUPS, family="practice",
)  # fmt: skip
rule_conflict = declare(
    "policy-rule-conflict", "Validation of an admission policy contradicts a built-in rule",
    severity=WARNING, groups=_GROUPS, family="practice",
)  # fmt: skip
unused_variable = declare(
    "unused-policy-variable", "Variable or parameter of an admission policy is not used",
    severity=INFO, groups=_GROUPS, family="practice",
)  # fmt: skip

# kcheck/policy/admission/evaluation.py reports it.
undecided_policy = declare(
    "undecided-policy", "Verdict of a policy depends on the user or the authorizer of the request",
    severity=INFO, groups=_GROUPS, family="practice",
)  # fmt: skip


@rule(
    "unbound-admission-policy", "Admission policy has no binding", severity=INFO, groups=_GROUPS,
    kinds=tuple(f"{_GROUP} {kind}" for kind in _POLICIES),
)  # fmt: skip
def unbound_admission_policy(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only if other policies of the input have bindings: a library leaves them to its users."""
    kind = policy.id.kind
    bound = bundle.input.once(_bound_policies)
    if bound and (kind, policy.id.name) not in bound:
        message = f'no binding in the input references {kind} "{policy.id.name}", so it is not enforced'
        yield Problem(policy.place, message, help=f"add a {kind}Binding or remove the policy")


def _bound_policies(bundle: Bundle) -> frozenset[tuple[str, str]]:
    """Return kind and name of the policies that bindings of the input reference."""
    return frozenset((each.kind, each.name) for facts in bundle.facts for each in facts.references if each.kind in _POLICIES)
