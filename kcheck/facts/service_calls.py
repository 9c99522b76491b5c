"""Services that strings of an object name: in the environment, the arguments, or the data of a ConfigMap.

Source: documentation page "DNS for Services and Pods".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts, PortFact
from kcheck.facts.network import Address
from kcheck.text.record import NamedTuple


class ServiceCall(NamedTuple):
    """A call of a Service.

    Attributes:
        caller: object that contains the address.
        address: address in the caller.
        service: called Service.
        port: called port of the Service.
    """

    caller: Facts
    address: Address
    service: Facts
    port: PortFact


class CallTarget(NamedTuple):
    """The Service of a host name.

    Attributes:
        name: name of the Service.
        namespace: namespace of the Service, "" if unknown.
        suffixed: whether the host name contains ".svc" and therefore certainly names a Service.
    """

    name: str
    namespace: str
    suffixed: bool


def target(host: str, user: Facts, bundle: Bundle) -> CallTarget | None:
    """Return the Service of a host name in the Pods of an object, None if it is not the name of a Service.

    Forms: name, name.namespace, name.namespace.svc, each optionally after the name of a Pod.
    """
    parts = host.rstrip(".").split(".")
    if "svc" in parts[2:]:
        end = parts.index("svc", 2)
        return CallTarget(parts[end - 2], parts[end - 1], True)
    if len(parts) == 1:
        return CallTarget(parts[0], user.id.namespace, False)
    if len(parts) == 2:
        return (
            CallTarget(parts[0], parts[1], False)
            if parts[1] in bundle.input.once(namespaces)
            else CallTarget(parts[1], user.id.namespace, False)
        )
    return None


def namespaces(bundle: Bundle) -> frozenset[str]:
    """Return the namespaces of the input."""
    return frozenset(f.id.namespace for f in bundle.facts) | {f.id.name for f in bundle.facts if f.id.kind == "Namespace"}


def services(called: CallTarget, user: Facts, bundle: Bundle) -> list[Facts]:
    """Return the Services of the input that a target may refer to, including variants."""
    return [
        f
        for f in bundle.named("Service", called.name)
        if f.is_complete
        and (f.id.namespace == called.namespace or not f.id.namespace or not called.namespace)
        and bundle.is_nearest(user, f)
    ]


def calls(user: Facts, bundle: Bundle) -> Iterator[ServiceCall]:
    """Yield the calls of an object to Services that certainly belong to the same application."""
    for address in user.addresses if user.is_complete else ():
        called = target(address.host, user, bundle)
        found = services(called, user, bundle) if called is not None else []
        near = [f for f in found if bundle.complete or bundle.is_near(f, user)]
        if not near or len({f.place.file for f in near}) > 1:
            continue
        port = next((p for p in near[0].ports if p.number == address.port), None)
        if port is None and not address.port and len(near[0].ports) == 1:
            port = near[0].ports[0]
        if port is not None:
            yield ServiceCall(user, address, near[0], port)
