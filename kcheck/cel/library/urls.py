"""URLs and their parts.

Source: the URL library of Kubernetes (k8s.io/apiserver/pkg/cel/library), which parses them with Go's net/url.ParseRequestURI.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote_to_bytes

from kcheck.cel.values.values import EvaluationError, Opaque, Value
from kcheck.schema.crd.urls import is_request_uri

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r":([0-9]*)$")
_ESCAPES = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*", re.DOTALL)
# A path with only these characters is not re-encoded.
_PATH = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9A-Fa-f]{2})*")


class URL(Opaque):
    """A URL. `host`: including the port; "" if there is none."""

    __slots__ = ("host", "path", "query", "scheme", "text")

    cel_type = "kubernetes.URL"

    def __init__(self, text: str) -> None:
        """Raises EvaluationError if the text is neither a URI nor an absolute path."""
        if not is_request_uri(text):
            reason = "invalid URI for request" if text else "empty url"
            raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": {reason}')
        self.text = text
        match = _SCHEME.match(text)
        self.scheme = match[1].lower() if match else ""
        rest = (text[match.end() :] if match else text).partition("#")[0]
        rest, _, self.query = rest.partition("?")
        self.host = self.path = ""
        if rest.startswith("//") and (match or not rest.startswith("///")):
            authority, slash, path = rest[2:].partition("/")
            self.host = _unescaped(authority.rpartition("@")[2])
            rest = slash + path
        if rest.startswith("/") or rest == "*":
            self.path = rest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and other.components == self.components

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def components(self) -> tuple[str, str, str, str]:
        """The components that determine equality."""
        return self.scheme, self.host, self.path, self.query


def _unescaped(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "replace") if "%" in text else text


def _hostname(url: URL) -> str:
    host = _PORT.sub("", url.host)
    return host[1 : host.rindex("]")] if host.startswith("[") and "]" in host else host


def _port(url: URL) -> str:
    match = _PORT.search(url.host.rpartition("]")[2])
    return match[1] if match else ""


def _escaped_path(url: URL) -> str:
    if _PATH.fullmatch(url.path):
        return url.path
    return quote(unquote_to_bytes(url.path), safe="/$&+,:;=@~-_.")


def _query(url: URL) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in url.query.split("&"):
        if pair and ";" not in pair:
            parts = [part.replace("+", " ") for part in pair.partition("=")[::2]]
            if all(_ESCAPES.fullmatch(part) for part in parts):
                key, value = map(_unescaped, parts)
                found.setdefault(key, []).append(value)
    return found


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "is_url_string": is_request_uri,
    "string_to_url": URL,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": _hostname,
    "url_get_port": _port,
    "url_get_escaped_path": _escaped_path,
    "url_get_query": _query,
}
