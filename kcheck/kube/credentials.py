"""Credentials that are recognized by their format: tokens of well-known services and private keys.

Facts: what the services publish of the prefixes, alphabets and lengths of their tokens, mostly for the sake of secret scanners.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import log2
from typing import NamedTuple

from kcheck.kube import base64


class CredentialToken(NamedTuple):
    """A credential in a text. `kind`: its name in messages. `encoded`: whether it is base64-encoded."""

    kind: str
    start: int
    end: int
    encoded: bool = False


_KEY = "-----BEGIN "
# By what they begin with: what they are, and the rest. Only a text that holds a beginning is compared with the rest.
_SHAPES = {
    _KEY: ("private key", r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,\-]|\s|\\[nr]){64,}"),
    "PuTTY-User-Key-File-": ("private key", r"[23]: [\w-]+"),
    "AGE-SECRET-KEY-1": ("age key", "[0-9A-Z]{58}"),
    "AKIA": ("AWS access key", "[2-7A-Z]{16}"),
    "ASIA": ("AWS access key", "[2-7A-Z]{16}"),
    "ghp_": ("GitHub token", "[A-Za-z0-9]{36,}"),
    "gho_": ("GitHub token", "[A-Za-z0-9]{36,}"),
    "ghu_": ("GitHub token", "[A-Za-z0-9]{36,}"),
    "ghs_": ("GitHub token", "[A-Za-z0-9]{36,}"),
    "ghr_": ("GitHub token", "[A-Za-z0-9]{36,}"),
    "github_pat_": ("GitHub token", r"\w{50,}"),
    "glpat-": ("GitLab token", r"[\w-]{20,}"),
    "gldt-": ("GitLab token", r"[\w-]{20,}"),
    "glrt-": ("GitLab token", r"[\w-]{20,}"),
    "xoxb-": ("Slack token", r"\d{8,}-[0-9A-Za-z-]{20,}"),
    "xoxp-": ("Slack token", r"\d{8,}-[0-9A-Za-z-]{20,}"),
    "xoxa-": ("Slack token", r"[0-9A-Za-z-]{20,}"),
    "xapp-": ("Slack token", r"\d-[0-9A-Za-z-]{20,}"),
    "hooks.slack.com/services/T": ("Slack webhook", r"[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"),
    "discord.com/api/webhooks/": ("Discord webhook", r"\d{15,}/[\w-]{50,}"),
    "sk_live_": ("Stripe key", "[0-9A-Za-z]{20,}"),
    "rk_live_": ("Stripe key", "[0-9A-Za-z]{20,}"),
    "whsec_": ("Stripe webhook secret", "[0-9A-Za-z+/]{32,}"),
    "AIza": ("Google API key", r"[\w-]{35}(?![\w-])"),
    "GOCSPX-": ("Google client secret", r"[\w-]{28}"),
    "ya29.": ("Google access token", r"[\w-]{40,}"),
    "AccountKey=": ("Azure storage key", "[A-Za-z0-9+/]{86}=="),
    "SharedAccessKey=": ("Azure access key", "[A-Za-z0-9+/]{43}="),
    "8Q~": ("Azure client secret", r"[\w.~-]{34}(?![\w.~-])"),
    "npm_": ("npm token", "[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    "pypi-AgEIcHlwaS5vcmc": ("PyPI token", r"[\w-]{50,}"),
    "rubygems_": ("RubyGems key", "[0-9a-f]{48}"),
    "dckr_pat_": ("Docker Hub token", r"[\w-]{27}"),
    "SG.": ("SendGrid key", r"[\w-]{22}\.[\w-]{43}"),
    "SK": ("Twilio key", "[0-9a-f]{32}(?![0-9A-Za-z])"),
    "dop_v1_": ("DigitalOcean token", "[0-9a-f]{64}"),
    "doo_v1_": ("DigitalOcean token", "[0-9a-f]{64}"),
    "hvs.": ("Vault token", r"[\w-]{24,}"),
    "hvb.": ("Vault token", r"[\w-]{24,}"),
    "dp.st.": ("Doppler token", r"(?:[\w-]+\.)?[A-Za-z0-9]{40,}"),
    "dp.pt.": ("Doppler token", "[A-Za-z0-9]{40,}"),
    "glsa_": ("Grafana token", "[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    "NRAK-": ("New Relic key", "[0-9A-Z]{27}"),
    "shpat_": ("Shopify token", "[0-9a-fA-F]{32}"),
    "dapi": ("Databricks token", "[0-9a-f]{32}(?![0-9a-z])"),
    "hf_": ("Hugging Face token", "[A-Za-z]{34}(?![A-Za-z0-9])"),
    "sk-ant-": ("Anthropic key", r"[\w-]{80,}"),
    "sk-proj-": ("OpenAI key", r"[\w-]{40,}"),
    "T3BlbkFJ": ("OpenAI key", "[A-Za-z0-9]{20}(?![A-Za-z0-9])"),
    "ATATT3": ("Atlassian token", r"[\w=-]{150,}"),
    "lin_api_": ("Linear key", "[A-Za-z0-9]{40}"),
    "sntrys_": ("Sentry token", r"[\w=/+-]{40,}"),
    "eyJ": ("JWT", r"[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}"),
}
# In characters: the shortest of them all, and texts in which a private key may be broken into shorter words.
_SHORTEST = 20
_BROKEN = 200
# What the commonest of them begin with where they are in base64: as far as their beginning settles it.
_ENCODED = {"LS0tLS1CRUdJTi": "private key", "QUtJQ": "AKIA", "Z2hwX": "ghp_", "Z2xwYXQt": "glpat-", "eG94Yi": "xoxb-", "QUl6Y": "AIza",
            "ZXlKa": "eyJ", "ZXlKb": "eyJ"}  # fmt: skip
_BEGINNINGS = (*_SHAPES, *_ENCODED)
_RANKS = {beginning: number for number, beginning in enumerate(_BEGINNINGS)}
# The beginnings with a character that words often lack, and the others, by whether they have a capital.
_SIGNED = [(sign, [each for each in _BEGINNINGS if next((one for one in "_-." if one in each), "") == sign]) for sign in "_-."]
_CAPITAL, _SMALL = ([each for each in _BEGINNINGS if not set("_-.") & set(each) and each.islower() is low] for low in (False, True))
# Tokens of documentation, and sequences that are typed by hand.
_PRETENDED = (
    "example", "xxxx", "0000000", "1234567", "abcdef", "aaaa", "....", "your", "fake", "dummy", "placeholder", "changeme", "redacted",
)  # fmt: skip
_LEAST_ENTROPY = 3.0


def find(text: str) -> Iterator[CredentialToken]:
    """The credentials in a text, plain or base64-encoded as a whole, in no particular order."""
    for beginning in _beginnings_in(text):
        at = text.find(beginning)
        while at >= 0:
            token = _encoded(text, at) if beginning in _ENCODED else _plain(text, beginning, at)
            if token is not None:
                yield token
            at = text.find(beginning, at + 1 if token is None else token.end)


def may_hold(text: str) -> bool:
    """Whether a text contains the beginning of a credential; if not, `find` returns nothing."""
    return bool(_beginnings_in(text))


def _beginnings_in(text: str) -> list[str]:
    """The possible beginnings of credentials in a text, usually none."""
    if len(text) < _SHORTEST:
        return []
    # Except for private keys, a credential contains no whitespace, and few words are as long as one.
    words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    if not words:
        return [_KEY] if len(text) >= _BROKEN and _KEY in text else []
    found = [each for each in _SMALL if each in words]
    if not words.islower():
        found += [each for each in _CAPITAL if each in words]
    for sign, group in _SIGNED:
        if sign in words:
            found += [each for each in group if each in words]
    if _KEY in text and _KEY not in found:
        found.append(_KEY)
    return sorted(found, key=_RANKS.__getitem__)


def entropy(text: str) -> float:
    """Shannon entropy of the text in bits per character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text)))


