"""Ingresses and their classes. Source: pkg/apis/networking/validation/validation.go, the warnings of pkg/registry/networking/ingress."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import (
    WARNING,
    Complaint,
    Constraint,
    Correction,
    Node,
    Problem,
    Resource,
    addresses,
    constraint,
    declare,
    fields,
    help_of,
    names,
    remove,
    validator,
)
from kcheck_spec.networking.service_ports import port_fault
from kcheck_spec.objects.common_constraints import (
    deprecated_field,
    dns_subdomain,
    not_supported,
    path_segment,
    require,
    required,
    text,
)
from kcheck_spec.objects.engine import required_field

ingress_rule = declare("invalid-ingress-rule", "Ingress has an invalid host, path, pathType or class", fixable=True)
ingress_backend = declare("invalid-ingress-backend", "Ingress has an invalid backend (service, port or resource)", fixable=True)
gke_class_annotation = declare(
    "gke-ingress-class-annotation",
    "Ingress has the deprecated annotation kubernetes.io/ingress.class with a class of GKE",
    severity=WARNING,
    groups=("upgrades", "verdict"),
    default=False,
)
ingress_class = declare("invalid-ingress-class", "Invalid IngressClass (controller, parameters)", fixable=True)

_PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")
_AMBIGUOUS = ("//", "/./", "/../", "%2f", "%2F")
_AMBIGUOUS_ENDS = ("/..", "/.")
_CLASS = "kubernetes.io/ingress.class"
# GKE Ingress reads only the annotation.
_CLASSES_OF_GKE = frozenset({"gce", "gce-internal"})
_MAX_CONTROLLER_BYTES = 250


def _host(host: str) -> str:
    """Empty for a host name or wildcard host, else what is wrong."""
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


@constraint(ingress_rule)
def _rule_host(node: Node) -> Problem | None:
    """The host of a rule is a name, not an IP address."""
    if addresses.parse(node.text) is not None:
        message = f'host "{node.text}" is an IP address, not a host name'
        return Problem(node, message, help="use a host name, or remove host to match all hosts", reason="Invalid")
    wrong = _host(node.text) if node.text else ""
    return Problem(node, wrong, reason="Invalid") if wrong else None


@constraint(ingress_rule)
def _tls_hosts(node: Node) -> Iterator[Problem]:
    for host in node:
        if wrong := _host(host.text):
            yield Problem(host, wrong, reason="Invalid")


@constraint(ingress_class)
def _controller(node: Node) -> Iterator[Problem]:
    """The controller name. A missing one is reported by `required`."""
    size = len(node.text.encode("utf-8", "surrogatepass"))
    if size > _MAX_CONTROLLER_BYTES:
        yield Problem(node, f"controller is {size} bytes long, but the maximum is {_MAX_CONTROLLER_BYTES}", reason="TooLong")
    if wrong := names.domain_path(node.text) if node.text else "":
        yield Problem(node, wrong, reason="Invalid")


def _path_type(node: Node) -> Problem | None:
    """pathType is required. ImplementationSpecific was the default of old API versions."""
    return None if node else require(node).replace(fix=Correction.set(node, "ImplementationSpecific", safe=False))


tables = [
    fields("networking/v1 IngressSpec", ingressClassName=text(names.dns_subdomain, empty=False)),
    fields("networking/v1 IngressRule", host=_rule_host),
    fields("networking/v1 IngressTLS", hosts=_tls_hosts, secretName=dns_subdomain),
    fields("networking/v1 HTTPIngressRuleValue", paths=required),
    # Checked below, because it depends on pathType and on the other fields of the backend.
    fields("networking/v1 HTTPIngressPath", pathType=Constraint(required_field, _path_type, of_absent=True), backend=()),
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
    """An Ingress without rules requires a default backend."""
    if not len(spec["rules"]) and not spec["defaultBackend"]:
        yield Problem(spec, "Ingress has neither rules nor defaultBackend", help="add one of the two", reason="Invalid", at="key")


@validator("networking/v1 Ingress", rule=ingress_rule)
def classes_agree(ingress: Resource) -> Iterator[Problem]:
    """The former annotation for the class must equal ingressClassName. The API server reports it without metadata in the path."""
    annotation, name = ingress.node.at("metadata", "annotations", _CLASS), ingress["spec"]["ingressClassName"]
    if annotation.exists and name and annotation.text != name.text:
        message = f'value "{annotation.text}" of annotation "{_CLASS}" differs from ingressClassName "{name.text}"'
        yield Problem(annotation, message, help=remove("the annotation"), reason="Invalid", field=f"annotations.{_CLASS}")


def _class_annotation(ingress: Resource) -> Node | None:
    """The annotation for the class, which ingressClassName has replaced, None if the field is set."""
    annotation = ingress.node.at("metadata", "annotations", _CLASS)
    return annotation if annotation.exists and not ingress["spec"]["ingressClassName"] else None


@validator("networking/v1 Ingress", rule=gke_class_annotation)
def class_of_gke(ingress: Resource) -> Iterator[Problem]:
    """The annotation with a class of GKE, whose controller does not read the field."""
    annotation = _class_annotation(ingress)
    if annotation is not None and annotation.text in _CLASSES_OF_GKE:
        message = f'annotation "{_CLASS}" is deprecated, but GKE requires it for class "{annotation.text}"'
        yield Problem(annotation, message, help="use a Gateway, or keep the annotation", at="key")


@validator("networking/v1 Ingress", rule=deprecated_field)
def class_has_a_field(ingress: Resource) -> Iterator[Problem]:
    """The annotation with any other class."""
    annotation = _class_annotation(ingress)
    if annotation is not None and annotation.text not in _CLASSES_OF_GKE:
        yield Problem(
            annotation,
            f'annotation "{_CLASS}" is deprecated',
            help="use spec.ingressClassName",
            at="key",
            fix=_class_field(ingress, annotation),
        )


def _class_field(ingress: Resource, annotation: Node) -> Correction:
    """The change from the annotation to the field. The field needs an object IngressClass, the annotation does not."""
    field = ingress["spec"]["ingressClassName"]
    change = Correction.remove(annotation).also(Correction.set(field, annotation.text, safe=False))
    return change._replace(title="use spec.ingressClassName")


@validator("networking/v1 HTTPIngressPath", rule=ingress_rule)
def paths_are_plain(path: Node) -> Iterator[Problem]:
    """Paths must be absolute and, for Prefix and Exact, have only one spelling."""
    value, type_ = path["path"], path["pathType"]
    if type_ and type_.text not in _PATH_TYPES:
        if not type_.text:
            yield not_supported(type_, _PATH_TYPES)
    elif type_ and (value.text or type_.text != "ImplementationSpecific"):
        if not value.text.startswith("/"):
            message = f'path "{value.text}" does not start with "/"' if value.text else f"path is required with pathType: {type_.text}"
            yield Problem(value, message, help=f"use path: /{value.text}", reason="Invalid", fix=Correction.set(value, f"/{value.text}"))
        if type_.text != "ImplementationSpecific":
            found = [f'contains "{part}"' for part in _AMBIGUOUS if part in value.text]
            found += [f'ends with "{part}"' for part in _AMBIGUOUS_ENDS if value.text.endswith(part)]
            if found:
                message = f'path "{value.text}" {found[0]}, which pathType: {type_.text} does not allow'
                yield Problem(value, message, help="use the normalized path", reason="Invalid")


@validator("networking/v1 Ingress", rule=ingress_backend)
def backends_are_one_thing(ingress: Resource) -> Iterator[Problem]:
    """A backend is a Service with a port, or another object. The API server does not check the backend of a path without pathType."""
    spec = ingress["spec"]
    backends = [spec["defaultBackend"]] if spec["defaultBackend"] else []
    for rule in spec["rules"]:
        backends += [path["backend"] for path in rule["http"]["paths"] if path["pathType"]]
    for backend in backends:
        service, resource = backend["service"], backend["resource"]
        if service and resource:
            message = "backend has both service and resource"
            yield Problem(resource, message, help="remove one of the two", reason="Invalid", at="key", field=backend)
        elif service:
            yield from _service_problems(service, ingress)
        elif resource:
            yield from _resource_problems(resource)
        else:
            hint = "add service with name and port"
            yield Problem(backend, "backend has neither service nor resource", help=hint, reason="Invalid", at="key")


def _service_problems(service: Node, ingress: Resource) -> Iterator[Problem]:
    name, port = service["name"], service["port"]
    rule = names.dns1035_label if not ingress.enables("RelaxedServiceNameValidation") else names.dns_label
    if not name.text:
        yield require(name, Complaint("service.name of the backend is missing", "add name"))
    elif wrong := rule(name.text):
        yield Problem(name, f'"{name.text}" is not a valid Service name: {wrong}', help=help_of(wrong), reason="Invalid")
    number = port["number"].integer or 0
    if port["name"].text and number:
        message = Complaint("port of the backend has both name and number", "remove one of the two")
        yield Problem(port["number"], message, reason="Invalid", at="key", field=service.parent)
    elif port["name"].text:
        if wrong := names.port_name(port["name"].text):
            yield Problem(port["name"], wrong, reason="Invalid")
    elif number:
        if wrong := port_fault(number):
            yield Problem(port["number"], wrong, reason="Invalid")
    else:
        message = Complaint("service.port of the backend is missing", "add port with name or number")
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
    """Parameters are a cluster-scoped object, or an object in a namespace, which is then required."""
    scope, namespace = parameters["scope"], parameters["namespace"]
    if scope and scope.text not in ("Cluster", "Namespace"):
        yield not_supported(scope, ("Cluster", "Namespace"))
    elif scope.text != "Namespace":
        if namespace:
            message = "namespace requires scope: Namespace"
            yield Problem(namespace, message, help="set scope: Namespace, or remove namespace", reason="Forbidden", at="key")
    elif not namespace:
        yield require(namespace, Complaint("scope: Namespace requires namespace", "add namespace"))
    elif wrong := names.dns_label(namespace.text):
        yield Problem(namespace, wrong, reason="Invalid")
