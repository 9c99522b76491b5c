"""Images of the project itself: what a repository builds and releases.

Manifests for development use the tag `latest` for them, and a release replaces it. The repository of an operator is recognized by the
CustomResourceDefinitions that it contains: their group and its images have the same organization, such as `argoproj.io` and
`quay.io/argoproj/argocd`. Examples are for readers, who have no release that replaces the tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcheck.finding.finding import Finding
from kcheck.finding.role import EXAMPLES, Role
from kcheck.kube import image
from kcheck.kube.location import ObjectId

_RULE = "latest-tag"
_MIN_LENGTH = 4
"""Shorter words may agree by chance."""
_COMMON = frozenset({"kubernetes", "apps", "core", "cluster", "clusters", "config", "internal", "operator", "operators", "operatorhub"})
"""Words in groups that name no organization."""


def crd_groups(objects: Iterable[ObjectId]) -> frozenset[str]:
    """Return the groups of the CustomResourceDefinitions among objects."""
    # The name of a definition is that of its resource and its group: applications.argoproj.io.
    return frozenset(each.name.partition(".")[2] for each in objects if each.kind == "CustomResourceDefinition")


def without_own_images(findings: list[Finding], groups: Iterable[str], roles: Mapping[str, Role]) -> list[Finding]:
    """Return findings without those about the tag `latest` of images of the project, except in examples.

    Args:
        findings: The findings.
        groups: The groups of the CustomResourceDefinitions of the input.
        roles: The roles of files.
    """
    if all(each.rule != _RULE for each in findings):
        return findings
    names = {word for group in groups for word in group.split(".")[:-1] if len(word) >= _MIN_LENGTH} - _COMMON
    prefixes = tuple({word.replace("-", "") for word in names})
    return [each for each in findings if each.rule != _RULE or not prefixes or _is_example(each.file, roles) or not _is_own(each, prefixes)]


def _is_example(file: str, roles: Mapping[str, Role]) -> bool:
    role = roles.get(file)
    return role is not None and role.name in EXAMPLES


def _is_own(finding: Finding, names: tuple[str, ...]) -> bool:
    """Whether an organization in the path of an image is one of these names, or begins with one: `kedacore` and `keda`."""
    range = finding.range
    text = finding.place.line[range.column - 1 : range.end_column - 1].strip("\"'")
    try:
        path = image.parse(text).path
    except image.BadImage:
        return False
    return any(part.replace("-", "").startswith(names) for part in path.split("/")[:-1])
