"""The search for the secret values of a document.

Secret values are: values of Secrets anywhere in the document, credentials of kubeconfigs, passwords in URLs, and what
`kube/credential_names.py` and `kube/credential_patterns.py` recognize in variables, arguments, ConfigMaps and other fields.
"""

from __future__ import annotations

from typing import Literal

from kcheck.kube import credentials, positional_passwords
from kcheck.kube.credential_names import (
    could_be_credential,
    has_credential_word,
    indicates_credential,
    is_credential,
    is_random,
    may_indicate_credential,
)
from kcheck.redaction import redact
from kcheck.text.pattern import pattern
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

# How the values of a map are judged: by names that are sure to mean their value, by any name that says so, or all as secret.
_Mode = Literal["sure", "named", "all"]
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Fields of a Secret that hold no secret value.
_OPEN = frozenset({"apiVersion", "kind", "metadata", "type", "immutable"})
_CREDENTIALS = frozenset({
    "token", "password", "client-key-data", "access-token", "id-token", "refresh-token", "client-secret", "clientSecret", "accessToken",
})  # fmt: skip
# What kubectl prints in the place of secret values.
_LEFT_OUT = ("", "REDACTED", "DATA+OMITTED")
_ANCHOR = pattern(r"&[^\s&]")
_SHORTEST, _LONG, _SHORT = 3, 8, 20
_MANY = 100
"""Aliases of secret values: their texts are looked for in each line."""


class SecretSearch:
    """`spans`: secret characters of the file, in no particular order. `texts`: their values. `aliased`: values defined elsewhere."""

    def __init__(self, document: Document) -> None:
        self.text = document.source.text
        self.spans: list[tuple[int, int]] = []
        self.texts: set[str] = set()
        self.aliased: list[str] = []
        if document.fault is None:
            self._search([(document.root, "sure")])
            # Of two entries with one key the tree has the last.
            for _, node in document.duplicates:
                self._entry(node)

    def _entry(self, node: Node) -> None:
        """Search an entry that is not in the tree."""
        owner = node.parent
        if _is_kept(node):
            self._search([(node, "all")])
        elif owner is not None and node.value.__class__ is str:
            loose = owner.name == "data" and owner.parent is not None and owner.parent["kind"].text == "ConfigMap"
            listed = owner["name"].text if "name" in owner else ""
            self._field(owner, node.name, node, listed, "named" if loose or listed else "sure")
        else:
            self._search([(node, "sure")])

    def _search(self, todo: list[tuple[Node, _Mode]]) -> None:
        while todo:
            node, mode = todo.pop()
            value = node.value
            if value.__class__ is dict:
                self._map(node, value, mode, todo)
            elif value.__class__ is list:
                if node.name in ("args", "command") and mode != "all":
                    self._arguments(value)
                elif node.name == "literals" and mode != "all":
                    self._literals(node, value)
                todo += [(item, mode) for item in value]
            elif mode == "all":
                self._hide(node)
            elif value.__class__ is str and len(value) >= _LONG:
                self._look_into(node, value)

    def _map(self, node: Node, value: dict[str, Node], mode: _Mode, todo: list[tuple[Node, _Mode]]) -> None:
        kind = value["kind"].value if "kind" in value else ""
        if mode != "all" and kind == "CustomResourceDefinition":
            return
        if mode != "all" and _is_secret(node, value, kind):
            for key, child in value.items():
                if _is_closed(child):
                    todo.append((child, "all"))
                elif key == "metadata":
                    todo += [(child, "sure"), (child["annotations"][_LAST_APPLIED], "all")]
            return
        listed = value["name"].text if "name" in value and "value" in value else ""
        login = not value.keys().isdisjoint(_CREDENTIALS) and _is_login(node)
        for key, child in value.items():
            held = child.value
            if mode == "all":
                self._written_in_key(child, key)
                todo.append((child, mode))
            elif (login and key in _CREDENTIALS) or key in ("stringData", "client-key-data"):
                todo.append((child, "all"))
            elif held.__class__ is str:
                self._field(node, key, child, listed, mode)
            elif held:
                todo.append((child, "named" if key == "env" or (kind == "ConfigMap" and key == "data") else "sure"))

    def _field(self, node: Node, key: str, child: Node, listed: str, mode: _Mode) -> None:
        """Judge a text in a map by its name."""
        name = listed if key == "value" and listed else key
        text = child.value
        if may_indicate_credential(name):
            is_one = not ("name" in node and "key" in node) and _is_meant(name, text, mode == "sure")
        elif "/" in name:
            is_one = indicates_credential(name.rpartition("/")[2]) and could_be_credential(text) and is_random(text)
        else:
            is_one = name.lower() == "authorization" and could_be_credential(text.partition(" ")[2])
        if is_one:
            self._hide(child)
        elif len(text) >= _LONG:
            self._look_into(child, text)

    def _arguments(self, items: list[Node]) -> None:
        """What follows a flag on a command line, and passwords by their position."""
        flag = ""
        for item in items:
            text, behind, flag = item.text, flag, ""
            if behind and not text.startswith("-") and is_credential(behind, text, sure=True):
                self._hide(item)
            elif text.startswith("-") and "=" not in text and " " not in text and indicates_credential(text):
                flag = text
        for _, number, _, _ in positional_passwords.find_in_list([item.text for item in items]):
            self._hide(items[number])

    def _literals(self, node: Node, items: list[Node]) -> None:
        """What kustomize makes entries of a ConfigMap or Secret from: NAME=value."""
        owner = node.parent.parent if node.parent is not None else None
        kept = owner is not None and owner.name == "secretGenerator"
        for item in items:
            name, _, text = item.text.partition("=")
            if text and (kept or is_credential(name, text.strip("\"'"))):
                self._part(item, text)

    def _look_into(self, node: Node, text: str) -> None:
        """Hide the parts of a text that show by themselves to be secret."""
        if len(text) < _SHORT and not any(sign in text for sign in "=:@ "):
            return
        for start, end in redact.spans_in_file(text):
            for part in text[start:end].split("\n"):
                if len(part) >= _SHORTEST:
                    self._part(node, part)

    def _part(self, node: Node, part: str) -> None:
        """Hide a part of a text where the file has it as it is, else all of it."""
        self.texts.add(part)
        at = self.text.find(part, node.start, node.end)
        if at < 0:
            self.spans.append((node.start, node.end))
        while at >= 0:
            self.spans.append((at, at + len(part)))
            at = self.text.find(part, at + len(part), node.end)

    def _hide(self, node: Node) -> None:
        """Hide a value."""
        value = node.value
        if not node.exists or value is None or value is True or value is False or value in _LEFT_OUT:
            return
        text = value if isinstance(value, str) else str(value)
        self.texts.add(text)
        if (inner := credentials.decoded(text)) and inner.isprintable():
            self.texts.add(inner)
        if self.text.startswith("*", node.start) and len(text) >= _SHORTEST:
            # An alias: the text is somewhere else.
            if len(self.aliased) < _MANY:
                self.aliased += text.split("\n")
            return
        self.spans.append(extent(node, self.text))

    def _written_in_key(self, child: Node, key: str) -> None:
        """Hide what was meant as a value where "=" was written for ":"."""
        _, equals, text = key.partition("=")
        if equals and text:
            self.texts.add(text)
            span = child.key_span
            at = self.text.find(text, span.start, span.end)
            if at >= 0:
                self.spans.append((at, at + len(text)))


