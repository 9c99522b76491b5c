"""Migration of kube-linter configs: selection of checks, parameters and ignored paths."""

from __future__ import annotations

from kcheck.migration.reading import ConfigReading
from kcheck.migration.templates import TemplateMeaning, meaning
from kcheck.migration.tools import KUBE_LINTER
from kcheck.yaml.node import Node

_CHECKS = ("addAllBuiltIn", "doNotAutoAddDefaults", "include", "exclude", "ignorePaths")
_CUSTOM = ("name", "template", "params", "scope")
# Texts that need no migration, as rules have their own.
_IGNORED_KEYS = dict.fromkeys(("description", "remediation"), "")


def read(reading: ConfigReading, root: Node) -> None:
    """Adds a `.kube-linter.yaml` to the draft."""
    entries = reading.entries(root, {}, ("checks", "customChecks"))
    checks = reading.entries(entries.get("checks", Node(None, 0, 0)), {}, _CHECKS)
    empty = Node(None, 0, 0)
    everything = checks.get("addAllBuiltIn", empty).boolean is True
    bare = checks.get("doNotAutoAddDefaults", empty).boolean is True and not everything
    reading.draft.exclusive.append(bare)
    custom = {each["name"].text: each for each in entries.get("customChecks", empty) if each["name"].text}
    wanted = dict.fromkeys(() if bare else KUBE_LINTER.checks if everything else KUBE_LINTER.default, empty)
    wanted |= {name: node for name, node in reading.words(checks.get("include", empty)) if name not in custom}
    excluded = dict(reading.words(checks.get("exclude", empty)))
    for name, node in excluded.items():
        wanted.pop(name, None)
        if custom.pop(name, None) is None:
            reading.refuse(node, name)
    for name in sorted(wanted):
        reading.want(wanted[name], name)
    for name, node in custom.items():
        _migrate_custom_check(reading, name, node)
    for path, node in reading.words(checks.get("ignorePaths", empty)):
        reading.exclude(node, path)


def _migrate_custom_check(reading: ConfigReading, name: str, node: Node) -> None:
    entries = reading.entries(node, _IGNORED_KEYS, _CUSTOM)
    template, parameters = entries.get("template", node).text, entries.get("params", Node({}, 0, 0)).plain() or {}
    line = reading.line(node)
    found = meaning(template, parameters, reading.draft.counterparts) if isinstance(parameters, dict) else TemplateMeaning()
    if not found.rules:
        reading.note(node["name"], f"kube-linter custom check {name} (template {template}): kcheck has no such rule; write it as a plug-in")
        return
    for lost in found.lost:
        reading.note(node["params"], f"kube-linter custom check {name}: {lost}: no equivalent in {', '.join(found.rules)}")
    if "scope" in entries:
        reading.note(
            entries["scope"], f"kube-linter custom check {name}: scope: not supported; {', '.join(found.rules)} applies to all kinds"
        )
    for id in found.rules:
        reading.draft.want_rule(id, f"{reading.tool}/{name}")
    for id, option, value in found.options:
        reading.draft.set_option(id, option, value, reading.source.path, line)
