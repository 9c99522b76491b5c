"""Tokens and rights of service accounts."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits
from tests.practice.reported import pod


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("", ["default-service-account-token", "default-service-account"]),
        ("  serviceAccountName: default\n", ["default-service-account-token", "default-service-account"]),
        ("  automountServiceAccountToken: false\n", []), ("  serviceAccountName: web\n", ["service-account-token-automount"]),
        ("  serviceAccount: web\n", ["service-account-token-automount"]),
        ("  serviceAccountName: web\n  automountServiceAccountToken: false\n", []),
    ],
)  # fmt: skip
def test_one_rule_for_each_token(spec: str, rules: list[str]) -> None:
    found = check_text(pod(spec), ["default-service-account-token", "default-service-account", "service-account-token-automount"])
    assert sorted(f.rule for f in found) == sorted(rules)


@pytest.mark.parametrize(
    ("spec", "fixed"),
    [
        ("", "  automountServiceAccountToken: false\n  containers: [{name: c, image: 'b:1'}]\n"),
        ("  automountServiceAccountToken: true\n", "  containers: [{name: c, image: 'b:1'}]\n  automountServiceAccountToken: false\n"),
    ],
)
def test_the_fix(spec: str, fixed: str) -> None:
    text = pod(spec)
    (found,) = check_text(text, ["default-service-account-token"])
    assert found.fix is not None
    assert apply_edits(text, found.fix.edits).endswith(f"spec:\n{fixed}")
