"""References to missing objects: Services, scale targets, roles, ServiceAccounts, claims, classes, and files of kustomizations.

Sources: the documentation's pages "Ingress", "Horizontal Pod Autoscaling", "Using RBAC Authorization", "Persistent Volumes",
"StatefulSets", "Dynamic Admission Control".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import (
    ERROR,
    Bundle,
    Complaint,
    Facts,
    PortFact,
    Problem,
    Reference,
    Related,
    declare,
    did_you_mean,
    is_managed_namespace,
    rule,
)
from kcheck_practice._support.missing_references import missing_object_problem, missing_references
from kcheck_practice._support.typos import correction, meant

_SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Rollout")
_CLASSES = ("StorageClass", "IngressClass", "PriorityClass", "RuntimeClass", "GatewayClass", "VolumeAttributesClass")
_OTHER = ("Issuer", "ClusterIssuer", "SecretStore", "ClusterSecretStore", "TriggerAuthentication", "ClusterTriggerAuthentication",
          "AppProject", "GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", "ImageRepository", "Kustomization",
          "HelmRelease", "Provider", "ResourceClaim", "ResourceClaimTemplate", "ValidatingAdmissionPolicy",
          "MutatingAdmissionPolicy")  # fmt: skip


@rule(
    "missing-service",
    "Referenced Service does not exist",
    severity=ERROR,
    facts="references",
    references="Service",
    groups=("relations", "networking"),
    fixable=True,
)
def missing_service(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Services that Ingresses, routes, webhooks and APIServices reference."""
    for reference in _missing_services(user, bundle):
        if user.id.kind != "StatefulSet" or reference.use != "own":
            # A file with a webhook configuration seldom contains its Service.
            yield from _problem(user, reference, bundle, reference.use in ("backend", "own"))


