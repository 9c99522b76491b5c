"""The file stage: loads all files, checks those that define kinds, then all others, in portions that fit into memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from kcheck.check.file import Checked, Outcome, Task, file_findings
from kcheck.check.input_kinds import CRD_MARKER, POLICY_MARKER, InputKind, KindPlace, make_input_kinds
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target, UnreadablePath, is_descriptor
from kcheck.discovery.load import LIMIT, load_file, role_in_chart
from kcheck.facts.facts import Facts
from kcheck.finding.role import KUSTOMIZATION, SKIPPED, UNKNOWN, UNMAINTAINED, VENDORED, Role
from kcheck.repository.roles import RoleFinder, is_unmaintained
from kcheck.shards.selection import Share
from kcheck.text.complaint import Complaint
from kcheck.text.source import Source
from kcheck.workers.workers import AutoscalingWorkers, Workers

MAX_KEPT_CHARS = 24_000_000
"""Characters of file contents that are kept between loading and checking; files beyond this limit are read twice."""

_PORTION_CHARS = 8_000_000
"""Characters that are checked per portion. Neighboring files tend to need the same definitions."""

CHART_NAME = "Chart.yaml"

_COMPRESS_FROM_CHARS = 32_000_000
"""Characters of definitions above which their texts are sent to the workers compressed."""

Progress = Callable[[int, int], None]
"""Called with the number of checked files and the total number of files."""

CreateWorkers = Callable[[int, Mapping[int, Source]], Workers]
"""Creates workers for a number of characters. The mapping holds the loaded files by their numbers."""


def consume(checked: list[Checked]) -> Iterator[Checked]:
    """Yield the files and release each of them: at the end of a long run they fill the memory."""
    checked.reverse()
    while checked:
        yield checked.pop()


def has_charts(found: Discovery) -> bool:
    """Return whether an input may contain charts, or templates of charts."""
    return any(target.path.endswith((CHART_NAME, ".tgz")) or (target.named and "templates/" in target.path) for target in found.targets)


@dataclass(slots=True, eq=False, repr=False)
class _StageFile:
    """A file to check.

    Attributes:
        number: Index in the input.
        target: Where the file is read from.
        size: Length in characters.
        defines: Whether the file may define kinds.
        has_policies: Whether the file may contain user-defined policies.
        source: The content, or None if it must be read again.
        other: Whether only the kinds that the file defines are needed, because another shard checks it or it is vendored.
        role: The role of the file, as far as it is known without its content.
    """

    number: int
    target: Target
    size: int
    defines: bool
    source: Source | None
    other: bool = False
    role: Role = UNKNOWN
    has_policies: bool = False


class FileStage:
    """Loads files and passes them to the workers."""

    def __init__(
        self, session: Session, workers: CreateWorkers, limit: int = LIMIT, stdin: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.session = session
        self.create_workers = workers
        self.limit = limit
        self.stdin = stdin
        self.progress = progress
        self.outcomes: dict[int, Outcome] = {}
        self.files: list[_StageFile] = []
        self.kept_chars = 0
        self.roles = RoleFinder((), session.roles)
        self.paths: list[str] = []
        self.kustomization_facts: dict[str, Facts] = {}
        self.kustomization_sources: list[Source] = []
        self.kinds: dict[int, list[KindPlace]] = {}
        self.definitions: dict[int, tuple[str, ...]] = {}

    def check_input(self, found: Discovery, share: Share | None = None) -> list[Checked]:
        """Check all files, or those of a shard, and return their outcomes in input order. Unreadable paths come last."""
        self.session.partial_folders = found.partial
        paths = [*(target.path for target in found.targets), *(fault.file for fault in found.unreadable)]
        with self.session.stage("loading files"):
            self.read_targets(found, share)
            if self.session.helm is not None and share is None:
                paths += self.render_charts(found, len(paths))
            elif self.session.helm is not None:
                self.report_unrendered_charts(found)
            for number, fault in enumerate(found.unreadable, len(found.targets)):
                self.outcomes[number] = self.unreadable_outcome(fault)
                if share is not None:
                    share.add_file(fault.file, "", fault.message)
            self.read_policies(found)
        if share is not None:
            self.keep_shard(share.own_files())
        self.paths = paths
        self.check_loaded_files()
        if self.kustomization_facts:
            # Built objects need them.
            for number in self.kinds.keys() & self.outcomes.keys():
                self.outcomes[number].kinds = self.kinds[number]
        return [Checked(number, path, self.outcomes.pop(number)) for number, path in enumerate(paths) if number in self.outcomes]

    def read_targets(self, found: Discovery, share: Share | None = None) -> None:
        """Load the files and find their roles."""
        self.roles = RoleFinder((target.path for target in found.targets), self.session.roles, self.session.judges_as_server)
        for number, target in enumerate(found.targets):
            self.read_target(number, target, share)
        for file in self.files:
            file.role = self.roles.after_reading(file.target, file.role)
            if file.role.name in SKIPPED:
                self.outcomes[file.number] = Outcome(skip_reason=file.role.reason, role=file.role)
                file.other = file.role.name == VENDORED and file.defines
        self.files = [file for file in self.files if file.other or file.number not in self.outcomes]

    def read_target(self, number: int, target: Target, share: Share | None) -> None:
        """Load a file and add it to the files to check, or store its outcome if it cannot or need not be checked."""
        role = self.roles.before_reading(target)
        if target.named and self.session.helm is not None:
            role = role_in_chart(target.path) or role
        source = self.load_source(number, target, role)
        if share is not None:
            faults = self.outcomes[number].findings if number in self.outcomes else ()
            share.add_file(target.path, "" if source is None else source.text, "\n".join(each.message for each in faults))
        if source is not None:
            size = len(source.text)
            self.kept_chars += size
            # A pipe can be read only once.
            keep = self.kept_chars <= MAX_KEPT_CHARS or target.stdin or is_descriptor(target.path)
            self.files.append(
                _StageFile(
                    number,
                    target,
                    size,
                    CRD_MARKER in source.text,
                    source if keep else None,
                    role=role,
                    has_policies=POLICY_MARKER in source.text,
                )
            )
            self.roles.add_text(target.path, source.text)

    def read_policies(self, found: Discovery) -> None:
        """Read the user-defined policies, before anything is checked: they apply to the objects of all files."""
        settings = self.session.policy_settings
        candidates = [file for file in self.files if file.has_policies] if settings.from_input else []
        if not candidates and not settings.files and not settings.rule_files:
            return
        # Imported late: few inputs have policies.
        from kcheck.run.policy_reading import add_policies

        def texts(files: Iterable[_StageFile]) -> Iterator[tuple[str, str, str]]:
            for file in files:
                source = file.source or self.load_source(file.number, file.target, file.role)
                if source is not None:
                    yield file.target.path, source.text, file.role.name

        contents = {each.path: each.data for each in found.targets if each.data is not None}
        paths = [each.path for each in found.targets]
        add_policies(self.session, texts(candidates), texts(self.files), paths, contents, check_alone)

    def render_charts(self, found: Discovery, number: int) -> list[str]:
        """Render the charts of the input and add the texts to the files to check. Returns their paths. `number`: that of the first one."""
        self.session.charts = None
        if not has_charts(found):
            return []
        # Imported on first use: most inputs contain no chart.
        from kcheck.run.chart_releases import find_releases
        from kcheck.run.charts import ChartStage, find_charts

        texts = (file.source.text for file in self.files if file.defines and file.source is not None)
        sources = [*(file.source for file in self.files if file.source is not None), *self.kustomization_sources]
        releases = find_releases(sources)
        contents = (target for target in found.targets if target.data is not None)
        charts = ChartStage(self.session, self.session.helm, texts, releases, self.progress, contents)
        rendered = charts.render(find_charts(found.targets, self.roles))
        for at, each in enumerate(rendered, number):
            target = Target(each.path, named=False, data=each.text.encode("utf-8", "surrogatepass"))
            source = Source(each.path, each.text)
            defines, has_policies = CRD_MARKER in each.text, POLICY_MARKER in each.text
            self.files.append(_StageFile(at, target, len(each.text), defines, source, role=each.role, has_policies=has_policies))
        return [each.path for each in rendered]

    def report_unrendered_charts(self, found: Discovery) -> None:
        """Report the charts of the input, which no shard renders: kcheck merge has neither their templates nor their values."""
        if not has_charts(found):
            return
        from kcheck.run.charts import SKIPPED as UNRENDERED
        from kcheck.run.charts import find_charts

        maintained = (each for each in find_charts(found.targets, self.roles) if each.role.name not in UNMAINTAINED)
        charts = {each.target.path for each in maintained if each.renders}
        message = Complaint("the chart was not checked: shards contain no charts", "check charts in a run without --shard")
        for number, target in enumerate(found.targets):
            if target.path in charts and number in self.outcomes:
                self.outcomes[number].findings += file_findings(UNRENDERED, target.path, 1, message, self.session.rules_for(target.path))

    def keep_shard(self, own: Collection[int]) -> None:
        """Drop the files of other shards, except those that may define kinds."""
        self.outcomes = {number: outcome for number, outcome in self.outcomes.items() if number in own}
        for file in self.files:
            file.other = file.other or file.number not in own
        self.files = [file for file in self.files if file.defines or not file.other]

    def load_source(self, number: int, target: Target, role: Role) -> Source | None:
        """Return the content of a file, or None after storing the outcome of a file that is skipped or unreadable."""
        if role.name == KUSTOMIZATION:
            self.outcomes[number] = self.load_kustomization(target, role)
            return None
        if role.name in SKIPPED and role.name not in UNMAINTAINED:
            self.outcomes[number] = Outcome(skip_reason=role.reason, role=role)
            return None
        source = load_file(target, self.limit, self.stdin)
        if isinstance(source, UnreadablePath):
            self.outcomes[number] = self.unreadable_outcome(source)
            return None
        return source

    def load_kustomization(self, target: Target, role: Role) -> Outcome:
        """Register the files that a kustomization uses and return its outcome; if it is unreadable, this is a finding."""
        source = load_file(target, self.limit, self.stdin)
        if isinstance(source, UnreadablePath):
            return self.unreadable_outcome(source)
        if "helmCharts" in source.text or "configMapGenerator" in source.text:
            self.kustomization_sources.append(source)
        # Imported on first use, because most small runs have no kustomization.
        from kcheck.check.kustomizations import Kustomizations, check_kustomization

        outcome = check_kustomization(source, role, Kustomizations(self.roles.listed_files), self.session, target.named)
        self.kustomization_facts.update((target.path, facts) for facts in outcome.facts)
        if is_unmaintained(target):
            outcome.findings = []
        return outcome

    def unreadable_outcome(self, fault: UnreadablePath) -> Outcome:
        return Outcome(file_findings("unreadable-file", fault.file, fault.line, fault.message, self.session.rules_for(fault.file)))

    def check_loaded_files(self) -> None:
        done = len(self.outcomes)
        total = done + len(self.files)
        size = sum(file.size for file in self.files if not file.other)
        with closing(self.create_workers(size, {file.number: file.source for file in self.files if file.source is not None})) as workers:
            compress = sum(file.size for file in self.files if file.defines) > _COMPRESS_FROM_CHARS
            # Files with definitions first: an object may precede its CRD in the input. If a kind is defined more than once, the
            # definition in the last file (by path) applies.
            of_tests: list[InputKind] = []
            for tasks in self.split_into_portions(sorted((file for file in self.files if file.defines), key=lambda file: file.target.path)):
                kinds = {}
                for task, outcome in workers.check_files(tasks, final=False):
                    general = self.session.defines_for_all(task.role.name)
                    kinds[task.number] = make_input_kinds(task.number, task.source, outcome.kinds, compress, general)
                    if outcome.kinds:
                        self.kinds[task.number] = outcome.kinds
                    if not outcome.is_postponed and not task.other:
                        self.outcomes[task.number] = outcome
                        outcome.kinds = []
                known = [kind for task in tasks for kind in kinds[task.number]]
                of_tests += (kind for kind in known if not kind.is_general)
                if general_kinds := [kind for kind in known if kind.is_general]:
                    workers.add_kinds(general_kinds)
            self.select_definitions({kind.state for kind in of_tests})
            selected = {state for states in self.definitions.values() for state in states}
            if own_kinds := [kind for kind in of_tests if kind.state in selected]:
                workers.add_kinds(own_kinds)
            left = [file for file in self.files if file.number not in self.outcomes and not file.other]
            done = total - len(left)
            for tasks in self.split_into_portions(left, is_last=True):
                for task, outcome in workers.check_files(tasks, final=True):
                    self.outcomes[task.number] = outcome
                    done += 1
                    if self.progress is not None:
                        self.progress(done, total)

    def select_definitions(self, of_tests: Collection[str]) -> None:
        """Find the definitions that take precedence for the objects of each file. `of_tests`: those that apply only to their own unit."""
        states: dict[tuple[str, str], set[str]] = defaultdict(set)
        for kinds in self.kinds.values():
            for kind in kinds:
                states[kind.api_version, kind.kind].add(kind.state)
        rivals = {state for found in states.values() if len(found) > 1 for state in found}.union(of_tests)
        definers = {
            self.paths[number]: found for number, kinds in self.kinds.items() if (found := [kind for kind in kinds if kind.state in rivals])
        }
        if not definers:
            return
        from kcheck.repository.definition_scopes import DefinitionScopes

        scopes = DefinitionScopes(self.paths, self.kustomization_facts, definers)
        for file in self.files:
            own: dict[str, None] = {}
            defined: set[tuple[str, str]] = set()
            for paths in scopes.definers_for(file.target.path):
                inner = frozenset(defined)
                for kind in (kind for path in paths for kind in definers[path] if kind.group_kind not in inner):
                    own[kind.state] = None
                    defined.add(kind.group_kind)
            if own:
                self.definitions[file.number] = tuple(own)

    def split_into_portions(self, files: Iterable[_StageFile], is_last: bool = False) -> Iterator[list[Task]]:
        """Yield the files as tasks in input order, one portion at a time. `is_last`: the contents are not needed afterwards."""
        tasks: list[Task] = []
        size = 0
        for file in files:
            source = file.source or self.load_source(file.number, file.target, file.role)
            if is_last:
                file.source = None
            if source is None:
                continue
            definitions = self.definitions.get(file.number, ())
            tasks.append(Task(file.number, source, file.target.named, file.other, file.role, definitions))
            size += file.size
            if size >= _PORTION_CHARS:
                yield tasks
                tasks, size = [], 0
        if tasks:
            yield tasks


def check_alone(session: Session, found: Discovery) -> list[Checked]:
    """Check files in this process and return their outcomes."""
    return FileStage(session, lambda characters, sources: AutoscalingWorkers(session, 1, sources)).check_input(found)
