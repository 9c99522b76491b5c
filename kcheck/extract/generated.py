"""ConfigMaps and Secrets that are not in the input because a controller generates them from objects in the input.

Sources: the documentation of each of the projects. Controllers that are not listed may generate others, so the names that custom
resources, arguments of generators and RBAC rules mention are collected as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.facts.facts import GeneratedObject
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

RBAC = "rbac.authorization.k8s.io"
_GROUPS_WITHOUT_PODS = (
    "networking.", "gateway.", "security.", "telemetry.", "traefik.", "policy.", "cert-manager.io", "external-secrets.io", "bitnami.com",
    "secrets-store.csi.x-k8s.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "kyverno.io", "trust.cert-manager.io",
)  # fmt: skip
_KINDS_WITHOUT_PODS = {
    "ServiceMonitor",
    "PodMonitor",
    "PrometheusRule",
    "Probe",
    "ScaledObject",
    "TriggerAuthentication",
    "AnalysisTemplate",
}
# Annotations that generate cert-manager issue the certificates that an object needs.
_CERT_MANAGER_ANNOTATIONS = frozenset({"cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme"})
_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
# The same for a whole text, without backtracking.
_WHOLE_NAME = pattern(r"(?![.-])[a-z0-9.-]{1,252}+(?<![.-])")
_MAX_MENTIONS = 4000
"""Maximum number of mentions per object, which limits the memory that a malicious object can use."""


def is_custom(group: str) -> bool:
    """Whether a group is not built into Kubernetes, so that a controller may generate objects from its resources."""
    return "." in group and (not group.endswith(".k8s.io") or group.startswith("gateway.networking."))


def may_create_pods(resource: Resource) -> bool:
    """Whether a custom resource may create Pods: its group and kind are not known to only route, monitor, protect or configure."""
    return not resource.group.startswith(_GROUPS_WITHOUT_PODS) and resource.kind not in _KINDS_WITHOUT_PODS


def generated_objects(resource: Resource, custom: bool) -> Iterator[GeneratedObject]:
    """Yield the objects that a controller generates: none for most built-in kinds except Ingress."""
    if custom:
        generate = _GENERATORS.get((resource.group, resource.kind))
        if generate is not None:
            yield from generate(resource)
    if resource.kind in ("Ingress", "Gateway") and not _CERT_MANAGER_ANNOTATIONS.isdisjoint(resource.annotations):
        spec = resource["spec"]
        listed = (reference["name"] for listener in spec["listeners"] for reference in listener["tls"]["certificateRefs"])
        for name in (*(tls["secretName"] for tls in spec["tls"]), *listed):
            yield from _secret(name, _CERTIFICATE_KEYS)
    if custom:
        yield from _secret(resource["spec"]["writeConnectionSecretToRef"]["name"])


def mentioned_names(resource: Resource, pods: list[Pod], custom: bool) -> frozenset[str]:
    """Return names of objects that may be generated: all names in a custom resource, a few in other objects."""
    if custom:
        return frozenset(_names(resource.node))
    found: set[str] = set()
    for pod in pods:
        for container in pod.containers:
            for argument in (*container["command"], *container["args"]):
                if len(argument.text) < _MAX_MENTIONS and ("secret" in argument.text or "configmap" in argument.text.lower()):
                    found.update(_NAME.findall(argument.text))
    if resource.group == RBAC:
        for rule in resource["rules"]:
            found.update(name.text for name in rule["resourceNames"])
    return frozenset(found)


def _names(root: Node) -> set[str]:
    """Return the strings below a node that are valid names."""
    found: set[str] = set()
    budget, pending, is_name = _MAX_MENTIONS, [root], _WHOLE_NAME.fullmatch
    while pending and budget:
        node = pending.pop()
        budget -= 1
        text = node.text
        if text:
            if text not in found and is_name(text):
                found.add(text)
        elif len(node):
            pending.extend(node)
    return found


def _secret(node: Node, keys: frozenset[str] | None = None) -> Iterator[GeneratedObject]:
    if node.text:
        yield GeneratedObject("Secret", node.text, keys)


def _same_name(resource: Resource) -> Iterator[GeneratedObject]:
    yield from _secret(resource.node.at("metadata", "name"))


def _secret_named_by(*path: str) -> Callable[[Resource], Iterator[GeneratedObject]]:
    """Return a function that yields the Secret named by this field, or else the Secret with the object's own name."""

    def generate(resource: Resource) -> Iterator[GeneratedObject]:
        node = resource["spec"].at(*path)
        yield from _secret(node) if node.text else _same_name(resource)

    return generate


