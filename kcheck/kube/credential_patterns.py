"""Credentials inside longer strings: tokens, URLs with a password, connection strings, registry logins, lines of configuration.

A URL is found within a longer text, such as a script or a template, and its password may contain any character. So the search accepts more
than `kcheck.kube.urls`, and reports offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from kcheck.kube import credentials, positional_passwords
from kcheck.kube.credential_names import could_be_credential, has_credential_word, hinted_lines, is_credential, may_indicate_credential

# Matched behind the "://" of a URL.
_LOGIN = r"""([^\s/:@"'<>,]*):([^\s/@"'<>]+)@[\w\[]"""
_PARAMETER = r"""(?i)[;?&]\s*(?:password|passwd|pwd|api_?key|(?:access_|auth_)?token|client_secret)\s*=\s*([^;&\s"'<>\\]+)"""
_REGISTRY = r'"auth"\s*:\s*"([A-Za-z0-9+/]{8,}={0,2})"'
_LINE = r"""(?m)^[ \t]*(?:export[ ]+|set[ ]+|-[ ]+|["']?-D)?(["']?)([A-Za-z][\w.\-]*)\1[ \t]*[:=][ \t]*(.*)$"""
_ARGUMENT = r"""(?:(?<=[\s;&|"'(])|^)(?:(-{1,2}[A-Za-z][\w.\-]*)(?:=|[ ]+)|([A-Za-z_]\w*)=)(["']?)([^\s"'`;&|()\\]+)"""
# What every match of `_ARGUMENT` without "=" contains.
_FLAG = r"-(?<!\w-)-?[A-Za-z]"
_BASE64 = r"[A-Za-z0-9+/]{16,}={0,2}"
SHORTEST_BASE64 = 16
"""Characters of the shortest text that is searched as base64."""
_USERS = ("", "user", "username", "usr", "login", "name", "id", "u")
_PASSWORDS = ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "p")
# In characters: results for shorter strings are cached, because the words of commands and settings are repeated often.
_MAX_CACHED_LENGTH = 200
# In programs and documents, lines such as name = value are not settings.
_CODE = (
    ".sh", ".py", ".js", ".ts", ".lua", ".go", ".rb", ".pl", ".java", ".groovy", ".md", ".txt", ".html", ".css", ".rego", ".tmpl", ".tpl",
    ".template", ".sql", ".bash", ".rules", ".crt", ".php", ".cmd", ".ps1", ".bat", ".star", ".jsonnet", ".libsonnet",
)  # fmt: skip


# Values of "passwd:" in nsswitch.conf, which name sources of user accounts.
_NSS_SOURCES = frozenset(
    ("compat", "files", "altfiles", "extrausers", "db", "nis", "nisplus", "ldap", "sss", "winbind", "systemd", "hesiod")
)


class FoundCredential(NamedTuple):
    """A credential in a string. `what`: the name of its flag or setting, or (with spaces) a description; its characters: `start`, `end`."""

    what: str
    start: int
    end: int


def find(text: str) -> tuple[FoundCredential, ...]:
    """Credentials that are recognized by their form, in any string."""
    return _cached(text) if len(text) < _MAX_CACHED_LENGTH else tuple(_recognized(text))


@lru_cache(maxsize=2048)
def _cached(text: str) -> tuple[FoundCredential, ...]:
    return tuple(_recognized(text))


def _recognized(text: str) -> Iterator[FoundCredential]:
    for token in credentials.find(text):
        shown = "in base64" if token.encoded else f"({text[token.start : token.start + 4]}..., {token.end - token.start} characters)"
        kind = f"{'an' if token.kind[0] in 'AEIOUaeiou' else 'a'} {token.kind}"
        yield FoundCredential(kind if text.startswith("-", token.start) else f"{kind} {shown}", token.start, token.end)
    if "://" in text and "@" in text:
        yield from _logins(text)
    if "=" in text and (";" in text or "?" in text):
        yield from _parameters(text)
    if '"auth"' in text:
        for match in _compiled(_REGISTRY).finditer(text):
            user, _, password = credentials.decoded(match[1]).partition(":")
            if user.isprintable() and could_be_credential(password):
                yield FoundCredential(f'a registry password of user "{user}"', *match.span(1))
    if len(text) >= SHORTEST_BASE64 and " " not in text and _compiled(_BASE64).fullmatch(text.strip()):
        inner = credentials.decoded(text.strip())
        found = find(inner) if "://" in inner or '"auth"' in inner else ()
        if found:
            yield FoundCredential(f"{found[0].what} (base64)", 0, len(text))


def lines(text: str, name: str) -> Iterator[FoundCredential]:
    """Credentials in a configuration file: the values of names that indicate one. `name`: of the file."""
    low = text.lower()
    if not has_credential_word(low) or text.startswith("#!") or name.endswith(_CODE) or '"panels"' in text:
        return
    for first, end in hinted_lines(text):
        match = _compiled(_LINE).match(text, first, end)
        if match is None or not may_indicate_credential(match[2]):
            continue
        key = match[2]
        written = match[3].rstrip().removesuffix(",").rstrip()
        value = _bare(written)
        quoted = value != written
        if not quoted and (" " in value or "(" in value or _compiled(r"[a-z_]+(?:\.[a-z_]+)+").fullmatch(value)):
            continue
        if is_credential(key, value, sure=True) and not (key == "passwd" and value in _NSS_SOURCES):
            start = match.start(3) + (1 if quoted else 0)
            yield FoundCredential(key, start, start + len(value))


def arguments(text: str) -> Iterator[FoundCredential]:
    """Credentials in a command line or script: the values of --password and PASSWORD=, and passwords by their position."""
    low = text.lower()
    may_assign = has_credential_word(low) and ("=" in text or _compiled(_FLAG).search(text) is not None)
    for first, end in hinted_lines(text) if may_assign else ():
        for match in _compiled(_ARGUMENT).finditer(text, first, end):
            name, value = match[1] or match[2], match[4]
            if is_credential(name, value, sure=True):
                yield FoundCredential(name, *match.span(4))
    yield from positional(text)


def positional(text: str) -> Iterator[FoundCredential]:
    """Passwords in a command line or script that only their position shows, such as mysql -pX."""
    for program, start, end in positional_passwords.find(text, text.lower()):
        yield FoundCredential(f"a password for {program}", start, end)


def _logins(text: str) -> Iterator[FoundCredential]:
    at = text.find("://")
    while at >= 0:
        match = _compiled(_LOGIN).match(text, at + 3)
        if match is not None:
            user, password = match[1], match[2]
            shown = not (user.lower() in _USERS and password.lower() in _PASSWORDS)
            if (
                shown
                and "$" not in user + password
                and "%" not in user[:1]
                and "{" not in user + password
                and could_be_credential(password)
            ):
                yield FoundCredential("a password in a URL", *match.span(2))
        at = text.find("://", at + 3)


def _parameters(text: str) -> Iterator[FoundCredential]:
    low = text.lower()
    if "assw" in low or "pwd" in low or "token" in low or "key" in low or "client_secret" in low:
        for match in _compiled(_PARAMETER).finditer(text):
            if could_be_credential(match[1]) and match[1].lower() not in _PASSWORDS and "%" not in match[1]:
                yield FoundCredential("a password in a connection string", *match.span(1))


def _bare(written: str) -> str:
    """A value without its quotes, or without the comment that follows it."""
    if len(written) > 1 and written[0] in "\"'" and written[-1] == written[0]:
        return written[1:-1]
    return re.split(r"\s+[#;]", written, maxsplit=1)[0]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
