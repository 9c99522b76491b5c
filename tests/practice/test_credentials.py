"""Which values are credentials; and that none is shown."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from tests.practice.told import told

TOKEN = "ghp_" + "a1B2" * 9


def variable(name: str, value: str) -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers:
  - name: c
    image: b:1
    env:
    - name: {name}
      value: {value}
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "hunter2"), ("PGPASSWORD", "hunter2"), ("apiKey", "a9f3bc"), ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENG"),
        ("GITHUB", TOKEN), ("client-secret", "abc-def"), ("dbPassword", "postgres"), ("URL", f"https://x:{TOKEN}@github.com/a"),
    ],
)  # fmt: skip
def test_a_credential(name: str, value: str) -> None:
    assert told(variable(name, value), "credential-in-env") == [(10, value)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "''"), ("DB_PASSWORD", "$(OTHER)"), ("DB_PASSWORD", "'{{ .Values.password }}'"), ("DB_PASSWORD", "'<password>'"),
        ("DB_PASSWORD", "changeme"), ("DB_PASSWORD", "'true'"), ("DB_PASSWORD", "MY_PASSWORD"), ("DB_PASSWORD_FILE", "/run/secrets/db"),
        ("DB_PASSWORD", "/run/secrets/db"), ("TOKEN_TTL", "24h"), ("SECRET_NAME", "db"), ("ENABLE_SECRET_INFORMER_FILTERING", "sure"),
        ("TOKENIZER", "fast-one"), ("USER", "admin"), ("TOKEN_URL", "https://example.com/token"), ("SECRETARY", "somebody"),
    ],
)  # fmt: skip
def test_no_credential(name: str, value: str) -> None:
    assert told(variable(name, value), "credential-in-env") == []


def test_no_message_shows_it() -> None:
    for finding in check_text(variable("DB_PASSWORD", "hunter2"), ["credential-in-env"]):
        assert "hunter2" not in finding.message


def test_keys_in_config_maps() -> None:
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  password: hunter2
  app.conf: |
    password = hunter2
  key.pem: |
    -----BEGIN RSA PRIVATE KEY-----
    MIIB
"""
    assert told(text, "credential-in-config-map") == [(5, "password"), (8, "key.pem")]
    assert told(text, "credential-in-config-map", allow=["password", "key.pem"]) == []
