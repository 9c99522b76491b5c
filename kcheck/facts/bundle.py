"""The facts of the objects of a deployment unit, with the lookups of rules across objects. No lookup compares all pairs of objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Literal, TypeVar

from kcheck.facts.facts import Aim, Claim, Facts, GeneratedObject, IngressPath, PodFact, PortFact, Reference
from kcheck.facts.kubeconfig import Section
from kcheck.facts.patches import patched
from kcheck.facts.pod_index import Backend, PodTable, grouped, wanted_labels
from kcheck.facts.pod_presence import Presence
from kcheck.facts.selector_coverage import Coverage
from kcheck.facts.unit import INPUT, Unit
from kcheck.facts.variants import Named, Variants, may_share
from kcheck.kube.labels import is_set_at_run_time
from kcheck.kube.placeholders import in_name, may_become
from kcheck.kube.selector import Selector

Scope = Literal["file", "folder", "input"]
Found = TypeVar("Found")
_PAIR = itemgetter(0), itemgetter(1)
_MAX_DISTANT_PODS = 30
"""Maximum number of Pods in other folders that are examined for one selector."""


class Bundle:
    """The facts of a deployment unit, or of the whole input.

    A rule gets the bundle of the unit of an object. Its lookups return objects of the unit, because objects of different units need not be
    in one cluster. A rule that reports that something is missing also looks in `input`.

    Attributes:
        unit: the deployment unit.
        input: the bundle of the whole input.
        complete: whether the unit and the rest of the input contain all objects that the unit needs, according to the config. Otherwise, a
            rule reports a missing object only if there are clear signs that it should be part of the input.
        facts: facts of all objects, with the changes of patches in the unit.
        folders: folders of the input, each with the names of its subfolders.
        variants: objects that occur several times.
        operated_names: names of custom resources whose controllers may create arbitrary Pods.
        operated_files: files with such custom resources that contain no Pod template.
        mentioned: names that custom resources and similar objects mention and may therefore create.
        kubeconfig: by (section, name) of a kubeconfig entry, the file that defines it.
        removed: only in `input`, objects of an earlier revision that are no longer in the input as they were: they do not exist, their
            Pods have other labels, or they have other selectors.
    """

    def __init__(
        self, facts: Iterable[Facts], complete: bool = False, files: Iterable[str] = (), unit: Unit = INPUT, input: Bundle | None = None
    ) -> None:
        self.complete = complete
        self.unit = unit
        self.input = self if input is None else input
        self.removed: Sequence[Facts] = ()
        self._files = files
        self._source = facts
        self._tables: dict[tuple[Scope, str], PodTable] = {}
        self._coverage: dict[tuple[Aim, str], Coverage] = {}
        self._presence: Presence | None = None
        # Names with placeholders by (folder, group, kind).
        self._unfilled: dict[tuple[str, str, str], list[str]] = {}
        self._results: dict[Callable[[Bundle], Any], Any] = {}

    @cached_property
    def facts(self) -> list[Facts]:
        """The facts of all objects. Cached facts of an earlier run are decoded on first access."""
        return patched(list(self._source))

    @property
    def folders(self) -> dict[str, set[str]]:
        """The folders of the input, each with the names of its subfolders; "" is the root."""
        return self.input._folders

    @cached_property
    def _folders(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {"": set()}
        for folder in {file.rpartition("/")[0] for file in chain(self._files, (f.place.file for f in self.facts))}:
            found.setdefault(folder, set())
            while folder:
                above, _, name = folder.rpartition("/")
                inner = found.setdefault(above, set())
                if name in inner:
                    break
                inner.add(name)
                folder = above
        return found

    def home(self, f: Facts) -> str:
        """Return the folder of an object, "" in a unit, whose objects are applied together in whichever folder they are."""
        return f.folder if self.unit.kind == "input" else ""

    @cached_property
    def _own(self) -> set[Named]:
        return {f.named for f in self.facts}

    def is_near(self, first: Facts, second: Facts) -> bool:
        """Return whether two objects certainly belong to one application: both are in the unit or, without units, in one folder."""
        if self.unit.kind == "input":
            return first.folder == second.folder
        return first.named in self._own and second.named in self._own

    def are_applied_together(self, first: Facts, second: Facts) -> bool:
        """Return whether two objects are certainly in one cluster at the same time.

        In a folder, objects of different files that do not set a namespace may be examples.
        """
        one, two = first.place.file, second.place.file
        if one == two:
            return True
        if self.unit.is_whole and self.is_near(first, second):
            return self.unit.kind != "folder" or all(f.id.namespace not in ("", "default") for f in (first, second))
        return self.complete and not self.variants.alternatives(one, two)

    def peers_of(self, by: Facts) -> list[Facts]:
        """Return the objects that are certainly part of the application of an object: those of a whole unit, otherwise of its file."""
        return self.facts if self.unit.is_whole else self.in_scope(by, "file")

    @cached_property
    def variants(self) -> Variants:
        """Objects that occur several times."""
        return Variants(f.named for f in self.facts if f.is_complete and f.id.name)

    @cached_property
    def _by_file(self) -> dict[str, list[Facts]]:
        return grouped(self.facts, lambda f: f.place.file)

    @cached_property
    def _by_folder(self) -> dict[str, list[Facts]]:
        """Folder -> objects in its files, without subfolders."""
        return grouped(self.facts, self.home)

    @cached_property
    def _by_kind(self) -> dict[tuple[str, str, str], list[Facts]]:
        return grouped((f for f in self.facts if f.is_complete), lambda f: (self.home(f), f.group, f.id.kind))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str], list[Facts]]:
        """(group, kind, name) -> objects in any namespace."""
        return grouped(self.facts, lambda f: (f.group, f.id.kind, f.id.name))

    @cached_property
    def _users(self) -> set[tuple[str, str, str]]:
        return {(place, r.kind, r.name) for f in self.facts for r in f.references for place in (self.home(f), f.place.file)}

    @property
    def operated_names(self) -> frozenset[str]:
        """Names of custom resources of the input whose controllers may create arbitrary Pods."""
        return self.input._operated_names

    @cached_property
    def _operated_names(self) -> frozenset[str]:
        return frozenset(f.id.name for f in self.facts if f.operated)

    @cached_property
    def operated_files(self) -> frozenset[str]:
        """Files with such custom resources that contain no Pod template."""
        return frozenset(f.place.file for f in self.facts if f.operated and not f.pods)

    def is_operated(self, by: Facts) -> bool:
        """Return whether the controller of a custom resource, in the file or whole unit of an object, may create arbitrary Pods."""
        return bool(self.operated_files) if self.unit.is_whole else by.place.file in self.operated_files

    @cached_property
    def _changes_pods(self) -> bool:
        """Whether a Pod of the unit may create or patch Pods: it may add labels that the input does not show."""
        if not any(f.changes_pods for f in self.facts):
            return False
        accounts = {r.name for f in self.facts if f.pods for r in f.references if r.use == "account"}
        bindings = (f for f in self.facts if any(r.use == "subject" and r.name in accounts for r in f.references))
        return any(role.changes_pods for f in bindings for r in f.references if r.use == "role" for role in self.candidates(r))

    @cached_property
    def _makers(self) -> dict[tuple[str, str], list[tuple[Facts, GeneratedObject]]]:
        pairs = [(f, made) for f in self.facts for made in f.makes]
        return grouped(pairs, lambda pair: (pair[1].kind, pair[1].name))

    @cached_property
    def _host_ports(self) -> dict[tuple[int, str, str], list[tuple[Facts, PodFact, PortFact]]]:
        taken = [(f, pod, port) for f in self.facts if f.is_complete for pod in f.pods if pod.nodes for port in pod.ports if port.host_port]
        return grouped(taken, lambda each: (each[2].host_port, each[2].protocol, self._cluster(each[0].place.file)))

    @property
    def mentioned(self) -> frozenset[str]:
        """Names that custom resources and similar objects of the input mention and may therefore create."""
        return self.input._mentioned

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        return frozenset(self._mentions)

    @cached_property
    def _mentions(self) -> Counter[str]:
        """Name -> number of objects that mention it."""
        return Counter(chain.from_iterable(f.mentions for f in self.facts if f.mentions))

    def is_mentioned(self, name: str, by: Facts) -> bool:
        """Return whether an object other than `by` mentions a name and may therefore create the object."""
        return self.input._mentions[name] > (name in by.mentions)

    @property
    def kubeconfig(self) -> dict[tuple[Section, str], Facts]:
        """(section, name) of a kubeconfig entry -> the first file that defines it, as KUBECONFIG merges several files."""
        return self.input._kubeconfig

    @cached_property
    def _kubeconfig(self) -> dict[tuple[Section, str], Facts]:
        table: dict[tuple[Section, str], Facts] = {}
        for f in self.facts:
            for section, entries in f.kubeconfig.entries.items() if f.kubeconfig is not None else ():
                for name in entries:
                    table.setdefault((section, name), f)
        return table

    def once(self, make: Callable[[Bundle], Found]) -> Found:
        """Return the result of a function of this bundle, such as a lookup table of a rule, computed on first use."""
        if make not in self._results:
            self._results[make] = make(self)
        found: Found = self._results[make]
        return found

    def named(self, kind: str, name: str, group: str = "") -> list[Facts]:
        """Return the objects of a kind and name in any namespace: those of the unit, otherwise those of the input."""
        return self._by_name.get((group, kind, name)) or self.input._by_name.get((group, kind, name), [])

    def in_scope(self, by: Facts, scope: Scope) -> list[Facts]:
        """Return the objects of this bundle, of the folder of an object, or of its file. The folder of a unit is the unit."""
        if scope == "input":
            return self.facts
        return self._by_folder.get(self.home(by), []) if scope == "folder" else self._by_file.get(by.place.file, [])

    def neighbours(self, by: Facts, kind: str, group: str = "") -> list[Facts]:
        """Return the objects of a kind, except patches, in the unit or folder of an object."""
        return self._by_kind.get((self.home(by), group, kind), [])

    def pods_matching(self, by: Facts, selector: Selector, scope: Scope = "input") -> Iterator[Backend]:
        """Yield the Pods that a selector of an object matches, except those of patches and of variants that do not belong to the object.

        The Pods of the same file are first, followed by the same folder and other folders. The number of Pods of other folders is limited
        unless the input is complete, because it may contain several applications.
        """
        here, folder = by.place.file, by.folder
        yield from self._matching(by, selector, self._table("file", here, by))
        if scope != "file":
            yield from self._matching(by, selector, self._table("folder", self.home(by), by), but_file=here)
        if scope == "input" and self.unit.kind == "input":
            far = self._matching(by, selector, self._table("input", "", by), but_folder=folder)
            # If the input contains many repositories, some labels occur in all of them, although the repositories are independent.
            yield from far if self.complete else islice(far, _MAX_DISTANT_PODS)

    def is_met(self, by: Facts, selector: Selector) -> bool:
        """Return whether there are signs of Pods for a selector. Used by rules that report that a selector matches no Pod."""
        if any(is_set_at_run_time(r.key) for r in selector.requirements):
            return True
        if next(self.pods_matching(by, selector), None) is not None or self._changes_pods:
            return True
        # Other overlays deploy other versions of the same Pods.
        is_build = self.unit.kind == "kustomization" and self.unit.is_whole
        return self.input._has_signs(by, selector, self._by_file if is_build else ())

    def _has_signs(self, by: Facts, selector: Selector, but_files: Collection[str]) -> bool:
        self._presence = self._presence or Presence(self.facts, self._table("input", "", by))
        return self._presence.has_signs(by, selector, but_files)

    def pods(self, by: Facts, scope: Scope) -> list[Backend]:
        """Return all Pods, except those of patches, of the file of an object, its folder or the input."""
        return self._table(scope, {"file": by.place.file, "folder": self.home(by), "input": ""}[scope], by).pairs

    def near_misses(self, by: Facts, selector: Selector) -> Iterator[Backend]:
        """Yield Pods in the folder of an object that have a label of the selector, also with a typo in key or value."""
        table = self._table("folder", self.home(by), by)
        seen: set[int] = set()
        for label in table.alike(selector):
            for files in table.by_label.get(label, {}).values():
                for f, pod in (pair for pairs in files.values() for pair in pairs):
                    if id(pod) not in seen and self.together(by, f):
                        seen.add(id(pod))
                        yield f, pod

    def _matching(
        self, by: Facts, selector: Selector, table: PodTable, but_file: str | None = None, but_folder: str | None = None
    ) -> Iterator[Backend]:
        """Yield the matching Pods of a table, except those of a file or folder that was searched before."""
        if not table.pairs:
            return
        variants, here, namespace = self.variants, by.place.file, by.id.namespace
        wanted = wanted_labels(selector)
        for identity, files in table.candidates(selector, namespace):
            near = variants.nearest(identity, here)
            for file in files if near is None else near:
                if file == but_file:
                    continue
                for f, pod in files.get(file, ()):
                    if f.folder == but_folder or not may_share(namespace, f.id.namespace):
                        continue
                    is_met = wanted is not None and wanted <= pod.labels.items()
                    if (is_met or pod.meets(selector)) and variants.is_nearest(by.named, file):
                        yield f, pod

    def _table(self, scope: Scope, key: str, by: Facts) -> PodTable:
        table = self._tables.get((scope, key))
        if table is None:
            table = self._tables[scope, key] = PodTable(self.in_scope(by, scope))
        return table

    def together(self, first: Facts, second: Facts) -> bool:
        """Return whether two objects may be in the same namespace of the same cluster: see Variants."""
        if not may_share(first.id.namespace, second.id.namespace):
            return False
        inside = first.named in self._own and second.named in self._own
        return (self if inside else self.input).variants.together(first.named, second.named)

    def exists(self, reference: Reference) -> bool:
        """Return whether the input contains an object that a reference may refer to, or one whose controller generates it."""
        return bool(self.input._copies(reference) or self.input.generators(reference))

    def was_removed(self, reference: Reference) -> bool:
        """Return whether an earlier revision of the input contained an object that a reference may refer to."""
        wanted = reference.api_group, reference.kind, reference.name
        return any((f.group, f.id.kind, f.id.name) == wanted and may_share(f.id.namespace, reference.namespace) for f in self.input.removed)

    def had_pods(self, by: Facts, selector: Selector) -> bool:
        """Return whether an earlier revision of the input contained Pods that a selector of an object matches, or that the selector it had
        there matched.
        """
        former = [f.selectors[0].selector for f in self.input.removed if f.selectors and f.named.identity == by.named.identity]
        if any(next(self.input.pods_matching(by, each), None) is not None for each in former):
            return True
        near = [f for f in self.input.removed if may_share(f.id.namespace, by.id.namespace)]
        return any(pod.meets(each) for each in (selector, *former) for f in near for pod in f.pods)

    def candidates(self, reference: Reference) -> list[Facts]:
        """Return the objects that a reference may refer to, including variants: those of the unit, otherwise those of the input."""
        return self._copies(reference) or self.input._copies(reference)

    def _copies(self, reference: Reference) -> list[Facts]:
        found = self._by_name.get((reference.api_group, reference.kind, reference.name), ())
        return [f for f in found if may_share(f.id.namespace, reference.namespace)]

    def may_be_unfilled(self, by: Facts, reference: Reference) -> bool:
        """Return whether a reference may refer to an object in the unit or folder of `by` whose name contains a placeholder."""
        key = (self.home(by), reference.api_group, reference.kind)
        names = self._unfilled.get(key)
        if names is None:
            names = self._unfilled[key] = [f.id.name for f in self._by_kind.get(key, ()) if in_name(f.id.name)]
        return any(may_become(name, reference.name) for name in names)

    def nearest(self, by: Facts, reference: Reference) -> list[Facts]:
        """Return the candidates to which no variant of an object is nearer."""
        return [f for f in self.candidates(reference) if self.is_nearest(by, f)]

    def is_nearest(self, by: Facts, other: Facts) -> bool:
        """Return whether no variant of an object is nearer to another object."""
        return (self if other.named in self._own else self.input).variants.is_nearest(by.named, other.place.file)

    def resolve(self, by: Facts, reference: Reference) -> list[Facts]:
        """Return the copies that an object refers to; none if the unit has none.

        That is the one in its file, otherwise those to which no variant of `by` is nearer. If the objects of the unit may be used with
        others, such as those of an overlay with its base, copies in other units count.
        """
        copies = self._copies(reference)
        here = [f for f in copies if f.place.file == by.place.file]
        if copies and not here and self.unit.kind != "kustomization":
            copies = self.input._copies(reference)
        return here or [f for f in copies if self.is_nearest(by, f)] or copies

    def generators(self, reference: Reference) -> list[GeneratedObject]:
        """Return the generated objects of the unit, or of a complete input, that a reference may refer to."""
        found = (self.input if self.complete else self)._makers.get((reference.kind, reference.name), ())
        return [made for f, made in found if may_share(f.id.namespace, reference.namespace)]

    def covering(self, workload: Facts, aim: Aim, scope: Literal["file", "input"] = "input") -> list[Facts]:
        """Return the objects of the unit, or of the file of the workload, whose selectors with this aim match its Pods."""
        key = (aim, workload.place.file if scope == "file" else "")
        if key not in self._coverage:
            self._coverage[key] = Coverage(self.in_scope(workload, scope), partial(self.pods_matching, scope=scope), aim, self.variants)
        return self._coverage[key].owners_of(workload)

    @cached_property
    def _scalers(self) -> dict[tuple[str, str, str], list[tuple[Facts, Reference]]]:
        named = [(f, r) for f in self.facts if f.is_complete for r in f.references if r.use == "target"]
        return grouped(named, lambda pair: (pair[1].api_group, pair[1].kind, pair[1].name))

    def scalers(self, workload: Facts) -> list[tuple[Facts, Reference]]:
        """Return the autoscalers of a workload, each with its reference to the workload."""
        found = self._scalers.get((workload.group, workload.id.kind, workload.id.name), ())
        return [(f, r) for f, r in found if self.together(workload, f)]

    @cached_property
    def _claims(self) -> dict[tuple[str, str | IngressPath], list[tuple[Facts, Claim]]]:
        claimed = [(f, claim) for f in self.facts if f.is_complete for claim in f.claims]
        return grouped(claimed, lambda pair: (pair[1].what, pair[1].value))

    def claimants(self, claim: Claim) -> list[tuple[Facts, Claim]]:
        """Return all objects of the unit with the same claim."""
        return self._claims.get((claim.what, claim.value), [])

    @cached_property
    def _labelled(self) -> dict[tuple[str, str, str], list[Facts]]:
        pairs = [((f.id.kind, key, value), f) for f in self.facts for key, value in f.labels.items()]
        return grouped(pairs, *_PAIR)

    def labelled(self, kind: str, key: str, value: str) -> list[Facts]:
        """Return the objects of a kind, including patches, that have a label in their own metadata."""
        return self._labelled.get((kind, key, value), [])

    def is_used(self, by: Facts, kind: str, name: str, in_file: bool) -> bool:
        """Return whether an object in the file, or in the unit or folder, of another one refers to a ConfigMap or Secret."""
        return (by.place.file if in_file else self.home(by), kind, name) in self._users

    def host_port_users(self, port: PortFact, file: str) -> list[tuple[Facts, PodFact, PortFact]]:
        """Return the Pods with the same host port that certainly run in the cluster of a file's Pods."""
        return self._host_ports.get((port.host_port, port.protocol, self._cluster(file)), [])

    def _cluster(self, file: str) -> str:
        """Return a key of the objects that are certainly in one cluster with those of a file."""
        return "" if self.complete or self.unit.is_whole else file
