"""checkov's config: which checks run, as far as they are about Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from kcheck.finding.severity import INFO
from kcheck.migration.reading import ConfigReading
from kcheck.migration.tools import CHECKOV
from kcheck.yaml.node import Node

KNOWN = ("check", "skip-check", "soft-fail-on", "skip-path", "framework", "skip-framework")
OF_NO_MATTER = dict.fromkeys(
    (
        "block-list-secret-scan", "branch", "compact", "config-file", "deep-analysis", "directory", "download-external-modules",
        "evaluate-variables", "external-modules-download-path", "file", "hard-fail-on", "no-fail-on-crash", "no-guide", "output",
        "output-baseline-as-skipped", "output-file-path", "policy-metadata-filter", "quiet", "repo-id", "repo-root-for-plan-enrichment",
        "secrets-history-timeout", "secrets-scan-file-type", "skip-download", "skip-fixes", "skip-results-upload", "summary-position",
        "support", "var-file",
    ),
    "",
)  # fmt: skip
IDLE = {
    **OF_NO_MATTER,
    "baseline": "kcheck has no such file: accept what there is with ignore comments",
    "external-checks-dir": "checks of your own are a plug-in of kcheck",
    "external-checks-git": "checks of your own are a plug-in of kcheck",
    "soft-fail": "kcheck has no such setting: look at the exit status with kcheck check || true",
}
_ABOUT_KUBERNETES = frozenset({"all", "helm", "kubernetes", "kustomize"})
_ID = re.compile(r"CKV2?_K8S_\d+")


def read(reading: ConfigReading, root: Node) -> None:
    """Take in a `.checkov.yaml`."""
    said = reading.entries(root, IDLE, KNOWN)
    nothing = Node(None, 0, 0)
    frameworks = [word for word, _ in reading.words(said.get("framework", nothing))]
    if frameworks and _ABOUT_KUBERNETES.isdisjoint(frameworks):
        reading.draft.solitary.append(False)
        reading.note(said["framework"], f"checkov framework: {', '.join(frameworks)} is not about Kubernetes: nothing is taken over")
        return
    chosen = dict(_checks(reading, said.get("check", nothing)))
    skipped = dict(_checks(reading, said.get("skip-check", nothing)))
    softened = dict(_checks(reading, said.get("soft-fail-on", nothing)))
    reading.draft.solitary.append("check" in said)
    wanted = chosen if "check" in said else dict.fromkeys(reading.draft.counterparts.checks(CHECKOV.name), nothing)
    for check in sorted(wanted.keys() - skipped.keys()):
        reading.want(wanted[check], check, INFO if check in softened else None)
    for check in sorted(skipped):
        reading.refuse(skipped[check], check)
    for path, node in reading.words(said.get("skip-path", nothing)):
        # There it is a regular expression; most are mere paths.
        if re.search(r"[\\^$*+?()\[\]{}|]", path):
            reading.note(node, f"checkov skip-path {path}: a regular expression; write it as a glob of exclude")
        else:
            reading.exclude(node, path, anywhere=True)


def _checks(reading: ConfigReading, node: Node) -> Iterator[tuple[str, Node]]:
    """The ids that are named, with a '*' or without; what is about something else is noted."""
    known = reading.draft.counterparts.checks(CHECKOV.name)
    for word, each in reading.words(node):
        matching = [check for check in sorted(known) if fnmatchcase(check, word)]
        yield from ((check, each) for check in matching)
        if not matching and _ID.fullmatch(word):
            yield word, each
        elif not matching:
            reading.note(each, f"checkov {word}: this is no check of Kubernetes manifests")
