"""Whether a string is a URL that net/url.ParseRequestURI of Go accepts: an absolute URL or a path."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*):"
_ESCAPES = r"(?s)(?:[^%]|%[0-9A-Fa-f]{2})*"
_USER = r"(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|%[0-9A-Fa-f]{2})*"
# A host can only have these escapes, of non-ASCII bytes and "%".
_HOST = r"(?:[A-Za-z0-9._~!$&'()*+,;=<>\"-]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f]|%25)*"
_PORT = r"(?::[0-9]*)?"


def is_request_uri(text: str) -> bool:
    """Whether ParseRequestURI accepts the string."""
    if not text or any(char < " " or char == "\x7f" for char in text):
        return False
    if text == "*":
        return True
    if text[0] == ":":
        return False
    match = re.match(_SCHEME, text)
    rest = text[match.end() :] if match else text
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return match is not None
    if match and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        if not _is_authority(authority):
            return False
        rest = slash + path
    return re.fullmatch(_ESCAPES, rest) is not None


def _is_authority(text: str) -> bool:
    """Whether a string is a valid user and host. Since Go 1.26 a colon in a host begins its port, and brackets contain an IPv6 address."""
    user, _, host = text.rpartition("@")
    if not re.fullmatch(_USER, user):
        return False
    if not host.startswith("["):
        return re.fullmatch(_HOST + _PORT, host) is not None
    address, bracket, port = host[1:].rpartition("]")
    return bool(bracket) and re.fullmatch(_PORT, port) is not None and _is_ipv6(address.partition("%25")[0])


def _is_ipv6(text: str) -> bool:
    if "%" in text:
        # Python accepts a zone here; in a URL its percent sign is escaped as %25.
        return False
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True
