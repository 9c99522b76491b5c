"""Admission policies and their bindings, without their CEL expressions.

Source: validateValidatingAdmissionPolicySpec, validateMutatingAdmissionPolicySpec, validateParamKind, validateParamRef and the
validation of bindings (pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, names, remove, validator
from kcheck_spec.admission.rules import OPERATIONS, admission_rule, in_versions
from kcheck_spec.crd.names import kind_name
from kcheck_spec.objects.common_constraints import (
    dns_subdomain,
    dubious_setting,
    not_supported,
    one_of,
    path_segment,
    require,
    required,
    settled,
)

admission_policy = declare(
    "invalid-admission-policy", "Invalid ValidatingAdmissionPolicy or MutatingAdmissionPolicy, or binding of one", fixable=True
)

_SPECS = in_versions("ValidatingAdmissionPolicySpec", "MutatingAdmissionPolicySpec")
_BINDINGS = in_versions("ValidatingAdmissionPolicyBindingSpec", "MutatingAdmissionPolicyBindingSpec")
_VALIDATING = in_versions("ValidatingAdmissionPolicySpec")
_MUTATING = in_versions("MutatingAdmissionPolicySpec")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_ALL = in_versions(
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
)  # fmt: skip
_STATIC, _STATIC_SINCE = ".static.k8s.io", 36
_MAX_ANNOTATIONS = 20
PATCHES = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
"""The field that holds the expression of a mutation, by patchType."""
# The operations of mutating policies: a deleted object cannot be changed.
_MUTABLE = tuple(each for each in OPERATIONS if each != "DELETE")

tables = [
    fields(_SPECS, failurePolicy=one_of("Fail", "Ignore", empty=False)),
    fields(_MUTATING, reinvocationPolicy=(required, one_of("IfNeeded", "Never"))),
    fields(in_versions("Mutation"), patchType=(required, one_of("ApplyConfiguration", "JSONPatch"))),
    fields(in_versions("Validation"), reason=one_of(*_REASONS, empty=False)),
    fields(_BINDINGS, policyName=(required, dns_subdomain), validationActions=settled),
    fields(in_versions("ParamRef"), name=path_segment, parameterNotFoundAction=(required, one_of("Allow", "Deny"))),
]


@validator(_SPECS, rule=admission_policy)
def constraints_are_given(spec: Node) -> Iterator[Problem]:
    """Yield policies without matchConstraints.resourceRules."""
    constraints = spec["matchConstraints"]
    rules = constraints["resourceRules"]
    if not constraints:
        yield require(constraints, Complaint("spec.matchConstraints is required", "add matchConstraints with resourceRules"))
    elif not len(rules):
        help = "add a rule with operations, apiGroups, apiVersions and resources"
        yield require(rules, Complaint("matchConstraints.resourceRules is required", help))


@validator((*_MUTATING, *in_versions("MutatingAdmissionPolicyBindingSpec")), rule=admission_rule)
def operations_can_be_changed(spec: Node) -> Iterator[Problem]:
    """Yield operations that a mutating policy cannot match. The API server names the field without the index of the rule."""
    rules = spec["matchResources" if spec["matchResources"] else "matchConstraints"]["resourceRules"]
    for rule in rules:
        for each in rule["operations"]:
            if each.text not in _MUTABLE and each.value.__class__ in (str, type(None)):
                message = f'operation "{each.text}" is not supported by mutating policies'
                help = 'use CREATE, UPDATE, CONNECT or "*"'
                yield Problem(each, message, help=help, reason="NotSupported", field=rules.virtual("operations"))


@validator(_SPECS, rule=admission_policy)
def parameters_have_a_kind(spec: Node) -> Iterator[Problem]:
    """Yield a missing or invalid apiVersion or kind of paramKind."""
    if not spec["paramKind"]:
        return
    version, kind = spec["paramKind"]["apiVersion"], spec["paramKind"]["kind"]
    if version.value in (None, ""):
        yield require(version)
    elif wrong := _version_fault(version.text):
        yield Problem(version, wrong, reason="Invalid")
    if kind.value in (None, ""):
        yield require(kind)
    elif wrong := kind_name(kind.text):
        yield Problem(kind, wrong, reason="Invalid")


def _version_fault(text: str) -> str:
    group, _, version = text.rpartition("/")
    if "/" in group:
        return Complaint(f'apiVersion "{text}" has more than one "/"', "use the form group/version")
    if not version:
        return Complaint(f'apiVersion "{text}" has no version', f"use the form group/version, such as {group or 'example.com'}/v1")
    return (names.dns_subdomain(group) if group else "") or names.dns1035_label(version)


@validator(_VALIDATING, rule=admission_policy)
def policy_does_something(spec: Node) -> Iterator[Problem]:
    """Yield policies without validations and auditAnnotations, and those with too many auditAnnotations."""
    validations, annotations = spec["validations"], spec["auditAnnotations"]
    if not len(validations) and not len(annotations):
        message = "the policy has neither validations nor auditAnnotations"
        yield require(validations, Complaint(message, "add validations"))
        yield require(annotations, Complaint(message, "add validations or auditAnnotations"))
    if len(annotations) > _MAX_ANNOTATIONS:
        message = f"auditAnnotations has {len(annotations)} entries, more than the maximum of {_MAX_ANNOTATIONS}"
        yield Problem(annotations, message, help="remove some", reason="Invalid", at="key")


@validator(_MUTATING, rule=admission_policy)
def mutations_are_given(spec: Node) -> Iterator[Problem]:
    """Yield policies without mutations, and mutations that do not match their patchType."""
    mutations = spec["mutations"]
    if not len(mutations):
        yield require(mutations, Complaint("spec.mutations is required", "add at least one mutation"))
    for each in mutations:
        yield from _mutation_problems(each)


def _mutation_problems(mutation: Node) -> Iterator[Problem]:
    kind = mutation["patchType"].text
    if kind not in PATCHES:
        return
    for name, key in PATCHES.items():
        if name == kind and not mutation[key]:
            yield require(mutation[key], Complaint(f"{key} is required for patchType: {kind}", f"add {key} with an expression"))
        elif name != kind and mutation[key]:
            yield Problem(mutation[key], f"{key} is not allowed for patchType: {kind}", help=remove(), reason="Invalid", at="key")


@validator(in_versions("ValidatingAdmissionPolicyBindingSpec"), rule=admission_policy)
def actions_go_together(spec: Node) -> Iterator[Problem]:
    """Yield missing, unknown, duplicate and contradictory validationActions."""
    actions = spec["validationActions"]
    if not len(actions):
        yield require(actions, Complaint("validationActions is required", "set it to [Deny], [Warn], [Audit] or [Deny, Audit]"))
    seen: set[str] = set()
    for each in actions:
        if each.text not in _ACTIONS:
            yield not_supported(each, _ACTIONS)
        if each.text in seen:
            yield Problem(each, f'duplicate validationActions entry "{each.text}"', help=remove(), reason="Duplicate")
        seen.add(each.text)
    if {"Deny", "Warn"} <= seen:
        yield Problem(actions, "validationActions cannot contain both Deny and Warn", help="remove Deny or Warn", reason="Invalid")


@validator(_BINDINGS, rule=admission_policy)
def parameters_are_found(spec: Node) -> Iterator[Problem]:
    """Yield a paramRef that has both name and selector, or neither."""
    reference = spec["paramRef"]
    name, selector = reference["name"], reference["selector"]
    if not reference:
        return
    if name.text and selector:
        for each in (name, selector):
            message = "paramRef.name and paramRef.selector are mutually exclusive"
            yield Problem(each, message, help="remove one of them", reason="Forbidden", at="key")
    elif not name.text and not selector:
        yield require(reference, Complaint("paramRef has neither name nor selector", "add one of them"))


@validator(_ALL, rule=dubious_setting)
def names_are_free(resource: Resource) -> Iterator[Problem]:
    """Yield names with the suffix that is reserved for configuration files of the API server. Source: WarningsForStaticSuffix."""
    name = resource["metadata"]["name"]
    if name.text.endswith(_STATIC) and not resource.is_before(_STATIC_SINCE):
        message = f'the suffix "{_STATIC}" of metadata.name is reserved for configuration that the API server loads from files'
        yield Problem(name, message, help="use another name")
