"""A draft as the text of a `.kcheck.yaml`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from kcheck.migration.draft import SOLITARY, ConfigDraft
from kcheck.rule.ruleset import Setting

# Words that YAML reads as themselves, whatever its version; the rest stands in quotes.
_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_NOT_PLAIN = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def config_text(draft: ConfigDraft) -> str:
    """The config that does what the draft asks for: nothing that holds anyway, sorted, with the checks that each line stands for."""
    return "".join(f"{line}\n" for line in _lines(draft))


def _lines(draft: ConfigDraft) -> Iterator[str]:
    yield from (f"# From {_one_line(file)} ({tool}), by kcheck migrate." for file, tool in draft.origins)
    if draft.kubernetes:
        yield f"kubernetes: {json.dumps(draft.kubernetes)}"
    if draft.exclude:
        yield f"exclude: {scalar(tuple(sorted(set(draft.exclude))))}"
    settings = draft.settings()
    alone = bool(draft.solitary) and all(draft.solitary)
    if settings or alone:
        yield "rules:"
    if alone:
        yield f"  {SOLITARY}: off  # nothing but what follows was asked for"
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
    """A value in YAML's flow style."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
        return value
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    """A text that cannot leave its comment."""
    return "".join(c if c.isprintable() else "?" for c in text)
