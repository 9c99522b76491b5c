"""CEL expressions of CustomResourceDefinitions, admission policies and webhooks.

Source: cel.Compile (apiextensions-apiserver, pkg/apiserver/schema/cel), and plugincel.Compiler of k8s.io/apiserver for policies and
webhooks (pkg/admission/plugin/cel).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Reason, Resource, declare, expressions, validator
from kcheck_spec.admission.policies import PATCHES
from kcheck_spec.admission.rules import in_versions
from kcheck_spec.crd.names import DEFINITION
from kcheck_spec.crd.schema import examinations

cel_expression = declare("invalid-cel-expression", "CEL expression does not compile or exceeds the cost limit of the API server")

_CONFIGURATIONS = in_versions("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_MAX_ANNOTATION_BYTES = 5 * 1024


def _problems(node: Node, faults: list[expressions.ExpressionFault], resource: Resource) -> Iterator[Problem]:
    for fault in {each.message: each for each in reversed(faults)}.values():
        reason: Reason = "Internal" if fault.internal else "Invalid"
        span = expressions.place(node, fault.offset, resource) if fault.offset is not None else None
        yield Problem(span or node, fault.message, reason=reason, field=node)


@validator(DEFINITION, rule=cel_expression)
def rules_of_schemas_compile(crd: Resource) -> Iterator[Problem]:
    """Yield compile errors and exceeded cost limits of x-kubernetes-validations, checked against the types of their schema."""
    for each in examinations(crd, crd.minor):
        sound = {id(schema) for schema, _ in each.sound_rules}
        if not sound:
            continue
        for fault in expressions.schema_faults(each.root, crd.minor):
            schema = _schema_of(fault.node, each.root)
            if fault.node is each.root or id(schema) in sound:
                span = expressions.place(fault.node, fault.offset, crd) if fault.offset is not None else None
                yield Problem(span or fault.node, fault.message, reason=fault.reason, field=each.path(fault.node))


def _schema_of(node: Node, root: Node) -> Node | None:
    """The schema that holds the x-kubernetes-validations of a node, None for a node outside of them."""
    at: Node | None = node
    while at is not None and at is not root:
        if at.name == "x-kubernetes-validations":
            return at.parent
        at = at.parent
    return None


@validator(_CONFIGURATIONS, rule=cel_expression)
def conditions_of_webhooks_compile(configuration: Resource) -> Iterator[Problem]:
    """Yield compile errors of matchConditions, which have no `params` and no `variables`."""
    policy = expressions.Policy(configuration.minor)
    for hook in configuration["webhooks"]:
        yield from _conditions(hook["matchConditions"], policy, configuration)


def _conditions(conditions: Node, policy: expressions.Policy, resource: Resource) -> Iterator[Problem]:
    for each in conditions:
        yield from _compiled(each["expression"], "bool", policy, resource)


def _compiled(node: Node, result: str, policy: expressions.Policy, resource: Resource, *, authorizer: bool = True) -> Iterator[Problem]:
    if node.text.strip():
        yield from _problems(node, policy.compile(node.text, result, authorizer=authorizer), resource)


@validator(in_versions("ValidatingAdmissionPolicy"), rule=cel_expression)
def expressions_of_validating_policies_compile(resource: Resource) -> Iterator[Problem]:
    """Yield compile errors of a ValidatingAdmissionPolicy. `messageExpression` has no `authorizer`."""
    spec = resource["spec"]
    yield from _conditions(spec["matchConditions"], _bare_policy(resource), resource)
    policy = expressions.Policy(resource.minor, params=bool(spec["paramKind"]), variables=len(spec["variables"]) > 0)
    yield from _variables(spec["variables"], policy, resource)
    for each in spec["validations"]:
        yield from _compiled(each["expression"], "bool", policy, resource)
        yield from _compiled(each["messageExpression"], "string", policy, resource, authorizer=False)
    for each in spec["auditAnnotations"]:
        value = each["valueExpression"]
        if len(value.text.strip().encode("utf-8", "surrogatepass")) <= _MAX_ANNOTATION_BYTES:
            yield from _compiled(value, "string or null", policy, resource)


@validator(in_versions("MutatingAdmissionPolicy"), rule=cel_expression)
def expressions_of_mutating_policies_compile(resource: Resource) -> Iterator[Problem]:
    """Yield compile errors of a MutatingAdmissionPolicy, whose expressions return an Object or a list of JSONPatch."""
    spec = resource["spec"]
    yield from _conditions(spec["matchConditions"], _bare_policy(resource), resource)
    policy = expressions.Policy(resource.minor, params=bool(spec["paramKind"]), variables=True, patches=True)
    yield from _variables(spec["variables"], policy, resource)
    for each in spec["mutations"]:
        key = PATCHES.get(each["patchType"].text, "")
        yield from _compiled(each[key]["expression"], "patches" if key == "jsonPatch" else "object", policy, resource)


def _bare_policy(resource: Resource) -> expressions.Policy:
    """The environment of matchConditions: without `variables`."""
    return expressions.Policy(resource.minor, params=bool(resource["spec"]["paramKind"]))


def _variables(variables: Node, policy: expressions.Policy, resource: Resource) -> Iterator[Problem]:
    for each in variables:
        if each["expression"].text.strip():
            yield from _problems(each["expression"], policy.declare(each["name"].text, each["expression"].text), resource)