def is_pretended(text: str) -> bool:
    """Whether a token is a placeholder: it says so, or is too regular."""
    low = text.lower()
    return entropy(text) < _LEAST_ENTROPY or any(word in low for word in _PRETENDED)


@cache
def _rest(beginning: str) -> re.Pattern[str]:
    return re.compile(_SHAPES[beginning][1])


def _plain(text: str, beginning: str, at: int) -> CredentialToken | None:
    # These are in the middle of a token.
    inner = {"8Q~": 3, "T3BlbkFJ": 23}.get(beginning, 0)
    if not inner and beginning[0].isalnum() and _goes_on(text, at):
        return None
    match = _rest(beginning).match(text, at + len(beginning))
    if match is None or at < inner or is_pretended(match[0][:200]):
        return None
    return CredentialToken(_SHAPES[beginning][0], at - inner, match.end())


def _goes_on(text: str, at: int) -> bool:
    """Whether the characters before a position belong to the same word; an escaped line break ends a word."""
    before = text[at - 1 : at]
    return (before.isalnum() or before in ("_", "-", "+")) and text[max(at - 2, 0) : at] not in ("\\n", "\\t", "\\r")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def _encoded(text: str, at: int) -> CredentialToken | None:
    """The credential that a base64-encoded word contains, if any."""
    match = _run().match(text, at)
    if match is None or (at and text[at - 1].isalnum()):
        return None
    found = next(find(decoded(match[0])), None)
    return None if found is None else CredentialToken(found.kind, at, match.end(), encoded=True)


def decoded(text: str) -> str:
    """The text that a base64 string encodes, or "" if it is not base64 or not text."""
    try:
        return base64.decode(text).decode("utf-8")
    except (base64.BadBase64, UnicodeDecodeError):
        return ""
