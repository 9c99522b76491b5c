"""Named formats of strings: format.dns1123Label().validate(text).

Source: the format library of Kubernetes (k8s.io/apiserver/pkg/cel/library). The messages are kcheck's.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.values.values import NONE, Opaque, Optional, Value
from kcheck.kube import labels, names
from kcheck.schema.crd import formats


class NamedFormat(Opaque):
    """A named format.

    `judge`: returns "" for a valid string, else a message. `pattern`: the pattern length that the server assumes, for the cost.
    """

    __slots__ = ("judge", "name", "pattern")

    cel_type = "kubernetes.NamedFormat"

    def __init__(self, name: str, judge: Callable[[str], str], pattern: int) -> None:
        self.name = name
        self.judge = judge
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _prefix(judge: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: judge(names.masked(text))


def _format(name: str, fault: str) -> Callable[[str], str]:
    def judge(text: str) -> str:
        found = formats.find_format(name)
        return "" if found is None or found.fits(text) else fault

    return judge


FORMATS = {
    each.name: each
    for each in (
        NamedFormat("dns1123Label", names.dns_label, 30),
        NamedFormat("dns1123Subdomain", names.dns_subdomain, 60),
        NamedFormat("dns1035Label", names.dns1035_label, 30),
        NamedFormat("qualifiedName", names.qualified_name, 60),
        NamedFormat("dns1123LabelPrefix", _prefix(names.dns_label), 30),
        NamedFormat("dns1123SubdomainPrefix", _prefix(names.dns_subdomain), 60),
        NamedFormat("dns1035LabelPrefix", _prefix(names.dns1035_label), 30),
        NamedFormat("labelValue", labels.value, 40),
        NamedFormat("uri", _format("uri", "not a URI"), 1104),
        NamedFormat("uuid", _format("uuid", "does not match the UUID format"), 72),
        NamedFormat("byte", _format("byte", "invalid base64"), 84),
        NamedFormat("date", _format("date", "invalid date"), 144),
        NamedFormat("datetime", _format("datetime", "invalid datetime"), 144),
    )
}


def _validate(named: NamedFormat, text: str) -> Optional:
    message = named.judge(text)
    return Optional([message]) if message else NONE


def _named(name: str) -> Optional:
    found = FORMATS.get(name)
    return NONE if found is None else Optional(found)


def _constant(found: NamedFormat) -> Callable[[], Value]:
    return lambda: found


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "format-named": _named,
    "format-validate": _validate,
    **{f"format.{name}": _constant(each) for name, each in FORMATS.items()},
}
