"""The plug-in that contributes the built-in reporters. It names their modules, which are imported when a report is written."""

from __future__ import annotations

from kcheck.reporters import Reporter

BUILT_IN: tuple[Reporter, ...] = (
    Reporter("text", "kcheck.reporters.text", needs_rule_docs=False, help="findings with their source lines"),
    Reporter("concise", "kcheck.reporters.concise", needs_rule_docs=False, help="one line for each finding"),
    Reporter("json", "kcheck.reporters.json", needs_rule_docs=False, help="all data, for programs"),
    Reporter("sarif", "kcheck.reporters.sarif", help="for code scanning"),
    Reporter("github", "kcheck.reporters.github", needs_rule_docs=False, help="annotations in GitHub Actions"),
)
"""The built-in reporters, in the order of --help."""


def kcheck_reporters() -> list[Reporter]:
    """The hook of plug-ins. The registry calls it without pluggy, which takes longer to import than a small check takes."""
    return list(BUILT_IN)
