"""Whether a text is a URL as Go's net/url.ParseRequestURI takes it: absolute, or a path."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*):"
_ESCAPES = r"(?s)(?:[^%]|%[0-9A-Fa-f]{2})*"
_USER = r"(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|%[0-9A-Fa-f]{2})*"
# Other escapes than these of bytes beyond ASCII cannot stand in a host.
_HOST = r"(?:[A-Za-z0-9._~!$&'()*+,;=<>\"-]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f]|%25)*"
_PORT = r"(?::[0-9]*)?"


def is_request_uri(text: str) -> bool:
    """Whether ParseRequestURI takes the text."""
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
    """Whether a user and host can be meant. Since Go 1.26 a colon in a host is its port's, and brackets hold an IPv6 address."""
    user, _, host = text.rpartition("@")
    if not re.fullmatch(_USER, user):
        return False
    if not host.startswith("["):
        return re.fullmatch(_HOST + _PORT, host) is not None
    address, bracket, port = host[1:].rpartition("]")
    return bool(bracket) and re.fullmatch(_PORT, port) is not None and _is_ipv6(address.partition("%25")[0])


def _is_ipv6(text: str) -> bool:
    if "%" in text:
        # Python takes a zone here; in a URL its percent sign is written %25.
        return False
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True
