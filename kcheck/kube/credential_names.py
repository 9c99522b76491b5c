"""Which names say that their value is a credential, and which values are none, whatever their name."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from kcheck.kube import credentials

_PASSWORD_WORDS = ("password", "passwd", "passphrase", "pwd", "requirepass")
_SECRET_WORDS = (
    "secret", "token", "api_key", "apikey", "access_key", "accesskey", "secret_key", "secretkey", "private_key", "privatekey",
    "credentials",
)  # fmt: skip
# Each of these has one of them in it.
_IN_ALL = ("pass", "pwd", "secret", "token", "key", "credentials")
# Names that go with credentials, and with much else.
_WEAK_WORDS = frozenset(("key", "auth", "salt", "seed", "signature", "hmac", "license", "webhook", "cookie", "session"))
# A name that ends like this tells of a credential, and is none.
_ABOUT_WORDS = """
    name names file files path paths dir folder url uri host endpoint mode type format id ids ttl expiry expiration duration lifetime
    length size enabled disabled ref reference store provider issuer audience header prefix suffix algorithm alg version namespace
    policy interval timeout count username user email rotation refresh location source informer filtering selector label method limit
    max min cache auth required optional validity period seconds minutes hours days encryption encoder plugin grant field keys map
    script command prompt scope scopes class kind hash mount backend storage
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
_SWITCHES = frozenset(("enable", "use", "disable", "require", "allow", "public", "no", "num", "max", "min", "has", "is"))
# Before these, "key" is no credential's.
_OTHER_KEYS = frozenset((
    "public", "partition", "sort", "primary", "foreign", "hash", "routing", "cache", "row", "shard", "group", "label", "host", "known",
    "index", "join", "lookup",
))  # fmt: skip
_NOT_SECRET = r"""\s*|true|false|yes|no|on|off|null|none|nil|[0-9.]+[a-z]*  # nothing, switches, numbers and times
    |\$.*|.*\$\(\w+\).*|<.*>?|.*\{\{.*|.*\$\{.*|%.*%?|\{.*|\[.*|@.*|`.*|__.*__|!.*\ .*  # filled in by somebody
    |ENC\[.*|arn:.*|op://.*|.*(?:secretsmanager|keyvault|vault):.*  # kept somewhere else, or encrypted
    |(?:/|\./|~/|file:|vault:|ref\+|secretref:|secretKeyRef|env:|https?://[^@]*$).*  # where it is kept
    |\*+|x{3,}.*|\.{3}|redacted|optional|required|disabled|enabled|dummy|placeholder|string|test|tbd|todo|undefined
    |.*change[-_ ]?(?:me|it|this).*|.*your.*|.*-placeholder|.*replace[-_ ]?(?:me|this|with).*|.*example.*|.*insert[-_ ].*"""
_PLACEHOLDER = r"[A-Z]+(?:_[A-Z0-9]+)*"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LEAST = 3
_LEAST_RANDOM = 16
_LEAST_ENTROPY = 3.2


@lru_cache(maxsize=4096)
def may_say_so(low: str) -> bool:
    """Whether there is anything in a text, in small letters, that all names of credentials have."""
    for word in _IN_ALL:  # noqa: SIM110
        if word in low:
            return True
    return False


def says_so(name: str) -> bool:
    """Whether a name says that its value is a credential."""
    # Hardly any name does, which is seen sooner than its words are found.
    if not may_say_so(name.lower()):
        return False
    words = words_of(name)
    plain = "_".join(words)
    if not words or words[-1] in _ABOUT or words[0] in _SWITCHES:
        return False
    if words[-1] == "pass" and len(words) > 1:
        return True
    return any(f"_{word}_" in f"_{plain}_" or plain.endswith(word) for word in (*_PASSWORD_WORDS, *_SECRET_WORDS))


def is_password(name: str) -> bool:
    """Whether a name that says so speaks of a password: a secret or token of a name may be an object that holds it."""
    plain = "_".join(word for word in words_of(name) if not word.isdigit())
    return plain.endswith(("_pass", *_PASSWORD_WORDS))


@lru_cache(maxsize=4096)
def hints_at_it(name: str) -> bool:
    """Whether a name may say so: of something random, it does."""
    words = words_of(name)
    return bool(words) and words[-1] in _WEAK_WORDS and _OTHER_KEYS.isdisjoint(words)


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters, however it joins them."""
    return [word for word in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()) if word]


def could_be(value: str) -> bool:
    """Whether a value can be a credential: a line of text that stands for itself."""
    if len(value) < _LEAST or "\n" in value.strip():
        return False
    return not _compiled(_PLACEHOLDER).fullmatch(value) and not _compiled(_NOT_SECRET).fullmatch(value)


def is_random(value: str) -> bool:
    """Whether a value is the kind of text that nobody thinks of: letters and digits mixed, no name, UUID or digest."""
    if len(value) < _LEAST_RANDOM or not value.isascii() or _compiled(_UUID).fullmatch(value):
        return False
    longest = max(re.split(r"[^A-Za-z0-9]+", value), key=len)
    turns = len(re.findall(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])", longest))
    if len(longest) < _LEAST_RANDOM - 4 or turns < 3 or " " in value or ":" in value:
        return False
    return credentials.entropy(value) >= _LEAST_ENTROPY and not credentials.is_pretended(value)


def may_name_one(name: str) -> bool:
    """Whether anything that stands under a name is a credential."""
    return says_so(name) or hints_at_it(name)


def is_credential(name: str, value: str, *, sure: bool = False) -> bool:
    """Whether what stands under a name is a credential. `sure`: a name other than a password's must have something random."""
    if says_so(name):
        return could_be(value) and (not sure or is_password(name) or is_random(value))
    return hints_at_it(name) and could_be(value) and is_random(value)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | (re.IGNORECASE if pattern is _NOT_SECRET else 0))
