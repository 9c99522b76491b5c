"""References to objects that are not in the input: when they are reported, and with which message.

A missing object is reported where it should be in the input: the input is complete; an unused object of the kind in the same file
or deployment unit has a similar name; the unit has the object in another namespace; an earlier revision of the input had the object; or,
for some references, the file has other objects of the kind and its folder is in the input as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from kcheck.api import Bundle, Facts, Peers, Problem, Reference, Related, did_you_mean, is_managed_namespace, is_provided, placeholders
from kcheck_practice._support.typos import correction, meant


def missing_references(
    user: Facts, kinds: Collection[str], bundle: Bundle, exists: Callable[[Reference], bool] = lambda r: False
) -> Iterator[Reference]:
    """References to objects that are neither in the input nor created by something in it, one for each place.

    `exists`: whether an object exists for another reason than that every cluster has it.
    """
    seen = set()
    for reference in user.references if user.is_complete else ():
        if reference.kind not in kinds or reference.optional or reference.place.start in seen or placeholders.in_name(reference.name):
            continue
        seen.add(reference.place.start)
        name = reference.name
        known = is_provided(reference) or exists(reference) or bundle.is_mentioned(name, user)
        known = known or is_managed_namespace(reference.namespace) or bundle.exists(reference)
        if not (known or bundle.may_be_unfilled(user, reference)):
            yield reference


def missing_object_problem(
    user: Facts,
    reference: Reference,
    bundle: Bundle,
    by_file: bool,
    help: str = "",
    fits: Callable[[Facts], bool] = lambda f: True,
) -> Problem | None:
    """The problem of a missing object; None where the object need not be in the input.

    `by_file`: whether other objects of the kind in the file mean that the object should be there, too. `help`: instead of the general one.
    `fits`: whether the reference may mean an object with a similar name.
    """
    kind, name, place = reference.kind, reference.name, reference.place
    title = f'{kind} "{name}"'
    around = bundle.once(Peers).of(user, kind, reference.api_group)
    elsewhere = around.named(name)
    if elsewhere is not None and user.folder in bundle.input.once(_renamespaced):
        return None
    if elsewhere is not None:
        message = f'{title} does not exist in namespace "{reference.namespace}", only in namespace "{elsewhere.id.namespace}"'
        return Problem(place, message, help=f'add {title} to namespace "{reference.namespace}"', related=(Related(elsewhere.place, title),))
    here = around.sharing(reference.namespace, user.place.file)
    peers = here or around.sharing(reference.namespace)
    # An object with an invalid name is rejected, and so is a reference to it.
    near = meant(name, (each for each in peers.around(name) if each == each.lower()))
    # An object that others use is not a misspelling of this one.
    found = peers.named(near) if near is not None else None
    if near is not None and (found is None or fits(found)) and not bundle.is_used(user, kind, near, bool(here)):
        related = (Related(found.place, f'{kind} "{near}"'),) if found is not None else ()
        fix = correction(place, name, near)
        return Problem(place, f"{title} does not exist", help=did_you_mean(near), related=related, fix=fix)
    is_expected = bundle.complete or (by_file and here and not bundle.unit.is_partial) or bundle.was_removed(reference)
    if is_expected and not _is_operated(user, reference, bundle):
        return Problem(place, f"{title} does not exist in the input", help=help or f"add the {kind} or correct the name")
    return None


def _is_operated(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    """Whether an operator is likely to create a ConfigMap or Secret: its name begins with the name of another custom resource."""
    if reference.kind not in ("ConfigMap", "Secret"):
        return False
    name, own = reference.name, user.id.name if user.operated else ""
    return any(name[:end] in bundle.operated_names and name[:end] != own for end, sign in enumerate(name) if sign == "-")


def _renamespaced(bundle: Bundle) -> frozenset[str]:
    """The folders whose objects a kustomization of the input puts into one namespace."""
    known = {f.folder: f.kustomization for f in bundle.facts if f.kustomization is not None}
    found: set[str] = set()
    todo = [folder for folder, kustomization in known.items() if kustomization.sets_namespace]
    while todo:
        folder = todo.pop()
        if folder not in found:
            found.add(folder)
            todo += known[folder].folders if folder in known else ()
    return frozenset(found)
