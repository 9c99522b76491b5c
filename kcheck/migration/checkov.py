"""Migration of Checkov configs: the selection of Kubernetes checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from kcheck.finding.severity import INFO
from kcheck.migration.reading import ConfigReading
from kcheck.migration.tools import CHECKOV
from kcheck.yaml.node import Node

KNOWN = ("check", "skip-check", "soft-fail-on", "skip-path", "framework", "skip-framework")
_IGNORED_KEYS = dict.fromkeys(
    (
        "block-list-secret-scan", "branch", "compact", "config-file", "deep-analysis", "directory", "download-external-modules",
        "evaluate-variables", "external-modules-download-path", "file", "hard-fail-on", "no-fail-on-crash", "no-guide", "output",
        "output-baseline-as-skipped", "output-file-path", "policy-metadata-filter", "quiet", "repo-id", "repo-root-for-plan-enrichment",
        "secrets-history-timeout", "secrets-scan-file-type", "skip-download", "skip-fixes", "skip-results-upload", "summary-position",
        "support", "var-file",
    ),
    "",
)  # fmt: skip
UNSUPPORTED_KEYS = {
    **_IGNORED_KEYS,
    "baseline": "kcheck has no baseline files; suppress existing findings with ignore comments",
    "external-checks-dir": "not migrated; write custom checks as a kcheck plug-in",
    "external-checks-git": "not migrated; write custom checks as a kcheck plug-in",
    "soft-fail": "kcheck has no such setting; use kcheck check || true",
}
_KUBERNETES_FRAMEWORKS = frozenset({"all", "helm", "kubernetes", "kustomize"})
_ID = re.compile(r"CKV2?_K8S_\d+")


def read(reading: ConfigReading, root: Node) -> None:
    """Adds a `.checkov.yaml` to the draft."""
    entries = reading.entries(root, UNSUPPORTED_KEYS, KNOWN)
    empty = Node(None, 0, 0)
    frameworks = [word for word, _ in reading.words(entries.get("framework", empty))]
    if frameworks and _KUBERNETES_FRAMEWORKS.isdisjoint(frameworks):
        reading.draft.exclusive.append(False)
        reading.note(
            entries["framework"], f"checkov framework: {', '.join(frameworks)} does not include Kubernetes, so nothing is migrated"
        )
        return
    chosen = dict(_checks(reading, entries.get("check", empty)))
    skipped = dict(_checks(reading, entries.get("skip-check", empty)))
    softened = dict(_checks(reading, entries.get("soft-fail-on", empty)))
    reading.draft.exclusive.append("check" in entries)
    wanted = chosen if "check" in entries else dict.fromkeys(reading.draft.counterparts.checks(CHECKOV.name), empty)
    for check in sorted(wanted.keys() - skipped.keys()):
        reading.want(wanted[check], check, INFO if check in softened else None)
    for check in sorted(skipped):
        reading.refuse(skipped[check], check)
    for path, node in reading.words(entries.get("skip-path", empty)):
        # A regular expression in Checkov; most are plain paths.
        if re.search(r"[\\^$*+?()\[\]{}|]", path):
            reading.note(node, f"checkov skip-path {path}: regular expressions are not supported; add a glob to exclude")
        else:
            reading.exclude(node, path, anywhere=True)


def _checks(reading: ConfigReading, node: Node) -> Iterator[tuple[str, Node]]:
    """Yields the check ids that a list names or matches with '*'. Ids of other frameworks are reported."""
    known = reading.draft.counterparts.checks(CHECKOV.name)
    for word, each in reading.words(node):
        matching = [check for check in sorted(known) if fnmatchcase(check, word)]
        yield from ((check, each) for check in matching)
        if not matching and _ID.fullmatch(word):
            yield word, each
        elif not matching:
            reading.note(each, f"checkov {word}: not a check of Kubernetes manifests")
