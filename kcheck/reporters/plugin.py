"""The plug-in that contributes the built-in reporters. It names their modules, which are imported when a report is written."""

from __future__ import annotations

from kcheck.reporters import Reporter

BUILT_IN: tuple[Reporter, ...] = (
    Reporter("text", "kcheck.reporters.text", needs_rule_docs=False, help="findings with their source lines"),
    Reporter("concise", "kcheck.reporters.concise", needs_rule_docs=False, help="one line for each finding"),
    Reporter("json", "kcheck.reporters.json", needs_rule_docs=False, help="all data, for programs"),
    Reporter("sarif", "kcheck.reporters.sarif", help="for code scanning"),
    Reporter("github", "kcheck.reporters.github", needs_rule_docs=False, help="annotations in GitHub Actions"),
    Reporter("gitlab", "kcheck.reporters.gitlab", needs_rule_docs=False, help="Code Quality report of GitLab"),
    Reporter("junit", "kcheck.reporters.junit", needs_rule_docs=False, help="test report of many CI services"),
    Reporter("checkstyle", "kcheck.reporters.checkstyle", needs_rule_docs=False, help="XML of Checkstyle"),
    Reporter("azure", "kcheck.reporters.azure", needs_rule_docs=False, help="issues in Azure Pipelines"),
    Reporter("teamcity", "kcheck.reporters.teamcity", help="inspections in TeamCity"),
    Reporter("rdjson", "kcheck.reporters.rdjson", needs_rule_docs=False, help="reviewdog, with fixes as suggestions"),
    Reporter("markdown", "kcheck.reporters.markdown", needs_rule_docs=False, help="a comment on a pull request"),
    Reporter("html", "kcheck.html.report", help="a page with filters and the graph", needs_facts=True),
)
"""The built-in reporters, in the order of --help."""


def kcheck_reporters() -> list[Reporter]:
    """The hook of plug-ins. The registry calls it without pluggy, which takes longer to import than a small check takes."""
    return list(BUILT_IN)