def extent(node: Node, text: str) -> tuple[int, int]:
    """The characters of a value in the text of its file, without quotes or the indicator of a block scalar."""
    start, end = node.start, node.end
    if node.style in ("'", '"') and end - start > 1:
        return start + 1, end - 1
    if node.style in ("|", ">"):
        return max(text.find("\n", start, end), start + 1), end
    return start, end


def is_alone(node: Node) -> bool:
    """Whether no line of a scalar contains another value: it is not in a flow collection."""
    owner = node.parent
    return owner is not None and owner.style != "{" and node.exists and node.held.__class__ in (str, int, float, bool)


def may_hide(node: Node, document: Document) -> bool:
    """Whether a search of a document may hide a value or a part of it: a fast check of its path, its name and its own text.

    A value with an anchor may also be hidden because of an alias of it.
    """
    owner = node.parent
    if owner is None or _ANCHOR.search(document.source.text, document.start, document.end) or _is_kept(node):
        return True
    if owner.is_list:
        if owner.name == "literals":
            return True
        line = " ".join(item.text for item in owner).lower() if owner.name in ("args", "command") else ""
        if has_credential_word(line) or positional_passwords.may_occur(line):
            return True
    else:
        name = owner["name"].text if node.name == "value" else ""
        for each in (node.name, name):
            if "/" in each or each.lower() == "authorization" or may_indicate_credential(each):
                return True
    return bool(redact.spans_in_file(node.text))


def _is_secret(node: Node, value: dict[str, Node], kind: object) -> bool:
    """Whether a map is a Secret, not one that refers to a Secret."""
    if kind.__class__ is str and str(kind).lower() == "secret":
        return node.parent is None or not value.keys().isdisjoint(("metadata", "data", "stringData"))
    parent = node.parent.parent if node.parent is not None and node.parent.name == "items" else None
    return kind == "" and parent is not None and parent["kind"].text == "SecretList"


def _is_closed(field: Node) -> bool:
    """Whether a field of a Secret may contain secret values."""
    return field.name not in _OPEN or (field.name == "immutable" and field.value.__class__ is not bool)


def _is_kept(node: Node) -> bool:
    """Whether everything below a field is secret because of its path."""
    at = node
    while at.parent is not None:
        owner, key = at.parent, at.name
        if key in ("stringData", "client-key-data") or (key in _CREDENTIALS and _is_login(owner)):
            return True
        if owner.is_map and _is_closed(at) and _is_secret(owner, owner.value, owner["kind"].value or ""):
            return True
        at = owner
    return False


def _is_login(node: Node) -> bool:
    """Whether a map is an entry of users in a kubeconfig."""
    at: Node | None = node
    while at is not None and at.name != "users":
        at = at.parent
    return at is not None and at.parent is not None and (at.parent["kind"].text == "Config" or "clusters" in at.parent)


def _is_meant(name: str, text: str, sure: bool) -> bool:
    return is_credential(name, text, sure=sure) and (not sure or text.lower() != "password")
