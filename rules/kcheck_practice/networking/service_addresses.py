"""Addresses of Services in environments, arguments and settings. Source: the documentation's page "DNS for Services and Pods"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Peers, Problem, Related, may_share, network, rule, service_calls
from kcheck_practice._support.typos import correction, meant

_GROUPS = ("relations", "networking")
# What clusters and the operators of Prometheus bring along.
_BROUGHT = {"kubernetes", "kube-dns", "prometheus-operated", "alertmanager-operated", "thanos-ruler-operated"}


@rule(
    "unknown-service-address",
    "Address in env, args or a ConfigMap names a Service that does not exist",
    facts="addresses",
    groups=_GROUPS,
    fixable=True,
)
def missing_address(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told of a slip of the pen; of a name with .svc, where its file has Services of that namespace; or where the input is complete."""
    for address in user.addresses if user.whole else ():
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
    """Behind a headless Service are the pods themselves, at any port of theirs."""
    for address in user.addresses if user.whole else ():
        wanted = service_calls.target(address.host, user, bundle) if address.port else None
        found = service_calls.services(wanted, user, bundle) if wanted is not None else []
        if wanted is None or not found:
            continue
        # Who writes the whole name means that one, wherever it stands.
        named = wanted.suffixed and all(f.id.namespace == wanted.namespace for f in found)
        if not (bundle.complete or named or any(f.folder == user.folder for f in found)):
            continue
        if any(f.headless or not f.ports or "external-name-service" in f.marks or not f.selectors for f in found):
            continue
        if any(port.number == address.port for f in found for port in f.ports):
            continue
        title = f"Service {found[0].id.name}"
        have = ", ".join(dict.fromkeys(str(port.number) for f in found for port in f.ports))
        # Callers take the port of the pods for that of the Service.
        behind = next((p for f in found for p in f.ports if p.target == address.port), None)
        hint = f"write {behind.number}, which leads to that port of the pods" if behind is not None else f"use one of {have}"
        yield Problem(address.place, f"{title} has no port {address.port}", help=hint, related=(Related(found[0].place, title),))


def _missing(wanted: service_calls.CallTarget, address: network.Address, user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The problem of an address that nobody has, if the one who has it should be in sight."""
    around = bundle.once(Peers).of(user, "Service")
    peers = around.sharing(wanted.namespace)
    near = meant(wanted.name, peers.around(wanted.name)) if len(wanted.name) > 3 else None
    # Who calls that one as well, by its right name, means another by this.
    if near is not None and not any(near in each.host.split(".") for each in user.addresses):
        found = peers.named(near)
        related = (Related(found.place, f"Service {near}"),) if found is not None else ()
        fix = correction(address.place, address.host, address.host.replace(wanted.name, near, 1))
        yield Problem(address.place, f"there is no Service {wanted.name}", help=f"did you mean {near}?", related=related, fix=fix)
        return
    known = wanted.namespace in bundle.once(service_calls.namespaces)
    by_name = wanted.suffixed and wanted.namespace != "default" and around.has(user.place.file, wanted.namespace)
    by_rule = bundle.complete and known and (wanted.suffixed or address.port > 0)
    if by_name or by_rule:
        where = f" in namespace {wanted.namespace}" if wanted.namespace else ""
        yield Problem(address.place, f"there is no Service {wanted.name}{where} in the input", help="add it, or correct the address")


def _is_there(wanted: service_calls.CallTarget, address: network.Address, bundle: Bundle) -> bool:
    """Whether something has the name, or may come to have it."""
    name = wanted.name
    if name in _BROUGHT or name in bundle.mentioned or (wanted.namespace == "kube-system" and not bundle.complete):
        return True
    if any(may_share(f.id.namespace, wanted.namespace) for f in bundle.named("Service", name)):
        return True
    if any(name.startswith(each) for each in bundle.operated_names):
        return True
    # The Services of Knative are none of Kubernetes, and have addresses, too; other names of pods are for the pod itself.
    return bool(bundle.named("Service", name, "serving.knative.dev")) or address.host.split(".")[0] in bundle.once(_hosts)


def _hosts(bundle: Bundle) -> frozenset[str]:
    """Names of pods and other things that a short host name may mean."""
    return frozenset(f.id.name for f in bundle.facts if f.id.kind in ("Pod", "Endpoints", "EndpointSlice", "Node", "ServiceImport"))
