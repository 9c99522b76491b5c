"""Hosts and ports in environment variables, arguments and settings that may be Services.

They are found within longer texts, such as scripts and configuration files, so this is a search with offsets. `kcheck.kube.urls` parses
texts that are URLs as a whole.

Source: the documentation's page "DNS for Services and Pods".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.facts.network import Address
from kcheck.kube.location import Location
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.yaml.node import Node

_NAME = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_HOST = rf"(?P<host>{_NAME}(?:\.{_NAME})*\.?)"
# If a name continues with a placeholder of a template or shell, the full name is unknown.
_END = r"(?![\w.${%<@*-])"
_AUTHORITY = pattern(rf"(?:[^\s/@\"'<>]{{0,200}}@)?{_HOST}(?::(?P<port>\d{{1,5}}))?{_END}")
_SERVICE_NAME = pattern(rf"{_HOST}(?::(?P<port>\d{{1,5}}))?{_END}")
_HOST_AND_PORT = pattern(rf"{_HOST}:(?P<port>\d{{2,5}})")
_PORT_SUFFIX = pattern(r":\d{2,5}\Z")
# Without the module `string`, whose import takes as long as those of several modules of kcheck.
_SMALL_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SCHEME = f"{_SMALL_LETTERS}0123456789+.-"
_WORD = f"{_SMALL_LETTERS}{_SMALL_LETTERS.upper()}0123456789_.${{}}()%@*/-"
# Frequent last parts of names outside of clusters.
_EXTERNAL_DOMAINS = {
    "com", "org", "net", "io", "dev", "gov", "edu", "app", "cloud", "ai", "co", "me", "de", "local", "localdomain", "example", "test",
    "internal", "sh", "us", "cn", "uk", "eu", "tech", "xyz", "info", "invalid", "ru", "fr", "jp", "ch",
}  # fmt: skip
# Settings whose value is the name in a TLS certificate, which is compared and never resolved.
_CERTIFICATE_NAME = r"(?:server[-_]?name|sni|(?:common|dns|alt)[-_]?names?|cn|sans?)"
_NAMES_CERTIFICATE = pattern(rf"(?i)(?:\A|[-_.]|(?<=[a-z])(?=[A-Z])){_CERTIFICATE_NAME}\Z")
_AFTER_CERTIFICATE_NAME = pattern(rf"(?i)(?<![a-z]){_CERTIFICATE_NAME}[\"']?\s*[:= ]\s*[\"'\[]*\Z")
_COMMENT_PREFIXES = ("#", "//", ";", "--", "*")
_MAX_TEXT_CHARS = 255
_MAX_ADDRESSES = 100
"""Maximum number of addresses per object, which limits the memory that a malicious object can use."""


class _FoundAddress(NamedTuple):
    host: str
    port: int
    scheme: str
    start: int


def addresses(resource: Resource, pods: list[Pod], locator: Locator) -> tuple[Address, ...]:
    """Return the addresses in an object, each once."""
    found: dict[tuple[str, int], Address] = {}
    if not pods and resource.kind != "ConfigMap":
        return ()
    for node in _variables(pods) if pods else _settings(resource):
        candidates = [each for each in _find_addresses(node.text) if _may_be_service(each.host) and (each.host, each.port) not in found]
        if not candidates or locator.secrets.hides(node):
            continue
        for host, port, scheme, start in candidates:
            if (host, port) not in found:
                found[host, port] = Address(host, port, scheme, _host_location(node, host, start, locator))
                if len(found) >= _MAX_ADDRESSES:
                    return tuple(found.values())
    return tuple(found.values())


def _settings(resource: Resource) -> Iterator[Node]:
    for key, node in resource["data"].entries if resource.api_version == "v1" else ():
        text = node.text
        # Knative describes possible settings under this key.
        if key != "_example" and ("://" in text or ".svc" in text or (len(text) < _MAX_TEXT_CHARS and _PORT_SUFFIX.search(text))):
            yield node


def _variables(pods: list[Pod]) -> Iterator[Node]:
    for pod in pods:
        for container in pod.containers:
            for entry in container["env"]:
                node = entry["value"]
                text = node.text
                name = entry["name"].text
                # The tag of an image looks like a port.
                is_candidate = ".svc" in text or (":" in text and "IMAGE" not in name.upper())
                if is_candidate and not _NAMES_CERTIFICATE.search(name):
                    yield node
            for field in ("args", "command"):
                flag = ""
                for node in container[field]:
                    if ("://" in node.text or ".svc" in node.text) and not _NAMES_CERTIFICATE.search(flag):
                        yield node
                    flag = node.text


def _find_addresses(text: str) -> Iterator[_FoundAddress]:
    """Yield hosts with their ports (0 for none), the scheme, and the offset of the host in the text."""
    if "://" not in text and len(text) < _MAX_TEXT_CHARS and _PORT_SUFFIX.search(text):
        at = 0
        for part in text.split(","):
            pair = _HOST_AND_PORT.fullmatch(part)
            if pair is None:
                break
            yield _FoundAddress(pair["host"], int(pair["port"]), "", at)
            at += len(part) + 1
        else:
            return
    at = text.find("://")
    while at >= 0:
        match = _AUTHORITY.match(text, at + 3)
        if match and not _is_comment(text, at):
            before = text[max(0, at - _MAX_TEXT_CHARS) : at]
            yield _FoundAddress(match["host"], int(match["port"] or 0), before[len(before.rstrip(_SCHEME)) :], match.start("host"))
        at = text.find("://", at + 3)
    at = text.find(".svc")
    while at >= 0:
        before = text[max(0, at - _MAX_TEXT_CHARS) : at]
        match = _SERVICE_NAME.match(text, at - len(before) + len(before.rstrip(_WORD)))
        if match and match.end("host") >= at and not _is_comment(text, at) and not _is_certificate_name(text, match.start("host")):
            yield _FoundAddress(match["host"], int(match["port"] or 0), "", match.start("host"))
        at = text.find(".svc", at + 4)


def _is_comment(text: str, at: int) -> bool:
    """Whether the offset is in a comment line."""
    return text[text.rfind("\n", max(0, at - _MAX_TEXT_CHARS), at) + 1 : at].lstrip().startswith(_COMMENT_PREFIXES)


def _is_certificate_name(text: str, start: int) -> bool:
    """Whether the setting whose value begins at the offset holds the name in a TLS certificate."""
    return _AFTER_CERTIFICATE_NAME.search(text[max(0, start - _MAX_TEXT_CHARS) : start]) is not None


def _may_be_service(host: str) -> bool:
    parts = host.rstrip(".").split(".")
    if len(parts) > 2:
        return "svc" in parts[2:]
    return parts[-1] not in _EXTERNAL_DOMAINS and parts[1:] != ["svc"] and parts[0] != "localhost" and not parts[-1].isdigit()


def _host_location(node: Node, host: str, start: int, locator: Locator) -> Location:
    """Return the location of the host, or of the whole value if the host is not found in the file as it is in the value."""
    source = locator.document.source.text
    at = node.start
    for _ in range(node.text.count(host, 0, start) + 1):
        at = source.find(host, at, node.end)
        if at < 0:
            return locator.place(node)
        at += len(host)
    return locator.within(node, Span(at - len(host), at))
