"""The role of a file in its repository: what the file is for, which decides how it is judged."""

from __future__ import annotations

from kcheck.text.record import NamedTuple

MANIFEST = "manifest"
KUSTOMIZATION = "kustomization"
COMPONENT = "component"
PATCH = "patch"
CHART_TEMPLATE = "chart-template"
VALUES = "values"
CRD_BUNDLE = "crd-bundle"
TEST_FIXTURE = "test-fixture"
TEST_MANIFEST = "test-manifest"
ASSERTION = "assertion"
GOLDEN_FILE = "golden-file"
CLUSTER_DUMP = "cluster-dump"
VENDORED = "vendored"
ARCHIVED = "archived"
POLICY_EXAMPLE = "policy-example"
INVALID_EXAMPLE = "invalid-example"
DOCUMENTATION = "documentation"
EXAMPLE = "example"
TOOL = "tool-configuration"
OTHER = "other"

ROLES = {
    MANIFEST: "objects that are deployed",
    KUSTOMIZATION: "a kustomization, or settings of one",
    COMPONENT: "a kustomization of kind Component",
    PATCH: "parts of objects that kustomize merges into others",
    CHART_TEMPLATE: "a template of a Helm chart",
    VALUES: "values of a Helm chart",
    CRD_BUNDLE: "only CustomResourceDefinitions",
    TEST_FIXTURE: "data of tests",
    TEST_MANIFEST: "objects that tests apply to a cluster",
    ASSERTION: "parts of objects that a test expects, or objects that must not exist",
    GOLDEN_FILE: "the expected output of a program",
    CLUSTER_DUMP: "objects as read from a cluster",
    VENDORED: "a copy of another project's files",
    ARCHIVED: "files that are no longer maintained",
    POLICY_EXAMPLE: "objects that a policy allows or denies",
    INVALID_EXAMPLE: "objects of tests that are wrong on purpose",
    DOCUMENTATION: "objects in a folder of documentation",
    EXAMPLE: "objects in a folder of examples",
    TOOL: "configuration of another tool, such as CI or an editor",
    OTHER: "no Kubernetes objects",
}
"""All roles, with their meaning."""

ASSIGNABLE = tuple(name for name in ROLES if name not in (KUSTOMIZATION, COMPONENT))
"""Roles that a config can assign. A kustomization is recognized by its name, like in kustomize."""

FRAGMENTS = frozenset({PATCH, ASSERTION})
"""Roles of files with parts of objects, which are judged by what they contain, not by what they lack."""

SKIPPED = frozenset({KUSTOMIZATION, COMPONENT, CHART_TEMPLATE, VALUES, VENDORED, ARCHIVED, TOOL, OTHER})
"""Roles of files whose objects are not checked."""

UNMAINTAINED = frozenset({VENDORED, ARCHIVED})
"""Roles of files that are not checked because of their folder, unless a kustomization outside of it deploys them."""

TESTS = frozenset({TEST_FIXTURE, TEST_MANIFEST, ASSERTION, GOLDEN_FILE, POLICY_EXAMPLE, INVALID_EXAMPLE})
"""Roles of files that are used only by tests. Only some rules apply to them, unless the user includes fixtures."""

TEST_DATA = frozenset({TEST_FIXTURE, GOLDEN_FILE, POLICY_EXAMPLE})
"""Roles of files with objects that tests read, but do not apply to a cluster. They are often shortened."""

EXAMPLES = frozenset({EXAMPLE, DOCUMENTATION})
"""Roles of files with objects for readers. Rules about production do not apply, unless the user includes examples."""

INCLUDES = {"fixtures": TESTS, "examples": EXAMPLES}
"""What a user can include, so that all rules apply: the roles by the name for the command line and the config."""


class Role(NamedTuple):
    """The role of a file.

    Attributes:
        name: One of `ROLES`.
        reason: The evidence, one sentence without a period.
    """

    name: str
    reason: str


UNKNOWN = Role(MANIFEST, "nothing indicates another role")
"""The role of a file before its content is known."""
