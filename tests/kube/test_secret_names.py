"""Names of Secrets that look like credentials."""

from __future__ import annotations

import pytest

from kcheck.kube.secret_names import is_secret_name

TEXTS = (
    "volumes: [{name: a, secret: {secretName: web-tls}}]\nimagePullSecrets:\n  - name: registry\n",
    "kind: Secret\nmetadata:\n  name: web\n---\nkind: ConfigMap\nmetadata:\n  name: other\n",
    "env:\n  - valueFrom:\n      secretKeyRef:\n        key: a\n        name: keyed\n  - name: TLS_SECRET\n    value: own\n",
)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("TLS_SECRET", "web-tls", True),
        ("PULL_SECRET", "registry", True),
        ("WEB_SECRET", "web", True),
        ("KEYED_SECRET", "keyed", True),
        ("TLS_SECRET", "own", False),
        ("TLS_SECRET", "web-tl", False),
        ("TLS_SECRET", "other", False),
        ("TLS_SECRET", "Web-TLS", False),
        # A password may be equal to the name of a Secret.
        ("WEB_PASSWORD", "web", False),
    ],
)
def test_names_of_secrets(variable: str, value: str, expected: bool) -> None:
    assert is_secret_name(variable, value, TEXTS) == expected
