"""Names in kubeconfig files, across all files of the input.

Source: validateContext and Validate (client-go, tools/clientcmd), the conversions of tools/clientcmd/api/v1, and
ClientConfigLoadingRules.Load, which merges the files of KUBECONFIG: the first file with an entry wins; entries of later files are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kcheck.api import ERROR, WARNING, Bundle, Complaint, Facts, Lexicon, Node, Problem, Related, did_you_mean, nearest, rule, validator
from kcheck_spec.objects.common_constraints import require, unique


@rule(
    "invalid-kubeconfig-reference",
    "kubeconfig context or current-context refers to an unknown or duplicate name",
    severity=ERROR,
    facts="kubeconfig",
    family="spec",
)
def kubeconfig_reference(config: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield names in contexts and current-context that no kubeconfig of the input defines."""
    if config.kubeconfig is None:
        return
    for naming in config.kubeconfig.namings:
        section, name = naming.section, naming.name
        if (section, name) in bundle.kubeconfig:
            continue
        near = nearest(name, bundle.once(_names).get(section, ()))
        help = did_you_mean(near, f"add it to {section}, or also check the other files of KUBECONFIG")
        by = f'context "{naming.context}"' if naming.context else "current-context"
        yield Problem(naming.place, f'{by} refers to the unknown {section[:-1]} "{name}"', help=help, reason="NotFound")


def _names(bundle: Bundle) -> dict[str, Lexicon]:
    """The names of the entries of each section (clusters, users, contexts)."""
    names: dict[str, list[str]] = {}
    for section, name in bundle.kubeconfig:
        names.setdefault(section, []).append(name)
    return {section: Lexicon(found) for section, found in names.items()}


@validator("clientcmd/v1 Config", rule=kubeconfig_reference)
def names_differ(config: Node) -> Iterator[Problem]:
    """Yield duplicate names in a section. kubectl rejects a file that has one."""
    for section in ("clusters", "users", "contexts"):
        yield from unique(
            (each for each in config[section] if each["name"].text),
            lambda each: each["name"].text,
            partial(_duplicate, section),
            "name",
        )


@validator("clientcmd/v1 Config", rule=kubeconfig_reference)
def contexts_have_users(config: Node) -> Iterator[Problem]:
    """Yield contexts without a user. A file without users is skipped: it is one for a webhook that needs no authentication."""
    for each in config["contexts"] if len(config["users"]) else ():
        user = each["context"]["user"]
        if not user.text:
            what = f'context "{each["name"].text}"' if each["name"].text else "this context"
            yield require(user, Complaint(f"{what} has no user, so kubectl sends no credentials", "add user"))


_EXTENDED = tuple(f"clientcmd/v1 {each}" for each in ("Config", "Preferences", "Cluster", "AuthInfo", "Context"))


@validator(_EXTENDED, rule=kubeconfig_reference)
def extensions_differ(owner: Node) -> Iterator[Problem]:
    """Yield duplicate names of extensions."""
    extensions = owner["extensions"]
    yield from unique(extensions, lambda each: each["name"].text, lambda each: _duplicate("extensions", each["name"]), "name")


def _duplicate(section: str, entry: Node) -> str:
    return Complaint(f'duplicate name "{entry["name"].text}" in {section}', "rename or remove one of them")


@rule(
    "shadowed-kubeconfig-entry",
    "kubeconfig entry is ignored when KUBECONFIG merges files, or in a second document",
    severity=WARNING,
    facts="kubeconfig",
    family="spec",
)
def kubeconfig_merge(config: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield entries that an earlier file defines with different contents, and all documents of a file but the first."""
    if config.kubeconfig is None:
        return
    if config.place.document:
        message = "kubectl reads only the first document of a kubeconfig file and ignores this one"
        yield Problem(config.kubeconfig.place, message, help="move it to a separate file")
        return
    for section, entries in config.kubeconfig.entries.items():
        for name, entry in entries.items():
            first = bundle.kubeconfig[section, name]
            if first is config or first.kubeconfig is None:
                continue
            other = first.kubeconfig.entries[section][name]
            if other.contents != entry.contents:
                message = f'{section[:-1]} "{name}" is ignored when merged with {first.place.file}, which defines it differently'
                related = (Related(other.place, f'{section[:-1]} "{name}" is first defined here'),)
                yield Problem(entry.place, message, help="rename one of them", related=related)
