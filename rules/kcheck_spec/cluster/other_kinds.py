"""Kinds with few checks: Namespace, ServiceAccount, ControllerRevision, Lease, PriorityClass, Binding.

Source: ValidateNamespace, ValidatePodBinding (pkg/apis/core/validation) and the validation of pkg/apis/apps, coordination, scheduling;
WarningsOnCreate of service accounts.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import (
    Complaint,
    Node,
    Problem,
    Resource,
    declare,
    did_you_mean,
    enumeration,
    fields,
    help_of,
    labels,
    names,
    nearest,
    pod_security,
    validator,
)
from kcheck_spec.objects.common_constraints import deprecated_field, non_negative, not_supported, positive
from kcheck_spec.objects.engine import required_field
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.objects.metadata import finalizer

priority_class = declare("invalid-priority-class", "PriorityClass uses a value or name prefix reserved for the system")

pod_security_label = declare(
    "invalid-pod-security-label",
    "Namespace has an invalid pod-security.kubernetes.io label",
    groups=("security", "pod-security-admission", "namespaces"),
    fixable=True,
)

_NAME_LABEL = "kubernetes.io/metadata.name"
_MAX_USER_PRIORITY = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"


tables = [
    fields(
        "coordination/v1 LeaseSpec",
        leaseDurationSeconds=positive,
        leaseTransitions=non_negative,
        # Dropped unless the gate CoordinatedLeaderElection is on.
        strategy=(),
        preferredHolder=(),
    ),
    fields("apps/v1 ControllerRevision", revision=non_negative, data=()),
    fields("core/v1 Binding", target=()),
    fields("scheduling/v1 PriorityClass", value=()),
]


@validator("core/v1 NamespaceSpec", rule=finalizer)
def namespace_finalizers_are_qualified(spec: Node) -> Iterator[Problem]:
    """The same check as for metadata.finalizers. The server names the list in its errors, not the finalizer."""
    for each in spec["finalizers"]:
        wrong = names.finalizer(each.text) or names.standard_finalizer(each.text)
        if wrong:
            yield Problem(each, wrong, reason="Invalid", field=spec["finalizers"])


@validator("core/v1 Namespace", rule=label_syntax)
def names_of_namespaces_are_label_values(namespace: Resource) -> Iterator[Problem]:
    """The API server labels a Namespace with its name, so it reports a name that no label can have under metadata.labels, too."""
    name = namespace["metadata"]["name"]
    wrong = labels.value(name.text)
    if wrong:
        message = Complaint(f"the name of the Namespace is not a valid value of the label {_NAME_LABEL}: {wrong}", help_of(wrong))
        yield Problem(name, message, reason="Invalid", field=namespace["metadata"]["labels"], echo=True)


@validator("core/v1 Namespace", rule=pod_security_label)
def pod_security_levels_are_known(namespace: Resource) -> Iterator[Problem]:
    """Labels of the admission plug-in PodSecurity, which rejects unknown levels and versions. Source: PolicyToEvaluate."""
    for key, node in namespace.node.at("metadata", "labels").entries:
        mode = key.removeprefix(pod_security.PREFIX)
        if mode == key or mode.removesuffix("-version") not in pod_security.MODES:
            continue
        if mode.endswith("-version"):
            if pod_security.version_of(node.text) is None or not node.text:
                prefixed = f"v{node.text}" if node.text and pod_security.version_of(f"v{node.text}") is not None else ""
                hint = did_you_mean(prefixed, 'use "latest" or a version such as "v1.36"')
                yield Problem(node, f'"{node.value}" is not a valid Pod Security version', help=hint, reason="Invalid")
        elif node.text not in pod_security.LEVELS:
            near = nearest(node.text, pod_security.LEVELS)
            hint = did_you_mean(near, f"use {enumeration(pod_security.LEVELS, 'or')}")
            yield Problem(node, f'"{node.value}" is not a valid Pod Security level', help=hint, reason="Invalid")


@validator("core/v1 ServiceAccount", rule=deprecated_field)
def mountable_secrets_are_not_enforced(account: Resource) -> Iterator[Problem]:
    """Deprecated since 1.32."""
    annotation = account.node.at("metadata", "annotations", _MOUNTABLE)
    if annotation.exists and not account.is_before(32):
        message = f"annotation {_MOUNTABLE} is deprecated since Kubernetes 1.32"
        yield Problem(annotation, message, help="use separate namespaces to isolate access to Secrets", at="key")


@validator("scheduling/v1 PriorityClass", rule=priority_class)
def priorities_leave_the_system_its_own(priority: Node) -> Iterator[Problem]:
    """Names that begin with "system-" and values above 1,000,000,000 are reserved."""
    name, value = priority.at("metadata", "name"), priority["value"]
    if name.text.startswith("system-"):
        if _SYSTEM.get(name.text) != (value.integer or 0) or priority["globalDefault"].boolean:
            bare = name.text.removeprefix("system-")
            message = f'PriorityClass name "{name.text}" has the reserved prefix "system-"'
            yield Problem(name, message, help=f'use another name, such as "{bare}"' if bare else "use another name", reason="Forbidden")
    elif (value.integer or 0) > _MAX_USER_PRIORITY:
        message = f"value {value.integer} is in the range reserved for the system"
        yield Problem(value, message, help=f"use {_MAX_USER_PRIORITY} or less", reason="Forbidden")
    policy = priority["preemptionPolicy"]
    if policy.exists and policy.value == "":
        help = "set preemptionPolicy to PreemptLowerPriority or Never, or remove it"
        yield Problem(policy, "preemptionPolicy is empty", help=help, reason="Required")


@validator("apps/v1 ControllerRevision", rule=required_field)
def revisions_have_data(revision: Resource) -> Iterator[Problem]:
    """data is a map, which may be empty. Before 1.31 any value but null was accepted."""
    data = revision["data"]
    if not (data if revision.is_before(31) else data.is_map):
        yield Problem(data, "data is required and must be a map", help="add data", reason="Required")


@validator("core/v1 Binding", rule=required_field)
def bindings_name_a_node(binding: Node) -> Iterator[Problem]:
    """A Binding binds a Pod to a Node by name."""
    target = binding["target"]
    if target["kind"].text not in ("", "Node"):
        yield not_supported(target["kind"], ("Node",))
    if not target["name"].text:
        yield Problem(target["name"], "Binding has no target.name", help="set target.name to the name of a Node", reason="Required")
