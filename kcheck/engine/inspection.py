"""What a repository contains that matters for its config: for `kcheck init`."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.discovery.discover import Discovery, NoSuchPath, discover
from kcheck.discovery.load import LIMIT, load_file
from kcheck.finding.role import CRD_BUNDLE, KUSTOMIZATION, SKIPPED, TESTS
from kcheck.run.run import FileRole
from kcheck.schema.builtin.definitions import available
from kcheck.text.pattern import pattern
from kcheck.text.source import Source

_MORE_FILES = ("**/*.tf", "**/*.tfvars", "**/Makefile", "**/*.mk", "**/*.sh")
"""Files that no other command reads, but that name the version of a cluster."""

_VERSION = pattern(
    r"""(?ix) (?: kindest/node: | rancher/k3s: | \b(?:kubernetes|k8s|cluster|min_master)[-_]?version["']?(?:\ *[:=?]+\ *|\ +)["']? )
    v?(?P<minor>1\.\d\d)\b"""
)
_EKSCTL = pattern(r"""(?m)^apiVersion:\s*["']?eksctl\.io/""")
_EKSCTL_VERSION = pattern(r"""(?m)^\s+version:\s*["']?(?P<minor>1\.\d\d)\b""")
_TESTS = pattern(r"(?i)(?:^|/)(?:tests?|testing|testdata|e2e|fixtures|examples?)/")
_MAX_CHARS = 1_000_000

_CONFIGS = {
    ".kube-linter.yaml": "kube-linter",
    ".kube-linter.yml": "kube-linter",
    ".checkov.yaml": "checkov",
    ".checkov.yml": "checkov",
    "polaris.yaml": "polaris",
    "polaris.yml": "polaris",
    "polaris-config.yaml": "polaris",
}
_ANNOTATIONS = {
    "ignore-check.kube-linter.io/": "kube-linter",
    "kube-score/ignore": "kube-score",
    "polaris.fairwinds.com/": "polaris",
    "checkov.io/skip": "checkov",
}


class Hint(NamedTuple):
    """A place in a file. `text`: what is written there: a version or the name of a tool."""

    file: str
    line: int
    text: str


class Inspection(NamedTuple):
    """What a repository contains.

    Attributes:
        roles: Number of files by role.
        kustomizations: Paths of the kustomizations.
        charts: Folders of Helm charts.
        crds: Folders of files that contain only CustomResourceDefinitions and are deployed.
        versions: Kubernetes versions that other tools use.
        configs: Configs of other linters.
        annotations: Manifests with annotations of other linters, one hint for each tool.
    """

    roles: Counter[str]
    kustomizations: tuple[str, ...]
    charts: tuple[str, ...]
    crds: tuple[str, ...]
    versions: tuple[Hint, ...]
    configs: tuple[Hint, ...]
    annotations: tuple[Hint, ...]

    @property
    def kubernetes(self) -> str:
        """The version or range that covers all hints at versions that kcheck supports, "" without one."""
        known = available()
        found = sorted({known.index(hint.text) for hint in self.versions if hint.text in known})
        return "-".join(dict.fromkeys((known[found[0]], known[found[-1]]))) if found else ""


def inspect_files(found: Discovery, roles: Sequence[FileRole]) -> Inspection:
    """Return what these files contain, and other files in the current folder."""
    by_role = {each.file: each.role.name for each in roles}
    paths = [target.path for target in found.targets]
    sources = [source for target in found.targets if isinstance(source := load_file(target, LIMIT), Source)]
    own = [each for each in sources if by_role.get(each.path) not in TESTS]
    return Inspection(
        Counter(by_role.values()),
        tuple(path for path in paths if by_role.get(path) == KUSTOMIZATION),
        tuple(os.path.dirname(path) or "." for path in paths if os.path.basename(path) == "Chart.yaml"),
        tuple(sorted({os.path.dirname(path) or "." for path in paths if by_role.get(path) == CRD_BUNDLE})),
        tuple(dict.fromkeys(hint for source in (*own, *_other_sources()) for hint in _versions(source))),
        tuple(Hint(path, 1, tool) for path in paths if (tool := _CONFIGS.get(os.path.basename(path)))),
        tuple(_annotations(each for each in own if by_role.get(each.path) not in SKIPPED)),
    )


def _other_sources() -> Iterator[Source]:
    for glob in _MORE_FILES:
        try:
            targets = discover([glob]).targets
        except NoSuchPath:
            continue
        for target in targets:
            if isinstance(source := load_file(target, _MAX_CHARS), Source):
                yield source


def _versions(source: Source) -> Iterator[Hint]:
    """Yield the versions of clusters in a file, each once."""
    # Tests run with many versions.
    text = source.text[:_MAX_CHARS] if _TESTS.search(source.path) is None else ""
    patterns: list[re.Pattern[str]] = [_VERSION, *([_EKSCTL_VERSION] if _EKSCTL.search(text) else [])]
    seen: set[str] = set()
    for each in patterns:
        for match in each.finditer(text):
            if match["minor"] not in seen and not _is_comment(text, match.start()):
                seen.add(match["minor"])
                yield Hint(source.path, source.position(match.start()).line, match["minor"])


def _is_comment(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith(("#", "//"))


def _annotations(sources: Iterable[Source]) -> Iterator[Hint]:
    """Yield the first annotation of each tool."""
    left = dict(_ANNOTATIONS)
    for source in sources:
        for annotation in [each for each in left if each in source.text]:
            yield Hint(source.path, source.position(source.text.index(annotation)).line, left.pop(annotation))
