"""Admission policies and their bindings, apart from what their expressions say.

Source: validateValidatingAdmissionPolicySpec, validateMutatingAdmissionPolicySpec, validateParamKind, validateParamRef and the
validation of bindings (pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, names, validator
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

admission_policy = declare("invalid-admission-policy", "Invalid ValidatingAdmissionPolicy or MutatingAdmissionPolicy, or binding of one")

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
_MOST_ANNOTATIONS = 20
PATCHES = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
"""Where the expression of a mutation stands, by its patchType."""
# What a mutating policy can be asked about: a deleted object cannot be changed.
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
    """Expressions are checked against the types of what they may meet."""
    constraints = spec["matchConstraints"]
    rules = constraints["resourceRules"]
    if not constraints:
        yield require(constraints, Complaint("a policy must say what it is about", "add matchConstraints with resourceRules"))
    elif not len(rules):
        yield require(
            rules, Complaint("a policy must say what it is about", "add a rule with operations, apiGroups, apiVersions and resources")
        )


@validator((*_MUTATING, *in_versions("MutatingAdmissionPolicyBindingSpec")), rule=admission_rule)
def operations_can_be_changed(spec: Node) -> Iterator[Problem]:
    """The server names the list of operations without saying which rule's."""
    rules = spec["matchResources" if spec["matchResources"] else "matchConstraints"]["resourceRules"]
    for rule in rules:
        for each in rule["operations"]:
            if each.text not in _MUTABLE and each.value.__class__ in (str, type(None)):
                message = f"{each.text or 'an empty operation'} changes nothing that could be mutated"
                yield Problem(
                    each, message, help="write CREATE, UPDATE, CONNECT or '*'", reason="NotSupported", field=rules.imaginary("operations")
                )


@validator(_SPECS, rule=admission_policy)
def parameters_have_a_kind(spec: Node) -> Iterator[Problem]:
    """apiVersion and kind of the parameters' objects."""
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
        return Complaint(f"{text} has more than one '/'", "write group/version")
    if not version:
        return Complaint(f"{text} has no version", f"write group/version, such as {group or 'example.com'}/v1")
    return (names.dns_subdomain(group) if group else "") or names.dns1035_label(version)


@validator(_VALIDATING, rule=admission_policy)
def policy_does_something(spec: Node) -> Iterator[Problem]:
    """There is something to check or to write down."""
    validations, annotations = spec["validations"], spec["auditAnnotations"]
    if not len(validations) and not len(annotations):
        yield require(validations, Complaint("a policy must demand something or write something down", "add validations"))
        yield require(
            annotations, Complaint("a policy must demand something or write something down", "add validations (or auditAnnotations)")
        )
    if len(annotations) > _MOST_ANNOTATIONS:
        message = f"{len(annotations)} audit annotations are too many"
        yield Problem(annotations, message, help=f"keep {_MOST_ANNOTATIONS}", reason="Invalid", at="key")


@validator(_MUTATING, rule=admission_policy)
def mutations_are_given(spec: Node) -> Iterator[Problem]:
    """What is changed, and how."""
    mutations = spec["mutations"]
    if not len(mutations):
        yield require(mutations, Complaint("a policy must mutate", "add mutations"))
    for each in mutations:
        yield from _mutation_problems(each)


def _mutation_problems(mutation: Node) -> Iterator[Problem]:
    kind = mutation["patchType"].text
    if kind not in PATCHES:
        return
    for name, key in PATCHES.items():
        if name == kind and not mutation[key]:
            yield require(mutation[key], Complaint(f"the patch is a {kind}", f"add {key} with an expression"))
        elif name != kind and mutation[key]:
            yield Problem(mutation[key], f"the patch is a {kind}", help=f"take {key} away", reason="Invalid", at="key")


@validator(in_versions("ValidatingAdmissionPolicyBindingSpec"), rule=admission_policy)
def actions_go_together(spec: Node) -> Iterator[Problem]:
    """What happens when a validation fails: at least one thing, each once, and not the same thing said in two ways."""
    actions = spec["validationActions"]
    if not len(actions):
        yield require(actions, Complaint("a binding must say what happens when a validation fails", f"add {', '.join(_ACTIONS)}"))
    seen: set[str] = set()
    for each in actions:
        if each.text not in _ACTIONS:
            yield not_supported(each, _ACTIONS)
        if each.text in seen:
            yield Problem(each, f"{each.text or 'an empty action'} is listed already", help="take it away", reason="Duplicate")
        seen.add(each.text)
    if {"Deny", "Warn"} <= seen:
        yield Problem(actions, "who is denied needs no warning", help="take Deny or Warn away", reason="Invalid")


@validator(_BINDINGS, rule=admission_policy)
def parameters_are_found(spec: Node) -> Iterator[Problem]:
    """Parameters are found by name or by labels."""
    reference = spec["paramRef"]
    name, selector = reference["name"], reference["selector"]
    if not reference:
        return
    if name.text and selector:
        for each in (name, selector):
            yield Problem(each, "parameters are found by name or by selector", help="take one of them away", reason="Forbidden", at="key")
    elif not name.text and not selector:
        yield require(reference, Complaint("parameters are found by name or by selector", "add one of them"))


@validator(_ALL, rule=dubious_setting)
def names_are_free(resource: Resource) -> Iterator[Problem]:
    """Names that are kept for what the server reads from its own files. Source: WarningsForStaticSuffix."""
    name = resource["metadata"]["name"]
    if name.text.endswith(_STATIC) and not resource.is_before(_STATIC_SINCE):
        yield Problem(name, f"names in {_STATIC} are for what the server reads from its own files", help="take another")
