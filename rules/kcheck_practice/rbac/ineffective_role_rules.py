"""Rules of roles that grant nothing, because no request is ever what they say.

Sources: the documentation's page "Using RBAC Authorization"; how requests become attributes and are compared with rules:
apiserver/pkg/endpoints/request/requestinfo.go and pkg/apis/rbac/v1/evaluation_helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from kcheck.api import Bundle, Edit, Facts, Fix, Lexicon, Node, Problem, Related, Resource, api_resources, nearest, rule
from kcheck_practice._support.typos import correction, is_plain, meant

_RULE = "rbac/v1 PolicyRule"
_ROLES = ("rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io ClusterRole")
_GROUPS = ("rbac",)
# Asked of any resource: by what owns it, or by programs that treat all alike.
_ANY_PART = {"status", "scale", "finalizers"}
# OpenShift's own, of addresses outside the cluster.
_FOREIGN_PARTS = {"endpoints/restricted", "endpointslices/restricted"}
# A request for a Namespace counts as one within it.
_WITHIN_THEMSELVES = {"namespaces"}
_VERBS = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind", "escalate", "impersonate",
          "approve", "sign", "attest", "proxy", "connect", "redirect", "*"}  # fmt: skip
_METHODS = {"get", "head", "post", "put", "patch", "delete", "options", "*"}
_MEANT = {
    "read": "get, list, watch", "view": "get, list, watch", "readonly": "get, list, watch", "describe": "get", "fetch": "get",
    "show": "get", "write": "create, update, patch", "edit": "update, patch", "modify": "update, patch", "apply": "create, patch",
    "post": "create", "put": "update", "add": "create", "remove": "delete", "destroy": "delete", "all": '"*"', "any": '"*"',
    "exec": "create, of pods/exec", "logs": "get, of pods/log", "deleteall": "deletecollection",
}  # fmt: skip
_CORE = {"core", "v1", "api", "core/v1"}
_NAMELESS = ("create", "deletecollection")


@rule("unknown-role-resource", "Role names an unknown resource", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_role_resource(node: Node) -> Iterator[Problem]:
    """Told of the groups of Kubernetes itself; a rule that names others, too, may mean a resource of theirs."""
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
            yield _nowhere(each, plural, groups)
        if not found or not part or part in _ANY_PART or each.text in _FOREIGN_PARTS:
            continue
        parts = sorted({name for resource in found for name in resource.parts})
        if part not in parts and "*" not in parts:
            near = meant(part, parts)
            hint = f"did you mean {plural}/{near}?" if near else f"use one of {', '.join(parts)}" if parts else "take it away"
            yield Problem(each, f"{plural} has no subresource {part}", help=hint, fix=_write(each, f"{plural}/{near}") if near else None)


@rule("unknown-role-api-group", "Role names an unknown API group in apiGroups", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_role_group(node: Node) -> Iterator[Problem]:
    """Groups of custom resources have a dot; those of Kubernetes are known."""
    known = api_resources.served()
    for each in node["apiGroups"]:
        group = each.text
        if group in known or group == "*" or not group:
            continue
        bare = group.partition("/")[0]
        if group.lower() in _CORE:
            yield Problem(each, f"no API group is called {group}", help='write "", which is the core group', fix=_write(each, '""'))
        elif "/" in group:
            yield Problem(each, "roles name API groups without a version", help=f"write {bare}, not {group}", fix=_write(each, bare))
        elif near := _near_group(group):
            yield Problem(each, f"no API group is called {group}", help=f"did you mean {near}?", fix=_write(each, near))
        elif "." not in group and (home := _home(group)) is not None:
            yield Problem(
                each, f"{group} is a resource, not an API group", help=f"write {home or 'two quotes'} here, {group} under resources"
            )
        elif "." not in group:
            yield Problem(each, f"no API group is called {group}: those of custom resources have a dot, such as example.com")


@rule("unknown-role-verb", "Role names an unknown verb", groups=_GROUPS, fixable=True, types=_RULE)
def unknown_verb(node: Node) -> Iterator[Problem]:
    """Any word may be a verb to some program that asks for it, so that only slips and what others call these verbs are told."""
    urls = len(node["nonResourceURLs"]) > 0
    right = _METHODS if urls else _VERBS
    for each in node["verbs"]:
        verb = each.text
        if verb in right or not verb:
            continue
        low = verb.lower()
        near = low if low in right else None if low in _VERBS else meant(low, sorted(right))
        if urls and near is None:
            yield Problem(each, f"{verb} is no method of HTTP, and URLs are asked for with those", help="write get")
        elif near is not None:
            yield Problem(each, f"no request has the verb {verb}", help=f"did you mean {near}?", fix=_write(each, near))
        elif low in _MEANT and all(group.text in api_resources.served() for group in node["apiGroups"]):
            yield Problem(each, f"no request has the verb {verb}", help=f"write {_MEANT[low]}")


@rule("resource-names-with-create", "Role rule combines resourceNames with create or deletecollection", kinds=_ROLES, groups=_GROUPS)
def named_creation(resource: Resource) -> Iterator[Problem]:
    """A request to create, or to delete a collection, bears no name of an object. To a subresource it does."""
    for node in resource["rules"]:
        if not len(node["resourceNames"]) or any("/" in each.text for each in node["resources"]):
            continue
        for each in node["verbs"]:
            # Where another rule of the role grants it to all, it does no harm here.
            if each.text in _NAMELESS and not _granted(resource, node, each.text):
                yield Problem(each, f"{each.text} bears no name, so that resourceNames rule it out", help="grant it in a rule without them")


@rule(
    "resource-names-wildcard",
    "Role uses a wildcard in resourceNames, which does not match any name",
    groups=_GROUPS,
    types=_RULE,
    fields="resourceNames",
)
def resource_name_pattern(node: Node) -> Iterator[Problem]:
    """Names are compared as they stand."""
    for each in node["resourceNames"]:
        if "*" in each.text:
            instead = "leave resourceNames out" if each.text == "*" else "list the names, or leave resourceNames out"
            yield Problem(each, f"* is no pattern in resourceNames, and no object is called {each.text}", help=instead)


@rule(
    "unmatched-non-resource-url",
    "Role has a nonResourceURLs entry that matches no request",
    groups=_GROUPS,
    types=_RULE,
    fields="nonResourceURLs",
)
def role_url(node: Node) -> Iterator[Problem]:
    """Paths, which begin with a slash; * stands for what follows, at the end only."""
    for each in node["nonResourceURLs"]:
        url = each.text
        if url and not url.startswith("/") and url != "*":
            yield Problem(each, f"{url} is no path", help="begin it with /")
        elif "*" in url[:-1]:
            yield Problem(each, f"* stands for anything at the end of a path only, not in {url}", help="list the paths")


@rule(
    "cluster-scoped-resource-in-role",
    "Role names a cluster-scoped resource, which only a ClusterRole can grant",
    kinds="rbac.authorization.k8s.io Role",
    groups=_GROUPS,
)
def cluster_resource_in_role(resource: Resource) -> Iterator[Problem]:
    """A Role grants within its namespace; nodes and the like are asked for without one."""
    known = api_resources.served()
    for node in resource["rules"]:
        groups = [each.text for each in node["apiGroups"]]
        if not all(group in known for group in groups):
            continue
        for each in node["resources"]:
            plural = each.text.partition("/")[0]
            found = [known[group][plural] for group in groups if plural in known[group]]
            if found and plural not in _WITHIN_THEMSELVES and not any(resource.namespaced for resource in found):
                yield Problem(each, f"{plural} belong to no namespace, so that a Role cannot grant them", help="use a ClusterRole")


@rule("unknown-role-custom-resource", "Role names a custom resource that no CRD of its API group defines", kinds=_ROLES,
      groups=(*_GROUPS, "relations"), fixable=True)  # fmt: skip
def undefined_role_resource(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked where the input defines resources of that group."""
    for grant in facts.grants:
        defined = {plural: crd for group in grant.groups for plural, crd in bundle.once(_definitions).get(group, {}).items()}
        if not defined or grant.plural in defined:
            continue
        low = grant.plural.lower()
        near = low if low in defined else next((f"{low}{end}" for end in ("s", "es") if f"{low}{end}" in defined), None)
        # A longer name may well be another resource, whose definition is elsewhere; and so is one beside that which is near.
        near = near or nearest(low, bundle.once(_Plurals).of(grant.groups), limit=1)
        of = " or ".join(grant.groups)
        if near is not None and all(each.plural != near for each in facts.grants):
            fix = correction(grant.place, grant.plural, near)
            related = (Related(defined[near].place, defined[near].title),)
            yield Problem(grant.place, f"{of} defines no {grant.plural}", help=f"did you mean {near}?", related=related, fix=fix)
        elif bundle.complete:
            yield Problem(grant.place, f"{of} defines no {grant.plural} in the input", help="take it away, or add its definition")


