"""Role rules that grant nothing, because they match no request.

Sources: the documentation's page "Using RBAC Authorization"; how the API server derives the attributes of a request and compares them with
rules: apiserver/pkg/endpoints/request/requestinfo.go and pkg/apis/rbac/v1/evaluation_helpers.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from kcheck.api import (
    Bundle,
    Correction,
    Edit,
    Facts,
    Fix,
    Lexicon,
    Node,
    Problem,
    Related,
    Resource,
    api_resources,
    did_you_mean,
    enumeration,
    nearest,
    rule,
)
from kcheck_practice._support.typos import correction, is_plain, meant

_RULE = "rbac/v1 PolicyRule"
_ROLES = ("rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io ClusterRole")
_GROUPS = ("rbac",)
# Subresources that are accepted for every resource: owners and generic clients request them.
_ANY_SUBRESOURCE = {"status", "scale", "finalizers"}
# Subresources that only OpenShift has, for addresses outside the cluster.
_OPENSHIFT_SUBRESOURCES = {"endpoints/restricted", "endpointslices/restricted"}
# A request for a Namespace counts as a request within that namespace.
_IN_OWN_NAMESPACE = {"namespaces"}
_VERBS = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind", "escalate", "impersonate",
          "approve", "sign", "attest", "proxy", "connect", "redirect", "*"}  # fmt: skip
_METHODS = {"get", "head", "post", "put", "patch", "delete", "options", "*"}
_METHOD_OF_VERB = {"create": "post", "update": "put", "deletecollection": "delete"}
# Other words for verbs, and the verbs that they may mean.
_SYNONYMS = {
    **dict.fromkeys(("read", "view", "readonly"), ("get", "list", "watch")), **dict.fromkeys(("describe", "fetch", "show"), ("get",)),
    "write": ("create", "update", "patch"), "edit": ("update", "patch"), "modify": ("update", "patch"), "apply": ("create", "patch"),
    "post": ("create",), "put": ("update",), "add": ("create",), "remove": ("delete",), "destroy": ("delete",), "all": ("*",),
    "any": ("*",), "deleteall": ("deletecollection",), "exec": (), "logs": (),
}  # fmt: skip
_SUBRESOURCE_VERBS = {"exec": 'use "create" on resource "pods/exec"', "logs": 'use "get" on resource "pods/log"'}
_ALL_SIGNERS = re.compile(r"[^/*]+/\*")
_CORE = {"core", "v1", "api", "core/v1"}
_NAMELESS = ("create", "deletecollection")


@rule("unknown-role-resource", "Role names an unknown resource", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_role_resource(node: Node) -> Iterator[Problem]:
    """Only where all apiGroups belong to Kubernetes itself: another group may define the resource."""
    groups = [each.text for each in node["apiGroups"]]
    known = api_resources.served()
    if not groups or not all(group in known for group in groups):
        return
    for each in node["resources"]:
        plural, _, part = each.text.partition("/")
        if plural in ("", "*"):
            continue
        found = [known[group][plural] for group in groups if plural in known[group]]
        if not found:
            yield _unknown_resource(each, plural, groups)
        if not found or not part or part in _ANY_SUBRESOURCE or each.text in _OPENSHIFT_SUBRESOURCES:
            continue
        parts = sorted({name for resource in found for name in resource.parts})
        if part not in parts and "*" not in parts:
            near = meant(part, parts)
            if near:
                hint = did_you_mean(f"{plural}/{near}")
            elif part != "*" and part not in _subresources():
                # Programs that ask the API server for permissions, such as kube-rbac-proxy, use subresources that they define.
                continue
            else:
                hint = f"use one of {_listed(f'{plural}/{name}' for name in parts)}" if parts else did_you_mean(plural)
            fix = _replacement(each, f"{plural}/{near}") if near else None
            yield Problem(each, f'resource "{plural}" has no subresource "{part}"', help=hint, fix=fix)


@rule("unknown-role-api-group", "Role names an unknown API group in apiGroups", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_role_group(node: Node) -> Iterator[Problem]:
    """Groups of custom resources contain a dot; those of Kubernetes are known."""
    known = api_resources.served()
    for each in node["apiGroups"]:
        group = each.text
        if group in known or group == "*" or not group:
            continue
        bare = group.partition("/")[0]
        unknown = f'unknown API group "{group}"'
        if group.lower() in _CORE:
            yield Problem(each, unknown, help='use "" for the core API group', fix=_replacement(each, '""'))
        elif "/" in group:
            yield Problem(each, f'API group "{group}" contains a version', help=f'use "{bare}"', fix=_replacement(each, bare))
        elif near := _near_group(group):
            yield Problem(each, unknown, help=did_you_mean(near), fix=_replacement(each, near))
        elif "." not in group and (plural := api_resources.aliases().get(group.lower())) is not None:
            homes = " or ".join(f'"{home}"' for home in _homes(plural))
            yield Problem(
                each, f'"{group}" is a resource, not an API group', help=f'use {homes} under apiGroups and "{plural}" under resources'
            )
        elif "." not in group:
            yield Problem(
                each,
                f"{unknown}: API groups of custom resources contain a dot",
                help="use spec.group of the CustomResourceDefinition",
            )


@rule("unknown-role-verb", "Role names an unknown verb", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_verb(node: Node) -> Iterator[Problem]:
    """Extension API servers and webhooks may define verbs, so only misspelt verbs and known synonyms are reported."""
    urls = len(node["nonResourceURLs"]) > 0
    right = _METHODS if urls else _VERBS
    for each in node["verbs"]:
        verb = each.text
        if verb in right or not verb:
            continue
        low = verb.lower()
        near = low if low in right else None if low in _VERBS else meant(low, sorted(right))
        if urls and near is None:
            method = _METHOD_OF_VERB.get(low, "get")
            if low in _VERBS and _has(node["verbs"], method):
                # Many charts list get, list and watch here: this has no effect, but the method is granted.
                continue
            hint = f'remove "{verb}"' if _has(node["verbs"], method) else did_you_mean(method)
            yield Problem(each, f'verb "{verb}" has no effect on nonResourceURLs, which support only HTTP methods', help=hint)
        elif near is not None:
            if _has(node["verbs"], near):
                yield Problem(
                    each,
                    f'unknown verb "{verb}"',
                    help=f'remove "{verb}": "{near}" is already in the list',
                    fix=Correction.remove(each, safe=False),
                )
            else:
                yield Problem(each, f'unknown verb "{verb}"', help=did_you_mean(near), fix=_replacement(each, near))
        elif low in _SYNONYMS and all(group.text in api_resources.served() for group in node["apiGroups"]):
            yield Problem(each, f'unknown verb "{verb}"', help=_instead_of(verb, node["verbs"]))


@rule("resource-names-with-create", "Role rule combines resourceNames with create or deletecollection", kinds=_ROLES, groups=_GROUPS)
def named_creation(resource: Resource) -> Iterator[Problem]:
    """Create and deletecollection requests carry no object name, except requests to a subresource."""
    for node in resource["rules"]:
        resources = [each.text for each in node["resources"]]
        if not len(node["resourceNames"]) or any("/" in each or _is_pseudo_resource(each) for each in resources):
            continue
        for each in node["verbs"]:
            # It does no harm where another rule of the role grants the verb on all objects.
            if each.text in _NAMELESS and not _granted(resource, node, each.text):
                message = f'resourceNames never allows "{each.text}": {each.text} requests carry no object name'
                yield Problem(each, message, help=f'move "{each.text}" to a rule without resourceNames')


@rule(
    "resource-names-wildcard",
    "Role uses a wildcard in resourceNames, which does not match any name",
    groups=_GROUPS,
    types=_RULE,
    fields="resourceNames",
)
def resource_name_pattern(node: Node) -> Iterator[Problem]:
    """Names are compared literally. Approvers of certificates ask for "<domain>/*" if they may not use the signer itself."""
    resources = [each.text for each in node["resources"]]
    if any(_is_pseudo_resource(each) for each in resources):
        return
    signers = "signers" in resources or "*" in resources
    for each in node["resourceNames"]:
        if "*" in each.text and not (signers and _ALL_SIGNERS.fullmatch(each.text)):
            hint = "remove resourceNames" if each.text == "*" else "list the names or remove resourceNames"
            message = f'resourceNames does not support wildcards: "{each.text}" matches only an object of exactly that name'
            yield Problem(each, message, help=hint)


@rule(
    "unmatched-non-resource-url",
    "Role has a nonResourceURLs entry that matches no request",
    groups=_GROUPS,
    types=_RULE,
    fields="nonResourceURLs",
)
def role_url(node: Node) -> Iterator[Problem]:
    """Entries are paths that begin with "/"; "*" is a wildcard only as the last character."""
    for each in node["nonResourceURLs"]:
        url = each.text
        if url and not url.startswith("/") and url != "*":
            hint = f'use "/{url}"' if "*" not in url[:-1] and "://" not in url else 'list paths that begin with "/"'
            yield Problem(each, f'nonResourceURLs entry "{url}" matches no request: it does not begin with "/"', help=hint)
        elif "*" in url[:-1]:
            message = f'nonResourceURLs entry "{url}" matches no request: "*" is a wildcard only at the end'
            yield Problem(each, message, help="list the paths")


@rule(
    "cluster-scoped-resource-in-role",
    "Role names a cluster-scoped resource, which only a ClusterRole can grant",
    kinds="rbac.authorization.k8s.io Role",
    groups=_GROUPS,
)
def cluster_resource_in_role(resource: Resource) -> Iterator[Problem]:
    """A Role grants permissions within its namespace; requests for cluster-scoped resources have no namespace."""
    known = api_resources.served()
    for node in resource["rules"]:
        groups = [each.text for each in node["apiGroups"]]
        if not all(group in known for group in groups):
            continue
        for each in node["resources"]:
            plural = each.text.partition("/")[0]
            found = [known[group][plural] for group in groups if plural in known[group]]
            if found and plural not in _IN_OWN_NAMESPACE and not any(resource.namespaced for resource in found):
                message = f'a Role cannot grant access to the cluster-scoped resource "{plural}"'
                yield Problem(each, message, help="use a ClusterRole and a ClusterRoleBinding")


@rule("unknown-role-custom-resource", "Role names a custom resource that no CRD of its API group defines", kinds=_ROLES,
      groups=(*_GROUPS, "relations"), fixable=True)  # fmt: skip
def undefined_role_resource(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only where the input has a CustomResourceDefinition of that API group."""
    for grant in facts.grants:
        defined = {plural: crd for group in grant.groups for plural, crd in bundle.input.once(_definitions).get(group, {}).items()}
        if not defined or grant.plural in defined:
            continue
        low = grant.plural.lower()
        near = low if low in defined else next((f"{low}{end}" for end in ("s", "es") if f"{low}{end}" in defined), None)
        # A longer name may be another resource that is defined elsewhere, and so may a name beside a similar, correct one.
        near = near or nearest(low, bundle.input.once(_Plurals).of(grant.groups), limit=1)
        group = " or ".join(f'"{name}"' for name in grant.groups)
        message = f'no CustomResourceDefinition of API group {group} defines resource "{grant.plural}"'
        if near is not None and all(each.plural != near for each in facts.grants):
            fix = correction(grant.place, grant.plural, near)
            related = (Related(defined[near].place, f'CustomResourceDefinition "{defined[near].id.name}"'),)
            yield Problem(grant.place, message, help=did_you_mean(near), related=related, fix=fix)
        elif bundle.complete:
            hint = f'remove "{grant.plural}" or add its CustomResourceDefinition to the input'
            yield Problem(grant.place, f"{message} in the input", help=hint)


