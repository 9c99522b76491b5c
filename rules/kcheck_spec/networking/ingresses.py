"""Ingresses and their classes. Source: pkg/apis/networking/validation/validation.go, the warnings of pkg/registry/networking/ingress."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, addresses, constraint, declare, fields, help_of, names, validator
from kcheck_spec.networking.service_ports import port_fault
from kcheck_spec.objects.common_constraints import (
    deprecated_field,
    dns_subdomain,
    not_supported,
    path_segment,
    present,
    require,
    required,
    text,
)

ingress_rule = declare("invalid-ingress-rule", "Ingress has an invalid host, path, pathType or class")
ingress_backend = declare("invalid-ingress-backend", "Ingress has an invalid backend (service, port or resource)")
ingress_class = declare("invalid-ingress-class", "Invalid IngressClass (controller, parameters)")

_PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")
_AMBIGUOUS = ("//", "/./", "/../", "%2f", "%2F")
_AMBIGUOUS_ENDS = ("/..", "/.")
_CLASS = "kubernetes.io/ingress.class"
_LONGEST_CONTROLLER = 250


def _host(host: str) -> str:
    """Empty for a host, or all hosts of a domain, else what is wrong."""
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


@constraint(ingress_rule)
def _rule_host(node: Node) -> Problem | None:
    """A host by name, for a request says which name it asks for."""
    if addresses.parse(node.text) is not None:
        message = f"{node.text} is an address, and rules are about names"
        return Problem(node, message, help="write a host, or take it away for all hosts", reason="Invalid")
    wrong = _host(node.text) if node.text else ""
    return Problem(node, wrong, reason="Invalid") if wrong else None


@constraint(ingress_rule)
def _tls_hosts(node: Node) -> Iterator[Problem]:
    for host in node:
        if wrong := _host(host.text):
            yield Problem(host, wrong, reason="Invalid")


@constraint(ingress_class)
def _controller(node: Node) -> Iterator[Problem]:
    """Asked of what is there; being there is required."""
    size = len(node.text.encode("utf-8", "surrogatepass"))
    if size > _LONGEST_CONTROLLER:
        yield Problem(node, f"the controller has {size} bytes", help=f"write {_LONGEST_CONTROLLER} at most", reason="TooLong")
    if wrong := names.domain_path(node.text) if node.text else "":
        yield Problem(node, wrong, reason="Invalid")


tables = [
    fields("networking/v1 IngressSpec", ingressClassName=text(names.dns_subdomain, empty=False)),
    fields("networking/v1 IngressRule", host=_rule_host),
    fields("networking/v1 IngressTLS", hosts=_tls_hosts, secretName=dns_subdomain),
    fields("networking/v1 HTTPIngressRuleValue", paths=required),
    # Settled below, where it depends on the path's type and on the backend's other half.
    fields("networking/v1 HTTPIngressPath", pathType=present, backend=()),
    fields("networking/v1 IngressServiceBackend", name=()),
    fields("networking/v1 IngressClassSpec", controller=(required, _controller)),
    fields(
        "networking/v1 IngressClassParametersReference",
        apiGroup=text(names.dns_subdomain, empty=False),
        kind=(required, path_segment),
        name=(required, path_segment),
    ),
]


@validator("networking/v1 IngressSpec", rule=ingress_rule)
def something_is_routed(spec: Node) -> Iterator[Problem]:
    """An Ingress without rules needs a backend for everything."""
    if not len(spec["rules"]) and not spec["defaultBackend"]:
        yield Problem(spec, "an Ingress leads nowhere without rules", help="add rules or defaultBackend", reason="Invalid", at="key")


@validator("networking/v1 Ingress", rule=ingress_rule)
def classes_agree(ingress: Resource) -> Iterator[Problem]:
    """The annotation that said the class before there was a field for it says the same. The server leaves metadata out of its name."""
    annotation, name = ingress.node.at("metadata", "annotations", _CLASS), ingress["spec"]["ingressClassName"]
    if annotation.exists and name and annotation.text != name.text:
        message = f"ingressClassName says {name.text}"
        yield Problem(annotation, message, help="take the annotation away", reason="Invalid", field=f"annotations.{_CLASS}")


@validator("networking/v1 Ingress", rule=deprecated_field)
def class_has_a_field(ingress: Resource) -> Iterator[Problem]:
    """The annotation from before there was a field for it."""
    annotation = ingress.node.at("metadata", "annotations", _CLASS)
    if annotation.exists and not ingress["spec"]["ingressClassName"]:
        yield Problem(annotation, f"{_CLASS} is deprecated", help="write spec.ingressClassName", at="key")


@validator("networking/v1 HTTPIngressPath", rule=ingress_rule)
def paths_are_plain(path: Node) -> Iterator[Problem]:
    """Absolute, and where Kubernetes itself compares them, with one way to write them."""
    value, type_ = path["path"], path["pathType"]
    if type_ and type_.text not in _PATH_TYPES:
        yield not_supported(type_, _PATH_TYPES)
    elif type_ and (value.text or type_.text != "ImplementationSpecific"):
        shown = value.text or "an empty path"
        if not value.text.startswith("/"):
            yield Problem(value, f"{shown} does not begin with '/'", help=f"write /{value.text}", reason="Invalid")
        if type_.text != "ImplementationSpecific":
            found = [f"has {part!r} in it" for part in _AMBIGUOUS if part in value.text]
            found += [f"ends with {part!r}" for part in _AMBIGUOUS_ENDS if value.text.endswith(part)]
            if found:
                yield Problem(
                    value,
                    f"{shown} {found[0]}, which clients write in other ways, too",
                    help="write the path that is meant",
                    reason="Invalid",
                )


@validator("networking/v1 Ingress", rule=ingress_backend)
def backends_are_one_thing(ingress: Resource) -> Iterator[Problem]:
    """A Service with its port, or another object. Of a path without a type the server sees nothing more."""
    spec = ingress["spec"]
    backends = [spec["defaultBackend"]] if spec["defaultBackend"] else []
    for rule in spec["rules"]:
        backends += [path["backend"] for path in rule["http"]["paths"] if path["pathType"]]
    for backend in backends:
        service, resource = backend["service"], backend["resource"]
        if service and resource:
            yield Problem(resource, "service and resource exclude each other", help="keep one", reason="Invalid", at="key", field=backend)
        elif service:
            yield from _service_problems(service, ingress)
        elif resource:
            yield from _resource_problems(resource)
        else:
            yield Problem(backend, "a backend leads nowhere", help="add service, with its name and port", reason="Invalid", at="key")


def _service_problems(service: Node, ingress: Resource) -> Iterator[Problem]:
    name, port = service["name"], service["port"]
    rule = names.dns1035_label if ingress.is_before(35) else names.dns_label
    if not name.text:
        yield require(name, Complaint("a backend needs the name of its Service", "add name"))
    elif wrong := rule(name.text):
        yield Problem(name, f"no Service has such a name: {wrong}", help=help_of(wrong), reason="Invalid")
    number = port["number"].integer or 0
    if port["name"].text and number:
        message = Complaint("name and number of the port exclude each other", "keep one")
        yield Problem(port["number"], message, reason="Invalid", at="key", field=service.parent)
    elif port["name"].text:
        if wrong := names.port_name(port["name"].text):
            yield Problem(port["name"], wrong, reason="Invalid")
    elif number:
        if wrong := port_fault(number):
            yield Problem(port["number"], wrong, reason="Invalid")
    else:
        message = Complaint("a backend needs the port of its Service", "add port with its name or number")
        yield Problem(port if port else service, message, reason="Required", at="key", field=service.parent)


def _resource_problems(resource: Node) -> Iterator[Problem]:
    group = resource["apiGroup"]
    if group and (wrong := names.dns_subdomain(group.text)):
        yield Problem(group, wrong, reason="Invalid")
    for part in ("kind", "name"):
        if not resource[part].text:
            yield require(resource[part])
        elif wrong := names.path_segment(resource[part].text):
            yield Problem(resource[part], wrong, reason="Invalid")


@validator("networking/v1 IngressClassParametersReference", rule=ingress_class)
def parameters_are_in_scope(parameters: Node) -> Iterator[Problem]:
    """An object of the cluster, or of a namespace that is named."""
    scope, namespace = parameters["scope"], parameters["namespace"]
    if scope and scope.text not in ("Cluster", "Namespace"):
        yield not_supported(scope, ("Cluster", "Namespace"))
    elif scope.text != "Namespace":
        if namespace:
            message = "an object of the cluster has no namespace"
            yield Problem(namespace, message, help="take it away, or write scope: Namespace", reason="Forbidden", at="key")
    elif not namespace:
        yield require(namespace, Complaint("scope: Namespace needs the namespace of the object", "add namespace"))
    elif wrong := names.dns_label(namespace.text):
        yield Problem(namespace, wrong, reason="Invalid")
