"""URLs and their parts.

Source: the URL library of Kubernetes (k8s.io/apiserver/pkg/cel/library), which checks a text with Go's url.ParseRequestURI and takes the
parts from url.Parse.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.values.values import EvaluationError, Opaque, Value
from kcheck.kube import urls


class URL(Opaque):
    """A URL."""

    __slots__ = ("url",)

    cel_type = "kubernetes.URL"

    def __init__(self, text: str) -> None:
        """Raises EvaluationError if the text is neither a URL nor an absolute path."""
        try:
            urls.parse_request(text)
            self.url = urls.parse(text)
        except urls.BadUrl as error:
            raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": {error}') from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and other.normalized == self.normalized

    def __hash__(self) -> int:
        return hash(self.normalized)

    @property
    def normalized(self) -> urls.Url:
        """The URL with equal spellings of a part replaced with one, as in the String method of Go's URL."""
        user = self.url.user
        return self.url._replace(
            user=None if user is None else "\0".join(map(urls.unescaped, user.partition(":"))),
            host=urls.unescaped(self.url.host),
            path=urls.escaped_path(self.url),
        )


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "is_url_string": urls.is_request,
    "string_to_url": URL,
    "url_get_scheme": lambda url: url.url.scheme,
    "url_get_host": lambda url: urls.unescaped(url.url.host),
    "url_get_hostname": lambda url: urls.host_and_port(url.url)[0],
    "url_get_port": lambda url: urls.host_and_port(url.url)[1],
    "url_get_escaped_path": lambda url: urls.escaped_path(url.url),
    "url_get_query": lambda url: urls.query_values(url.url),
}