def _secrets_in_list(field: str, name: str) -> Callable[[Resource], Iterator[GeneratedObject]]:
    def generate(resource: Resource) -> Iterator[GeneratedObject]:
        for each in resource["spec"][field]:
            yield from _secret(each[name])

    return generate


def _sealed_secret(resource: Resource) -> Iterator[GeneratedObject]:
    spec = resource["spec"]
    keys = {key for part in (spec["encryptedData"], spec.at("template", "data")) for key, _ in part.entries}
    yield GeneratedObject("Secret", spec.at("template", "metadata", "name").text or resource.name, frozenset(keys) or None)


def _certificate(resource: Resource) -> Iterator[GeneratedObject]:
    yield from _secret(resource["spec"]["secretName"], _CERTIFICATE_KEYS)


def _cluster_external(resource: Resource) -> Iterator[GeneratedObject]:
    spec = resource["spec"]
    for node in (spec.at("externalSecretSpec", "target", "name"), spec["externalSecretName"]):
        yield from _secret(node)
    yield from _same_name(resource)


def _config_map_and_secret(resource: Resource) -> Iterator[GeneratedObject]:
    yield GeneratedObject("ConfigMap", resource.name)
    yield GeneratedObject("Secret", resource.name)


_CERTIFICATE_KEYS = frozenset(
    {"tls.crt", "tls.key", "ca.crt", "tls-combined.pem", "key.der", "keystore.jks", "truststore.jks", "keystore.p12", "truststore.p12"}
)
_GENERATORS: dict[tuple[str, str], Callable[[Resource], Iterator[GeneratedObject]]] = {
    ("external-secrets.io", "ExternalSecret"): _secret_named_by("target", "name"),
    ("external-secrets.io", "ClusterExternalSecret"): _cluster_external,
    ("kubernetes-client.io", "ExternalSecret"): _same_name,
    ("bitnami.com", "SealedSecret"): _sealed_secret,
    ("cert-manager.io", "Certificate"): _certificate,
    ("secrets-store.csi.x-k8s.io", "SecretProviderClass"): _secrets_in_list("secretObjects", "secretName"),
    ("isindir.github.com", "SopsSecret"): _secrets_in_list("secretTemplates", "name"),
    ("secrets.hashicorp.com", "VaultStaticSecret"): _secret_named_by("destination", "name"),
    ("secrets.hashicorp.com", "VaultDynamicSecret"): _secret_named_by("destination", "name"),
    ("secrets.hashicorp.com", "VaultPKISecret"): _secret_named_by("destination", "name"),
    ("secrets.infisical.com", "InfisicalSecret"): _secret_named_by("managedSecretReference", "secretName"),
    ("secrets.doppler.com", "DopplerSecret"): _secret_named_by("managedSecret", "name"),
    ("onepassword.com", "OnePasswordItem"): _same_name,
    ("ricoberger.de", "VaultSecret"): _same_name,
    ("kafka.strimzi.io", "KafkaUser"): _same_name,
    ("objectbucket.io", "ObjectBucketClaim"): _config_map_and_secret,
    ("trust.cert-manager.io", "Bundle"): _config_map_and_secret,
}
