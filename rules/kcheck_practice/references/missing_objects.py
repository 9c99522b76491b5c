"""Objects that others lead to: Services, workloads to scale, roles, accounts, claims, classes. Sources: the documentation's pages
"Ingress", "Horizontal Pod Autoscaling", "Using RBAC Authorization", "Persistent Volumes", "StatefulSets", "Dynamic Admission Control".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Complaint, Facts, Problem, Reference, Related, rule
from kcheck_practice._support.missing_references import absent, tell
from kcheck_practice._support.typos import correction, meant

_REMEDY = "add it, or correct the name"
_SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Rollout")
_CLASSES = ("StorageClass", "IngressClass", "PriorityClass", "RuntimeClass", "GatewayClass", "VolumeAttributesClass")
_OTHER = ("Issuer", "ClusterIssuer", "SecretStore", "ClusterSecretStore", "TriggerAuthentication", "ClusterTriggerAuthentication",
          "AppProject", "GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", "ImageRepository", "Kustomization",
          "HelmRelease", "Provider", "ResourceClaim", "ResourceClaimTemplate", "ValidatingAdmissionPolicy")  # fmt: skip


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
    """Asked of Ingresses, routes, webhooks, APIServices and StatefulSets; told where the file has Services or a name is a slip."""

    def there(reference: Reference) -> bool:
        # The load balancer controller of AWS takes this for a port where an annotation says what to do.
        if reference.key == "use-annotation" or (user.id.namespace == "kube-system" and not bundle.complete):
            return True
        return any(reference.name.startswith(name) for name in bundle.operated_names)

    for reference in absent(user, ("Service",), bundle, there):
        # Who writes a webhook for a program seldom writes its Service into the same file.
        yield from tell(user, reference, bundle, reference.use in ("backend", "own"), _REMEDY)


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
    """By name or number; what controllers answer then is an error page, or nothing. Webhooks without a port are called at 443."""
    for reference in user.references if user.whole else ():
        key = reference.key or ("443" if reference.use == "hook" else "")
        if reference.kind != "Service" or key in ("", "use-annotation"):
            continue
        copies = [f for f in bundle.copies(reference) if f.whole and bundle.variants.is_nearest(user.named, f.place.file)]
        ports = [port for f in copies for port in f.ports]
        protocol = "UDP" if user.id.kind == "UDPRoute" else "TCP"
        if not ports or any("external-name-service" in f.marks for f in copies):
            continue
        of_it = [port for port in ports if key in (port.name, str(port.number))]
        if any(port.protocol == protocol for port in of_it):
            continue
        near = meant(key, sorted(port.name for port in ports if port.name)) if not key.isdigit() else None
        have = ", ".join(dict.fromkeys(f"{p.name} ({p.number})" if p.name else str(p.number) for p in ports))
        hint = f"did you mean {near}?" if near else f"use one of {have}"
        fix = correction(reference.key_place, reference.key, near) if near else None
        related = (Related(copies[0].place, f"Service {reference.name}"),)
        message = Complaint(f"Service {reference.name} has no port {key}", hint)
        if of_it:
            led = f"{user.id.kind} leads there by {protocol}"
            message = Complaint(f"port {key} of Service {reference.name} is {of_it[0].protocol}, and {led}", "correct one")
        elif not reference.key:
            message = Complaint(f"Service {reference.name} has no port 443, which is called where none is named", hint)
        yield Problem(reference.key_place or reference.place, message, related=related, fix=fix)


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
    """Asked of HorizontalPodAutoscalers, VerticalPodAutoscalers and KEDA's ScaledObjects."""
    for reference in absent(user, _SCALED, bundle):
        if reference.use != "target":
            continue
        others = [f for f in bundle.around(user, "folder") if f.whole and f.id.name == reference.name and f.id.kind in _SCALED]
        if others and (reference.api_group, reference.kind) != (others[0].group, others[0].id.kind):
            right = f"{others[0].id.api_version} {others[0].id.kind}"
            message = f"there is no {reference.kind} {reference.name}, which is a {right}"
            yield Problem(
                reference.place, message, help="correct apiVersion and kind", related=(Related(others[0].place, others[0].title),)
            )
        else:
            yield from tell(user, reference, bundle, True, _REMEDY)


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
    """The server takes such a binding, and it grants nothing."""
    for reference in absent(user, ("Role", "ClusterRole"), bundle):
        other = "Role" if reference.kind == "ClusterRole" else "ClusterRole"
        twin = next((f for f in bundle.neighbours(user, other, reference.api_group) if f.id.name == reference.name), None)
        if twin is not None and reference.use == "role":
            message = f"there is no {reference.kind} {reference.name}, which is a {other}"
            yield Problem(reference.place, message, help=f"write kind: {other}", related=(Related(twin.place, twin.title),))
        else:
            yield from tell(user, reference, bundle, False, _REMEDY)


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
    """Pods of an account that is not there are never made; a binding to one grants nothing."""
    for reference in absent(user, ("ServiceAccount",), bundle):
        yield from tell(user, reference, bundle, reference.use == "account", _REMEDY)


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
    """A pod with it waits until somebody makes the claim; a StatefulSet makes those of its templates."""

    def there(reference: Reference) -> bool:
        return any(f"-{f.id.name}-" in reference.name for f in bundle.neighbours(user, "StatefulSet", "apps"))

    for reference in absent(user, ("PersistentVolumeClaim", "PersistentVolume"), bundle, there):
        yield from tell(user, reference, bundle, reference.use == "volume", _REMEDY)


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
    """Clusters bring many StorageClasses, IngressClasses, PriorityClasses and the like, so that most is told of slips."""

    def there(reference: Reference) -> bool:
        return reference.kind == "StorageClass" and _is_manual(user, reference, bundle)

    for reference in absent(user, _CLASSES, bundle, there):
        yield from tell(user, reference, bundle, False, _REMEDY)


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
    """A route without its Gateway takes no traffic."""
    for reference in absent(user, ("Gateway",), bundle):
        yield from tell(user, reference, bundle, True, _REMEDY)


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
    """Issuers, secret stores, sources of Flux, projects of Argo CD, claims of devices, policies of bindings."""
    for reference in absent(user, _OTHER, bundle):
        yield from tell(user, reference, bundle, False, _REMEDY)


@rule("missing-owner", "Owner in metadata.ownerReferences does not exist", facts="references", groups=("relations",), default=False)
def missing_owner(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Whatever names an owner that does not exist is collected as garbage."""
    for reference in user.references:
        if reference.use == "own" and reference.place.field.startswith("metadata.ownerReferences") and not bundle.copies(reference):
            message = f"there is no {reference.kind} {reference.name}, and without its owner this is deleted"
            yield Problem(reference.place, message, help="take it away")


def _is_manual(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    """Whether volumes of the folder bear the class, which need not be an object then."""
    volumes = bundle.neighbours(user, "PersistentVolume")
    return any(f"class={reference.name}" in volume.marks for volume in volumes)
