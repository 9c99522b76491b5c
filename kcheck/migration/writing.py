"""Writing of a draft as `.kcheck.yaml`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from kcheck.migration.draft import RESTRICTED_FAMILY, ConfigDraft
from kcheck.rule.ruleset import Setting

# Words that are strings in every version of YAML. All other strings are quoted.
_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_NOT_PLAIN = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def config_text(draft: ConfigDraft) -> str:
    """Returns the text of the config. It contains only settings that differ from the defaults, sorted, with the checks in comments."""
    return "".join(f"{line}\n" for line in _lines(draft))


def _lines(draft: ConfigDraft) -> Iterator[str]:
    yield from (f"# Migrated from {_one_line(file)} ({tool}) by kcheck migrate." for file, tool in draft.origins)
    if draft.kubernetes:
        yield f"kubernetes: {json.dumps(draft.kubernetes)}"
    if draft.exclude:
        yield f"exclude: {scalar(tuple(sorted(set(draft.exclude))))}"
    settings = draft.settings()
    alone = bool(draft.exclusive) and all(draft.exclusive)
    if settings or alone:
        yield "rules:"
    if alone:
        yield f"  {RESTRICTED_FAMILY}: off  # only the rules below were enabled"
    for id, setting in settings.items():
        checks = draft.wanted.get(id) or draft.refused[id]
        yield from _rule(id, setting, by_tool(checks))


def _rule(id: str, setting: Setting, why: str) -> Iterator[str]:
    key = scalar(id)
    if not setting.options:
        word = "off" if setting.on is False else setting.severity.word if setting.severity else "on"
        yield f"  {key}: {word}  # {why}"
        return
    yield f"  {key}:  # {why}"
    if setting.severity:
        yield f"    severity: {setting.severity.word}"
    for name, value in setting.options.items():
        yield f"    {name.replace('_', '-')}: {scalar(value)}"


def by_tool(checks: Iterable[str]) -> str:
    """`kube-linter: latest-tag, ssh-port; polaris: tagNotSpecified`"""
    parted = [check.partition("/") for check in sorted(checks)]
    return "; ".join(f"{tool}: {', '.join(_one_line(part[2]) for part in group)}" for tool, group in groupby(parted, key=lambda p: p[0]))


def scalar(value: Any) -> str:
    """Returns a value in the flow style of YAML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
        return value
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    """Replaces characters that could end a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)
