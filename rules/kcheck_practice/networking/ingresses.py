"""What Ingresses expose. Sources: the Kubernetes documentation page "Ingress"; the annotations of ingress-nginx (CVE-2021-25742)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Facts, IngressPath, Problem, Related, Resource, rule

_INGRESS = ("networking.k8s.io Ingress", "extensions Ingress")
_GROUPS = ("networking", "ingress")
_SNIPPETS = (
    "configuration-snippet", "server-snippet", "auth-snippet", "modsecurity-snippet", "stream-snippet", "location-snippet", "http-snippet",
    "server-snippets", "location-snippets",
)  # fmt: skip


@rule("ingress-without-tls", "Ingress has no TLS configuration (spec.tls)", groups=(*_GROUPS, "security"), default=False, kinds=_INGRESS)
def ingress_without_tls(resource: Resource) -> Iterator[Problem]:
    """Yield Ingresses without spec.tls. Some controllers configure TLS by annotations or by default, which the object does not show."""
    spec = resource["spec"]
    if (len(spec["rules"]) or spec["defaultBackend"]) and not len(spec["tls"]):
        message = f'Ingress "{resource.name}" serves unencrypted traffic: spec.tls is not set'
        yield Problem(resource.node.at("metadata", "name"), message, help="add the hosts and their Secret to spec.tls", field=spec["tls"])


@rule("ingress-host-without-tls", "Ingress host is not listed under spec.tls", kinds=_INGRESS, groups=(*_GROUPS, "security"))
def ingress_host_without_tls(resource: Resource) -> Iterator[Problem]:
    """Yield hosts that are missing in spec.tls, where every entry of spec.tls lists hosts."""
    spec = resource["spec"]
    listed = [host.text.lower() for entry in spec["tls"] for host in entry["hosts"]]
    if not listed or any(not len(entry["hosts"]) for entry in spec["tls"]):
        return
    for entry in spec["rules"]:
        host = entry["host"].text.lower()
        if host and host not in listed and f"*.{host.partition('.')[2]}" not in listed:
            message = f'host "{host}" is not listed in spec.tls, so it is served without TLS or with the wrong certificate'
            yield Problem(entry["host"], message, help=f'add "{host}" to spec.tls[].hosts')


@rule("ingress-without-host", "Ingress rule has no host", groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_without_host(resource: Resource) -> Iterator[Problem]:
    """Yield rules without a host, which apply to every host that no other Ingress of the controller names."""
    for entry in resource["spec"]["rules"]:
        if entry.is_map and not entry["host"].text:
            message = "rule without host applies to every host that no other Ingress names"
            yield Problem(entry, message, help="set host", field=entry["host"])


@rule("ingress-wildcard-host", "Ingress rule has a wildcard host", severity=INFO, groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_wildcard(resource: Resource) -> Iterator[Problem]:
    """Yield wildcard hosts, which also match names that are not in use yet."""
    for entry in resource["spec"]["rules"]:
        if entry["host"].text.startswith("*."):
            message = f'host "{entry["host"].text}" also matches hosts that are not in use'
            yield Problem(entry["host"], message, help="add one rule for each host")


@rule("ingress-default-backend", "Ingress has a defaultBackend", severity=INFO, groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_default_backend(resource: Resource) -> Iterator[Problem]:
    """Yield defaultBackend: in a shared controller it receives requests for the hosts of other teams."""
    node = resource["spec"]["defaultBackend"]
    if node:
        message = "spec.defaultBackend receives every request that matches no rule"
        yield Problem(node, message, help="remove spec.defaultBackend, and list hosts and paths in spec.rules", at="key")


@rule(
    "duplicate-ingress-path", "Two Ingresses route the same host and path", facts="claims", kinds=_INGRESS, groups=(*_GROUPS, "relations")
)
def ingress_clash(ingress: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield paths that another Ingress of the file or whole unit, or of a complete input, routes first.

    The controller decides which of them applies.
    """
    for claim in ingress.claims if ingress.is_complete else ():
        route = claim.value
        if not isinstance(route, IngressPath):
            continue
        for other, theirs in bundle.claimants(claim):
            if (theirs.place.file, theirs.place.start) >= (claim.place.file, claim.place.start):
                continue
            one, two = ingress.place.file, other.place.file
            if other.id[1:] == ingress.id[1:] and theirs.place.start == claim.place.start:
                continue
            if one == two or (bundle.are_applied_together(ingress, other) and other.id[1:] != ingress.id[1:]):
                shown = f'path "{route.path}" ' + (f'of host "{route.host}"' if route.host else "(any host)")
                line = theirs.place.range.start.line
                where = f"line {line}" if one == two else f"{two}:{line}"
                message = f"{shown} is already routed by {other.title} ({where})"
                yield Problem(claim.place, message, help="change the host or the path", related=(Related(theirs.place, other.title),))
                break


@rule(
    "ingress-snippet",
    "Ingress uses an ingress-nginx snippet annotation (CVE-2021-25742)",
    groups=(*_GROUPS, "security"),
    default=False,
    kinds=_INGRESS,
)
def ingress_snippet(
    resource: Resource,
    *,
    words: Annotated[tuple[str, ...], "only report snippets that contain one of these, for example lua_ or alias"] = (),
) -> Iterator[Problem]:
    """Yield snippet annotations: they allow reading the controller's token, and with it all Secrets (CVE-2021-25742)."""
    for key, node in resource.node.at("metadata", "annotations").entries:
        if key.rpartition("/")[2] in _SNIPPETS and "nginx" in key and (not words or any(word in node.text for word in words)):
            message = f"annotation {key} adds configuration to the controller, which can read all Secrets"
            yield Problem(node, message, help="replace the snippet with dedicated annotations", at="key")


@rule(
    "numeric-ingress-port",
    "Ingress backend uses port.number instead of port.name",
    severity=INFO,
    groups=(*_GROUPS, "style"),
    default=False,
    kinds=_INGRESS,
)
def ingress_port_number(resource: Resource) -> Iterator[Problem]:
    """Yield numeric backend ports: a name stays valid when the Service port changes."""
    spec = resource["spec"]
    backends = [spec["defaultBackend"], *(path["backend"] for entry in spec["rules"] for path in entry["http"]["paths"])]
    for backend in backends:
        node = backend.at("service", "port", "number")
        if node.integer:
            message = f"port.number: {node.integer} breaks when the Service port changes"
            yield Problem(node, message, help="name the Service port and use port.name")


@rule(
    "forbidden-ingress-class",
    "Ingress uses no class or one that is not allowed (ingressClassName)",
    groups=(*_GROUPS, "policy"),
    default=False,
    kinds=_INGRESS,
)
def forbidden_ingress_class(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "classes that are allowed; without any, every class is"] = (),
) -> Iterator[Problem]:
    """Yield Ingresses without a class, and with a class that is not in `allow`."""
    if not resource["spec"]:
        return
    node = resource["spec"]["ingressClassName"] or resource.node.at("metadata", "annotations", "kubernetes.io/ingress.class")
    if not node.text:
        message = f'Ingress "{resource.name}" has no ingressClassName, so its controller depends on the default IngressClass of the cluster'
        hint = f"set spec.ingressClassName to {' or '.join(allow)}" if allow else "set spec.ingressClassName"
        yield Problem(resource.node.at("metadata", "name"), message, help=hint, field=resource["spec"]["ingressClassName"])
    elif allow and node.text not in allow:
        yield Problem(node, f'Ingress class "{node.text}" is not allowed', help=f"use {' or '.join(allow)}")
