"""What roles allow, and to whom."""

from __future__ import annotations

import pytest

from tests.practice.told import told


def role(rule: str) -> str:
    return f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r}}\nrules:\n  - {{{rule}}}\n"


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("secret-access", 'apiGroups: [""], resources: [secrets], verbs: [get]'),
        ("secret-access", 'apiGroups: ["*"], resources: ["*"], verbs: ["*"]'),
        ("secret-change", 'apiGroups: [""], resources: ["*"], verbs: [create]'),
        ("workload-creation", "apiGroups: [batch], resources: [jobs], verbs: [create]"),
        ("pod-exec", 'apiGroups: [""], resources: ["*/exec"], verbs: [create]'),
        ("aws-auth-change", 'apiGroups: [""], resources: [configmaps], verbs: [patch]'),
        ("role-bind", 'apiGroups: ["*"], resources: [clusterroles], verbs: ["*"]'),
        ("impersonation", 'apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]'),
    ],
)
def test_powers(rule: str, given: str) -> None:
    assert len(told(role(given), rule)) == 1


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("secret-access", 'apiGroups: [""], resources: [secrets], verbs: [create]'),
        ("secret-access", "apiGroups: [apps], resources: [secrets], verbs: [get]"),
        ("workload-creation", "apiGroups: [batch], resources: [jobs], verbs: [get]"),
        ("pod-exec", 'apiGroups: [""], resources: [pods], verbs: [create]'),
        ("aws-auth-change", 'apiGroups: [""], resources: [configmaps], verbs: [patch], resourceNames: [web]'),
        ("role-bind", "apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get]"),
        ("unlimited-role", 'apiGroups: [apps], resources: ["*"], verbs: ["*"]'),
    ],
)
def test_what_is_no_such_power(rule: str, given: str) -> None:
    assert told(role(given), rule) == []


def test_names_that_do_not_match_end_in_time() -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {'a' * 200}-}}\ndata: {{a: b}}\n"
    assert len(told(text, "name-pattern")) == 1