def _definitions(bundle: Bundle) -> dict[str, dict[str, Facts]]:
    """The CustomResourceDefinitions of the input by API group and plural."""
    table: dict[str, dict[str, Facts]] = {}
    for f in bundle.facts:
        if f.id.kind == "CustomResourceDefinition" and f.group == "apiextensions.k8s.io":
            plural, _, group = f.id.name.partition(".")
            table.setdefault(group, {}).setdefault(plural, f)
    return table


class _Plurals:
    """What groups of the input define, indexed by their names."""

    def __init__(self, bundle: Bundle) -> None:
        self._definitions = bundle.once(_definitions)
        self._known: dict[frozenset[str], Lexicon] = {}

    def of(self, groups: Iterable[str]) -> Lexicon:
        key = frozenset(groups)
        if key not in self._known:
            self._known[key] = Lexicon(plural for group in key for plural in self._definitions.get(group, ()))
        return self._known[key]


def _granted(role: Resource, named: Node, verb: str) -> bool:
    """Whether rules of a role without resourceNames grant a verb on all resources of a rule with resourceNames."""
    free = [each for each in role["rules"] if not len(each["resourceNames"]) and _has(each["verbs"], verb)]
    return all(
        any(_has(each["apiGroups"], group.text) and _has(each["resources"], resource.text) for each in free)
        for group in named["apiGroups"]
        for resource in named["resources"]
    )


