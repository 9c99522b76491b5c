"""Gateways, the routes that attach to them, and ReferenceGrants. Source: the API reference of the Gateway API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Complaint, Facts, Problem, Reference, Related, did_you_mean, network, rule
from kcheck_practice._support.typos import correction, meant

_GROUP = "gateway.networking.k8s.io"
_GROUPS = ("networking", "gateway-api", "relations")
# Kinds of routes with spec.hostnames, and all kinds of routes.
_NAMED = (f"{_GROUP} HTTPRoute", f"{_GROUP} GRPCRoute", f"{_GROUP} TLSRoute")
_ROUTES = (*_NAMED, f"{_GROUP} TCPRoute", f"{_GROUP} UDPRoute")
_GRANTED = {"Service", "Secret"}


@rule("missing-gateway-listener", "Route references a listener that its Gateway does not have (sectionName, port)", severity=ERROR,
      kinds=_ROUTES, groups=_GROUPS, fixable=True)  # fmt: skip
def missing_listener(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield parentRefs whose sectionName or port no listener of the Gateway has."""
    for parent, gateways in _parents(route, bundle):
        listeners = [each for _, said in gateways for each in said.listeners]
        if any(_refers_to(parent, each) for each in listeners) or any(said.open_ended for _, said in gateways):
            continue
        gateway = gateways[0][0]
        related = (Related(gateway.place, gateway.title),)
        have = ", ".join(dict.fromkeys(f"{each.name} ({each.port})" for each in listeners))
        others = f"use one of its listeners: {have}" if have else "add a listener to the Gateway"
        if parent.section and not any(each.name == parent.section for each in listeners):
            near = meant(parent.section, (each.name for each in listeners))
            hint = did_you_mean(near, others)
            fix = correction(parent.place, parent.section, near) if near else None
            yield Problem(parent.place, f'{gateway.title} has no listener "{parent.section}"', help=hint, related=related, fix=fix)
        elif parent.port:
            named = f' "{parent.section}"' if parent.section else ""
            message = f"{gateway.title} has no listener{named} on port {parent.port}"
            yield Problem(parent.place, message, help=others, related=related)


