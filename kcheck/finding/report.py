"""The result of a run, as passed to reporters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from kcheck.facts.bundle import Bundle
from kcheck.finding.finding import Finding
from kcheck.finding.fingerprint import Fingerprint
from kcheck.finding.rendered import Rendered
from kcheck.finding.role import Role
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple

DOCS_URL = "https://kcheck.dev"
"""The base URL of the documentation, which the config can replace."""


def is_docs_url(text: str) -> bool:
    """Whether a text can be the base URL of the documentation."""
    return text.startswith(("https://", "http://")) and not any(char.isspace() for char in text)


class SkippedFile(NamedTuple):
    """A file that was skipped, and the reason."""

    file: str
    why: str


class BaselineCoverage(NamedTuple):
    """How the findings of a run relate to a baseline.

    Attributes:
        new: Findings that are not in the baseline.
        known: Findings that are in the baseline.
        resolved: Fingerprints in the baseline that no longer occur. Empty if the run did not check all files of the baseline.
        unchecked: Fingerprints in the baseline whose file was not checked.
        disabled: Fingerprints in the baseline whose rule was not checked.
    """

    new: list[Finding]
    known: list[Finding]
    resolved: list[Fingerprint]
    unchecked: list[Fingerprint]
    disabled: list[Fingerprint]


class SinceRevision(NamedTuple):
    """An earlier revision that a report is compared with.

    Attributes:
        name: The revision as the user wrote it.
        commit: The id of its commit.
        known: Number of findings that the revision has, too. They are not in the report.
    """

    name: str
    commit: str
    known: int


class RuleNote(NamedTuple):
    """Metadata of a rule for reporters; SARIF output contains `help`. `groups`: the groups of the rule."""

    id: str
    title: str
    severity: Severity
    family: str
    help: str
    url: str
    groups: tuple[str, ...] = ()


@dataclass(slots=True, repr=False)
class Report:
    """The result of a run.

    Attributes:
        findings: findings in the order of `Finding.order`.
        files: number of checked files.
        documents: number of documents in these files.
        units: number of deployment units of their objects.
        without_schema: number of objects that were not validated, because their kind has no schema, by API version and kind.
        passed: skipped files.
        limited: files that were checked only in part, with the reason.
        remote: kustomizations with entries that kustomize downloads, which were not seen.
        roles: roles of the files by path.
        kubernetes: Kubernetes version of the run.
        docs_url: base URL of the documentation.
        suppressed: number of findings that ignore comments or the config suppressed.
        coverage: how the findings relate to the baseline, None without one.
        since: the revision whose findings are omitted, None if all findings are reported.
        rules: metadata of the rules by id.
        enabled: severities of the enabled rules by id, without overrides for single files.
        rendered: templates of rendered input, by name; these inputs are not files.
        contents: content that is not that of the file, by path: of standard input and of fixed files.
        has_files: whether reporters may read the files again. Those of shards may be on another machine, and their names are untrusted.
        policies: ids of the user-defined policies that are enforced.
        policies_in_input: those that are enforced only because they are in the input.
        unenforced_policies: why policies of the input are not enforced.
        bundle: facts of all objects, used by `kcheck graph`.
        charts: folders of the charts that were rendered, with findings in any of their files.
        move_place: returns the location in a template of one in a rendered chart, None if no chart was rendered.
    """

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    documents: int = 0
    units: int = 0
    without_schema: Counter[str] = field(default_factory=Counter)
    passed: list[SkippedFile] = field(default_factory=list)
    limited: list[SkippedFile] = field(default_factory=list)
    remote: list[SkippedFile] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    kubernetes: str = ""
    docs_url: str = DOCS_URL
    suppressed: int = 0
    coverage: BaselineCoverage | None = None
    since: SinceRevision | None = None
    rules: dict[str, RuleNote] = field(default_factory=dict)
    enabled: dict[str, Severity] = field(default_factory=dict)
    rendered: dict[str, Rendered] = field(default_factory=dict, compare=False)
    contents: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    policies: tuple[str, ...] = ()
    policies_in_input: tuple[str, ...] = ()
    unenforced_policies: tuple[str, ...] = ()
    has_files: bool = field(default=True, compare=False)
    bundle: Bundle = field(default_factory=lambda: Bundle(()), compare=False, repr=False)
    charts: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    move_place: Callable[[Location], Location] | None = field(default=None, compare=False, repr=False)

    def count(self) -> Counter[Severity]:
        """Return the number of findings of each severity."""
        return Counter(f.severity for f in self.findings)

    def url_of(self, rule: str) -> str:
        """Return the URL of the page of a rule. Rules of plug-ins, whose ids contain a slash, have none."""
        return f"{self.docs_url}/rules/{rule}/" if "/" not in rule else ""

    def without_echoes(self) -> Report:
        """Return the report without findings that repeat the cause of another finding about the same object."""
        if not any(f.echo for f in self.findings):
            return self
        causes = {(f.file, f.object) for f in self.findings if not f.echo and f.severity is Severity.ERROR}
        return replace(self, findings=[f for f in self.findings if not f.echo or (f.file, f.object) not in causes])