def _is_pseudo_resource(name: str) -> bool:
    """Whether a resource exists only for an extension API server, such as "tier.networkpolicies" of Calico, which defines its names.

    Plurals of built-in and custom resources contain no dots.
    """
    return "." in name


def _has(entries: Node, word: str) -> bool:
    return any(each.text in (word, "*") for each in entries)


def _unknown_resource(node: Node, plural: str, groups: list[str]) -> Problem:
    """The problem of a resource that none of the groups has."""
    part = node.text[len(plural) :]
    homes = _homes(plural)
    if homes:
        resources = node.parent
        alone = resources is not None and len(resources) == 1
        hint = f"set apiGroups: {_flow(homes)}" if alone else f'move "{node.text}" to a rule with apiGroups: {_flow(homes)}'
        return Problem(node, f'resource "{plural}" is in {_titled(homes)}, not in {_titled(groups)}', help=hint)
    if "*" in plural:
        return Problem(node, f'"{plural}" matches no resource: rules do not support partial wildcards', help="list the resources")
    known = api_resources.served()
    alias = api_resources.aliases().get(plural.lower())
    right = alias or meant(plural.lower(), sorted({name for group in groups for name in known[group]}))
    right = right or nearest(plural.lower(), sorted(api_resources.homes()))
    message = f'no resource "{plural}" in {_titled(groups)}'
    if right is None:
        return Problem(node, message, help="correct the name of the resource or apiGroups")
    if any(right in known[group] for group in groups):
        hint = f'use "{right}{part}"' if alias else did_you_mean(f"{right}{part}")
        return Problem(node, message, help=hint, fix=_replacement(node, right + part))
    return Problem(node, message, help=f'did you mean "{right}{part}" with apiGroups: {_flow(_homes(right))}?')


