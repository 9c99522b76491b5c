"""URLs as parsed by net/url.Parse of Go, which the API server uses for the URLs of webhooks."""

from __future__ import annotations

import re

from kcheck.text.record import NamedTuple

# Not compiled: few inputs contain URLs.
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*):"
_ESCAPES = r"(?s)(?:[^%]|%[0-9A-Fa-f]{2})*"
_USER = r"(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|%[0-9A-Fa-f]{2})*"
# In a host, only non-ASCII bytes and the '%' before the zone of an address may be escaped.
_HOST = r"(?:[A-Za-z0-9._~!$&'()*+,;=:<>\"\[\]-]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f]|%25)*"
_PORT = r"(?::[0-9]*)?"


class BadUrl(ValueError):
    """A text that is not a valid URL; the message is the reason."""


class Url(NamedTuple):
    """The parts of a URL. `user`: None if there is none; `host`: includes the port."""

    scheme: str
    user: str | None
    host: str
    path: str
    query: str
    fragment: str


def parse(text: str) -> Url:
    """Parse a URL, which may be relative. Raises BadUrl."""
    bare, _, fragment = text.partition("#")
    if any(char < " " or char == "\x7f" for char in bare):
        raise BadUrl("control character in the URL")
    if bare.startswith(":"):
        raise BadUrl("missing scheme")
    match = re.match(_SCHEME, bare)
    scheme, rest = (match[1].lower(), bare[match.end() :]) if match else ("", bare)
    rest, _, query = rest.partition("?")
    user, host = None, ""
    if not rest.startswith("/"):
        if not match and ":" in rest.partition("/")[0]:
            raise BadUrl('":" in the first part of the path')
        if match:
            rest = ""
    elif rest.startswith("//") and (match or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(authority, scheme in ("http", "https"))
        rest = slash + path
    if not (re.fullmatch(_ESCAPES, rest) and re.fullmatch(_ESCAPES, fragment)):
        raise BadUrl('"%" is not followed by two hexadecimal digits')
    return Url(scheme, user, host, rest, query, fragment)


def _authority(text: str, strict: bool) -> tuple[str | None, str]:
    """Return user and host of the text between "//" and "/". `strict`: several hosts are not allowed."""
    user, at, host = text.rpartition("@")
    if "[" in host:
        name, port = _literal(host)
    else:
        name, colon, rest = host.partition(":") if strict else host.rpartition(":")
        name, port = (name, colon + rest) if colon else (host, "")
    if not re.fullmatch(_PORT, port):
        raise BadUrl(f'invalid port "{port}"')
    if not re.fullmatch(_HOST, name):
        raise BadUrl("invalid character in the host")
    if not re.fullmatch(_USER, user):
        raise BadUrl("invalid character in the user name")
    return (user if at else None), host


def _literal(host: str) -> tuple[str, str]:
    """Return zone and port of a host that begins with an IPv6 address in brackets. Raises BadUrl if the address is not valid."""
    address, bracket, port = host.removeprefix("[").rpartition("]")
    address, _, zone = address.partition("%25")
    # Imported here: few inputs contain such hosts.
    import ipaddress

    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        bracket = ""
    if not bracket or "[" in host[1:]:
        raise BadUrl("text in brackets is not an IPv6 address")
    return zone, port
