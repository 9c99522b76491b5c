"""URLs as parsed by Go's net/url: `parse` is url.Parse, `parse_request` url.ParseRequestURI, of Go 1.26.

This is the only parser of URLs. The searches for URLs within other text (`kcheck.kube.credential_patterns`, `kcheck.redaction.redact`,
`kcheck.extract.service_addresses`) accept more than it, because a script or a template contains texts that are not yet URLs.
"""

from __future__ import annotations

import re

from kcheck.text.record import NamedTuple

# Not compiled: few inputs contain URLs.
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*):"
_ESCAPES = r"(?s)(?:[^%]|%[0-9A-Fa-f]{2})*"
_USER = r"(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|%[0-9A-Fa-f]{2})*"
_HOST_CHAR = r"[A-Za-z0-9._~!$&'()*+,;=:<>\"\[\]-]"
# In a host, only non-ASCII bytes and the '%' before the zone of an address may be escaped.
_HOST = rf"(?:{_HOST_CHAR}|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f]|%25)*"
_PORT = r"(?::[0-9]*)?"
_PATH = r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9A-Fa-f]{2})*"
_BAD_ESCAPE = '"%" is not followed by two hexadecimal digits'


class BadUrl(ValueError):
    """A text that is not a valid URL; the message is the reason."""


class Url(NamedTuple):
    """The parts of a URL as written, except that the scheme is in lower case.

    `user`, `query`: None if there is none. `host`: includes the port. `opaque`: what follows the scheme in a URL such as mailto:joe, which
    has no host and no path.
    """

    scheme: str
    user: str | None
    host: str
    path: str
    query: str | None
    fragment: str
    opaque: str = ""


def parse(text: str) -> Url:
    """Parse a URL, which may be relative. Raises BadUrl."""
    bare, _, fragment = text.partition("#")
    url = _parse(bare, False)
    if not re.fullmatch(_ESCAPES, fragment):
        raise BadUrl(_BAD_ESCAPE)
    return url._replace(fragment=fragment)


def parse_request(text: str) -> Url:
    """Parse a URL or an absolute path. "#" begins no fragment. Raises BadUrl."""
    if not text:
        raise BadUrl("empty url")
    return _parse(text, True)


def is_request(text: str) -> bool:
    """Whether a text is a URL or an absolute path."""
    try:
        parse_request(text)
    except BadUrl:
        return False
    return True


def _parse(text: str, request: bool) -> Url:
    if any(char < " " or char == "\x7f" for char in text):
        raise BadUrl("control character in the URL")
    if text == "*":
        return Url("", None, "", "*", None, "")
    if text.startswith(":"):
        raise BadUrl("missing scheme")
    match = re.match(_SCHEME, text)
    scheme, rest = (match[1].lower(), text[match.end() :]) if match else ("", text)
    rest, mark, query = rest.partition("?")
    user, host = None, ""
    if not rest.startswith("/"):
        if match:
            return Url(scheme, None, "", "", query if mark else None, "", rest)
        if request:
            raise BadUrl("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise BadUrl('":" in the first part of the path')
    elif rest.startswith("//") and (match or not (request or rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(authority, scheme in ("http", "https"))
        rest = slash + path
    if not re.fullmatch(_ESCAPES, rest):
        raise BadUrl(_BAD_ESCAPE)
    return Url(scheme, user, host, rest, query if mark else None, "")


def _authority(text: str, strict: bool) -> tuple[str | None, str]:
    """Return user and host of the text between "//" and "/". `strict`: several hosts are not allowed."""
    user, at, host = text.rpartition("@")
    if "[" in host:
        port = _check_literal(host)
    else:
        name, colon, rest = host.partition(":") if strict else host.rpartition(":")
        port = colon + rest if colon else ""
        if not re.fullmatch(_HOST, name if colon else host):
            raise BadUrl("invalid character in the host")
    if not re.fullmatch(_PORT, port):
        raise BadUrl(f'invalid port "{port}"')
    if not re.fullmatch(_USER, user):
        raise BadUrl("invalid character in the user name")
    return (user if at else None), host


def _check_literal(host: str) -> str:
    """Return the port of a host that begins with an IPv6 address in brackets. Raises BadUrl if the address is not valid."""
    literal, bracket, port = host.removeprefix("[").rpartition("]")
    address, percent, zone = literal.partition("%25")
    # Imported here: few inputs contain such hosts.
    import ipaddress

    try:
        # Python would accept a zone after a bare "%".
        ipaddress.IPv6Address(address.replace("%", "?"))
    except ValueError:
        bracket = ""
    if not bracket or "[" in host[1:]:
        raise BadUrl("text in brackets is not an IPv6 address")
    if percent and not zone:
        raise BadUrl("empty zone in the IPv6 address")
    for char in re.findall(r"(?s)%[0-9A-Fa-f]{2}|.", zone):
        allowed = char in ("%20", "%25") or re.fullmatch(_HOST_CHAR, unescaped(char)) if len(char) > 1 else re.fullmatch(_HOST, char)
        if not allowed:
            raise BadUrl("invalid character in the zone of the IPv6 address")
    return port


def unescaped(text: str) -> str:
    """Return a text with its percent escapes decoded."""
    return _decoded(text).decode("utf-8", "replace") if "%" in text else text


def _decoded(text: str) -> bytes:
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes((int(match[1], 16),)), text.encode("utf-8", "surrogatepass"))


def host_and_port(url: Url) -> tuple[str, str]:
    """Return the host without brackets and escapes, and the port, "" if there is none."""
    host = unescaped(url.host)
    name, colon, port = host.rpartition(":")
    if not colon or not re.fullmatch("[0-9]*", port):
        name, port = host, ""
    return (name[1:-1] if name.startswith("[") and name.endswith("]") else name), port


def escaped_path(url: Url) -> str:
    """Return the path with escapes for all characters that need one."""
    if re.fullmatch(_PATH, url.path):
        return url.path
    return re.sub(rb"[^A-Za-z0-9/$&+,:;=@~\-_.]", lambda match: b"%%%02X" % ord(match[0]), _decoded(url.path)).decode()


def query_values(url: Url) -> dict[str, list[str]]:
    """Return the values of each parameter of the query. Invalid parameters are ignored."""
    found: dict[str, list[str]] = {}
    for pair in (url.query or "").split("&"):
        if pair and ";" not in pair and re.fullmatch(_ESCAPES, pair):
            key, _, value = pair.replace("+", " ").partition("=")
            found.setdefault(unescaped(key), []).append(unescaped(value))
    return found


def without_user(text: str) -> str:
    """Return a URL without user and password. The rest of the text need not be valid."""
    scheme, separator, rest = text.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}" if separator and "@" in authority else text
