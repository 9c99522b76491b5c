"""What Ingresses let in. Sources: the documentation's page "Ingress"; the annotations of ingress-nginx (CVE-2021-25742)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Facts, Problem, Related, Resource, rule

_INGRESS = ("networking.k8s.io Ingress", "extensions Ingress")
_GROUPS = ("networking", "ingress")
_SNIPPETS = (
    "configuration-snippet", "server-snippet", "auth-snippet", "modsecurity-snippet", "stream-snippet", "location-snippet", "http-snippet",
    "server-snippets", "location-snippets",
)  # fmt: skip


@rule("ingress-without-tls", "Ingress has no TLS configuration (spec.tls)", groups=(*_GROUPS, "security"), default=False, kinds=_INGRESS)
def ingress_without_tls(resource: Resource) -> Iterator[Problem]:
    """Some controllers take TLS from annotations or encrypt by default; the object does not show it then."""
    spec = resource["spec"]
    if (len(spec["rules"]) or spec["defaultBackend"]) and not len(spec["tls"]):
        message = f"what goes through Ingress {resource.name} can be read on its way"
        yield Problem(resource.node.at("metadata", "name"), message, help="add tls", field=spec["tls"])


@rule("ingress-host-without-tls", "Ingress host is not listed under spec.tls", kinds=_INGRESS, groups=(*_GROUPS, "security"))
def ingress_host_without_tls(resource: Resource) -> Iterator[Problem]:
    """Asked where the TLS section lists hosts: who lists some wants them all."""
    spec = resource["spec"]
    listed = [host.text.lower() for entry in spec["tls"] for host in entry["hosts"]]
    if not listed or any(not len(entry["hosts"]) for entry in spec["tls"]):
        return
    for entry in spec["rules"]:
        host = entry["host"].text.lower()
        if host and host not in listed and f"*.{host.partition('.')[2]}" not in listed:
            yield Problem(
                entry["host"], f"tls has no certificate for {host}, which is served without or with a wrong one", help="add it to hosts"
            )


@rule("ingress-without-host", "Ingress rule has no host", groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_without_host(resource: Resource) -> Iterator[Problem]:
    """It takes what others of the same controller do not."""
    for entry in resource["spec"]["rules"]:
        if entry.is_map and not entry["host"].text:
            yield Problem(
                entry, "this rule takes requests for every host that no other Ingress names", help="add host", field=entry["host"]
            )


@rule("ingress-wildcard-host", "Ingress rule has a wildcard host", severity=INFO, groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_wildcard(resource: Resource) -> Iterator[Problem]:
    """New names of the domain are answered before anybody has thought of them."""
    for entry in resource["spec"]["rules"]:
        if entry["host"].text.startswith("*."):
            yield Problem(entry["host"], f"{entry['host'].text} takes hosts that nobody has thought of", help="list those that there are")


@rule("ingress-default-backend", "Ingress has a defaultBackend", severity=INFO, groups=_GROUPS, default=False, kinds=_INGRESS)
def ingress_default_backend(resource: Resource) -> Iterator[Problem]:
    """In a shared controller, one team's default is in the way of all others."""
    node = resource["spec"]["defaultBackend"]
    if node:
        yield Problem(node, "this backend takes whatever no rule names", help="list hosts and paths in rules", at="key")


@rule(
    "duplicate-ingress-path", "Two Ingresses route the same host and path", facts="claims", kinds=_INGRESS, groups=(*_GROUPS, "relations")
)
def ingress_clash(ingress: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Which of them is heeded is the controller's choice. Told of one file, or of a complete input."""
    for claim in ingress.claims if ingress.whole else ():
        if claim.what != "host":
            continue
        for other, theirs in bundle.claimants(claim):
            if (theirs.place.file, theirs.place.start) >= (claim.place.file, claim.place.start):
                continue
            one, two = ingress.place.file, other.place.file
            if other.id[1:] == ingress.id[1:] and theirs.place.start == claim.place.start:
                continue
            if one == two or (bundle.complete and not bundle.variants.alternatives(one, two) and other.id[1:] != ingress.id[1:]):
                _, host, _, path = claim.value.split(" ", 3)
                shown = f"{host or 'every host'}{path}"
                message = f"{other.title} (line {theirs.place.range.start.line}) takes {shown} already"
                yield Problem(claim.place, message, help="give it another host or path", related=(Related(theirs.place, other.title),))
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
    words: Annotated[tuple[str, ...], "only snippets with one of these, such as lua_ or alias"] = (),
) -> Iterator[Problem]:
    """Whoever may write Ingresses reads the controller's token, and with it all Secrets, through a snippet (CVE-2021-25742)."""
    for key, node in resource.node.at("metadata", "annotations").entries:
        if key.rpartition("/")[2] in _SNIPPETS and "nginx" in key and (not words or any(word in node.text for word in words)):
            message = f"{key.rpartition('/')[2]} runs in the controller, which can read all Secrets"
            yield Problem(node, message, help="use annotations made for it", at="key")


@rule(
    "numeric-ingress-port",
    "Ingress backend uses port.number instead of port.name",
    severity=INFO,
    groups=(*_GROUPS, "style"),
    default=False,
    kinds=_INGRESS,
)
def ingress_port_number(resource: Resource) -> Iterator[Problem]:
    """A name follows the Service when its port moves."""
    spec = resource["spec"]
    backends = [spec["defaultBackend"], *(path["backend"] for entry in spec["rules"] for path in entry["http"]["paths"])]
    for backend in backends:
        node = backend.at("service", "port", "number")
        if node.integer:
            yield Problem(node, f"port {node.integer} of the Service may move", help="name the port, and write its name")


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
    allow: Annotated[tuple[str, ...], "classes that may be used"] = (),
) -> Iterator[Problem]:
    """Without a list, every Ingress must at least name its class."""
    if not resource["spec"]:
        return
    node = resource["spec"]["ingressClassName"] or resource.node.at("metadata", "annotations", "kubernetes.io/ingress.class")
    if not node.text:
        message = f"whichever controller is the default takes Ingress {resource.name}"
        yield Problem(
            resource.node.at("metadata", "name"), message, help="add ingressClassName", field=resource["spec"]["ingressClassName"]
        )
    elif allow and node.text not in allow:
        yield Problem(node, f"Ingress class {node.text} is not allowed here", help=f"write {' or '.join(allow)}")
