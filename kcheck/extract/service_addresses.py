"""Hosts and ports that the environment, the arguments and the settings of programs name, as far as they can be Services.

Source: the documentation's page "DNS for Services and Pods".
"""

from __future__ import annotations

import string
from collections.abc import Iterator

from kcheck.facts.network import Address
from kcheck.kube.location import Location
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.span import Span
from kcheck.yaml.node import Node

_NAME = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_HOST = rf"(?P<host>{_NAME}(?:\.{_NAME})*\.?)"
# Where a name goes on with what a template or a shell fills in, nobody knows the whole of it.
_END = r"(?![\w.${%<@*-])"
_AUTHORITY = pattern(rf"(?:[^\s/@\"'<>]{{0,200}}@)?{_HOST}(?::(?P<port>\d{{1,5}}))?{_END}")
_SUFFIXED = pattern(rf"{_HOST}(?::(?P<port>\d{{1,5}}))?{_END}")
_PAIR = pattern(rf"{_HOST}:(?P<port>\d{{2,5}})")
_PAIRED = pattern(r":\d{2,5}\Z")
_SCHEME = string.ascii_lowercase + string.digits + "+.-"
_WORD = string.ascii_letters + string.digits + "_.${}()%@*/-"
# The ends of names outside of clusters that are met most often.
_OUTSIDE = {
    "com", "org", "net", "io", "dev", "gov", "edu", "app", "cloud", "ai", "co", "me", "de", "local", "localdomain", "example", "test",
    "internal", "sh", "us", "cn", "uk", "eu", "tech", "xyz", "info", "invalid", "ru", "fr", "jp", "ch",
}  # fmt: skip
_REMARKS = ("#", "//", ";", "--", "*")
_LONGEST = 255
_MOST = 100
"""Addresses of one object, lest a hostile one fill the memory of all."""


class _FoundAddress(NamedTuple):
    host: str
    port: int
    scheme: str
    start: int


def addresses(resource: Resource, pods: list[Pod], placer: Locator) -> tuple[Address, ...]:
    """The addresses that an object names, each once."""
    found: dict[tuple[str, int], Address] = {}
    if not pods and resource.kind != "ConfigMap":
        return ()
    for node in _variables(pods) if pods else _settings(resource):
        for host, port, scheme, start in _read(node.text):
            if (host, port) not in found and _may_be_service(host) and not placer.secrets.hides(node):
                found[host, port] = Address(host, port, scheme, _place(node, host, start, placer))
                if len(found) >= _MOST:
                    return tuple(found.values())
    return tuple(found.values())


def _settings(resource: Resource) -> Iterator[Node]:
    for key, node in resource["data"].entries if resource.api_version == "v1" else ():
        text = node.text
        # Knative's own way of showing what could be set.
        if key != "_example" and ("://" in text or ".svc" in text or (len(text) < _LONGEST and _PAIRED.search(text))):
            yield node


def _variables(pods: list[Pod]) -> Iterator[Node]:
    for pod in pods:
        for container in pod.containers:
            for entry in container["env"]:
                node = entry["value"]
                text = node.text
                # The version of an image looks like a port.
                if text and (".svc" in text or (":" in text and "IMAGE" not in entry["name"].text.upper())):
                    yield node
            for field in ("args", "command"):
                for node in container[field]:
                    if "://" in node.text or ".svc" in node.text:
                        yield node


def _read(text: str) -> Iterator[_FoundAddress]:
    """Hosts with their ports (0 for none), the scheme before them, and where in the text the host begins."""
    if "://" not in text and len(text) < _LONGEST and _PAIRED.search(text):
        at = 0
        for part in text.split(","):
            pair = _PAIR.fullmatch(part)
            if pair is None:
                break
            yield _FoundAddress(pair["host"], int(pair["port"]), "", at)
            at += len(part) + 1
        else:
            return
    at = text.find("://")
    while at >= 0:
        match = _AUTHORITY.match(text, at + 3)
        if match and not _is_remark(text, at):
            before = text[max(0, at - _LONGEST) : at]
            yield _FoundAddress(match["host"], int(match["port"] or 0), before[len(before.rstrip(_SCHEME)) :], match.start("host"))
        at = text.find("://", at + 3)
    at = text.find(".svc")
    while at >= 0:
        before = text[max(0, at - _LONGEST) : at]
        match = _SUFFIXED.match(text, at - len(before) + len(before.rstrip(_WORD)))
        if match and match.end("host") >= at and not _is_remark(text, at):
            yield _FoundAddress(match["host"], int(match["port"] or 0), "", match.start("host"))
        at = text.find(".svc", at + 4)


def _is_remark(text: str, at: int) -> bool:
    """Whether a line of settings is a remark up to there."""
    return text[text.rfind("\n", max(0, at - _LONGEST), at) + 1 : at].lstrip().startswith(_REMARKS)


def _may_be_service(host: str) -> bool:
    parts = host.rstrip(".").split(".")
    if len(parts) > 2:
        return "svc" in parts[2:]
    return parts[-1] not in _OUTSIDE and parts[1:] != ["svc"] and parts[0] != "localhost" and not parts[-1].isdigit()


def _place(node: Node, host: str, start: int, placer: Locator) -> Location:
    """The host alone, where the file has it as the text has it."""
    source = placer.document.source.text
    at = node.start
    for _ in range(node.text.count(host, 0, start) + 1):
        at = source.find(host, at, node.end)
        if at < 0:
            return placer.place(node)
        at += len(host)
    return placer.at(Span(at - len(host), at), placer.path(node))
