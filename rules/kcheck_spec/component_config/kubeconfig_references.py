"""Names in kubeconfig files, over all files of the input.

Source: validateContext and Validate (client-go, tools/clientcmd), the conversions of tools/clientcmd/api/v1, and
ClientConfigLoadingRules.Load, which merges the files of KUBECONFIG: the first file that has an entry wins, and the others' is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, WARNING, Bundle, Complaint, Facts, Lexicon, Node, Problem, Related, nearest, rule, validator
from kcheck_spec.objects.common_constraints import require, unique


@rule(
    "invalid-kubeconfig-reference",
    "kubeconfig context or current-context refers to an unknown or duplicate name",
    severity=ERROR,
    facts="kubeconfig",
    family="spec",
)
def kubeconfig_reference(config: Facts, bundle: Bundle) -> Iterator[Problem]:
    """What contexts and current-context name is in this file or in another one of the input."""
    if config.kubeconfig is None:
        return
    for naming in config.kubeconfig.namings:
        section, name = naming.section, naming.name
        if (section, name) in bundle.kubeconfig:
            continue
        near = nearest(name, bundle.once(_names).get(section, ()))
        hint = f"did you mean {near}?" if near else f"add it under {section}, or check the files that KUBECONFIG merges together"
        by = f"context {naming.context}" if naming.context else "current-context"
        yield Problem(naming.place, f"{by} names the {section[:-1]} {name}, which nobody has", help=hint, reason="NotFound")


def _names(bundle: Bundle) -> dict[str, Lexicon]:
    """The names of each section's entries."""
    names: dict[str, list[str]] = {}
    for section, name in bundle.kubeconfig:
        names.setdefault(section, []).append(name)
    return {section: Lexicon(found) for section, found in names.items()}


@validator("clientcmd/v1 Config", rule=kubeconfig_reference)
def names_differ(config: Node) -> Iterator[Problem]:
    """kubectl refuses the whole file where two entries of a list have one name."""
    for section in ("clusters", "users", "contexts"):
        yield from unique(
            (each for each in config[section] if each["name"].text),
            lambda each: each["name"].text,
            lambda each: _twice(each["name"]),
            "name",
        )


@validator("clientcmd/v1 Config", rule=kubeconfig_reference)
def contexts_have_users(config: Node) -> Iterator[Problem]:
    """A file without users is one for a webhook that asks nobody who he is."""
    for each in config["contexts"] if len(config["users"]) else ():
        user = each["context"]["user"]
        if not user.text:
            what = f"context {each['name'].text}" if each["name"].text else "this context"
            yield require(user, Complaint(f"{what} names no user, so kubectl sends no credentials", "add user"))


_EXTENDED = tuple(f"clientcmd/v1 {each}" for each in ("Config", "Preferences", "Cluster", "AuthInfo", "Context"))


@validator(_EXTENDED, rule=kubeconfig_reference)
def extensions_differ(owner: Node) -> Iterator[Problem]:
    """They are entries by their names, too."""
    extensions = owner["extensions"]
    yield from unique(extensions, lambda each: each["name"].text, lambda each: _twice(each["name"]), "name")


def _twice(name: Node) -> str:
    return Complaint(f"{name.text} stands in this list already", "give it another name")


@rule(
    "shadowed-kubeconfig-entry",
    "kubeconfig entry is ignored when KUBECONFIG merges files, or in a second document",
    severity=WARNING,
    facts="kubeconfig",
    family="spec",
)
def kubeconfig_merge(config: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Entries that an earlier file has with other contents, and files behind a '---'."""
    if config.kubeconfig is None:
        return
    if config.place.document:
        message = "kubectl reads the first document of a file and no other"
        yield Problem(config.kubeconfig.place, message, help="write this one to a file of its own")
        return
    for section, entries in config.kubeconfig.entries.items():
        for name, entry in entries.items():
            first = bundle.kubeconfig[section, name]
            if first is config or first.kubeconfig is None:
                continue
            other = first.kubeconfig.entries[section][name]
            if other.contents != entry.contents:
                message = f"{first.place.file} has another {section[:-1]} {name}: where the two are merged, the first file wins"
                related = (Related(other.place, f"{section[:-1]} {name}"),)
                yield Problem(entry.place, f"{message} and this entry is dropped whole", help="rename it", related=related)