@rule(
    "missing-stateful-set-service",
    "Service in serviceName of a StatefulSet does not exist",
    facts="references",
    references="Service",
    kinds="apps StatefulSet",
    groups=("relations", "networking"),
    fixable=True,
)
def missing_governing_service(stateful: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The StatefulSet starts without its Service, but its Pods get no DNS names. A Service that selects other Pods is not meant."""

    def selects_pods(service: Facts) -> bool:
        return any(each.selector.matches(pod.labels) for each in service.selectors for pod in stateful.pods)

    for reference in _missing_services(stateful, bundle):
        if reference.use == "own":
            problem = missing_object_problem(stateful, reference, bundle, True, fits=selects_pods)
            if problem is not None:
                yield problem


def _missing_services(user: Facts, bundle: Bundle) -> Iterator[Reference]:
    def exists(reference: Reference) -> bool:
        # The AWS load balancer controller uses this port name for actions in annotations.
        if reference.key == "use-annotation" or is_managed_namespace(user.id.namespace):
            return True
        return any(reference.name.startswith(name) for name in bundle.operated_names)

    return missing_references(user, ("Service",), bundle, exists)


@rule(
    "missing-service-port",
    "Referenced port does not exist in its Service",
    severity=ERROR,
    facts="references",
    references="Service",
    groups=("relations", "networking"),
    fixable=True,
)
def missing_service_port(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Ports by name or number. Webhooks and APIServices without a port use port 443."""
    for reference in user.references if user.is_complete else ():
        key = reference.key or ("443" if reference.use == "hook" else "")
        if reference.kind != "Service" or key in ("", "use-annotation"):
            continue
        copies = [f for f in bundle.nearest(user, reference) if f.is_complete]
        ports = [port for f in copies for port in f.ports]
        protocol = "UDP" if user.id.kind == "UDPRoute" else "TCP"
        if not ports or any(f.service is not None and f.service.is_external_name for f in copies):
            continue
        named = [port for port in ports if key in (port.name, str(port.number))]
        if any(port.protocol == protocol for port in named):
            continue
        service = f'Service "{reference.name}"'
        near = meant(key, sorted(port.name for port in ports if port.name)) if not key.isdigit() else None
        fix = correction(reference.key_place, reference.key, near) if near else None
        if named:
            message = f"port {key} of {service} uses {named[0].protocol}, but {user.id.kind} requires {protocol}"
            problem = Complaint(message, f"use a port with protocol: {protocol}")
        elif not reference.key:
            message = f"{service} has no port 443, the default where the reference sets no port"
            numbers = list(dict.fromkeys(str(port.number) for port in ports))
            problem = Complaint(message, f"set port: {numbers[0]}" if len(numbers) == 1 else f"set port to one of {', '.join(numbers)}")
        else:
            shown = key if key.isdigit() else f'"{key}"'
            problem = Complaint(f"{service} has no port {shown}", did_you_mean(near, _ports_help(ports)))
        related = (Related(copies[0].place, service),)
        yield Problem(reference.key_place or reference.place, problem, related=related, fix=fix)


def _ports_help(ports: list[PortFact]) -> str:
    """The help that lists the ports of a Service, each once."""
    shown = list(dict.fromkeys(f'"{port.name}" ({port.number})' if port.name else str(port.number) for port in ports))
    return f"did you mean port {shown[0]}?" if len(shown) == 1 else f"use one of the ports {', '.join(shown)}"


@rule(
    "missing-scale-target",
    "Target of an autoscaler does not exist (scaleTargetRef)",
    severity=ERROR,
    facts="references",
    references=_SCALED,
    groups=("relations", "autoscaling"),
    fixable=True,
)
def missing_scale_target(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Targets of HorizontalPodAutoscalers, VerticalPodAutoscalers and KEDA ScaledObjects."""
    for reference in missing_references(user, _SCALED, bundle):
        if reference.use != "target":
            continue
        others = [f for f in bundle.in_scope(user, "folder") if f.is_complete and f.id.name == reference.name and f.id.kind in _SCALED]
        if others and (reference.api_group, reference.kind) != (others[0].group, others[0].id.kind):
            other = others[0].id
            message = f'{reference.kind} "{reference.name}" does not exist, but {other.kind} "{other.name}" ({other.api_version}) does'
            hint = f"set apiVersion: {other.api_version} and kind: {other.kind}"
            yield Problem(reference.place, message, help=hint, related=(Related(others[0].place, f'{other.kind} "{other.name}"'),))
        else:
            yield from _problem(user, reference, bundle, True)


@rule(
    "missing-role",
    "Role or ClusterRole referenced by a binding does not exist",
    severity=ERROR,
    facts="references",
    references=("Role", "ClusterRole"),
    groups=("relations", "rbac"),
    fixable=True,
)
def missing_role(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The API server accepts such a binding, which grants nothing."""
    for reference in missing_references(user, ("Role", "ClusterRole"), bundle):
        other = "Role" if reference.kind == "ClusterRole" else "ClusterRole"
        twin = next((f for f in bundle.neighbours(user, other, reference.api_group) if f.id.name == reference.name), None)
        if twin is not None and reference.use == "role":
            message = f'{reference.kind} "{reference.name}" does not exist, but {other} "{reference.name}" does'
            # A ClusterRoleBinding cannot reference a Role.
            instead = "use a RoleBinding with" if user.id.kind == "ClusterRoleBinding" else "set"
            related = (Related(twin.place, f'{other} "{reference.name}"'),)
            yield Problem(reference.place, message, help=f"{instead} roleRef.kind: {other}", related=related)
        else:
            yield from _problem(user, reference, bundle, False)


@rule(
    "missing-service-account",
    "Referenced ServiceAccount does not exist",
    severity=ERROR,
    facts="references",
    references="ServiceAccount",
    groups=("relations", "rbac"),
    fixable=True,
)
def missing_service_account(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The API server rejects Pods with a missing ServiceAccount; a binding to one grants nothing."""
    for reference in missing_references(user, ("ServiceAccount",), bundle):
        yield from _problem(user, reference, bundle, reference.use == "account")


@rule(
    "missing-persistent-volume-claim",
    "Referenced PersistentVolumeClaim does not exist",
    severity=ERROR,
    facts="references",
    references=("PersistentVolumeClaim", "PersistentVolume"),
    groups=("relations", "storage"),
    fixable=True,
)
def missing_volume_claim(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A Pod with a missing claim stays pending. A StatefulSet creates the claims of its volumeClaimTemplates."""

    def exists(reference: Reference) -> bool:
        return any(f"-{f.id.name}-" in reference.name for f in bundle.neighbours(user, "StatefulSet", "apps"))

    for reference in missing_references(user, ("PersistentVolumeClaim", "PersistentVolume"), bundle, exists):
        yield from _problem(user, reference, bundle, reference.use == "volume")


@rule(
    "missing-class",
    "Referenced PriorityClass, StorageClass, IngressClass or RuntimeClass does not exist",
    severity=ERROR,
    facts="references",
    references=_CLASSES,
    groups=("relations",),
    fixable=True,
)
def missing_class(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Clusters come with many classes, so that without a complete input only misspelt names are reported."""

    def exists(reference: Reference) -> bool:
        return reference.kind == "StorageClass" and _is_manual(user, reference, bundle)

    for reference in missing_references(user, _CLASSES, bundle, exists):
        yield from _problem(user, reference, bundle, False)


@rule(
    "missing-gateway",
    "Gateway referenced by a route does not exist",
    severity=ERROR,
    facts="references",
    references="Gateway",
    groups=("relations", "networking"),
    fixable=True,
)
def missing_gateway(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A route without its Gateway receives no traffic."""
    for reference in missing_references(user, ("Gateway",), bundle):
        yield from _problem(user, reference, bundle, True)


@rule(
    "missing-referenced-object",
    "Object referenced by a custom resource or Pod does not exist (Issuer, SecretStore)",
    severity=ERROR,
    facts="references",
    references=_OTHER,
    groups=("relations",),
    fixable=True,
)
def missing_object(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Issuers, secret stores, Flux sources, Argo CD projects, resource claims, policies of ValidatingAdmissionPolicyBindings."""
    for reference in missing_references(user, _OTHER, bundle):
        yield from _problem(user, reference, bundle, False)


@rule("missing-owner", "Owner in metadata.ownerReferences does not exist", facts="references", groups=("relations",), default=False)
def missing_owner(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The garbage collector deletes objects whose owner does not exist."""
    for reference in user.references:
        if reference.use == "own" and reference.place.field.startswith("metadata.ownerReferences") and not bundle.exists(reference):
            message = f'owner {reference.kind} "{reference.name}" does not exist in the input, and objects without their owner are deleted'
            yield Problem(reference.place, message, help="remove metadata.ownerReferences")


def _problem(user: Facts, reference: Reference, bundle: Bundle, by_file: bool) -> Iterator[Problem]:
    problem = missing_object_problem(user, reference, bundle, by_file)
    if problem is not None:
        yield problem


def _is_manual(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    """Whether PersistentVolumes of the folder have the class; then no StorageClass object is required."""
    volumes = bundle.neighbours(user, "PersistentVolume")
    return any(volume.storage_class == reference.name for volume in volumes)


# kcheck/check/kustomizations.py reports it, as it reads directories.
missing_file = declare(
    "missing-kustomization-file",
    "kustomization.yaml references a file or directory that does not exist",
    severity=ERROR,
    groups=("relations",),
    family="practice",
)

# kcheck/run/bundle_stage.py reports it.
failed_build = declare(
    "failed-kustomize-build",
    "kustomize cannot build the kustomization (with --render)",
    severity=ERROR,
    groups=("relations",),
    family="practice",
)
