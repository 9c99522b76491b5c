"""ConfigMaps and Secrets that pods refer to. Sources: the documentation's pages "ConfigMaps", "Secrets" and "Volumes"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Facts, Problem, Reference, Related, rule
from kcheck_practice.absences import absent, tell
from kcheck_practice.slips import correction, meant

# Made in every namespace by Kubernetes, Istio and OpenShift.
_EVERYWHERE = {"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"}
_KEYED = {"ConfigMap", "Secret"}
_SHOWN = 5
_REMEDY = "add it, or set optional where the pod can do without"


@rule("missing-config-map", "a ConfigMap that pods wait for and nobody gives", severity=ERROR, groups=("relations",), fixable=True,
      like=("kube-linter/env-value-from", "monokle/LNK001"))  # fmt: skip
def missing_config_map(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where it should be in sight: the input is complete, the file has other ConfigMaps, or a name differs by a slip."""
    for reference in absent(user, ("ConfigMap",), bundle, _is_everywhere):
        yield from tell(user, reference, bundle, True, _REMEDY)


@rule("missing-secret", "a Secret that pods wait for and nobody gives", severity=ERROR, groups=("relations", "secrets"), fixable=True,
      like=("kube-linter/env-value-from", "popeye/304", "popeye/305", "monokle/LNK001"))  # fmt: skip
def missing_secret(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where the input is complete or a name differs by a slip: Secrets stay out of files more often than not."""
    for reference in absent(user, ("Secret",), bundle):
        remedy = _REMEDY if user.pods else "add it, or correct the name"
        yield from tell(user, reference, bundle, False, remedy)


@rule("missing-key", "an entry that its ConfigMap or Secret does not have", severity=ERROR, groups=("relations",), fixable=True,
      like=("kube-linter/env-value-from", "monokle/LNK002"))  # fmt: skip
def missing_key(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A container does not start, a volume is not mounted, a subPath becomes an empty folder."""
    for reference in user.references:
        if not reference.key or reference.optional or reference.kind not in _KEYED:
            continue
        copies = _copies(user, reference, bundle)
        known = [f.keys for f in copies] + [made.keys for made in bundle.makers(reference)]
        present = frozenset[str]().union(*(keys for keys in known if keys is not None))
        if not known or None in known or reference.key in present:
            continue
        title = f"{reference.kind} {reference.name}"
        near = meant(reference.key, sorted(present))
        have = ", ".join(sorted(present)[:_SHOWN]) + (", ..." if len(present) > _SHOWN else "")
        hint = f"did you mean {near}?" if near else f"it has {have}"
        fix = correction(reference.key_place, reference.key, near) if near else None
        related = tuple(Related(f.place, title) for f in copies[:1])
        yield Problem(reference.key_place or reference.place, f"{title} has no key {reference.key}: {hint}", related=related, fix=fix)


def _is_everywhere(reference: Reference) -> bool:
    return reference.name in _EVERYWHERE


def _copies(user: Facts, reference: Reference, bundle: Bundle) -> list[Facts]:
    """The objects that a reference can mean: the one in the same file, else all but those that a variant of the user is nearer to."""
    copies = bundle.copies(reference)
    here = [f for f in copies if f.place.file == user.place.file]
    return here or [f for f in copies if bundle.variants.is_nearest(user.named, f.place.file)] or copies
