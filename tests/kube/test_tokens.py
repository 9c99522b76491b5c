"""Which texts hold a credential that says so, where it is, and that it is covered."""

from __future__ import annotations

import base64

import pytest

from kcheck.kube import credentials

# Made up, each in two parts, so that no scanner takes this file for a leak.
SOUND = {
    "AWS access key": "AKIA" + "Q3EXZ7KPLM2VNRT5",
    "GitHub token": "ghp_" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2Du",
    "GitLab token": "glpat-" + "x7Qm2Vb9Kd4Ws1Zt8Yr5",
    "Slack token": "xoxb-" + "182736455463-x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3H",
    "Slack webhook": "hooks.slack.com/services/" + "T9KD4WS1Z/B8YR5LN3H/x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3H",
    "Stripe key": "sk_live_" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3H",
    "Google API key": "AIza" + "Sy7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2",
    "Azure storage key": "AccountKey=" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2Du" * 2 + "x7Qm2Vb9Kd4Ws1==",
    "npm token": "npm_" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2Du",
    "PyPI token": "pypi-AgEIcHlwaS5vcmc" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2Du-x7Qm2Vb9Kd4Ws1Zt",
    "SendGrid key": "SG." + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln.3Hc6Jf0GpAe2Du-x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf",
    "Twilio key": "SK" + "8f14e45fceea167a5a36dedd4bea2543",
    "Docker Hub token": "dckr_pat_" + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6J",
    "Vault token": "hvs." + "x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3H",
    "age key": "AGE-SECRET-KEY-1" + "Q3EXZ7KPLM2VNRT5Y8WDH4JSCF6AG9U0Q3EXZ7KPLM2VNRT5Y8WDH4JSCF",
    "JWT": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiJzaG9wIn0.x7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2Du",
    "private key": "-----BEGIN EC PRIVATE KEY-----\n" + "MHcCAQEEIIx7Qm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0GpAe2DuoAoGCCqGSM49AwEHoUQDQgAE",
}


@pytest.mark.parametrize("kind", SOUND)
def test_a_credential(kind: str) -> None:
    for before, after in (("", ""), ("a = '", "'\n"), ("see ", " there"), ("\\n", "\\n")):
        text = before + SOUND[kind] + after
        found = [each for each in credentials.find(text) if each.kind == kind]
        assert [text[each.start : each.start + len(SOUND[kind])] for each in found] == [SOUND[kind]]


@pytest.mark.parametrize("kind", ["AWS access key", "GitHub token", "GitLab token", "Slack token", "Google API key", "JWT", "private key"])
def test_in_base64(kind: str) -> None:
    encoded = base64.b64encode(SOUND[kind].encode()).decode()
    (found,) = credentials.find(f"data: {encoded}\n")
    assert found == credentials.CredentialToken(kind, 6, 6 + len(encoded), encoded=True)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE", "ghp_" + "x" * 36, "ghp_" + "0123456789" * 4, "-----BEGIN PRIVATE KEY-----", "xAKIAQ3EXZ7KPLM2VNRT5",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQm2Vb9Kd4Ws1Zt8Yr5Ln3Hc6Jf0wCgYIKoZIzj0EAwIw",
        "risk_live_data_of_the_whole_shop_now",
        "sha256:8f14e45fceea167a5a36dedd4bea25438f14e45fceea167a5a36dedd4bea2543", "TASK8f14e45fceea167a5a36dedd4bea2543", "",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJzekNDQVZtZ0F3SUJBZ0lVUW0yVmI5S2Q0V3MxWnQ4WXI1TG4zSGM2SmYwd0NnWUlLb1pJemowRUF3SXc=",
    ],
)  # fmt: skip
def test_no_credential(text: str) -> None:
    assert list(credentials.find(text)) == []


def test_entropy() -> None:
    assert credentials.entropy("aaaa") == 0
    assert credentials.entropy("abcd") == 2


def test_several_in_one_text() -> None:
    text = " and ".join(reversed([*SOUND.values()]))
    assert {each.kind for each in credentials.find(text)} == set(SOUND)


def test_every_beginning_is_looked_for() -> None:
    for beginning in credentials._BEGINNINGS:
        assert credentials._beginnings_in(f"see '{beginning}{'x' * 20}' there") == [beginning]
    assert credentials._beginnings_in(" ".join(f"{each}{'x' * 20}" for each in reversed(credentials._BEGINNINGS))) == [
        *credentials._BEGINNINGS
    ]


def test_a_key_of_short_lines() -> None:
    body = "\n".join("x7Qm2Vb9Kd4Ws1Zt" for _ in range(6))
    assert [each.kind for each in credentials.find(f"a-word-that-is-long-enough\n-----BEGIN RSA PRIVATE KEY-----\n{body}")] == [
        "private key"
    ]


def test_a_key_without_any_long_line() -> None:
    body = "\n".join("x7Qm2Vb9Kd4Ws1Zt" for _ in range(12))
    assert [each.kind for each in credentials.find(f"-----BEGIN RSA PRIVATE KEY-----\n{body}")] == ["private key"]
