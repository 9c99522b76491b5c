"""Gateways, the routes that want to be attached to them, and grants between namespaces. Source: the API reference of the Gateway API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Complaint, Facts, Problem, Reference, Related, network, rule
from kcheck_practice._support.typos import correction, meant

_GROUP = "gateway.networking.k8s.io"
_GROUPS = ("networking", "gateway-api", "relations")
# Those with host names, and all.
_NAMED = (f"{_GROUP} HTTPRoute", f"{_GROUP} GRPCRoute", f"{_GROUP} TLSRoute")
_ROUTES = (*_NAMED, f"{_GROUP} TCPRoute", f"{_GROUP} UDPRoute")
_GRANTED = {"Service", "Secret"}


@rule("missing-gateway-listener", "Route references a listener that its Gateway does not have (sectionName, port)", severity=ERROR,
      kinds=_ROUTES, groups=_GROUPS, fixable=True)  # fmt: skip
def missing_listener(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """By sectionName or port. What is attached to no listener takes no traffic."""
    for parent, gateways in _parents(route, bundle):
        listeners = [each for _, said in gateways for each in said.listeners]
        if any(_is_meant(parent, each) for each in listeners) or any(said.open_ended for _, said in gateways):
            continue
        gateway = gateways[0][0]
        related = (Related(gateway.place, gateway.title),)
        have = ", ".join(dict.fromkeys(f"{each.name} ({each.port})" for each in listeners)) or "none"
        if parent.section and not any(each.name == parent.section for each in listeners):
            near = meant(parent.section, (each.name for each in listeners))
            hint = f"did you mean {near}?" if near else f"use one of {have}"
            fix = correction(parent.place, parent.section, near) if near else None
            yield Problem(parent.place, f"{gateway.title} has no listener {parent.section}", help=hint, related=related, fix=fix)
        elif parent.port:
            yield Problem(
                parent.place, f"{gateway.title} has no such listener at port {parent.port}", help=f"use one of {have}", related=related
            )


@rule("route-not-allowed", "Gateway listener does not allow the route (allowedRoutes)", severity=ERROR, kinds=_ROUTES, groups=_GROUPS)
def route_not_admitted(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Listeners take routes of their own namespace, unless they say otherwise, and of the kinds that go with their protocol."""
    for parent, gateways in _parents(route, bundle):
        if len(gateways) > 1 or gateways[0][1].open_ended:
            continue
        gateway, said = gateways[0]
        listeners = [each for each in said.listeners if _is_meant(parent, each)]
        if not listeners:
            continue
        related = (Related(listeners[0].place, f"the listener {listeners[0].name}"),)
        of_kind = [each for each in listeners if not each.kinds or route.id.kind in each.kinds]
        if not of_kind:
            kinds = " or ".join(sorted(listeners[0].kinds))
            message = f"listener {listeners[0].name} of {gateway.title} ({listeners[0].protocol}) takes {kinds}, no {route.id.kind}"
            yield Problem(parent.place, message, help="name another listener", related=related)
        elif not any(_admits(each, gateway, route, bundle) for each in of_kind):
            admits = of_kind[0].admits
            of = {"Same": f"namespace {gateway.id.namespace}", "None": "no namespace at all"}
            whom = of.get(admits, "namespaces with other labels")
            message = Complaint(
                f"{gateway.title} takes routes of {whom}, and this one is in {route.id.namespace}", "correct allowedRoutes.namespaces"
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
    """A route is attached where at least one of its names is one of the listener's."""
    said = route.network
    if not isinstance(said, network.RouteFact) or not said.hostnames:
        return
    for parent, gateways in _parents(route, bundle):
        if any(each.open_ended for _, each in gateways):
            continue
        meeting = [each for _, gateway in gateways for each in gateway.listeners if _is_meant(parent, each) and _takes(each, route)]
        if meeting and not any(network.hosts_meet(each.hostname, name) for each in meeting for name in said.hostnames):
            names = ", ".join(dict.fromkeys(each.hostname for each in meeting))
            shown = ", ".join(said.hostnames[:3]) + (", ..." if len(said.hostnames) > 3 else "")
            message = f"{gateways[0][0].title} serves {names}, not {shown}, so that the route takes nothing"
            yield Problem(
                said.place, message, help="correct one of them", related=(Related(meeting[0].place, f"the listener {meeting[0].name}"),)
            )
            return


@rule("missing-reference-grant", "Cross-namespace reference has no ReferenceGrant", severity=ERROR,
 facts="references", kinds=(*_ROUTES, f"{_GROUP} Gateway"), groups=_GROUPS)  # fmt: skip
def missing_reference_grant(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked of the Services of routes and the Secrets of Gateways; told where the object referred to is in sight, so that its
    ReferenceGrant should be, too.
    """
    if user.group != _GROUP or not user.whole or not user.id.namespace:
        return
    for reference in user.references:
        if reference.kind not in _GRANTED or reference.api_group or reference.namespace in ("", user.id.namespace):
            continue
        there = [f for f in bundle.copies(reference) if f.id.namespace == reference.namespace]
        near = any(f.folder == user.folder for f in there)
        if not (near or (bundle.complete and there)) or _is_granted(user, reference, bundle):
            continue
        message = f"no ReferenceGrant in {reference.namespace} lets {user.id.kind}s of {user.id.namespace} refer to {reference.kind} "
        yield Problem(
            reference.place, f"{message}{reference.name}", help="add one there", related=(Related(there[0].place, there[0].title),)
        )


@rule("external-name-backend", "Gateway API route has an ExternalName Service as backendRef",
 facts="references", kinds=_ROUTES, groups=("networking", "gateway-api", "security", "relations"))  # fmt: skip
def external_name_backend(route: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The Gateway API leaves it out: names of others' hosts would let a namespace reach what it must not (CVE-2021-25740)."""
    if not isinstance(route.network, network.RouteFact) or not route.whole:
        return
    for reference in route.references:
        if reference.kind == "Service" and reference.use == "backend":
            copies = bundle.copies(reference)
            if copies and all("external-name-service" in f.marks for f in copies):
                message = f"Service {reference.name} is an ExternalName, which gateways do not serve: lead to one with pods or endpoints"
                yield Problem(reference.place, message, related=(Related(copies[0].place, copies[0].title),))


def _parents(route: Facts, bundle: Bundle) -> Iterator[tuple[network.Parent, list[tuple[Facts, network.GatewayFact]]]]:
    """The parents of a route, each with the Gateways of the input that it can mean."""
    said = route.network
    for parent in said.parents if isinstance(said, network.RouteFact) and route.whole else ():
        found = [
            (f, f.network)
            for f in bundle.named("Gateway", parent.name, _GROUP)
            if f.whole and isinstance(f.network, network.GatewayFact) and (f.id.namespace or "default") == (parent.namespace or "default")
            if bundle.variants.is_nearest(route.named, f.place.file)
        ]
        if found and (bundle.complete or any(f.folder == route.folder for f, _ in found)):
            yield parent, found


def _is_meant(parent: network.Parent, listener: network.Listener) -> bool:
    return parent.section in ("", listener.name) and parent.port in (0, listener.port)


def _takes(listener: network.Listener, route: Facts) -> bool:
    return not listener.kinds or route.id.kind in listener.kinds


def _admits(listener: network.Listener, gateway: Facts, route: Facts, bundle: Bundle) -> bool:
    """Whether a listener takes routes of the namespace, or may: the labels of one that is not in the input are not known."""
    home, namespace = gateway.id.namespace, route.id.namespace
    if listener.admits == "Same":
        return home == namespace or not home or not namespace
    if listener.admits == "Selector" and listener.namespaces is not None and namespace:
        labels = [{**f.labels, "kubernetes.io/metadata.name": namespace} for f in bundle.named("Namespace", namespace)]
        return not labels or any(listener.namespaces.matches(each) for each in labels)
    return listener.admits != "None"


def _is_granted(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    source = (user.group, user.id.kind, user.id.namespace)
    grants = bundle.once(_grants).get(reference.namespace, ())
    return any(each.allows(source, reference.api_group, reference.kind, reference.name) for each in grants)


def _grants(bundle: Bundle) -> dict[str, list[network.GrantFact]]:
    """By namespace. One without a namespace may be for any, but then neither does anything else say its own."""
    table: dict[str, list[network.GrantFact]] = defaultdict(list)
    for f in bundle.facts:
        if isinstance(f.network, network.GrantFact):
            table[f.id.namespace].append(f.network)
    return table
