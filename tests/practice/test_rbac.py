"""What roles allow, and to whom."""

from __future__ import annotations

import pytest

from tests.practice.reported import reported


def role(rule: str) -> str:
    return f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r}}\nrules:\n  - {{{rule}}}\n"


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("secret-read-permission", 'apiGroups: [""], resources: [secrets], verbs: [get]'),
        ("secret-read-permission", 'apiGroups: ["*"], resources: ["*"], verbs: ["*"]'),
        ("secret-write-permission", 'apiGroups: [""], resources: ["*"], verbs: [create]'),
        ("workload-create-permission", "apiGroups: [batch], resources: [jobs], verbs: [create]"),
        ("pod-exec-permission", 'apiGroups: [""], resources: ["*/exec"], verbs: [create]'),
        ("aws-auth-write-permission", 'apiGroups: [""], resources: [configmaps], verbs: [patch]'),
        ("bind-permission", 'apiGroups: ["*"], resources: [clusterroles], verbs: ["*"]'),
        ("impersonate-permission", 'apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]'),
    ],
)
def test_powers(rule: str, given: str) -> None:
    assert len(reported(role(given), rule)) == 1


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("secret-read-permission", 'apiGroups: [""], resources: [secrets], verbs: [create]'),
        ("secret-read-permission", "apiGroups: [apps], resources: [secrets], verbs: [get]"),
        ("workload-create-permission", "apiGroups: [batch], resources: [jobs], verbs: [get]"),
        ("pod-exec-permission", 'apiGroups: [""], resources: [pods], verbs: [create]'),
        ("aws-auth-write-permission", 'apiGroups: [""], resources: [configmaps], verbs: [patch], resourceNames: [web]'),
        ("bind-permission", "apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get]"),
        ("wildcard-role", 'apiGroups: [apps], resources: ["*"], verbs: ["*"]'),
    ],
)
def test_roles_without_that_power(rule: str, given: str) -> None:
    assert reported(role(given), rule) == []


def test_names_that_do_not_match_end_in_time() -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {'a' * 200}-}}\ndata: {{a: b}}\n"
    assert len(reported(text, "name-pattern-mismatch")) == 1
