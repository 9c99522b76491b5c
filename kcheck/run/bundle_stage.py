"""The bundle stage: builds the report from the outcomes of all files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from kcheck.check.document import DOCUMENT_RULES, PLACEHOLDERS
from kcheck.check.file import Checked, FactsByFile, FileFacts, RelationCache, Relations, crashed_outcome, file_findings
from kcheck.check.input_kinds import KindPlace
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, apply_ignores
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.facts.unit import INPUT, Unit
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Problem
from kcheck.finding.rendered import rendered_path, template_of
from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.role import CHART_TEMPLATE, COMPONENT, EXAMPLES, KUSTOMIZATION, OTHER, VALUES
from kcheck.kube import placeholders
from kcheck.kube.location import Location
from kcheck.redaction import redact
from kcheck.repository.own_images import crd_groups, without_own_images
from kcheck.repository.policy import SELECTS_NOTHING
from kcheck.repository.units import Builds, Units, find_units
from kcheck.rule.ruleset import RuleSet
from kcheck.run.copied_objects import files_of_copies, merge_copies
from kcheck.run.missing_schemas import merge_missing_schemas
from kcheck.text.span import Range

_MAX_NAMED = 3
"""Kustomizations that a message names."""

_CHARS_PER_OBJECT = 10_000
"""Size in characters that each object counts for in the time limit of relation rules."""


def build_report(
    skipped: Iterable[SkippedFile],
    checked: Iterable[Checked],
    session: Session,
    cache: RelationCache | None = None,
    texts: Mapping[str, bytes] = MappingProxyType({}),
) -> Report:
    """Return the report for these files.

    Args:
        skipped: Files that were skipped before anything was read.
        checked: Files with their outcomes, in any order.
        session: The session that checked them.
        cache: Returns cached results of relation rules, or None to always run the rules.
        texts: Contents that replace those of files.

    Raises DamagedCache if the cached facts of a file cannot be read.
    """
    return _ReportBuilder(session, texts).build(skipped, sorted(checked, key=_report_order), cache)


def find_units_of_files(checked: Iterable[Checked], session: Session) -> Mapping[str, Unit]:
    """Return the deployment unit of each file that is in one."""
    ordered = sorted(checked, key=_report_order)
    return find_units([(each.path, each.outcome.facts) for each in ordered], session.complete_part, session.partial_folders).by_file


def _report_order(each: Checked) -> tuple[str, int]:
    """Return the sort key of a file in the report.

    Files are sorted by path, so that rules which use the first of several objects do not depend on the order of the command line.
    Kubeconfigs come first and keep that order, because it decides which of them takes precedence.
    """
    return ("", each.number) if each.outcome.kubeconfig else (each.path, each.number)


class _ReportBuilder:
    def __init__(self, session: Session, texts: Mapping[str, bytes]) -> None:
        self.session = session
        self.texts = texts
        enabled = {id: active.severity for id, active in session.rules.active.items()}
        self.report = Report(enabled=enabled, contents=texts, docs_url=session.docs_url)
        self.facts_by_file: FactsByFile = []
        self.ignores: dict[str, Ignores] = {}
        self.checked: set[str] = set()
        self.templates: set[str] = set()
        self.kinds: dict[str, Sequence[KindPlace]] = {}

    def build(self, skipped: Iterable[SkippedFile], checked: Iterable[Checked], cache: RelationCache | None) -> Report:
        self.report.passed += skipped
        for each in checked:
            self.add_outcome(each)
        facts = chain.from_iterable(each.facts for each in self.facts_by_file)
        self.report.bundle = Bundle(facts, self.session.complete, [each.path for each in self.facts_by_file])
        with self.session.stage("relations"):
            relations = (
                self.relations() if cache is None or self.session.kustomize else cache(self.facts_by_file, self.relations, self.is_current)
            )
            findings = self.report.findings
            if relations.built_documents and not self.session.judges_as_server:
                findings = self.with_built_findings(findings, relations)
            self.report.findings = [f._replace(unit=relations.units.get(f.file)) for f in findings]
            self.report.findings += relations.findings
            self.report.units = relations.number
            self.report.remote = list(relations.remote)
        with self.session.stage("report"):
            policies = self.session.policies
            independent = policies.independent if policies is not None else ()
            partition = apply_ignores(self.report.findings, self.ignores, self.rules_for, self.is_complete, independent)
            kept, suppressed = partition.kept, partition.suppressed
            if self.session.charts is not None:
                kept, suppressed = self.with_charts(kept, suppressed)
            # Of findings with the same position and message, the first one stays first.
            ordered = sorted(dict.fromkeys(kept), key=lambda f: f.order)
            ordered = ordered if self.session.judges_as_server else self.without_repetitions(ordered, relations)
            findings = merge_missing_schemas(self.without_baseline(ordered))
            self.report.findings = [f._replace(url=self.report.url_of(f.rule)) for f in findings]
            self.report.suppressed = len(suppressed)
            if policies is not None:
                is_enabled = self.session.rules.policies.is_enabled
                self.report.policies = tuple(filter(is_enabled, policies.names))
                self.report.policies_in_input = tuple(filter(is_enabled, policies.names_in_input))
                self.report.unenforced_policies = policies.unenforced
            self.report.kubernetes = ", ".join(_versions(self.session, self.checked))
        return self.report

    def with_charts(self, kept: list[Finding], suppressed: list[Finding]) -> tuple[list[Finding], list[Finding]]:
        """Return the findings with those in rendered charts at their places in templates, and add what is known about the charts."""
        charts = self.session.charts
        rendered = tuple(f"{folder}/" if folder else "" for folder in charts.rendered)
        of_charts = {
            file for file, role in self.report.roles.items() if role.name in (CHART_TEMPLATE, VALUES) and file.startswith(rendered)
        }
        replaced = of_charts | {each.file for each in charts.passed}
        self.report.passed = [each for each in self.report.passed if each.file not in replaced] + charts.passed
        relocated = charts.relocated(kept)
        self.report.charts = frozenset(charts.rendered - charts.only.keys())
        self.report.move_place = charts.template_place
        self.report.limited += charts.limited
        self.report.limited += [
            SkippedFile(file, "lines whose values the chart leaves empty were not checked; add values for checks, such as ci/*-values.yaml")
            for file in sorted(charts.incomplete)
        ]
        return [*relocated, *charts.findings], charts.relocated(suppressed)

    def without_repetitions(self, findings: list[Finding], relations: Relations) -> list[Finding]:
        """Return the findings without those about images of the project itself, and about copies of an object."""
        if len(self.checked) == 1 or not findings:
            return findings
        findings = without_own_images(findings, relations.crd_groups, self.report.roles)
        return merge_copies(findings, self.report.findings, relations.copies, self.may_be_copied)

    def may_be_copied(self, file: str) -> bool:
        """Return whether findings of a file may be about copies of objects in other files."""
        return file in self.checked and not self.is_test(file)

    def with_copies(self, relations: Relations) -> Relations:
        """Return the relations with what is needed to recognize copies of objects and images of the project."""
        if len(self.checked) == 1 or self.session.judges_as_server:
            return relations
        objects = {each.path: [facts.id for facts in each.facts] for each in self.facts_by_file if self.may_be_copied(each.path)}
        return relations._replace(copies=files_of_copies(objects), crd_groups=crd_groups(chain.from_iterable(objects.values())))

    def without_baseline(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings that are not in the baseline."""
        if self.session.baseline is None:
            return findings
        # Imported late: most runs have no baseline.
        from kcheck.baseline.subtraction import cover

        self.report.findings = findings
        self.report.coverage = cover(self.report, self.session.baseline, self.rules_for)
        return self.report.coverage.new

    def add_outcome(self, each: Checked) -> None:
        """Add the outcome of a file to the report."""
        outcome = each.outcome
        if outcome.skip_reason and rendered_path(each.path) is not None:
            return
        if outcome.skip_reason:
            self.report.passed.append(SkippedFile(each.path, outcome.skip_reason))
        else:
            self.checked.add(each.path)
            template = template_of(each.path)
            # A template counts once, although it is rendered with several sets of values.
            if template == each.path or template not in self.templates:
                self.templates.add(template)
                self.report.files += 1
                self.report.documents += outcome.documents
            self.report.without_schema.update(outcome.without_schema)
            of_role = f"{outcome.role.name}: {outcome.role.reason}" if self.session.is_limited(outcome.role.name) else ""
            if reasons := [reason for reason in (of_role, outcome.partial) if reason]:
                self.report.limited.append(SkippedFile(template_of(each.path), "; ".join(reasons)))
        if outcome.ignores:
            self.ignores[each.path] = outcome.ignores
        if outcome.kinds and self.session.defines_for_all(outcome.role.name):
            self.kinds[each.path] = outcome.kinds
        self.report.findings += outcome.findings
        self.report.roles[each.path] = outcome.role
        self.facts_by_file.append(FileFacts(each.path, outcome.role.name, outcome.facts))

    def rules_for(self, file: str) -> RuleSet:
        """Return the rules that apply to a file."""
        role = self.report.roles.get(file)
        return self.session.rules_for(file) if role is None else self.session.rules_for(file, role.name)

    def is_complete(self, file: str) -> bool:
        """Whether the input contains all objects that those of a file refer to."""
        return self.session.complete_part(file) is not None

    def is_test(self, file: str) -> bool:
        """Whether a file belongs to tests, so that only some rules apply to it."""
        role = self.report.roles.get(file)
        return role is not None and self.session.is_test(role.name)

    def is_example(self, file: str) -> bool:
        """Whether a file contains examples, to which only some rules apply."""
        role = self.report.roles.get(file)
        return role is not None and role.name in EXAMPLES and self.session.is_limited(role.name)

    def is_current(self, relations: Relations) -> bool:
        """Return whether the files that cached results depend on have not changed."""
        if not relations.reads:
            return True
        from kcheck.run.built_objects import is_unchanged

        return is_unchanged(relations.reads, {**self.texts, **dict(self.rendered_texts())})

    def rendered_texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the texts of charts that builds may contain, by path."""
        charts = self.session.charts
        for texts in charts.of_kustomizations.values() if charts is not None else ():
            yield from ((path, text.encode("utf-8", "surrogatepass")) for path, text in texts.items())

    def relations(self) -> Relations:
        """Return the units of the input and the findings of the rules across objects."""
        facts_by_file = [(each.path, each.facts) for each in self.facts_by_file]
        renderings = () if self.session.charts is None else self.session.charts.units()
        units = find_units(facts_by_file, self.session.complete_part, self.session.partial_folders, renderings)
        builds, failures = self.build_kustomizations(units)
        failures += [finding for each in builds.failures for finding in self.failed_build(*each)]
        findings = (*failures, *self.run_relation_rules(units, builds))
        if not builds.units:
            return self.with_copies(Relations(findings, units.by_file, len(units.all), builds.reads, remote=builds.remote))
        overlays = _Overlays(units.by_file)
        documents: set[tuple[str, int]] = set()
        unbuilt: set[str] = set()
        for unit, files in units.all:
            build = builds.units.get(unit.path) if unit.kind == "kustomization" else None
            if build is not None:
                overlays.add(unit, build.facts, build.findings)
                documents |= build.documents
            elif unit.kind == "kustomization":
                unbuilt.update(files)
        # Hooks that a kustomization skips are in no built object.
        rendered = ((path, text) for path, text in self.rendered_texts() if path in builds.charts)
        documents.update((path, number) for path, text in rendered for number in range(text.count(b"\n---") + 2))
        built = frozenset(each for each in documents if each[0] not in unbuilt)
        return self.with_copies(
            Relations(findings, units.by_file, len(units.all), builds.reads, tuple(overlays.findings()), built, builds.remote)
        )

    def with_built_findings(self, findings: list[Finding], relations: Relations) -> list[Finding]:
        """Return the findings of rules about single objects in the objects as kustomizations deploy them.

        A finding in a file is dropped if no built object that was made from its document has it: the kustomizations replace the value or
        add what is missing. Findings that only built objects have are added.
        """
        built = relations.built_findings
        confirmed, known = _keys_of(built), _keys_of(findings)
        kept = [
            finding
            for finding in findings
            if (finding.file, finding.place.document) not in relations.built_documents
            or not self.is_about_object(finding.rule)
            or not confirmed.isdisjoint(_keys_of((finding,)))
        ]
        # A finding of a base that every overlay has may be at the place of a patch there, with the same message.
        messages = {(f.rule, f.message) for f in findings}
        new = {
            (f.rule, f.file, f.range): f
            for f in built
            if self.is_checked(f.file) and known.isdisjoint(_keys_of((f,))) and (f.rule, f.message) not in messages
        }
        # One setting of a kustomization may be wrong in many objects.
        return [*kept, *new.values()]

    def is_checked(self, file: str) -> bool:
        """Return whether findings in a file are reported: it is checked, or it is a kustomization or JSON patch of the input."""
        role = self.report.roles.get(file)
        return file in self.checked or (role is not None and role.name in (KUSTOMIZATION, COMPONENT, OTHER))

    def is_about_object(self, rule: str) -> bool:
        """Return whether a rule judges objects, rather than the text of their files or how the manifests change."""
        found = self.session.registry.find(rule)
        return rule not in DOCUMENT_RULES and found is not None and found.scope not in ("document", "change")

    def build_kustomizations(self, units: Units) -> tuple[Builds, list[Finding]]:
        """Return the builds of the kustomizations, or none and findings if that fails."""
        if not units.kustomizations:
            return Builds({}), []
        # Imported on first use, because most small runs have no kustomization.
        from kcheck.run.built_objects import build_kustomizations

        paths = [each.path for each in self.facts_by_file]
        try:
            with self.session.stage("kustomizations"), self.session.budget.limited(_CHARS_PER_OBJECT * len(paths)):
                return build_kustomizations(self.session, units.kustomizations, paths, self.texts, self.rules_for, self.kinds), []
        except Exception as error:
            return Builds({}), crashed_outcome(next(iter(units.kustomizations.values())), error, self.session).findings

    def failed_build(self, file: str, message: str) -> list[Finding]:
        """Return a finding for a kustomization that kustomize cannot build."""
        return file_findings("failed-kustomize-build", file, 1, f"kustomize cannot build this: {message}", self.rules_for(file))

    def run_relation_rules(self, units: Units, builds: Builds) -> list[Finding]:
        """Return the findings of the rules across objects, of each unit."""
        by_file = {each.path: each.facts for each in self.facts_by_file}
        session, built = self.session, builds.units
        members: list[tuple[Unit, list[Facts]]] = []
        replaced: set[str] = set()
        for unit, files in units.all:
            build = built.get(unit.path) if unit.kind == "kustomization" else None
            if unit.kind == "chart" and builds.charts.issuperset(files):
                # They are deployed with the kustomization.
                replaced.update(files)
            elif build is None:
                members.append((unit, [f for file in files for f in by_file[file]]))
            else:
                members.append((unit._replace(is_whole=build.is_whole), build.facts))
                replaced.update(files)
        for unit, files in units.all:
            if unit.kind == "kustomization" and unit.path not in built:
                replaced.difference_update(files)
        alternatives = _alternatives(by_file)
        raw = [
            f
            for path, _, facts in self.facts_by_file
            if path not in alternatives
            for f in facts
            if path not in replaced or f.kustomization is not None
        ]
        every = [*raw, *(f for unit, facts in members if unit.path in built and unit.kind == "kustomization" for f in facts)]
        paths = [each.path for each in self.facts_by_file]
        # The whole input, by cluster: with the objects that the cluster already has.
        wholes: dict[int, Bundle] = {}
        overlays = _Overlays(units.by_file)
        findings: list[Finding] = []
        with session.budget.limited(_CHARS_PER_OBJECT * (len(every) + len(session.provided))):
            for unit, own in members:
                is_everything = unit is INPUT and not built and not session.provided and not alternatives
                is_built = unit.kind == "kustomization"
                number = session.cluster_of_unit((units.kustomizations[unit.path],) if is_built else (f.place.file for f in own))
                if number not in wholes:
                    wholes[number] = self.whole_input(every, number, paths)
                whole = wholes[number]
                if alternatives and own and (path := own[0].place.file) in alternatives:
                    # Another set of values: its objects replace those of the first one.
                    chart = alternatives[path]
                    others = [f for f in every if (other := rendered_path(f.place.file)) is None or other.chart != chart]
                    whole = self.whole_input([*others, *own], number, paths)
                bundle = whole if is_everything else Bundle(own, session.is_complete(unit, number), (), unit, whole)
                found = self.unit_findings(own, bundle)
                if unit.path in built and built[unit.path].is_renamed:
                    found = [finding._replace(fix=None) for finding in found]
                if unit.kind == "kustomization":
                    overlays.add(unit, own, found)
                else:
                    findings += found
        # Objects that no longer exist are in no unit.
        return [*findings, *overlays.findings(), *self.removal_findings(wholes.get(0) or self.whole_input(every, 0, paths))]

    def whole_input(self, facts: Iterable[Facts], number: int, paths: Sequence[str]) -> Bundle:
        """Return the objects of the input with those of a cluster. `number`: its index; `paths`: the paths of all files."""
        cluster = self.session.cluster(number)
        bundle = Bundle(chain(facts, cluster.provided), cluster.complete, paths)
        bundle.removed = self.session.removed
        return bundle

    def removal_findings(self, bundle: Bundle) -> list[Finding]:
        """Return the findings of the rules about removed objects. `bundle`: the objects of the input."""
        findings: list[Finding] = []
        for removed in self.session.gone:
            hooks = self.session.plan(self.rules_for(removed.place.file)).removals.of_kind(removed.id.api_version, removed.id.kind)
            reporter = _ObjectReporter(self, removed.facts, INPUT, findings)
            for hook in hooks:
                hook.run(removed, reporter.report, reporter.report_crash, bundle)
        return findings

    def unit_findings(self, own: Iterable[Facts], bundle: Bundle) -> list[Finding]:
        """Return the findings of the rules across objects for the objects of a unit."""
        findings: list[Finding] = []
        for facts in own:
            hooks = self.session.plan(self.rules_for(facts.place.file)).bundle.of_facts(facts)
            if hooks:
                reporter = _ObjectReporter(self, facts, bundle.unit, findings)
                for hook in hooks:
                    hook.run(facts, reporter.report, reporter.report_crash, bundle)
        return findings

    def findings_of(self, rule: str, problem: Problem, place: Location, unit: Unit) -> Iterator[Finding]:
        at = problem.node if isinstance(problem.node, Location) else place
        active = self.rules_for(at.file).active.get(rule)
        # Tests create objects that are not in the input, so in their files a finding needs both objects.
        if active is None or (self.is_test(at.file) and not problem.related):
            return
        # Examples show one thing each, so what a selector matches is in the same file, or left out.
        if rule in SELECTS_NOTHING and self.is_example(at.file) and all(each.place.file != at.file for each in problem.related):
            return
        skips_placeholders = not self.session.judges_placeholders and PLACEHOLDERS not in active.rule.groups
        if not (skips_placeholders and _concerns_placeholder(problem, at)):
            message, help = redact.message(problem.message), redact.message(problem.help)
            if (substitution := self.session.substitution) is not None:
                message, help = substitution.conceal(message, help)
            fix = problem.fix if isinstance(problem.fix, Fix) else None
            yield Finding(rule, active.severity, active.rule.family, message, at, problem.reason, problem.related, fix, "", help, unit=unit)


def _alternatives(files: Iterable[str]) -> dict[str, str]:
    """Return the rendered templates of all renderings of a chart but the first one, each with its chart."""
    first: dict[str, tuple[str, str, str]] = {}
    found: dict[str, str] = {}
    for file in files:
        path = rendered_path(file)
        if path is not None and first.setdefault(path.chart, path.rendering) != path.rendering:
            found[file] = path.chart
    return found


def _versions(session: Session, files: Iterable[str]) -> list[str]:
    """Return the Kubernetes versions or ranges that files were checked against, each once."""
    by_cluster = {id(stores): stores for stores in map(session.stores_for, files)} if session.clusters is not None else {}
    ranges = [(stores[0].definitions, stores[-1].definitions) for stores in by_cluster.values() or (session.stores,)]
    ordered = sorted(set(ranges), key=lambda pair: (pair[0].minor, pair[1].minor))
    return ["-".join(dict.fromkeys(each.version for each in pair)) for pair in ordered]


def _keys_of(findings: Iterable[Finding]) -> set[tuple[str, str, object]]:
    """Return keys by which a finding in a file and one in a built object are recognized as the same: by position or by field."""
    findings = tuple(findings)
    return {(f.rule, f.file, f.range.start) for f in findings} | {(f.rule, f.file, (f.place.document, f.place.field)) for f in findings}


def _concerns_placeholder(problem: Problem, place: Location) -> bool:
    """Whether a relation was determined by a placeholder: in the value that is reported, or in a value that the message quotes."""
    range = place.range
    shown = place.line[range.column - 1 : range.end_column - 1] if range.line == range.end_line else ""
    return placeholders.in_text(shown) != "" or placeholders.is_quoted(problem.message) or placeholders.is_quoted(problem.help)


class _ObjectReporter:
    """Collects the findings of rules across objects for one object."""

    def __init__(self, builder: _ReportBuilder, facts: Facts, unit: Unit, findings: list[Finding]) -> None:
        self.builder = builder
        self.facts = facts
        self.unit = unit
        self.findings = findings

    def report(self, rule: str, problem: Problem) -> None:
        self.findings += self.builder.findings_of(rule, problem, self.facts.place, self.unit)

    def report_crash(self, rule: str, error: Exception) -> None:
        """Add a finding for a rule that raised an error on this object."""
        message = f"rule {rule} failed on {self.facts.title}: {type(error).__name__}: {error}"
        self.report("internal-error", Problem(self.facts.place, message))


class _Overlays:
    """The findings of kustomizations: one for each problem, although overlays of one base repeat it."""

    def __init__(self, by_file: Mapping[str, Unit]) -> None:
        self._by_file = by_file
        self._uses: Counter[str] = Counter()
        self._found: dict[tuple[str, str, Range], list[Finding]] = {}
        self._units: dict[tuple[str, str, Range], list[Unit]] = defaultdict(list)

    def add(self, unit: Unit, objects: Iterable[Facts], findings: Iterable[Finding]) -> None:
        """Add the findings of a kustomization."""
        self._uses.update({f.place.file for f in objects})
        new: dict[tuple[str, str, Range], list[Finding]] = defaultdict(list)
        for finding in findings:
            new[finding.rule, finding.file, finding.range].append(finding)
        for key, found in new.items():
            self._found.setdefault(key, found)
            self._units[key].append(unit)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings. Those that only some of the kustomizations with the file have name these kustomizations."""
        for key, found in self._found.items():
            units = self._units[key]
            if len(units) >= self._uses[key[1]]:
                yield from (finding._replace(unit=self._by_file.get(finding.file, units[0])) for finding in found)
                continue
            names = ", ".join(f'"{unit.path}"' for unit in units[:_MAX_NAMED]) + (", ..." if len(units) > _MAX_NAMED else "")
            for finding in found:
                yield finding._replace(message=f"{finding.message} (in kustomization {names})")
