"""Names of objects: the name format of each kind.

Source: the ValidateObjectMeta calls of kubernetes/kubernetes, pkg/apis/*/validation, and of the aggregator and the extension server;
registry/rest/create.go of the API server, which uses every name as a part of a URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kcheck.api import WARNING, Problem, Resource, declare, help_of, names, validator
from kcheck_spec.objects.common_constraints import object_name

pod_hostname = declare(
    "non-dns-label-name", "Name of a Pod or workload is not a DNS label and makes a poor hostname", severity=WARNING, fixable=True
)

# Kinds whose names are not DNS subdomains. Further requirements (version and group in the name of an APIService, the address of an
# IPAddress) are checked with the kind.
RULES: dict[str, names.Rule] = {
    "Namespace": names.dns_label,
    "Service": names.dns_label,
    "apps StatefulSet": names.dns_label,
    "Event": names.path_segment,
    "apiregistration.k8s.io APIService": names.path_segment,
    "certificates.k8s.io CertificateSigningRequest": names.path_segment,
    "certificates.k8s.io ClusterTrustBundle": names.path_segment,
    "networking.k8s.io IPAddress": names.path_segment,
    "policy PodDisruptionBudget": names.path_segment,
    "rbac.authorization.k8s.io ClusterRole": names.path_segment,
    "rbac.authorization.k8s.io ClusterRoleBinding": names.path_segment,
    "rbac.authorization.k8s.io Role": names.path_segment,
    "rbac.authorization.k8s.io RoleBinding": names.path_segment,
    "coordination.k8s.io LeaseCandidate": names.config_key,
}

# The API server generates the name of a LimitRange that has none. kubectl rejects objects without a name, except for kubectl create.
_NAMED_BY_SERVER = "LimitRange"

# Name formats before a version 1.N.
_BEFORE: dict[str, tuple[int, names.Rule]] = {"apps StatefulSet": (27, names.dns_subdomain)}
_SERVICES = "RelaxedServiceNameValidation"

# Kinds that are requests and never stored: their metadata is not checked, or has separate rules.
UNSTORED = frozenset(
    {
        "Binding",
        "authentication.k8s.io SelfSubjectReview",
        "authentication.k8s.io TokenRequest",
        "authentication.k8s.io TokenReview",
        "authorization.k8s.io LocalSubjectAccessReview",
        "authorization.k8s.io SelfSubjectAccessReview",
        "authorization.k8s.io SelfSubjectRulesReview",
        "authorization.k8s.io SubjectAccessReview",
        "autoscaling Scale",
        "policy Eviction",
    }
)

# The server checks only the name that it generates from the prefix.
_PREFIX_UNCHECKED = ("resource.k8s.io DeviceClass", "ReplicationController")

_NAMING_PODS = (
    "core/v1 Pod", "core/v1 ReplicationController", "apps/v1 Deployment", "apps/v1 ReplicaSet", "batch/v1 CronJob", "batch/v1 Job",
)  # fmt: skip


def kind_of(resource: Resource) -> str:
    """The kind with its group, whatever the version: "apps Deployment", "Pod"."""
    return _kind(resource.api_version, resource.kind)


@lru_cache(maxsize=1024)
def _kind(api_version: str, kind: str) -> str:
    return f"{api_version.rpartition('/')[0]} {kind}".lstrip()


def rule_of(resource: Resource) -> names.Rule:
    """The rule for the name of an object."""
    rule = _rule(resource.api_version, resource.kind, resource.minor)
    return names.dns1035_label if kind_of(resource) == "Service" and not resource.enables(_SERVICES) else rule


@lru_cache(maxsize=1024)
def _rule(api_version: str, kind: str, minor: int) -> names.Rule:
    full = _kind(api_version, kind)
    since, earlier = _BEFORE.get(full, (0, names.dns_subdomain))
    return earlier if 0 < minor < since else RULES.get(full, names.dns_subdomain)


def is_stored(resource: Resource) -> bool:
    """Whether the object is stored, so that the server checks its metadata."""
    metadata = resource["metadata"]
    # metadata that is not a map cannot be decoded, which another rule reports.
    return (metadata.is_map or not metadata) and not is_list(resource) and kind_of(resource) not in UNSTORED


def is_list(resource: Resource) -> bool:
    """Whether the resource is a list of objects; only an empty list is not split into its items."""
    return resource.kind.endswith("List") and "items" in resource.node and "spec" not in resource.node


@validator(rule=object_name)
def names_fit_kind(resource: Resource) -> Iterator[Problem]:
    """metadata.name or metadata.generateName is present and has the format of the kind."""
    if not is_stored(resource):
        return
    rule = rule_of(resource)
    metadata = resource["metadata"]
    name, prefix = metadata["name"], metadata["generateName"]
    bad_prefix = names.generate_name(rule, prefix.text) if prefix.text and kind_of(resource) not in _PREFIX_UNCHECKED else ""
    if bad_prefix:
        yield Problem(prefix, bad_prefix, reason="Invalid")
    if text := name.text:
        wrong = rule(text)
        if wrong:
            yield Problem(name, wrong, reason="Invalid")
    elif prefix.text:
        wrong = rule(names.generated(prefix.text))
        if wrong:
            message = f'names generated from "{prefix.text}" are not valid' + ("" if bad_prefix else f": {wrong}")
            yield Problem(prefix, message, reason="Invalid", field=name)
    elif (not name or name.value == "") and kind_of(resource) != _NAMED_BY_SERVER:
        yield Problem(name, "object has no name", help="add metadata.name or metadata.generateName", reason="Required")


@validator(rule=object_name, metadata="namespace")
def namespaces_are_labels(resource: Resource) -> Iterator[Problem]:
    """metadata.namespace must be a valid name of a Namespace."""
    if not resource.namespaced:
        return
    namespace = resource["metadata"]["namespace"]
    if namespace.text and is_stored(resource):
        wrong = names.dns_label(namespace.text)
        if wrong:
            yield Problem(namespace, f"invalid namespace: {wrong}", help=help_of(wrong), reason="Invalid")


@validator(_NAMING_PODS, rule=pod_hostname)
def names_of_pods_are_labels(resource: Resource) -> Iterator[Problem]:
    """Names of Pods, and so their hostnames, are derived from the workload. Source: the WarningsOnCreate of these kinds."""
    name, prefix = resource["metadata"]["name"], resource["metadata"]["generateName"]
    text = name.text or (names.generated(prefix.text) if prefix.text else "")
    if text and not names.dns_subdomain(text):
        wrong = names.dns_label(text)
        if wrong:
            node = name if name.text else prefix
            yield Problem(node, f"{node.path} is used in Pod hostnames: {wrong}", help=help_of(wrong), field=name)
