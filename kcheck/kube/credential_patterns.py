"""Credentials inside of texts: tokens, addresses with a password, connection strings, registry logins, lines of configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from kcheck.kube import credentials
from kcheck.kube.credential_names import could_be, is_credential, may_name_one, may_say_so
from kcheck.text.record import NamedTuple

# What stands before the user of an address is found by its "://".
_LOGIN = r"""([^\s/:@"'<>,]*):([^\s/@"'<>]+)@[\w\[]"""
_PARAMETER = r"""(?i)[;?&]\s*(?:password|passwd|pwd|api_?key|(?:access_|auth_)?token|client_secret)\s*=\s*([^;&\s"'<>\\]+)"""
_REGISTRY = r'"auth"\s*:\s*"([A-Za-z0-9+/]{8,}={0,2})"'
_LINE = r"""(?m)^[ \t]*(?:export[ ]+|set[ ]+|-[ ]+|["']?-D)?(["']?)([A-Za-z][\w.\-]*)\1[ \t]*[:=][ \t]*(.*)$"""
_ARGUMENT = r"""(?:(?<=[\s;&|"'(])|^)(?:(-{1,2}[A-Za-z][\w.\-]*)(?:=|[ ]+)|([A-Za-z_]\w*)=)(["']?)([^\s"'`;&|()\\]+)"""
_MYSQL = r"""\bmysql(?:admin|dump|show|check)?\b[^\n;|&]*?\s-p["']?([^\s"'`;&|()$\\]+)"""
_BASE64 = r"[A-Za-z0-9+/]{16,}={0,2}"
SHORTEST_BASE64 = 16
"""Characters of the shortest text that is searched as base64."""
_USERS = ("", "user", "username", "usr", "login", "name", "id", "u")
_PASSWORDS = ("password", "pass", "passwd", "pwd", "secret", "token", "pw", "p")
# In characters: texts that are remembered, for the words of commands and settings stand in many places.
_SHORT = 200
# Of programs and pages, lines like name = value say something else.
_CODE = (
    ".sh", ".py", ".js", ".ts", ".lua", ".go", ".rb", ".pl", ".java", ".groovy", ".md", ".txt", ".html", ".css", ".rego", ".tmpl", ".tpl",
    ".template", ".sql", ".bash", ".rules", ".crt", ".php", ".cmd", ".ps1", ".bat", ".star", ".jsonnet", ".libsonnet",
)  # fmt: skip


class FoundCredential(NamedTuple):
    """A credential in a text: what it is called, and its characters."""

    what: str
    start: int
    end: int


def find(text: str) -> tuple[FoundCredential, ...]:
    """Those that any text may hold: they say what they are."""
    return _in_short(text) if len(text) < _SHORT else tuple(_telling(text))


@lru_cache(maxsize=2048)
def _in_short(text: str) -> tuple[FoundCredential, ...]:
    return tuple(_telling(text))


def _telling(text: str) -> Iterator[FoundCredential]:
    for token in credentials.find(text):
        shown = "in base64" if token.encoded else f"({text[token.start : token.start + 4]}..., {token.end - token.start} characters)"
        kind = f"a{'n' * (token.kind[0] in 'AEIOUaeiou')} {token.kind}"
        yield FoundCredential(kind if text.startswith("-", token.start) else f"{kind} {shown}", token.start, token.end)
    if "://" in text and "@" in text:
        yield from _logins(text)
    if "=" in text and (";" in text or "?" in text):
        yield from _parameters(text)
    if '"auth"' in text:
        for match in _compiled(_REGISTRY).finditer(text):
            user, _, password = credentials.decoded(match[1]).partition(":")
            if user.isprintable() and could_be(password):
                yield FoundCredential(f"the registry password of {user}", *match.span(1))
    if len(text) >= SHORTEST_BASE64 and " " not in text and _compiled(_BASE64).fullmatch(text.strip()):
        inner = credentials.decoded(text.strip())
        found = find(inner) if "://" in inner or '"auth"' in inner else ()
        if found:
            yield FoundCredential(f"{found[0].what}, in base64,", 0, len(text))


def lines(text: str, name: str) -> Iterator[FoundCredential]:
    """Those of a file of configuration: what stands behind a name that says so. `name`: of the file."""
    low = text.lower()
    if not may_say_so(low) or text.startswith("#!") or name.endswith(_CODE) or '"panels"' in text:
        return
    for match in _compiled(_LINE).finditer(text):
        key = match[2]
        if not may_name_one(key):
            continue
        written = match[3].rstrip().removesuffix(",").rstrip()
        value = _bare(written)
        quoted = value != written
        if not quoted and (" " in value or "(" in value or _compiled(r"[a-z_]+(?:\.[a-z_]+)+").fullmatch(value)):
            continue
        if is_credential(key, value, sure=True):
            start = match.start(3) + (1 if quoted else 0)
            yield FoundCredential(key, start, start + len(value))


def arguments(text: str) -> Iterator[FoundCredential]:
    """Those of a command line or a script in one text: what stands behind --password, PASSWORD= or mysql -p."""
    low = text.lower()
    if "mysql" not in low and not may_say_so(low):
        return
    for match in _compiled(_ARGUMENT).finditer(text):
        name, value = match[1] or match[2], match[4]
        if is_credential(name, value, sure=True):
            yield FoundCredential(name, *match.span(4))
    for match in _compiled(_MYSQL).finditer(text) if "mysql" in low else ():
        if could_be(match[1]):
            yield FoundCredential("the password of mysql", *match.span(1))


def _logins(text: str) -> Iterator[FoundCredential]:
    at = text.find("://")
    while at >= 0:
        match = _compiled(_LOGIN).match(text, at + 3)
        if match is not None:
            user, password = match[1], match[2]
            shown = not (user.lower() in _USERS and password.lower() in _PASSWORDS)
            if shown and "$" not in user + password and "%" not in user[:1] and "{" not in user + password and could_be(password):
                yield FoundCredential("the password of an address", *match.span(2))
        at = text.find("://", at + 3)


def _parameters(text: str) -> Iterator[FoundCredential]:
    low = text.lower()
    if "assw" in low or "pwd" in low or "token" in low or "key" in low or "client_secret" in low:
        for match in _compiled(_PARAMETER).finditer(text):
            if could_be(match[1]) and match[1].lower() not in _PASSWORDS and "%" not in match[1]:
                yield FoundCredential("the password of a connection", *match.span(1))


def _bare(written: str) -> str:
    """A value without its quotes, or without the comment behind it."""
    if len(written) > 1 and written[0] in "\"'" and written[-1] == written[0]:
        return written[1:-1]
    return re.split(r"\s+[#;]", written, maxsplit=1)[0]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
