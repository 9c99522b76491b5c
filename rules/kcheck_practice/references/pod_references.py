"""ConfigMaps and Secrets that pods refer to. Sources: the documentation's pages "ConfigMaps", "Secrets" and "Volumes"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Facts, Lexicon, Problem, Related, pattern, rule
from kcheck_practice._support.missing_references import absent, tell
from kcheck_practice._support.typos import correction, meant

_KEYED = ("ConfigMap", "Secret")
# What the kubelet took for the name of a variable until names of nearly all characters came with Kubernetes 1.32.
_VARIABLE = pattern(r"(?!\.\.)(?!\.$)[-._a-zA-Z][-._a-zA-Z0-9]*")
_SHOWN = 5
_REMEDY = "add it, or set optional where the pod can do without"
_OTHER_REMEDY = "add it, or correct the name"


@rule(
    "missing-config-map",
    "Referenced ConfigMap does not exist",
    severity=ERROR,
    facts="references",
    references="ConfigMap",
    groups=("relations",),
    fixable=True,
)
def missing_config_map(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where it should be in sight: the input is complete, the file has other ConfigMaps, or a name differs by a slip."""
    for reference in absent(user, ("ConfigMap",), bundle):
        yield from tell(user, reference, bundle, reference.use != "name", _REMEDY if user.pods else _OTHER_REMEDY)


@rule(
    "missing-secret",
    "Referenced Secret does not exist",
    severity=ERROR,
    facts="references",
    references="Secret",
    groups=("relations", "secrets"),
    fixable=True,
)
def missing_secret(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where the input is complete or a name differs by a slip: Secrets stay out of files more often than not."""
    for reference in absent(user, ("Secret",), bundle):
        yield from tell(user, reference, bundle, False, _REMEDY if user.pods else _OTHER_REMEDY)


@rule(
    "missing-key",
    "Referenced key does not exist in its ConfigMap or Secret",
    severity=ERROR,
    facts="references",
    references=_KEYED,
    groups=("relations",),
    fixable=True,
)
def missing_key(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A container does not start, a volume is not mounted, a subPath becomes an empty folder."""
    for reference in user.references:
        if not reference.key or reference.optional or reference.kind not in _KEYED:
            continue
        copies = bundle.meant(user, reference)
        known = [f.keys for f in copies] + [made.keys for made in bundle.makers(reference)]
        if not known or None in known or any(reference.key in keys for keys in known if keys is not None):
            continue
        title = f"{reference.kind} {reference.name}"
        present = bundle.once(_Keys).of(frozenset(keys for keys in known if keys is not None))
        near = meant(reference.key, present)
        # What a custom resource calls its Secret in an example may be any Secret of that name.
        if near is None and reference.use == "name" and not bundle.complete and all(f.place.file != user.place.file for f in copies):
            continue
        have = ", ".join(present.words[:_SHOWN]) + (", ..." if len(present.words) > _SHOWN else "")
        hint = f"did you mean {near}?" if near else f"use one of {have}"
        fix = correction(reference.key_place, reference.key, near) if near else None
        related = tuple(Related(f.place, title) for f in copies[:1])
        yield Problem(reference.key_place or reference.place, f"{title} has no key {reference.key}", help=hint, related=related, fix=fix)


class _Keys:
    """The entries of ConfigMaps and Secrets that a reference can mean, indexed once however many refer to them."""

    def __init__(self, bundle: Bundle) -> None:
        self._known: dict[frozenset[frozenset[str]], Lexicon] = {}

    def of(self, several: frozenset[frozenset[str]]) -> Lexicon:
        if several not in self._known:
            self._known[several] = Lexicon(key for keys in several for key in keys)
        return self._known[several]


@rule(
    "invalid-env-from-key",
    "envFrom imports a key that is not a portable environment variable name",
    facts="references",
    references=_KEYED,
    groups=("relations",),
)
def unnameable_variable(user: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Such a variable cannot be named in a shell; before Kubernetes 1.32 the kubelet left it out and told of it in an event only."""
    for reference in user.references:
        if reference.use != "envFrom" or reference.kind not in _KEYED:
            continue
        for copy in bundle.meant(user, reference):
            wrong = sorted(key for key in copy.keys or () if not _VARIABLE.fullmatch(key))
            if wrong:
                shown = ", ".join(wrong[:_SHOWN]) + (", ..." if len(wrong) > _SHOWN else "")
                what = f"{reference.kind} {reference.name} has {shown}, which no shell can name and Kubernetes before 1.32 leaves out"
                yield Problem(reference.place, f"{what}", help="rename, or set a prefix", related=(Related(copy.place, "the object"),))
                break