def _definitions(bundle: Bundle) -> dict[str, dict[str, Facts]]:
    """Group -> plural -> definition of it in the input."""
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
    """Whether other rules of a role, which name no objects, grant a verb on all resources of one that does."""
    free = [each for each in role["rules"] if not len(each["resourceNames"]) and _has(each["verbs"], verb)]
    return all(
        any(_has(each["apiGroups"], group.text) and _has(each["resources"], resource.text) for each in free)
        for group in named["apiGroups"]
        for resource in named["resources"]
    )


def _has(entries: Node, word: str) -> bool:
    return any(each.text in (word, "*") for each in entries)


def _nowhere(node: Node, plural: str, groups: list[str]) -> Problem:
    """The problem of a resource that none of the groups has."""
    of = " or ".join(group or "core" for group in groups)
    part = node.text[len(plural) :]
    homes = _homes(plural)
    if homes:
        return Problem(node, f"{plural} are of the API group {' or '.join(homes)}, not {of}", help="correct apiGroups")
    if "*" in plural:
        return Problem(node, f"{plural} is no pattern that roles know", help="write * for all resources, or list those that are meant")
    known = api_resources.served()
    right = api_resources.aliases().get(plural.lower()) or meant(
        plural.lower(), sorted({name for group in groups for name in known[group]})
    )
    right = right or nearest(plural.lower(), sorted(api_resources.homes()))
    if right is None:
        return Problem(node, f"the API group {of} has no resource {plural}", help="check its spelling and apiGroups")
    if any(right in known[group] for group in groups):
        return Problem(node, f"no resource is called {plural}", help=f"write {right}{part}", fix=_write(node, right + part))
    return Problem(node, f"no resource is called {plural}", help=f"write {right}{part}, of the API group {' or '.join(_homes(right))}")


def _homes(plural: str) -> list[str]:
    """The groups of a resource, as messages name them; old ones where there is no other."""
    groups = api_resources.homes().get(plural, ())
    return [group or '""' for group in groups if group != "extensions"] or list(groups)


def _home(word: str) -> str | None:
    plural = api_resources.aliases().get(word.lower())
    return None if plural is None else " or ".join(group for group in _homes(plural))


@cache
def _near_group(group: str) -> str | None:
    """The group of Kubernetes that was meant. What ends in x-k8s.io is of others."""
    if group.endswith(".x-k8s.io"):
        return None
    known = [each for each in api_resources.served() if each]
    return nearest(group, known, limit=2 if "." in group else None)


def _write(node: Node, text: str) -> Fix:
    bare = text == '""' or (node.style == "" and is_plain(text))
    return Fix(f"write {text}", (Edit(node.start, node.end, text if bare else f'"{text}"'),), safe=False)
