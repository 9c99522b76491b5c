"""Texts of manifests in Markdown."""

from __future__ import annotations

import re

from kcheck.reporters.terminal_safe import Glyphs

_MAX_CELL = 1000
# Markup, and the colon of URLs, which become links.
_SPECIAL = re.compile(r"[\\`*_\[\]!|~$<>&]|:(?=//)")
# Names and numbers that GitHub and GitLab turn into mentions and links, and so into notifications.
_MENTION = re.compile(r"[@#!](?=\w)")
_BREAK = "&#8203;"
_GLYPHS = Glyphs()


def plain(content: str) -> str:
    """Returns text of a manifest as Markdown text: without markup and mentions."""
    escaped = _SPECIAL.sub(_escape, _cut(content))
    return _MENTION.sub(lambda match: match[0] + _BREAK, escaped)


def _escape(match: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(match[0], f"\\{match[0]}")


def code(content: str) -> str:
    """Returns text as inline code of a table cell."""
    shown = _cut(content)
    # Code without a character does not exist: its backticks would begin code that ends inside of the next one.
    if not shown:
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


def _cut(content: str) -> str:
    shown = _GLYPHS.visible(content)
    return shown if len(shown) <= _MAX_CELL else f"{shown[:_MAX_CELL]}..."
