"""References to container images, read as the kubelet reads them (github.com/distribution/reference, normalised names).

`[domain[:port]/]path[:tag][@digest]`. The first part of a path is a domain where it has a '.', a ':', a capital or is localhost;
without one the image comes from docker.io, and a path of one part there from library/. The API server itself takes any text
without blanks around it: a reference that does not parse becomes a pod with the status InvalidImageName.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

DEFAULT_DOMAIN = "docker.io"
DEFAULT_TAG = "latest"
_LONGEST_PATH = 255

_DOMAIN_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = pattern(rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_PATH_PART = "[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*"
_PATH = pattern(rf"{_PATH_PART}(?:/{_PATH_PART})*")
_TAG = pattern("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = pattern("sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}")
_BARE_DIGEST = pattern("[a-f0-9]{64}")


class BadImage(ValueError):
    """Text that names no image; the message says what to write instead."""

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
        """Whether it means whatever is latest: no digest, and the tag latest or none."""
        return not self.digest and self.tag in ("", DEFAULT_TAG)

    @property
    def pull_policy(self) -> Literal["Always", "IfNotPresent"]:
        """The imagePullPolicy that the server fills in. The tag latest counts even beside a digest."""
        tag = self.tag or ("" if self.digest else DEFAULT_TAG)
        return "Always" if tag == DEFAULT_TAG else "IfNotPresent"


@lru_cache(maxsize=4096)
def parse(text: str) -> Image:
    """The image that a reference means. Raises BadImage."""
    if not text:
        raise BadImage(Complaint("the image has no name", "write one such as registry.example.com/team/app:1.0"))
    if text != text.strip():
        raise BadImage(Complaint("the image has blanks around it", f"write {text.strip()!r}"))
    if _BARE_DIGEST.fullmatch(text):
        raise BadImage(Complaint("64 hexadecimal digits are the identifier of an image, not its name", "write name@sha256:..."))
    domain, rest = _split(text)
    rest, at, digest = rest.partition("@")
    path, colon, tag = rest.partition(":")
    if domain and not _DOMAIN.fullmatch(domain) and _PATH.fullmatch(f"{domain}/{path}"):
        domain, path = "", f"{domain}/{path}"
    if domain and not _DOMAIN.fullmatch(domain):
        raise BadImage(Complaint(f"{domain!r} is no host of a registry", "write host or host:port before the first '/'"))
    if not _PATH.fullmatch(path):
        raise BadImage(_explain(path))
    if len(path) > _LONGEST_PATH:
        raise BadImage(Complaint(f"the name of the image has {len(path)} characters, at most {_LONGEST_PATH} are allowed", "shorten it"))
    if colon and not _TAG.fullmatch(tag):
        raise BadImage(Complaint(f"{tag!r} is no tag", "write up to 128 letters, digits, '_', '.' and '-', the first no '.' or '-'"))
    if at and not _DIGEST.fullmatch(digest):
        raise BadImage(Complaint(f"{digest!r} is no digest", "write sha256: and 64 hexadecimal digits in lower case"))
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


def _explain(path: str) -> str:
    shown = path.removeprefix("library/")
    if not shown:
        return Complaint("the image has no name before its tag", "write one such as registry.example.com/team/app:1.0")
    if _PATH.fullmatch(path.lower()):
        return Complaint("the name of an image is in lower case", f"write {shown.lower()}")
    found = next((char for char in shown if not (char.isascii() and (char.islower() or char.isdigit() or char in "/._-"))), "")
    if found:
        return f"{found!r} cannot stand in the name of an image (only a-z, 0-9, '.', '_', '-' and '/')"
    return f"{shown!r} is no name of an image: every part begins and ends with a-z or 0-9, and '.', '_', '__' or dashes stand single inside"
