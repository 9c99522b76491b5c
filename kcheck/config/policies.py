"""The `policies` key of a config: where user-defined policies come from, and whose requests they judge."""

from __future__ import annotations

import os
from pathlib import Path

from kcheck.config.config import PolicySources
from kcheck.config.values import Values, shown
from kcheck.yaml.node import Node

_KEYS = ("paths", "from-input", "user", "rules")
_USER_KEYS = ("username", "groups")


def read_policy_sources(node: Node, values: Values, folder: Path) -> PolicySources:
    """Return the value of the key: a list of paths and short rules, or a map. `folder`: paths are relative to it."""
    if node.is_list or node.text:
        return PolicySources(_paths(node, values, folder), rules=_rules(node, values))
    if not node.is_map:
        if node:
            values.wrong(node, f"policies must be a list of paths and rules or a map, not {shown(node)}")
        return PolicySources()
    entries = dict(values.entries(node, _KEYS))
    empty = Node(None, 0, 0)
    username, groups = _user(entries.get("user", empty), values)
    return PolicySources(
        _paths(entries.get("paths", empty), values, folder),
        values.flag(entries["from-input"]) if "from-input" in entries else True,
        username,
        groups,
        _rules(entries["rules"], values) if "rules" in entries else (),
    )


def _paths(node: Node, values: Values, folder: Path) -> tuple[Path, ...]:
    paths = []
    for each in (text for item in (node if node.is_list else [node]) if not item.is_map for text in values.texts(item)):
        path = folder / each.text
        if not os.path.exists(path):
            values.wrong(each, f"no such file or folder: {path}")
        paths.append(path)
    return tuple(paths)


def _rules(node: Node, values: Values) -> tuple[tuple[str, str], ...]:
    """Return the config if it contains short rules. They are read when the kinds are known (kcheck/policy/rules)."""
    if node and not node.is_list and not node.text:
        values.wrong(node, f"rules must be a list of rules, not {shown(node)}")
    return ((values.source.path, values.source.text),) if any(each.is_map for each in node) else ()


def _user(node: Node, values: Values) -> tuple[str, tuple[str, ...]]:
    if not node:
        return "", ()
    if not node.is_map:
        values.wrong(node, f"user must be a map with username and groups, not {shown(node)}")
        return "", ()
    entries = dict(values.entries(node, _USER_KEYS))
    username = entries["username"].text if "username" in entries else ""
    if not username:
        values.wrong(entries.get("username", node), "username is required in user; set it to the name of the user who applies the objects")
    groups = values.texts(entries["groups"]) if "groups" in entries else []
    return username, tuple(each.text for each in groups)
