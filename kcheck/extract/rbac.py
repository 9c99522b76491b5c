"""Custom resources to which roles grant permissions."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import Grant
from kcheck.kube.resource import Resource
from kcheck.schema.builtin.api_resources import served
from kcheck.schema.locator import Locator

ROLES = {("rbac.authorization.k8s.io", "Role"), ("rbac.authorization.k8s.io", "ClusterRole")}


def role_grants(resource: Resource, locator: Locator) -> Iterator[Grant]:
    """Yield the resources of rules that name only API groups of custom resources."""
    for rule in resource["rules"]:
        groups = tuple(each.text for each in rule["apiGroups"])
        if groups and all("." in group and group not in served() for group in groups):
            for each in rule["resources"]:
                plural = each.text.partition("/")[0]
                if plural and "*" not in plural:
                    yield Grant(plural, groups, locator.place(each))
