"""Secret values in bare text, hidden by asterisks: in lines of source code, also of documents that do not parse, and in messages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kcheck.kube import credential_patterns, credentials, positional_passwords
from kcheck.kube.credential_names import could_be_credential, has_credential_word, hinted_lines, is_credential, may_indicate_credential
from kcheck.text.pattern import pattern

STARS = "***"
"""What a message shows for a secret value."""

# URLs within any text, of which only the offsets matter: `kcheck.kube.urls` would reject most of them.
# The password of a URL reaches to the last "@" before the next URL: people write passwords with "@" and "/" in them.
_PASSWORD = pattern(r"""://[^\s/?#"'<>@:,]*:(?!\d{1,5}(?:[/?#,\s"'\\]|$))((?:(?!://)[^\s"'<>])*)@""")
# Without a password the user is a token, but for the user that everybody has at Git servers.
_USER = pattern(r"""https?://(?!git@)([^\s/?#"'<>@:,$]+)@""")
# What a shell, kustomize, Helm or the kubelet fills in.
_FILLED_IN = pattern(r"\$\(\w+\)|\$\{[^}]*\}|\$\w+|\{\{.*\}\}|<[^>]*>|%\w+%")
_PAIR = pattern(r"""\\*["']([A-Za-z][\w.\-]*)\\*["']\s*:\s*\\*["']([^"'\\]+)""")
# Begins where a word begins: otherwise each letter of a long base64 text would be the start of another search.
_ASSIGNED = pattern(r"""(?<![\w.\-])(?:(?![A-Za-z])[\w.\-]|)*+([A-Za-z][\w.\-]*+)=\\?(["']?)([^\s"'`;&|()\\,\]}]+)""")
_HEADER = pattern(r"(?i)authorization\W.{0,40}?\b(?:bearer|basic)\s+([\w+/.~=-]{6,})")
# base64 of "://" at its three alignments, and of '{"'.
_ENCODED = ("Oi8v", "ovL", "6Ly", "eyJ")
# What a line in flow style has that names a secret value on it or belongs to an entry that another line may go on with.
_IN_FLOW = (
    "value", "args", "command", "data", "literals", "pass", "pwd", "secret", "token", "key", "credential", "auth", "salt", "seed",
    "signature", "hmac", "license", "webhook", "cookie", "session",
)  # fmt: skip
_KEYED = pattern(r"""[ \t]*+(?:- ++|)*+(["']?)([\w./-]++)\1:(?:[ \t]++(.*+))?$""")
_HARMLESS = pattern(
    r" *(?:- )?(?:(?:name|namespace|port|number|containerPort|targetPort|replicas|runAsUser|app|host|secretName|serviceAccountName): "
    r"(?:[a-z0-9._-]{1,19}|[A-Z0-9_]{1,19})|key: (?:[a-z0-9._-]{1,15}|[A-Z0-9_]{1,15}))"
)
# The same for names of any length, unless they have the form of a token.
_NAME = pattern(r" *(?:- )?(?:name|namespace|secretName|serviceAccountName): [a-z0-9.-]++")
# Fields that hold what other fields give a name to.
_NAMED_ELSEWHERE = frozenset({"value", "args", "command", "data", "stringData", "literals"})
# Fields of a Secret or kubeconfig that hold no secret value.
_OPEN = frozenset({
    "apiVersion", "kind", "metadata", "name", "namespace", "type", "immutable", "data", "stringData", "items", "labels", "annotations",
    "clusters", "cluster", "contexts", "context", "users", "user", "server", "current-context", "preferences",
})  # fmt: skip
_FIRST_KEY = pattern(r"""[ \t]*(?:[-?] +)*["']?([\w./-]+)["']?[ \t]*:(?:[ \t]+|$)""")
_DATA = pattern(r"""["']?(?:data|stringData|users)["']?[ \t]*:""")
# Each begins with the letters of a word, which are found much sooner than the beginning of any word.
_SECRET_KIND = pattern(r"""kind(?<!\wkind)["']?\s*:\s*["']?(?:Secret|Config)\b""")
_SECRET_FIELDS = {
    "stringData": pattern(r"""stringData(?<!\wstringData)["']?\s*:"""),
    "secretGenerator": pattern(r"""secretGenerator(?<!\wsecretGenerator)\b"""),
    "client-key-data": pattern(r"""client-key-data(?<!\wclient-key-data)["']?\s*:"""),
}
_PASSWORD_KEY = pattern(r"""([A-Za-z][\w.\-]*)["']?[ \t]*[:=][ \t]*(\S.*)""")
_SECRET_KEYS = ("password", "passwd", "pwd", "token", "secret", "passphrase", "credentials", "client-key-data")


def user_infos(text: str) -> Iterator[tuple[int, int]]:
    """The passwords in the URLs of a text, and users without a password."""
    if "://" in text and "@" in text:
        for found in (_PASSWORD, _USER):
            for match in found.finditer(text):
                if match[1] and not _FILLED_IN.fullmatch(match[1]):
                    yield match.span(1)


