"""ConfigMaps and Secrets that Pods reference. Sources: the documentation's pages "ConfigMaps", "Secrets" and "Volumes"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Facts, Lexicon, Problem, Reference, Related, did_you_mean, pattern, rule
from kcheck_practice._support.missing_references import missing_object_problem, missing_references
from kcheck_practice._support.typos import correction, meant

_KEYED = ("ConfigMap", "Secret")
# The names of variables that the kubelet accepted before Kubernetes 1.32, which accepts almost all characters.
_VARIABLE = pattern(r"(?!\.\.)(?!\.$)[-._a-zA-Z][-._a-zA-Z0-9]*")
_MAX_KEYS = 5
# The references of Pods that have a field "optional".
_OPTIONAL = pattern(r".*\.(?:(?:configMap|secret)KeyRef|envFrom\b[^.]*\.(?:configMap|secret)Ref|configMap|secret)\.(?:name|secretName)")


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
    """ConfigMaps that should be in the input: it is complete, the file has other ConfigMaps, or the name is misspelt."""
    for reference in missing_references(user, ("ConfigMap",), bundle):
        yield from _problem(user, reference, bundle, reference.use != "name")


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
    """Only where the input is complete or the name is misspelt: most Secrets are not in files."""
    for reference in missing_references(user, ("Secret",), bundle):
        yield from _problem(user, reference, bundle, False)


def _problem(user: Facts, reference: Reference, bundle: Bundle, by_file: bool) -> Iterator[Problem]:
    help = f"add the {reference.kind} or set optional: true" if _OPTIONAL.fullmatch(reference.place.field) else ""
    problem = missing_object_problem(user, reference, bundle, by_file, help)
    if problem is not None:
        yield problem


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
    """A container does not start, a volume is not mounted, or a subPath becomes an empty directory."""
    for reference in user.references:
        if not reference.key or reference.optional or reference.kind not in _KEYED:
            continue
        copies = bundle.resolve(user, reference)
        known = [f.keys for f in copies] + [made.keys for made in bundle.generators(reference)]
        if not known or None in known or any(reference.key in keys for keys in known if keys is not None):
            continue
        title = f'{reference.kind} "{reference.name}"'
        present = bundle.once(_Keys).of(frozenset(keys for keys in known if keys is not None))
        near = meant(reference.key, present)
        # A custom resource in an example may mean any Secret of that name.
        if near is None and reference.use == "name" and not bundle.complete and all(f.place.file != user.place.file for f in copies):
            continue
        hint = did_you_mean(near, "") if near else _hint(reference, present.words)
        fix = correction(reference.key_place, reference.key, near) if near else None
        related = tuple(Related(f.place, title) for f in copies[:1])
        message = f'{title} has no key "{reference.key}"'
        yield Problem(reference.key_place or reference.place, message, help=hint, related=related, fix=fix)


def _hint(reference: Reference, present: list[str]) -> str:
    """What to do about a missing key that is not a misspelt one."""
    if not present:
        return "add the key"
    if reference.use == "env" and reference.key.isupper() and len(present) == 1 and "." in present[0]:
        # The object was created from a file of variables with --from-file, which makes the whole file one value.
        return f"add the key; if {_listed(present)} is a file of variables, create the {reference.kind} with --from-env-file"
    return did_you_mean(present[0], "") if len(present) == 1 else f"use one of {_listed(present)}"


def _listed(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys[:_MAX_KEYS]) + (", ..." if len(keys) > _MAX_KEYS else "")


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
    """A shell cannot use such a variable; before Kubernetes 1.32 the kubelet skipped the key and reported it only in an event."""
    for reference in user.references:
        if reference.use != "envFrom" or reference.kind not in _KEYED:
            continue
        for copy in bundle.resolve(user, reference):
            wrong = sorted(key for key in copy.keys or () if not _VARIABLE.fullmatch(key))
            if wrong:
                title = f'{reference.kind} "{reference.name}"'
                several = len(wrong) > 1
                names = "keys" if several else "key"
                fault = "are not portable environment variable names" if several else "is not a portable environment variable name"
                hint = f"rename the {names} or set envFrom.prefix"
                yield Problem(
                    reference.place,
                    f"{title} has {names} {_listed(wrong)}, which {fault}",
                    help=hint,
                    related=(Related(copy.place, title),),
                )
                break
