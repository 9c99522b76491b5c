"""Addresses of Services in env, args and ConfigMaps. Source: the Kubernetes documentation page "DNS for Services and Pods"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Peers, Problem, Related, did_you_mean, is_managed_namespace, may_share, network, rule, service_calls
from kcheck_practice._support.typos import correction, meant

_GROUPS = ("relations", "networking")
# Services that the cluster itself or the Prometheus operator creates.
_BUILT_IN = {"kubernetes", "kube-dns", "prometheus-operated", "alertmanager-operated", "thanos-ruler-operated"}


@rule(
    "unknown-service-address",
    "Address in env, args or a ConfigMap names a Service that does not exist",
    facts="addresses",
    groups=_GROUPS,
    fixable=True,
)
def missing_address(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield addresses of unknown Services.

    That is: names that look misspelt, names with .svc where the file has Services of that namespace and its folder is in the input as a
    whole, and in a complete input all others.
    """
    for address in user.addresses if user.is_complete else ():
        wanted = service_calls.target(address.host, user, bundle)
        if wanted is not None and not _is_there(wanted, address, bundle):
            yield from _missing(wanted, address, user, bundle)


@rule(
    "unknown-service-address-port",
    "Address in env, args or a ConfigMap uses a port that its Service does not have",
    facts="addresses",
    groups=_GROUPS,
)
def missing_address_port(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield addresses with a port that the Service does not have. Headless Services are skipped: their names resolve to the Pods."""
    for address in user.addresses if user.is_complete else ():
        wanted = service_calls.target(address.host, user, bundle) if address.port else None
        found = service_calls.services(wanted, user, bundle) if wanted is not None else []
        if wanted is None or not found:
            continue
        # A full name refers to exactly this Service, in whichever folder it is.
        named = wanted.suffixed and all(f.id.namespace == wanted.namespace for f in found)
        if not (bundle.complete or named or any(bundle.is_near(f, user) for f in found)):
            continue
        # Services of type ExternalName have no selector here.
        if any(f.service is None or f.service.headless or not f.ports or not f.selectors for f in found):
            continue
        if any(port.number == address.port for f in found for port in f.ports):
            continue
        have = ", ".join(dict.fromkeys(str(port.number) for f in found for port in f.ports))
        # Clients often use the container port instead of the Service port.
        behind = next((p for f in found for p in f.ports if p.target == address.port), None)
        if behind is not None:
            hint = f"use port {behind.number}, which forwards to container port {address.port}"
        else:
            hint = f"use {'one of the ports' if ',' in have else 'port'} {have}"
        related = (Related(found[0].place, found[0].title),)
        yield Problem(address.place, f"{found[0].title} has no port {address.port}", help=hint, related=related)


def _missing(wanted: service_calls.CallTarget, address: network.Address, user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The problem of an address whose Service is not in the input, if the Service should be there."""
    around = bundle.once(Peers).of(user, "Service")
    peers = around.sharing(wanted.namespace)
    near = meant(wanted.name, peers.around(wanted.name)) if len(wanted.name) > 3 else None
    # An object that also uses the similar name means two different Services.
    if near is not None and not any(near in each.host.split(".") for each in user.addresses):
        found = peers.named(near)
        related = (Related(found.place, found.title),) if found is not None else ()
        fix = correction(address.place, address.host, address.host.replace(wanted.name, near, 1))
        message = f'address refers to Service "{wanted.name}", which is not in the input'
        yield Problem(address.place, message, help=did_you_mean(near), related=related, fix=fix)
        return
    known = wanted.namespace in bundle.input.once(service_calls.namespaces)
    by_name = (
        not bundle.unit.is_partial and wanted.suffixed and wanted.namespace != "default" and around.has(user.place.file, wanted.namespace)
    )
    by_rule = bundle.complete and known and (wanted.suffixed or address.port > 0)
    if by_name or by_rule:
        where = f' in namespace "{wanted.namespace}"' if wanted.namespace else ""
        message = f'address refers to Service "{wanted.name}"{where}, which is not in the input'
        yield Problem(address.place, message, help="correct the address, or add the Service")


def _is_there(wanted: service_calls.CallTarget, address: network.Address, bundle: Bundle) -> bool:
    """Whether something in the input has the name, or may create a Service with this name."""
    name = wanted.name
    if name in _BUILT_IN or name in bundle.mentioned or is_managed_namespace(wanted.namespace):
        return True
    if any(may_share(f.id.namespace, wanted.namespace) for f in bundle.named("Service", name)):
        return True
    if any(name.startswith(each) for each in bundle.operated_names):
        return True
    # Knative Services have addresses, too. A short name may be that of a Pod.
    return bool(bundle.named("Service", name, "serving.knative.dev")) or address.host.split(".")[0] in bundle.input.once(_hosts)


def _hosts(bundle: Bundle) -> frozenset[str]:
    """Names of Pods and other objects that a short host name may refer to."""
    return frozenset(f.id.name for f in bundle.facts if f.id.kind in ("Pod", "Endpoints", "EndpointSlice", "Node", "ServiceImport"))