def spans(text: str, has_hint: bool | None = None) -> list[tuple[int, int]]:
    """The values that the text itself shows to be secret. `has_hint`: whether a name in it may indicate a credential, if known."""
    found = [*user_infos(text), *((each.start, each.end) for each in credential_patterns.find(text))]
    if "uthorization" in text:
        found += (match.span(1) for match in _HEADER.finditer(text) if not match[1].isalpha() and could_be_credential(match[1]))
    if has_credential_word(text.lower()) if has_hint is None else has_hint:
        # Most texts lack the characters that these patterns need, which are found much sooner than the beginning of a name.
        if ":" in text and text.count('"') + text.count("'") > 2:
            found += (match.span(2) for match in _PAIR.finditer(text) if is_credential(match[1], match[2], sure=True))
        if "=" in text:
            for start, end in hinted_lines(text):
                found += (match.span(3) for match in _ASSIGNED.finditer(text, start, end) if is_credential(match[1], match[3], sure=True))
    return found


def spans_in_file(text: str) -> list[tuple[int, int]]:
    """The same of a line or a file: settings and command lines, too."""
    low = text.lower()
    has_hint = has_credential_word(low)
    if not has_hint and _shows_nothing(text, low):
        return []
    found = spans(text, has_hint)
    if has_hint or positional_passwords.may_occur(low):
        found += ((each.start, each.end) for each in credential_patterns.lines(text, ""))
        found += ((each.start, each.end) for each in credential_patterns.arguments(text))
    return found


def _shows_nothing(text: str, low: str) -> bool:
    """Whether a text in which no name indicates a credential contains nothing else that a search would find. Most lines do not."""
    return (
        not ("://" in text and "@" in text)
        and not positional_passwords.may_occur(low)
        and "uthorization" not in text
        and '"auth"' not in text
        and (" " in text or len(text) < credential_patterns.SHORTEST_BASE64)
        and not credentials.may_hold(text)
    )


@lru_cache(maxsize=1024)
def message(text: str) -> str:
    """A message without the secret values that can be recognized in it."""
    return replaced(text, spans(text))


def replaced(text: str, secret: list[tuple[int, int]]) -> str:
    """A message with stars for some of its characters."""
    end = len(text)
    for start, stop in sorted(secret, reverse=True):
        if start < end:
            text = f"{text[:start]}{STARS}{text[max(min(stop, end), start) :]}"
            end = start
    return text


@lru_cache(maxsize=8192)
def line(text: str) -> str:
    """A line of a file with asterisks. Many places share one."""
    shown = text
    for start, end in spans_in_file(text):
        shown = cover(shown, start, end)
    return shown


def is_harmless(text: str) -> bool:
    """Whether a line certainly contains nothing secret: a fast check for most of the lines that are shown.

    No format of a credential is as short and in one case, and no other line can make the values of these fields secret.
    """
    return _HARMLESS.fullmatch(text) is not None or (_NAME.fullmatch(text) is not None and not credentials.may_hold(text))


@lru_cache(maxsize=8192)
def is_plain(text: str) -> bool:
    """Whether other lines cannot make anything in a line secret, unless its object is a Secret or the like."""
    keyed = _KEYED.match(text)
    if keyed is None or keyed[2] in _NAMED_ELSEWHERE:
        return False
    if may_indicate_credential(keyed[2]):
        value = (keyed[3] or "").strip("\"' \t")
        if not value or value[0] in "|>&*!#{[" or " #" in value or is_credential(keyed[2], value):
            return False
    if "{" in text or "[" in text:
        low = text.lower()
        for word in _IN_FLOW:
            if word in low:
                return False
    for each in _ENCODED:  # noqa: SIM110
        if each in text:
            return False
    return True


@lru_cache(maxsize=8192)
def plain_line(text: str) -> str | None:
    """A plain line with asterisks, None for other lines."""
    if is_harmless(text):
        return text
    return line(text) if is_plain(text) else None


def cover(text: str, start: int, end: int) -> str:
    """A line with some of its characters as asterisks."""
    start, end = max(start, 0), min(end, len(text))
    return text[:start] + "*" * (end - start) + text[end:] if start < end else text


def looks_secret(text: str) -> bool:
    """Whether a text that does not parse seems to be a Secret or kubeconfig."""
    if ("Secret" in text or "Config" in text) and _SECRET_KIND.search(text):
        return True
    return any(name in text and found.search(text) for name, found in _SECRET_FIELDS.items())


def unread_line(text: str, secret: bool) -> str:
    """A line of a document that could not be parsed. `secret`: it may be a Secret or kubeconfig, so all values are masked."""
    shown = line(text)
    if secret:
        match = _FIRST_KEY.match(text)
        if match is None:
            start = found.end() if (found := _DATA.search(text)) else len(text) - len(text.lstrip(" \t-"))
            return text if text.lstrip().startswith(("---", "...", "#", "%")) and not found else _starred(shown, start)
        return shown if match[1] in _OPEN and "{" not in text else _starred(shown, match.end())
    for match in _PASSWORD_KEY.finditer(text):
        if match[1].lower().endswith(_SECRET_KEYS) and could_be_credential(match[2]):
            return _starred(shown, match.start(2))
    return shown


def _starred(text: str, start: int) -> str:
    return text[:start] + "".join(char if char.isspace() else "*" for char in text[start:])
