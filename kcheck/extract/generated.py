"""ConfigMaps and Secrets that do not stand in the input because a controller makes them from what does.

Sources: the documentation of each of the projects. What is not listed here may still be made by somebody: the names that custom
resources, generators' arguments and RBAC rules mention are collected for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.facts.facts import GeneratedObject
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

RBAC = "rbac.authorization.k8s.io"
_IDLE_GROUPS = (
    "networking.", "gateway.", "security.", "telemetry.", "traefik.", "policy.", "cert-manager.io", "external-secrets.io", "bitnami.com",
    "secrets-store.csi.x-k8s.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "kyverno.io", "trust.cert-manager.io",
)  # fmt: skip
_IDLE_KINDS = {"ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe", "ScaledObject", "TriggerAuthentication", "AnalysisTemplate"}
# Annotations by which cert-manager makes the certificates that an object asks for.
_ISSUED = frozenset({"cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme"})
_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_MOST = 4000
"""Mentions of one object that are looked at, lest a hostile one fill the memory of all."""


def is_custom(group: str) -> bool:
    """Whether a group is none of Kubernetes' own, so that some controller may make anything of its objects."""
    return "." in group and (not group.endswith(".k8s.io") or group.startswith("gateway.networking."))


def may_make_pods(resource: Resource) -> bool:
    """Whether a custom resource is none of those of which it is known that they only route, watch, guard or configure."""
    return not resource.group.startswith(_IDLE_GROUPS) and resource.kind not in _IDLE_KINDS


def made(resource: Resource, custom: bool) -> Iterator[GeneratedObject]:
    """What the controller of an object makes: nothing of most that are not custom, and are no Ingress."""
    if custom:
        make = _MAKERS.get((resource.group, resource.kind))
        if make is not None:
            yield from make(resource)
    if resource.kind in ("Ingress", "Gateway") and not _ISSUED.isdisjoint(resource.annotations):
        spec = resource["spec"]
        listed = (reference["name"] for listener in spec["listeners"] for reference in listener["tls"]["certificateRefs"])
        for name in (*(tls["secretName"] for tls in spec["tls"]), *listed):
            yield from _secret(name, _CERTIFICATE)
    if custom:
        yield from _secret(resource["spec"]["writeConnectionSecretToRef"]["name"])


def mentions(resource: Resource, pods: list[Pod], custom: bool) -> frozenset[str]:
    """Names that an object mentions as if something were to make them: all in a custom resource, a few elsewhere."""
    if custom:
        return frozenset(_names(resource.node))
    found: set[str] = set()
    for pod in pods:
        for container in pod.containers:
            for argument in (*container["command"], *container["args"]):
                if len(argument.text) < _MOST and ("secret" in argument.text or "configmap" in argument.text.lower()):
                    found.update(_NAME.findall(argument.text))
    if resource.group == RBAC:
        for rule in resource["rules"]:
            found.update(name.text for name in rule["resourceNames"])
    return frozenset(found)


def _names(root: Node) -> set[str]:
    """Texts below a node that may be names."""
    found: set[str] = set()
    left, todo, is_name = _MOST, [root], _NAME.fullmatch
    while todo and left:
        node = todo.pop()
        left -= 1
        text = node.text
        if text:
            if text not in found and is_name(text):
                found.add(text)
        elif len(node):
            todo.extend(node)
    return found


def _secret(node: Node, keys: frozenset[str] | None = None) -> Iterator[GeneratedObject]:
    if node.text:
        yield GeneratedObject("Secret", node.text, keys)


def _own(resource: Resource) -> Iterator[GeneratedObject]:
    yield from _secret(resource.node.at("metadata", "name"))


def _at(*way: str) -> Callable[[Resource], Iterator[GeneratedObject]]:
    """A Secret whose name stands there, else of the object's own name."""

    def make(resource: Resource) -> Iterator[GeneratedObject]:
        node = resource["spec"].at(*way)
        yield from _secret(node) if node.text else _own(resource)

    return make


def _listed(field: str, name: str) -> Callable[[Resource], Iterator[GeneratedObject]]:
    def make(resource: Resource) -> Iterator[GeneratedObject]:
        for each in resource["spec"][field]:
            yield from _secret(each[name])

    return make


def _sealed(resource: Resource) -> Iterator[GeneratedObject]:
    spec = resource["spec"]
    keys = {key for part in (spec["encryptedData"], spec.at("template", "data")) for key, _ in part.entries}
    yield GeneratedObject("Secret", spec.at("template", "metadata", "name").text or resource.name, frozenset(keys) or None)


def _certificate(resource: Resource) -> Iterator[GeneratedObject]:
    yield from _secret(resource["spec"]["secretName"], _CERTIFICATE)


def _cluster_external(resource: Resource) -> Iterator[GeneratedObject]:
    spec = resource["spec"]
    for node in (spec.at("externalSecretSpec", "target", "name"), spec["externalSecretName"]):
        yield from _secret(node)
    yield from _own(resource)


def _bucket(resource: Resource) -> Iterator[GeneratedObject]:
    yield GeneratedObject("ConfigMap", resource.name)
    yield GeneratedObject("Secret", resource.name)


def _bundle(resource: Resource) -> Iterator[GeneratedObject]:
    yield GeneratedObject("ConfigMap", resource.name)
    yield GeneratedObject("Secret", resource.name)


_CERTIFICATE = frozenset(
    {"tls.crt", "tls.key", "ca.crt", "tls-combined.pem", "key.der", "keystore.jks", "truststore.jks", "keystore.p12", "truststore.p12"}
)
_MAKERS: dict[tuple[str, str], Callable[[Resource], Iterator[GeneratedObject]]] = {
    ("external-secrets.io", "ExternalSecret"): _at("target", "name"),
    ("external-secrets.io", "ClusterExternalSecret"): _cluster_external,
    ("kubernetes-client.io", "ExternalSecret"): _own,
    ("bitnami.com", "SealedSecret"): _sealed,
    ("cert-manager.io", "Certificate"): _certificate,
    ("secrets-store.csi.x-k8s.io", "SecretProviderClass"): _listed("secretObjects", "secretName"),
    ("isindir.github.com", "SopsSecret"): _listed("secretTemplates", "name"),
    ("secrets.hashicorp.com", "VaultStaticSecret"): _at("destination", "name"),
    ("secrets.hashicorp.com", "VaultDynamicSecret"): _at("destination", "name"),
    ("secrets.hashicorp.com", "VaultPKISecret"): _at("destination", "name"),
    ("secrets.infisical.com", "InfisicalSecret"): _at("managedSecretReference", "secretName"),
    ("secrets.doppler.com", "DopplerSecret"): _at("managedSecret", "name"),
    ("onepassword.com", "OnePasswordItem"): _own,
    ("ricoberger.de", "VaultSecret"): _own,
    ("kafka.strimzi.io", "KafkaUser"): _own,
    ("objectbucket.io", "ObjectBucketClaim"): _bucket,
    ("trust.cert-manager.io", "Bundle"): _bundle,
}
