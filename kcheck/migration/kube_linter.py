"""kube-linter's config: which of its checks run, with which parameters, and where."""

from __future__ import annotations

from kcheck.migration.reading import ConfigReading
from kcheck.migration.templates import TemplateMeaning, meaning
from kcheck.migration.tools import KUBE_LINTER
from kcheck.yaml.node import Node

_CHECKS = ("addAllBuiltIn", "doNotAutoAddDefaults", "include", "exclude", "ignorePaths")
_CUSTOM = ("name", "template", "params", "scope")
# Words for people, which our rules have of their own.
_TEXTS = dict.fromkeys(("description", "remediation"), "")


def read(reading: ConfigReading, root: Node) -> None:
    """Take in a `.kube-linter.yaml`."""
    said = reading.entries(root, {}, ("checks", "customChecks"))
    checks = reading.entries(said.get("checks", Node(None, 0, 0)), {}, _CHECKS)
    nothing = Node(None, 0, 0)
    everything = checks.get("addAllBuiltIn", nothing).boolean is True
    bare = checks.get("doNotAutoAddDefaults", nothing).boolean is True and not everything
    reading.draft.solitary.append(bare)
    custom = {each["name"].text: each for each in said.get("customChecks", nothing) if each["name"].text}
    wanted = dict.fromkeys(() if bare else KUBE_LINTER.checks if everything else KUBE_LINTER.usual, nothing)
    wanted |= {name: node for name, node in reading.words(checks.get("include", nothing)) if name not in custom}
    excluded = dict(reading.words(checks.get("exclude", nothing)))
    for name, node in excluded.items():
        wanted.pop(name, None)
        if custom.pop(name, None) is None:
            reading.refuse(node, name)
    for name in sorted(wanted):
        reading.want(wanted[name], name)
    for name, node in custom.items():
        _custom(reading, name, node)
    for path, node in reading.words(checks.get("ignorePaths", nothing)):
        reading.exclude(node, path)


def _custom(reading: ConfigReading, name: str, node: Node) -> None:
    said = reading.entries(node, _TEXTS, _CUSTOM)
    template, parameters = said.get("template", node).text, said.get("params", Node({}, 0, 0)).plain() or {}
    line = reading.line(node)
    found = meaning(template, parameters, reading.draft.counterparts) if isinstance(parameters, dict) else TemplateMeaning()
    if not found.rules:
        reading.note(node["name"], f"kube-linter custom check {name} (template {template}): kcheck has no such rule; a plug-in can")
        return
    for lost in found.lost:
        reading.note(node["params"], f"kube-linter custom check {name}: {lost}: has no counterpart in {', '.join(found.rules)}")
    if "scope" in said:
        reading.note(said["scope"], f"kube-linter custom check {name}: scope: kcheck asks {', '.join(found.rules)} of all that it is about")
    for id in found.rules:
        reading.draft.want_rule(id, f"{reading.tool}/{name}")
    for id, option, value in found.options:
        reading.draft.set_option(id, option, value, reading.source.path, line)
