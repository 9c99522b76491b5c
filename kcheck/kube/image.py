"""References to container images, read as the kubelet reads them (github.com/distribution/reference, normalised names).

`[domain[:port]/]path[:tag][@digest]`. The first part of a path is a domain where it has a '.', a ':', a capital or is localhost;
without one the image comes from docker.io, and a path of one part there from library/. The API server itself accepts any string
without leading or trailing whitespace: containers whose image does not parse stay in the state InvalidImageName.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from kcheck.kube.suggestions import did_you_mean
from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern

DEFAULT_DOMAIN = "docker.io"
DEFAULT_TAG = "latest"
_MAX_PATH = 255

_DOMAIN_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = pattern(rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_PATH_PART = "[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*"
_PATH = pattern(rf"{_PATH_PART}(?:/{_PATH_PART})*")
_TAG = pattern("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = pattern("sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}")
_BARE_DIGEST = pattern("[a-f0-9]{64}")


class BadImage(ValueError):
    """A string that is not a valid image reference. `message`: what is wrong with it, a Complaint where there is help."""

    def __init__(self, message: str) -> None:
        super().__init__(concise(message))
        self.message = message


class Image(NamedTuple):
    """A reference with its defaults filled in, except the tag: "" where none is written."""

    domain: str
    path: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        """The full reference, as a runtime would pull it."""
        tag = f":{self.tag or DEFAULT_TAG}" if self.tag or not self.digest else ""
        return f"{self.repository}{tag}{'@' + self.digest if self.digest else ''}"

    @property
    def repository(self) -> str:
        """Domain and path: `nginx` is docker.io/library/nginx."""
        return f"{self.domain}/{self.path}" if self.domain else self.path

    @property
    def is_pinned(self) -> bool:
        """Whether a digest fixes the content."""
        return bool(self.digest)

    @property
    def is_latest(self) -> bool:
        """Whether the reference means :latest: no digest, and the tag latest or none."""
        return not self.digest and self.tag in ("", DEFAULT_TAG)

    @property
    def pull_policy(self) -> Literal["Always", "IfNotPresent"]:
        """The imagePullPolicy that the server fills in. The tag latest counts even with a digest."""
        tag = self.tag or ("" if self.digest else DEFAULT_TAG)
        return "Always" if tag == DEFAULT_TAG else "IfNotPresent"


@lru_cache(maxsize=4096)
def parse(text: str) -> Image:
    """The image that a reference means. Raises BadImage."""
    if not text:
        raise BadImage(Complaint("image is empty", "set it to a reference such as registry.example.com/team/app:1.0"))
    if text != text.strip():
        raise BadImage(Complaint("leading or trailing whitespace", "remove the whitespace"))
    if _BARE_DIGEST.fullmatch(text):
        raise BadImage(Complaint("64 hexadecimal digits are an image ID, not a name", "use NAME@sha256:DIGEST"))
    domain, rest = _split(text)
    rest, at, digest = rest.partition("@")
    path, colon, tag = rest.partition(":")
    if domain and not _DOMAIN.fullmatch(domain) and _PATH.fullmatch(f"{domain}/{path}"):
        domain, path = "", f"{domain}/{path}"
    if domain and not _DOMAIN.fullmatch(domain):
        scheme, separator, _ = text.partition("://")
        hint = f"remove {scheme}://" if separator else "use HOST or HOST:PORT before the first '/'"
        raise BadImage(Complaint(f'"{domain}" is not a valid registry host', hint))
    if not _PATH.fullmatch(path):
        raise BadImage(_explain(path, domain, text))
    if len(path) > _MAX_PATH:
        raise BadImage(Complaint(f"repository name has {len(path)} characters (maximum {_MAX_PATH})", "shorten it"))
    if colon and not tag:
        raise BadImage(Complaint("no tag after ':'", "add the tag"))
    if colon and not _TAG.fullmatch(tag):
        hint = "use up to 128 letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_'"
        raise BadImage(Complaint(f'"{tag}" is not a valid tag', hint))
    if at and not _DIGEST.fullmatch(digest):
        raise BadImage(Complaint(f'"{digest}" is not a valid digest', "use sha256: and 64 lowercase hexadecimal digits"))
    return Image(domain, path, tag, digest)


def _split(text: str) -> tuple[str, str]:
    """Domain and the rest, with the defaults of Docker Hub."""
    first, slash, rest = text.partition("/")
    if not slash:
        return DEFAULT_DOMAIN, f"library/{text}"
    if first == "index.docker.io":
        first = DEFAULT_DOMAIN
    if first != "localhost" and not set(first) & {".", ":"} and first == first.lower():
        return DEFAULT_DOMAIN, text
    return first, f"library/{rest}" if first == DEFAULT_DOMAIN and "/" not in rest else rest


def _explain(path: str, domain: str, text: str) -> str:
    """What is wrong with the path of a reference. `text`: the whole reference."""
    shown = path.removeprefix("library/")
    if not shown:
        return Complaint("no repository name", "use a reference such as registry.example.com/team/app:1.0")
    if _PATH.fullmatch(path.lower()):
        start = text.index(shown, len(domain) if text.startswith(f"{domain}/") else 0)
        right = f"{text[:start]}{shown.lower()}{text[start + len(shown) :]}"
        return Complaint(f'repository name "{shown}" must be lowercase', did_you_mean(right))
    found = next((char for char in shown if not (char.isascii() and (char.islower() or char.isdigit() or char in "/._-"))), "")
    if found:
        return f"{found!r} is not allowed in a repository name (only a-z, 0-9, '.', '_', '-' and '/')"
    hint = "begin and end each part with a-z or 0-9, and separate them with one '.', one or two '_', or dashes"
    return Complaint(f'repository name "{shown}" has an empty part or a misplaced separator', hint)