@rule("route-not-allowed", "Gateway listener does not allow the route (allowedRoutes)", severity=ERROR, kinds=_ROUTES, groups=_GROUPS)
def route_not_admitted(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield parentRefs whose listeners do not allow the kind or the namespace of the route."""
    for parent, gateways in _parents(route, bundle):
        if len(gateways) > 1 or gateways[0][1].open_ended:
            continue
        gateway, said = gateways[0]
        listeners = [each for each in said.listeners if _refers_to(parent, each)]
        if not listeners:
            continue
        related = (Related(listeners[0].place, f'listener "{listeners[0].name}"'),)
        of_kind = [each for each in listeners if _allows_kind(each, route)]
        if not of_kind:
            kinds = " or ".join(sorted(listeners[0].kinds))
            message = (
                f'listener "{listeners[0].name}" ({listeners[0].protocol}) of {gateway.title} allows only {kinds}, not {route.id.kind}'
            )
            yield Problem(parent.place, message, help=f"use a listener that allows {route.id.kind}", related=related)
        elif not any(_allows_namespace(each, gateway, route, bundle) for each in of_kind):
            listener = of_kind[0]
            allowed = {"Same": f'only routes from namespace "{gateway.id.namespace}"', "None": "no routes"}
            shown = allowed.get(listener.admits, "only routes from namespaces that its selector matches")
            message = Complaint(
                f'listener "{listener.name}" of {gateway.title} allows {shown}, but the route is in namespace "{route.id.namespace}"',
                f'allow namespace "{route.id.namespace}" in allowedRoutes.namespaces of the listener',
            )
            yield Problem(parent.place, message, related=related)


@rule(
    "route-hostname-mismatch",
    "Route hostnames do not match the hostname of the Gateway listener",
    severity=ERROR,
    kinds=_NAMED,
    groups=_GROUPS,
)
def route_hostname(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield hostnames of which none matches a listener of a parent Gateway. One common hostname is enough to attach a route."""
    said = route.network
    if not isinstance(said, network.RouteFact) or not said.hostnames:
        return
    for parent, gateways in _parents(route, bundle):
        if any(each.open_ended for _, each in gateways):
            continue
        meeting = [each for _, gateway in gateways for each in gateway.listeners if _refers_to(parent, each) and _allows_kind(each, route)]
        if meeting and not any(network.hosts_meet(each.hostname, name) for each in meeting for name in said.hostnames):
            names = ", ".join(dict.fromkeys(each.hostname for each in meeting))
            shown = ", ".join(said.hostnames[:3]) + (", ..." if len(said.hostnames) > 3 else "")
            message = f"{gateways[0][0].title} serves only {names}, so this route for {shown} gets no traffic"
            related = (Related(meeting[0].place, f'listener "{meeting[0].name}"'),)
            yield Problem(said.place, message, help="make spec.hostnames and the hostname of the listener match", related=related)
            return


@rule("missing-reference-grant", "Cross-namespace reference has no ReferenceGrant", severity=ERROR,
 facts="references", kinds=(*_ROUTES, f"{_GROUP} Gateway"), groups=_GROUPS)  # fmt: skip
def missing_reference_grant(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield references of routes to Services, and of Gateways to Secrets, in other namespaces without a ReferenceGrant.

    The referenced object must be in the folder, or in a complete input: its ReferenceGrant should then be there, too.
    """
    if user.group != _GROUP or not user.is_complete or not user.id.namespace:
        return
    for reference in user.references:
        if reference.kind not in _GRANTED or reference.api_group or reference.namespace in ("", user.id.namespace):
            continue
        there = [f for f in bundle.candidates(reference) if f.id.namespace == reference.namespace]
        near = any(bundle.is_near(f, user) for f in there)
        if not (near or (bundle.complete and there)) or _is_granted(user, reference, bundle):
            continue
        target = f'{reference.kind} "{reference.name}" in namespace "{reference.namespace}"'
        message = f'{user.id.kind} in namespace "{user.id.namespace}" may not refer to {target} without a ReferenceGrant'
        hint = f'add a ReferenceGrant to namespace "{reference.namespace}"'
        yield Problem(reference.place, message, help=hint, related=(Related(there[0].place, there[0].title),))


@rule("external-name-backend", "Gateway API route has an ExternalName Service as backendRef",
 facts="references", kinds=_ROUTES, groups=("networking", "gateway-api", "security", "relations"))  # fmt: skip
def external_name_backend(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield backendRefs to ExternalName Services, which the Gateway API excludes because they bypass namespaces (CVE-2021-25740)."""
    if not isinstance(route.network, network.RouteFact) or not route.is_complete:
        return
    for reference in route.references:
        if reference.kind == "Service" and reference.use == "backend":
            copies = bundle.candidates(reference)
            if copies and all(f.service is not None and f.service.is_external_name for f in copies):
                message = f'Service "{reference.name}" has type ExternalName, which Gateways do not support as a backend'
                related = (Related(copies[0].place, copies[0].title),)
                yield Problem(reference.place, message, help="use a Service with a selector or with EndpointSlices", related=related)


def _parents(route: Facts, bundle: Bundle) -> Iterator[tuple[network.Parent, list[tuple[Facts, network.GatewayFact]]]]:
    """The parentRefs of a route, each with the Gateways of the input that it may refer to."""
    said = route.network
    for parent in said.parents if isinstance(said, network.RouteFact) and route.is_complete else ():
        found = [
            (f, f.network)
            for f in bundle.named("Gateway", parent.name, _GROUP)
            if f.is_complete
            and isinstance(f.network, network.GatewayFact)
            and (f.id.namespace or "default") == (parent.namespace or "default")
            if bundle.is_nearest(route, f)
        ]
        if found and (bundle.complete or any(bundle.is_near(f, route) for f, _ in found)):
            yield parent, found


def _refers_to(parent: network.Parent, listener: network.Listener) -> bool:
    """Whether a parentRef refers to a listener."""
    return parent.section in ("", listener.name) and parent.port in (0, listener.port)


def _allows_kind(listener: network.Listener, route: Facts) -> bool:
    """Whether a listener allows the kind of a route."""
    return not listener.kinds or route.id.kind in listener.kinds


def _allows_namespace(listener: network.Listener, gateway: Facts, route: Facts, bundle: Bundle) -> bool:
    """Whether a listener allows, or may allow, the namespace of a route. Labels of a Namespace that is not in the input are unknown."""
    home, namespace = gateway.id.namespace, route.id.namespace
    if listener.admits == "Same":
        return home == namespace or not home or not namespace
    if listener.admits == "Selector" and listener.namespaces is not None and namespace:
        labels = [{**f.labels, "kubernetes.io/metadata.name": namespace} for f in bundle.named("Namespace", namespace)]
        return not labels or any(listener.namespaces.matches(each) for each in labels)
    return listener.admits != "None"


def _is_granted(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    """Whether a ReferenceGrant in the namespace of the referenced object allows a reference."""
    source = (user.group, user.id.kind, user.id.namespace)
    grants = bundle.input.once(_grants).get(reference.namespace, ())
    return any(each.allows(source, reference.api_group, reference.kind, reference.name) for each in grants)


def _grants(bundle: Bundle) -> dict[str, list[network.GrantFact]]:
    """ReferenceGrants by namespace, "" for those that set none: the objects that they are for set none either."""
    table: dict[str, list[network.GrantFact]] = defaultdict(list)
    for f in bundle.facts:
        if isinstance(f.network, network.GrantFact):
            table[f.id.namespace].append(f.network)
    return table
