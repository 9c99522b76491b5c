"""Predicates about roles and their bindings."""

from __future__ import annotations

from collections.abc import Iterator

from case import Case, of_case, of_object
from inventory import Object


@of_case
def cluster_role_in_namespace(case: Case) -> bool:
    """A RoleBinding of a ClusterRole."""
    return case.key.kind == "RoleBinding" and any(each.at("roleRef", "kind") == "ClusterRole" for each in case.objects)


@of_case
def binds_absent_role(case: Case) -> bool:
    """The role is not in the repository."""
    return not any(True for _ in _roles(case))


@of_case
def binds_many_rules(case: Case) -> bool:
    """The role has several rules."""
    return any(len(role.at("rules") or ()) > 1 for role in _roles(case))


@of_case
def binds_wildcard(case: Case) -> bool:
    """The role has a "*" in verbs or resources."""
    return any("*" in (rule.get(name) or ()) for role in _roles(case) for rule in role.at("rules") or () for name in ("verbs", "resources"))


@of_case
def binds_harmless_role(case: Case) -> bool:
    """The role is in the repository and has no "*"."""
    return not binds_absent_role(case) and not binds_wildcard(case)


@of_object
def is_of_the_system(each: Object) -> bool:
    """A binding whose name begins with "system:", or a binding of every cluster."""
    return each.name.startswith("system:") or each.name in ("cluster-admin", "gce:podsecuritypolicy:calico-sa")


@of_case
def binds_no_account(case: Case) -> bool:
    """None of the subjects is a ServiceAccount."""
    return any(all(s.get("kind") != "ServiceAccount" for s in each.at("subjects") or ()) for each in case.objects)


@of_object
def has_wildcard_later(each: Object) -> bool:
    """A rule of the role other than the first has a "*"."""
    rules = each.at("rules") or ()
    return any("*" in (rule.get(name) or ()) for rule in rules[1:] for name in ("verbs", "resources", "apiGroups"))


@of_object
def has_cut_wildcard(each: Object) -> bool:
    """A "*" is part of a longer word, as in "*/scale"."""
    words = [str(word) for rule in each.at("rules") or () for name in ("verbs", "resources", "apiGroups") for word in rule.get(name) or ()]
    return any("*" in word and word != "*" for word in words)


def _roles(case: Case) -> Iterator[Object]:
    for each in case.objects:
        wanted = each.at("roleRef")
        yield from (role for role in case.around if (role.kind, role.name) == (wanted.get("kind"), wanted.get("name")))
