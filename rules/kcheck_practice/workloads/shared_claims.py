"""Claims that only one node or Pod can mount, and workloads that need them on several.

Source: the Kubernetes documentation page "Persistent Volumes", section "Access Modes".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Problem, Reference, Related, pattern, rule

_GROUPS = ("storage", "relations", "reliability")
_EXCLUSIVE = frozenset(("ReadWriteOnce", "ReadWriteOncePod"))
_CLAIM = "PersistentVolumeClaim"
# Parts of names of storage classes whose volumes are on one node, which the scheduler then chooses again, or on a file server.
_UNATTACHED_CLASS = pattern(r"(?:^|[-_.])(?:local(?:-path)?|hostpath|nfs|smb|cifs|cephfs|efs|azurefile|filestore|juicefs)(?:$|[-_.])")


@rule(
    "shared-read-write-once-claim",
    "Several replicas use one ReadWriteOnce claim",
    groups=_GROUPS,
    references=_CLAIM,
)
def shared_claim(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each ReadWriteOnce claim of a workload with several Pods: those on other nodes do not start."""
    replicas = _replicas(workload, bundle)
    for reference, claim in _exclusive_claims(workload, bundle) if replicas else ():
        mode = next(iter(claim.access_modes))
        message = f"{replicas} of {workload.title} use {claim.title}, which has access mode {mode} and is mounted by one {_UNIT[mode]} only"
        yield _problem(reference, message, f"use {_help_of(workload)}", claim)


@rule(
    "read-write-once-rolling-update",
    "Deployment with a ReadWriteOnce claim uses RollingUpdate",
    groups=_GROUPS,
    references=_CLAIM,
    kinds="apps Deployment",
)
def rolling_claim(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each ReadWriteOnce claim of a Deployment with one Pod, whose new Pod starts before the old one releases it.

    Volumes that are not attached to nodes, such as local and NFS volumes, do not delay the new Pod.
    """
    if workload.scale is None or not workload.scale.surges or workload.scale.low != 1 or _replicas(workload, bundle):
        return
    for reference, claim in _exclusive_claims(workload, bundle):
        if _is_unattached(claim, bundle):
            continue
        message = f"a rolling update of {workload.title} hangs if the new Pod is on another node, because {claim.title} is ReadWriteOnce"
        yield _problem(reference, message, "set spec.strategy.type to Recreate", claim)


def _is_unattached(claim: Facts, bundle: Bundle) -> bool:
    """Whether the storage class of a claim, or the PersistentVolumes of that class in the input, are mounted without being attached."""
    if _UNATTACHED_CLASS.search(claim.storage_class):
        return True
    volumes = [f for f in bundle.neighbours(claim, "PersistentVolume") if f.storage_class == claim.storage_class]
    return bool(volumes) and not any(f.is_attached for f in volumes)


_UNIT = {"ReadWriteOnce": "node", "ReadWriteOncePod": "Pod"}


def _help_of(workload: Facts) -> str:
    if workload.id.kind == "DaemonSet":
        return "access mode ReadWriteMany, or a hostPath or emptyDir volume on each node"
    return "volumeClaimTemplates of a StatefulSet, access mode ReadWriteMany, or one replica"


def _replicas(workload: Facts, bundle: Bundle) -> str:
    """The Pods of a workload with several ones, as messages name them; "" if there is at most one, or the number is unknown."""
    if workload.id.kind == "DaemonSet":
        return "the Pods"
    if workload.scale is None:
        return ""
    if workload.scale.low > 1:
        return f"{workload.scale.low} replicas"
    scalers = (f.scale for f, _ in bundle.scalers(workload) if bundle.is_near(f, workload) and f.scale is not None)
    most = max((scale.high for scale in scalers), default=1)
    return f"up to {most} replicas" if most > 1 else ""


def _exclusive_claims(workload: Facts, bundle: Bundle) -> Iterator[tuple[Reference, Facts]]:
    """Yield the references of the Pods to claims that all copies in the input define as exclusive."""
    for reference in workload.references if workload.is_complete and workload.pods else ():
        if reference.kind == _CLAIM and reference.use == "volume":
            claims = [f for f in bundle.resolve(workload, reference) if f.is_complete]
            if claims and all(f.access_modes and f.access_modes <= _EXCLUSIVE for f in claims):
                yield reference, claims[0]


def _problem(reference: Reference, message: str, help: str, claim: Facts) -> Problem:
    return Problem(reference.place, message, help=help, related=(Related(claim.place, claim.title),))