def _homes(plural: str) -> list[str]:
    """The groups of a resource; "extensions" only where no other group has it."""
    groups = api_resources.homes().get(plural, ())
    return [group for group in groups if group != "extensions"] or list(groups)


def _titled(groups: list[str]) -> str:
    """Groups as messages name them."""
    names = [f'API group "{group}"' if group else 'the core API group ("")' for group in groups]
    return " or ".join(names)


def _flow(groups: list[str]) -> str:
    """Groups as a YAML list on one line."""
    return f"[{_listed(groups)}]"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@cache
def _subresources() -> frozenset[str]:
    """The subresources of all resources of Kubernetes."""
    return frozenset(part for entries in api_resources.served().values() for each in entries.values() for part in each.parts)


@cache
def _near_group(group: str) -> str | None:
    """The group of Kubernetes that a misspelt one is near to. Groups that end in x-k8s.io do not belong to Kubernetes itself."""
    if group.endswith(".x-k8s.io"):
        return None
    known = [each for each in api_resources.served() if each]
    return nearest(group, known, limit=2 if "." in group else None)


def _instead_of(synonym: str, verbs: Node) -> str:
    """What to do about a common word that is not a verb: add the verbs that it means and that are not in the list yet."""
    low = synonym.lower()
    if low in _SUBRESOURCE_VERBS:
        return _SUBRESOURCE_VERBS[low]
    wanted = [f'"{verb}"' for verb in _SYNONYMS[low] if not _has(verbs, verb)]
    if not wanted:
        return f'remove "{synonym}": the verbs that it means are already in the list'
    if wanted == ['"*"']:
        return 'did you mean "*"?'
    return f"use {enumeration(wanted)}"


def _replacement(node: Node, text: str) -> Fix:
    """The fix that sets an entry to a text, quoted where YAML demands it or the entry was quoted."""
    bare = text == '""' or (node.style == "" and is_plain(text))
    title = "use the core API group" if text == '""' else f'use "{text}"'
    return Fix(title, (Edit(node.start, node.end, text if bare else f'"{text}"'),), safe=False)
