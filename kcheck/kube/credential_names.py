"""Names that indicate a credential, and values that cannot be one."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from kcheck.kube import credentials
from kcheck.kube.placeholders import is_unfilled_credential
from kcheck.text.pattern import pattern

_PASSWORD_WORDS = ("password", "passwd", "passphrase", "pwd", "requirepass")
_SECRET_WORDS = (
    "secret", "token", "api_key", "apikey", "access_key", "accesskey", "secret_key", "secretkey", "private_key", "privatekey",
    "credentials",
)  # fmt: skip
# Each of the words above contains one of these.
_COMMON_PARTS = ("pass", "pwd", "secret", "token", "key", "credentials")
# Words that are used for credentials and for many other values.
_WEAK_WORDS = frozenset(("key", "auth", "salt", "seed", "signature", "hmac", "license", "webhook", "cookie", "session"))
# Each name of a credential contains one of these.
_NAME_PARTS = (*_COMMON_PARTS, *sorted(_WEAK_WORDS - {"key"}))
# A name that ends with one of these describes a credential and does not hold one (passwordFile, tokenUrl).
_DESCRIBING_WORDS = """
    name names file files path paths dir folder url uri host endpoint mode type format id ids ttl expiry expiration duration lifetime
    length size enabled disabled ref reference store provider issuer audience header prefix suffix algorithm alg version namespace
    policy interval timeout count username user email rotation refresh location source informer filtering selector label method limit
    max min cache auth required optional validity period seconds minutes hours days encryption encoder plugin grant field keys map
    script command cmd prompt scope scopes class kind hash mount backend storage
"""
_DESCRIBING = frozenset(_DESCRIBING_WORDS.split())
# etcd distinguishes clusters by it, and it protects nothing.
_NOT_CREDENTIALS = ("initial_cluster_token",)
_SWITCHES = frozenset(("enable", "use", "disable", "require", "allow", "public", "no", "num", "max", "min", "has", "is"))
# With one of these words, "key" does not mean a credential (partition_key).
_OTHER_KEYS = frozenset((
    "public", "partition", "sort", "primary", "foreign", "hash", "routing", "cache", "row", "shard", "group", "label", "host", "known",
    "index", "join", "lookup",
))  # fmt: skip
_NOT_SECRET = r"""\s*|true|false|yes|no|on|off|null|none|nil|[0-9.]+[a-z]*  # empty values, switches, numbers and times
    |[\w.-]+(?:,[\w.-]+=[^,]*)+  # a list of settings
    |ENC\[.*|arn:.*|op://.*|.*(?:secretsmanager|keyvault|vault):.*  # references to stores, and encrypted values
    |(?:/|\./|~/|file:|vault:|ref\+|secretref:|secretKeyRef|env:|https?://[^@]*$).*  # paths and other references
    |\*+|x{3,}.*|\.{3}|redacted|optional|required|disabled|enabled|dummy|string|test|undefined
    |(?:sk-)?(?:dummy|fake|no-?key|no-api-key|not)(?:-?key)?(?:-(?:needed|required|used))?  # for servers without authentication"""
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_CAMEL_CASE = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD_BREAK = pattern(r"[^a-z0-9]+")
_MIN_LENGTH = 3
_MIN_RANDOM_LENGTH = 16
_MIN_ENTROPY = 3.2


@lru_cache(maxsize=4096)
def has_credential_word(low: str) -> bool:
    """Whether a text, in lower case, contains a part that all names of credentials have: a fast check before the exact one."""
    for word in _COMMON_PARTS:  # noqa: SIM110
        if word in low:
            return True
    return False


def hinted_lines(text: str) -> list[tuple[int, int]]:
    """The offsets of the lines of a text that contain a part of the name of a credential: all of it if it is one line."""
    low = text.lower()
    if "\n" not in text or len(low) != len(text):
        return [(0, len(text))]
    found: dict[int, int] = {}
    for word in _NAME_PARTS:
        at = low.find(word)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            found[text.rfind("\n", 0, at) + 1] = end
            at = low.find(word, end)
    return sorted(found.items())


@lru_cache(maxsize=4096)
def indicates_credential(name: str) -> bool:
    """Whether a name indicates that its value is a credential."""
    # Few names do. This check is faster than splitting the name.
    if not has_credential_word(name.lower()):
        return False
    words = words_of(name)
    plain = "_".join(words)
    if not words or words[-1] in _DESCRIBING or words[0] in _SWITCHES or plain.endswith(_NOT_CREDENTIALS):
        return False
    if words[-1] == "pass" and len(words) > 1:
        return True
    return any(f"_{word}_" in f"_{plain}_" or plain.endswith(word) for word in (*_PASSWORD_WORDS, *_SECRET_WORDS))


def is_password(name: str) -> bool:
    """Whether a name of a credential means a password. Fields named "secret" or "token" may hold the name of an object instead."""
    plain = "_".join(word for word in words_of(name) if not word.isdigit())
    return plain.endswith(("_pass", *_PASSWORD_WORDS))


@lru_cache(maxsize=4096)
def hints_at_credential(name: str) -> bool:
    """Whether a name may indicate a credential: it does where the value is random."""
    words = words_of(name)
    return bool(words) and words[-1] in _WEAK_WORDS and _OTHER_KEYS.isdisjoint(words)


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: of camelCase, snake_case and other forms."""
    if not name.islower():
        name = _CAMEL_CASE.sub("_", name).lower()
    return [word for word in _WORD_BREAK.split(name) if word]


def could_be_credential(value: str) -> bool:
    """Whether a value can be a credential: one line that is not a placeholder, reference, switch or number."""
    if len(value) < _MIN_LENGTH or "\n" in value.strip():
        return False
    return not _compiled(_NOT_SECRET).fullmatch(value) and not is_unfilled_credential(value)


def is_random(value: str) -> bool:
    """Whether a value looks generated: letters and digits mixed; not a name, UUID or digest."""
    if len(value) < _MIN_RANDOM_LENGTH or not value.isascii() or _compiled(_UUID).fullmatch(value):
        return False
    longest = max(re.split(r"[^A-Za-z0-9]+", value), key=len)
    turns = len(re.findall(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])", longest))
    if len(longest) < _MIN_RANDOM_LENGTH - 4 or turns < 3 or " " in value or ":" in value:
        return False
    return credentials.entropy(value) >= _MIN_ENTROPY and not credentials.is_pretended(value)


def may_indicate_credential(name: str) -> bool:
    """Whether a name indicates a credential, at least for some values."""
    return indicates_credential(name) or hints_at_credential(name)


def is_credential(name: str, value: str, *, sure: bool = False) -> bool:
    """Whether the value of a name is a credential. `sure`: names other than those of passwords need a random value."""
    if indicates_credential(name):
        # "image-pull-secret: image-pull-secret" names an object.
        is_possible = could_be_credential(value) and (is_password(name) or words_of(name) != words_of(value))
        return is_possible and (not sure or is_password(name) or is_random(value))
    return hints_at_credential(name) and could_be_credential(value) and is_random(value)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | (re.IGNORECASE if pattern is _NOT_SECRET else 0))
