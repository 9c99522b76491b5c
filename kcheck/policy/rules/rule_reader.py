"""Reads short rules from a config or a `*.kcheck.yaml` file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from kcheck.finding.severity import ERROR, Severity
from kcheck.kube.selector import BadSelector, Selector, of_fields, of_map
from kcheck.kube.selector import parse as parse_selector
from kcheck.kube.suggestions import did_you_mean, suggest
from kcheck.policy.rules.definitions import (
    FixStep,
    RuleExample,
    RuleExpression,
    RuleScope,
    ShortRule,
    Template,
)
from kcheck.text.complaint import concise
from kcheck.text.mistake import Mistake
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_RULE_KEYS = ("id", "title", "message", "help", "severity", "on", "when", "check", "at", "fix", "examples")
_ON_KEYS = ("kinds", "types", "groups", "labels", "namespaces")
_FIX_KEYS = ("set", "add", "remove", "safe")
_EXAMPLE_KEYS = ("pass", "fail")
_CASE_KEYS = ("object", "with", "message", "at")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_MEANT_KEYS = {
    "kinds": "on", "kind": "on", "match": "on", "resources": "on", "expression": "check", "validate": "check", "rule": "check",
    "cel": "check", "condition": "when", "if": "when", "name": "id", "description": "title", "level": "severity", "remediation": "help",
    "path": "at",
    "namespace": "namespaces", "labelSelector": "labels", "selector": "labels", "group": "groups", "type": "types", "tests": "examples",
    "good": "pass", "bad": "fail", "replace": "set", "delete": "remove", "append": "add", "objects": "with",
}  # fmt: skip
"""The keys for names of other policy languages."""
_GO_TEMPLATE = re.compile(r"\{\{\s*(\.?(?:object|self|oldObject|request)\b[^{}]*?)\s*\}\}")
_NO_NODE = Node(None, 0, 0)
_BUNDLE_KEYS = ("policies", "bundle")


def read_rules(source: Source, parse_file: Callable[[Source], list[Document]]) -> tuple[list[ShortRule], list[Mistake]]:
    """Return the rules in a file, and the mistakes in it. The kinds and expressions are not checked."""
    reader = _RuleReader(source)
    documents = parse_file(source)
    for document in documents:
        if document.fault is not None:
            reader.wrong_at(document.fault.start, concise(document.fault.message))
    rules: list[ShortRule] = []
    for node in rule_nodes(documents):
        rule = reader.rule(node)
        if rule is not None:
            rules.append(rule)
    return rules, reader.mistakes


def rule_nodes(documents: Iterable[Document]) -> Iterator[Node]:
    """Yield the rules below the key policies: the maps of a list, or of the list rules. Paths of a config are skipped."""
    for document in documents:
        policies = document.root["policies"]
        for each in policies if policies.is_list else policies["rules"]:
            if each.is_map:
                yield each


class _RuleReader:
    """Reads the rules of one file. Continues after an error, so that all errors are reported at once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mistakes: list[Mistake] = []

    def wrong(self, node: Node, message: str, at: Literal["value", "key"] = "value") -> None:
        span = node.key_span if at == "key" or node.end <= node.start else node.span
        self.wrong_at(span.start, message)

    def wrong_at(self, offset: int, message: str) -> None:
        line, column = self.source.position(offset)
        self.mistakes.append(Mistake(self.source.path, line, column, message))

    def entries(self, node: Node, known: Sequence[str]) -> dict[str, Node]:
        """Return the entries with known keys and report the others."""
        found = {}
        for name, child in node.entries:
            if name == "true" and isinstance(child.key, Node) and self.source.text.startswith("on", child.key.start):
                # YAML 1.1 reads the key `on` as true.
                name = "on"
            if name in known:
                found[name] = child
            else:
                meant = _MEANT_KEYS.get(name)
                help = did_you_mean(meant) if meant in known else suggest(name, known)
                self.wrong(child, f"unknown key {json.dumps(name)}; {help}", "key")
        return found

    def rule(self, node: Node) -> ShortRule | None:
        """Return a rule, None if its id or check is missing."""
        entries = self.entries(node, _RULE_KEYS)
        name = self.name(entries.get("id", _NO_NODE), node)
        check = self.expression(entries["check"]) if "check" in entries else None
        if "check" not in entries and not any(_MEANT_KEYS.get(each) == "check" for each, _ in node.entries):
            self.wrong(node, "check is missing; add an expression that is true for good objects", "key")
        if check is None or not name:
            return None
        title = self.text(entries.get("title", _NO_NODE))
        fix = entries.get("fix", _NO_NODE)
        # A title says what is demanded, not what is wrong.
        fault = f"violates the rule: {title}" if title else f"the check {' '.join(check.text.split())} fails"
        message = self.template(entries["message"]) if "message" in entries else (fault,)
        return ShortRule(
            name=name,
            title=title or _literal(message),
            message=message,
            help=self.template(entries["help"]) if "help" in entries else (),
            severity=self.severity(entries["severity"]) if "severity" in entries else ERROR,
            scope=self.scope(entries.get("on", _NO_NODE)),
            scope_node=entries.get("on", node),
            when=self.expression(entries["when"]) if "when" in entries else None,
            check=check,
            at=self.expression(entries["at"]) if "at" in entries else None,
            fix=tuple(self.fix_steps(fix)),
            safe=fix["safe"].boolean is True,
            examples=tuple(self.examples(entries.get("examples", _NO_NODE))),
            source=self.source,
            node=node,
        )

    def name(self, node: Node, rule: Node) -> str:
        if not node:
            self.wrong(rule, "id is missing; add one such as replica-limit", "key")
            return ""
        name = node.text.removeprefix("policy/")
        if not _NAME.fullmatch(name):
            self.wrong(node, f'id must consist of lowercase letters, digits, "-" and ".", not {json.dumps(node.text or node.plain())}')
            return ""
        return name

    def text(self, node: Node) -> str:
        if node and not node.text:
            self.wrong(node, f"{node.name} must be a string")
        return node.text.strip()

    def texts(self, node: Node) -> list[Node]:
        """Return the strings of a list. A string counts as a list with one item."""
        found = []
        for each in node if node.is_list else [node] if node else []:
            if each.text:
                found.append(each)
            else:
                self.wrong(each, f"{node.name} must be a list of strings")
        return found

    def expression(self, node: Node) -> RuleExpression | None:
        """Return an expression in CEL. A boolean or a number is its own value."""
        value = node.value
        if isinstance(value, str) and value.strip():
            return RuleExpression(value, node)
        if isinstance(value, (bool, int, float)):
            return RuleExpression(json.dumps(value), node)
        self.wrong(node, f"{node.name or 'the value'} must be an expression")
        return None

    def severity(self, node: Node) -> Severity:
        try:
            return Severity.parse(node.text)
        except ValueError:
            self.wrong(node, f"severity must be error, warning or info, not {json.dumps(node.plain())}")
            return ERROR

    def template(self, node: Node) -> Template:
        """Return a text with its `{expression}` pieces. `{{` is a brace."""
        if not node.text:
            self.wrong(node, f"{node.name} must be a string")
            return ()
        if (template := _GO_TEMPLATE.search(node.text)) is not None:
            self.wrong(node, f"{node.name} has doubled braces, which show the text itself; write {{{template[1].lstrip('.')}}}")
        text, parts, literal, at = node.text, list[str | RuleExpression](), "", 0
        while at < len(text):
            if text.startswith(("{{", "}}"), at):
                literal, at = literal + text[at], at + 2
            elif text[at] == "{":
                end = _end_of_piece(text, at)
                if end < 0:
                    self.wrong(node, f"{node.name} has a {{ without }}; write {{{{ for a brace")
                    return (*parts, literal)
                parts += (
                    [literal, RuleExpression(text[at + 1 : end], node, at + 1)]
                    if literal
                    else [RuleExpression(text[at + 1 : end], node, at + 1)]
                )
                literal, at = "", end + 1
            else:
                literal, at = literal + text[at], at + 1
        return (*parts, literal.strip() if not parts else literal) if literal.strip() else tuple(parts)

    def scope(self, node: Node) -> RuleScope:
        """Return the value of `on`: kinds or API types, or a map. Which of both a name is, is decided when it is resolved."""
        if not node.is_map:
            return RuleScope(kinds=tuple(self.kinds(node)))
        entries = self.entries(node, _ON_KEYS)
        empty = _NO_NODE
        return RuleScope(
            tuple(self.kinds(entries.get("kinds", empty))),
            tuple(each.text for each in self.texts(entries.get("types", empty))),
            tuple(each.text for each in self.texts(entries.get("groups", empty))),
            self.labels(entries.get("labels", empty)),
            tuple(each.text for each in self.texts(entries.get("namespaces", empty))),
        )

    def kinds(self, node: Node) -> Iterator[tuple[str, str]]:
        for each in self.texts(node):
            version, _, kind = each.text.rpartition(" ")
            yield version.strip(), kind

    def labels(self, node: Node) -> Selector | None:
        """Return the selector of labels: a map of labels, a selector of Kubernetes, or a text such as `app in (a, b), !legacy`."""
        if not node:
            return None
        if node.is_map:
            plain = node.plain()
            return of_fields(plain) if {"matchLabels", "matchExpressions"} & plain.keys() else of_map({k: str(v) for k, v in plain.items()})
        try:
            return parse_selector(node.text)
        except BadSelector as error:
            self.wrong(node, f"labels must be a selector such as app=web: {error}")
            return None

    def fix_steps(self, node: Node) -> Iterator[FixStep]:
        if node and not node.is_map:
            self.wrong(node, "fix must be a map with the keys set, add and remove")
            return
        for action, child in self.entries(node, _FIX_KEYS).items():
            if action == "remove":
                for each in self.texts(child):
                    yield FixStep(action, RuleExpression(each.text, each), None)
            elif action != "safe":
                yield from self.changes(action, child)

    def changes(self, action: str, node: Node) -> Iterator[FixStep]:
        if not node.is_map:
            self.wrong(node, f"{action} must be a map from fields to expressions")
        for path, child in node.entries:
            value = self.expression(child)
            key = child.key if isinstance(child.key, Node) else child
            if value is not None:
                yield FixStep(action, RuleExpression(path, key), value)

    def examples(self, node: Node) -> Iterator[RuleExample]:
        if node and not node.is_map:
            self.wrong(node, "examples must be a map with the keys pass and fail")
            return
        for word, cases in self.entries(node, _EXAMPLE_KEYS).items():
            for each in cases if cases.is_list else [cases]:
                if each.is_map and "object" in each and "kind" not in each:
                    found = self.entries(each, _CASE_KEYS)
                    other = found.get("with", _NO_NODE)
                    context = tuple(other) if other.is_list else (other,) if other else ()
                    message, at = (self.text(found.get(key, _NO_NODE)) for key in ("message", "at"))
                    yield RuleExample(word == "pass", each["object"], context, message, at)
                elif each.is_map:
                    yield RuleExample(word == "pass", each)
                else:
                    self.wrong(each, "an example must be a map: an object, or the value of the API type")


def _literal(template: Template) -> str:
    return "".join(each if isinstance(each, str) else f"{{{each.text}}}" for each in template)


def _end_of_piece(text: str, start: int) -> int:
    """Return the offset of the brace that closes a piece, -1 if there is none. Braces in strings do not count."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if not depth:
                return at
        at += 1
    return -1
