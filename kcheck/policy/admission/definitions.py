"""Admission policies and bindings as they are written, without their compiled expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcheck.kube.location import Location
from kcheck.kube.resource import Resource
from kcheck.kube.selector import Selector, of_fields
from kcheck.schema.locator import Locator
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

GROUP = "admissionregistration.k8s.io"
_POLICY_KINDS = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")


class AdmissionRule(NamedTuple):
    """A rule that selects requests. `resources`: pairs of resource and subresource; `names`: () for all objects."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str
    names: frozenset[str]


class MatchResources(NamedTuple):
    """Which requests a policy or binding applies to. A selector that selects everything is None; `rules`: () for all requests."""

    namespaces: Selector | None
    objects: Selector | None
    rules: tuple[AdmissionRule, ...]
    excludes: tuple[AdmissionRule, ...]
    exact: bool


class Expression(NamedTuple):
    """An expression with its node in the policy. `name`: the name of a variable, condition or audit annotation."""

    text: str
    node: Node
    name: str = ""


class PolicyValidation(NamedTuple):
    """A validation. `message_expression` is None if there is none."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str


class ParamKind(NamedTuple):
    """The kind of the parameters of a policy."""

    api_version: str
    kind: str


class ParamRef(NamedTuple):
    """The parameters that a binding selects, by name or with a selector. `denies`: whether objects are denied if there are none."""

    name: str
    namespace: str
    selector: Selector | None
    denies: bool


class AdmissionPolicy:
    """A ValidatingAdmissionPolicy or MutatingAdmissionPolicy.

    Attributes:
        resource: The object.
        name: Its name.
        match: matchConstraints.
        conditions: matchConditions.
        variables: The variables in order.
        validations: The validations of a validating policy.
        annotations: The auditAnnotations of a validating policy.
        mutations: The mutations of a mutating policy: patchType and expression.
        is_mutating: Whether the policy changes objects.
        is_reinvoked: Whether a mutating policy is applied again if others changed the object.
        fails_closed: Whether an error denies the request.
        param_kind: The kind of the parameters, None without parameters.
    """

    def __init__(self, resource: Resource) -> None:
        spec = resource["spec"]
        self.resource = resource
        self.name = resource.name
        self.is_mutating = resource.kind == "MutatingAdmissionPolicy"
        self.match = match_of(spec["matchConstraints"])
        self.conditions = tuple(_expression(each["expression"], each["name"].text) for each in spec["matchConditions"])
        self.variables = tuple(_expression(each["expression"], each["name"].text) for each in spec["variables"])
        self.validations = tuple(map(_validation, spec["validations"]))
        self.annotations = tuple(_expression(each["valueExpression"], each["key"].text) for each in spec["auditAnnotations"])
        self.mutations = tuple(
            (each["patchType"].text, _expression(each[key]["expression"]))
            for each in spec["mutations"]
            if (key := "jsonPatch" if each["patchType"].text == "JSONPatch" else "applyConfiguration")
        )
        self.fails_closed = spec["failurePolicy"].text != "Ignore"
        kind = spec["paramKind"]
        self.is_reinvoked = spec["reinvocationPolicy"].text == "IfNeeded"
        self._places: dict[int, Location] = {}
        self.param_kind = ParamKind(kind["apiVersion"].text, kind["kind"].text) if kind else None

    @property
    def id(self) -> str:
        """The id of the policy as a rule."""
        return f"policy/{self.name}"

    def place(self, node: Node) -> Location:
        """Return the location of a node of the policy."""
        found = self._places.get(id(node))
        if found is None:
            found = self._places[id(node)] = Locator(self.resource.document, self.resource).place(node)
        return found


class Binding:
    """The binding of a policy.

    Attributes:
        name: The name of the binding.
        policy: The name of the policy.
        actions: validationActions.
        match: matchResources, None to match what the policy matches.
        param_ref: The parameters.
    """

    def __init__(self, resource: Resource) -> None:
        spec = resource["spec"]
        self.resource = resource
        self.name = resource.name
        self.policy = spec["policyName"].text
        self.actions = frozenset(each.text for each in spec["validationActions"])
        self.match = match_of(spec["matchResources"]) if spec["matchResources"] else None
        reference = spec["paramRef"]
        self.param_ref = _param_ref(reference) if reference else None

    def place(self, node: Node) -> Location:
        """Return the location of a node of the binding."""
        return Locator(self.resource.document, self.resource).place(node)


class AdmissionObjects(NamedTuple):
    """The admission policies and bindings of an input."""

    validating: list[AdmissionPolicy]
    mutating: list[AdmissionPolicy]
    validating_bindings: list[Binding]
    mutating_bindings: list[Binding]


def read_admission_objects(resources: Iterable[Resource]) -> AdmissionObjects:
    """Return the policies and bindings among these objects. Of objects with the same name, the last one applies."""
    policies: dict[tuple[str, str], AdmissionPolicy] = {}
    bindings: dict[tuple[str, str], Binding] = {}
    for resource in resources:
        key = resource.kind, resource.name
        if resource.group == GROUP and resource.name and resource.kind in _POLICY_KINDS:
            policies[key] = AdmissionPolicy(resource)
        elif resource.group == GROUP and resource.name and resource.kind.removesuffix("Binding") in _POLICY_KINDS:
            bindings[key] = Binding(resource)
    return AdmissionObjects(
        [each for each in policies.values() if not each.is_mutating],
        [each for each in policies.values() if each.is_mutating],
        [each for (kind, _), each in bindings.items() if kind.startswith("Validating")],
        [each for (kind, _), each in bindings.items() if kind.startswith("Mutating")],
    )


def match_of(node: Node) -> MatchResources:
    """Return matchConstraints or matchResources."""
    return MatchResources(
        _selector(node["namespaceSelector"]),
        _selector(node["objectSelector"]),
        tuple(map(_rule, node["resourceRules"])),
        tuple(map(_rule, node["excludeResourceRules"])),
        node["matchPolicy"].text == "Exact",
    )


def _selector(node: Node) -> Selector | None:
    found = selector_of(node)
    return found if found is not None and found.requirements else None


def selector_of(node: Node) -> Selector | None:
    """Return a label selector, None if there is none."""
    plain: Any = node.plain() if node.is_map else None
    return of_fields(plain)


def _rule(node: Node) -> AdmissionRule:
    resources = []
    for each in node["resources"]:
        name, _, sub = each.text.partition("/")
        resources.append((name, sub))
    return AdmissionRule(
        _texts(node["operations"]), _texts(node["apiGroups"]), _texts(node["apiVersions"]), tuple(resources), node["scope"].text or "*",
        _texts(node["resourceNames"]),
    )  # fmt: skip


def _texts(node: Node) -> frozenset[str]:
    return frozenset(each.text for each in node)


def _expression(node: Node, name: str = "") -> Expression:
    return Expression(node.text, node, name)


def _validation(node: Node) -> PolicyValidation:
    message = node["messageExpression"]
    return PolicyValidation(
        _expression(node["expression"]), node["message"].text, _expression(message) if message.text.strip() else None, node["reason"].text
    )


def _param_ref(node: Node) -> ParamRef:
    selector = selector_of(node["selector"]) if "selector" in node else None
    return ParamRef(node["name"].text, node["namespace"].text, selector, node["parameterNotFoundAction"].text == "Deny")
