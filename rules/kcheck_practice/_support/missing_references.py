"""Objects that others name and that are not in the input: when that is news, and how it is told.

A missing object is told where it should be in sight: the input is complete; a name of the same kind, in the same file or folder, that
nobody uses differs by a slip of the pen; the folder has it in another namespace; or, where a rule says so, the file has others of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from kcheck.api import Bundle, Facts, Peers, Problem, Reference, Related, is_provided, pattern
from kcheck_practice._support.typos import correction, meant

# In whose place a script or a template writes the name.
_PLACEHOLDER = pattern(r"[${}<>%]|^[^a-zA-Z0-9]")


def absent(
    user: Facts, kinds: Collection[str], bundle: Bundle, there: Callable[[Reference], bool] = lambda r: False
) -> Iterator[Reference]:
    """References to objects that are not in the input and that nothing in it seems to make, each place once.

    `there`: says of what is there all the same, besides what every cluster has.
    """
    seen = set()
    for reference in user.references if user.whole else ():
        if reference.kind not in kinds or reference.optional or reference.place.start in seen or _PLACEHOLDER.search(reference.name):
            continue
        seen.add(reference.place.start)
        name = reference.name
        given = is_provided(reference) or there(reference) or bundle.is_mentioned(name, user)
        if not (given or bundle.copies(reference) or bundle.makers(reference)):
            yield reference


def tell(user: Facts, reference: Reference, bundle: Bundle, by_file: bool, remedy: str) -> Iterator[Problem]:
    """The problem of a missing object, if it should be in sight. `by_file`: others of the kind in the file are a sign of that."""
    kind, name, place = reference.kind, reference.name, reference.place
    around = bundle.once(Peers).of(user, kind, reference.api_group)
    elsewhere = around.named(name)
    if elsewhere is not None and user.folder in bundle.once(_moved):
        return
    if elsewhere is not None:
        message = f"{kind} {name} is in namespace {elsewhere.id.namespace}, which {_who(user, reference)} cannot see"
        yield Problem(place, message, help="add it there", related=(Related(elsewhere.place, f"{kind} {name}"),))
        return
    here = around.sharing(reference.namespace, user.place.file)
    peers = here or around.sharing(reference.namespace)
    near = meant(name, peers.around(name))
    # One that others use has a purpose of its own.
    if near is not None and not bundle.is_used(user.place.file if here else user.folder, kind, near):
        found = peers.named(near)
        related = (Related(found.place, f"{kind} {near}"),) if found is not None else ()
        yield Problem(place, f"there is no {kind} {name}", help=f"did you mean {near}?", related=related, fix=correction(place, name, near))
    elif (bundle.complete or (by_file and here)) and not _is_operated(user, reference, bundle):
        yield Problem(place, f"there is no {kind} {name} in the input", help=remedy)


def _is_operated(user: Facts, reference: Reference, bundle: Bundle) -> bool:
    """Whether the operator of another object is likely to make a ConfigMap or Secret: its name begins with that of a custom resource."""
    if reference.kind not in ("ConfigMap", "Secret"):
        return False
    name, own = reference.name, user.id.name if user.operated else ""
    return any(name[:end] in bundle.operated_names and name[:end] != own for end, sign in enumerate(name) if sign == "-")


def _who(user: Facts, reference: Reference) -> str:
    return f"pods in {user.id.namespace}" if user.pods else f"{user.title} in {reference.namespace}"


def _moved(bundle: Bundle) -> frozenset[str]:
    """The folders whose objects a kustomization of the input puts into one namespace."""
    known = {f.folder: f for f in bundle.facts if f.group == "kustomize.config.k8s.io"}
    found: set[str] = set()
    todo = [folder for folder, f in known.items() if "namespace" in f.marks]
    while todo:
        folder = todo.pop()
        if folder not in found:
            found.add(folder)
            below = known[folder].marks if folder in known else ()
            todo += [mark.partition("=")[2] for mark in below if mark.startswith("under=")]
    return frozenset(found)
