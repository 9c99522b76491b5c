"""The facts of all objects of a run, with the look-ups that rules across objects need. None of them goes through all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Literal, TypeVar

from kcheck.facts.facts import Aim, Claim, Facts, GeneratedObject, PodFact, PortFact, Reference
from kcheck.facts.kubeconfig import Section
from kcheck.facts.patches import patched
from kcheck.facts.pod_index import Backend, PodTable, grouped, wanted_labels
from kcheck.facts.pod_presence import Presence
from kcheck.facts.selector_coverage import Coverage
from kcheck.facts.variants import Variants, may_share
from kcheck.kube.selector import Selector

Scope = Literal["file", "folder", "input"]
Found = TypeVar("Found")
_PAIR = itemgetter(0), itemgetter(1)
_FAR = 30
"""Pods of other folders that are looked at for one selector."""


class Bundle:
    """The facts of a run.

    `complete`: the config says that the input is all there is. Otherwise a missing object is news only where a rule sees an obvious
    sign, so that its absence is no accident of what was given. `files`: all that were found, those without objects, too.
    """

    def __init__(self, facts: Iterable[Facts], complete: bool = False, files: Iterable[str] = ()) -> None:
        self.complete = complete
        self._files = files
        self._given = facts
        self._tables: dict[tuple[Scope, str], PodTable] = {}
        self._coverage: dict[tuple[Aim, str], Coverage] = {}
        self._presence: Presence | None = None
        self._made: dict[Callable[[Bundle], Any], Any] = {}

    @cached_property
    def facts(self) -> list[Facts]:
        """All objects. Those that an earlier run has read are made when somebody asks."""
        return patched(list(self._given))

    @cached_property
    def folders(self) -> dict[str, set[str]]:
        """The folders of the input, each with the names of those in it."""
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

    @cached_property
    def variants(self) -> Variants:
        return Variants(f.named for f in self.facts if f.whole and f.id.name)

    @cached_property
    def _by_file(self) -> dict[str, list[Facts]]:
        return grouped(self.facts, lambda f: f.place.file)

    @cached_property
    def _by_folder(self) -> dict[str, list[Facts]]:
        """Folder -> objects of its own files, not of folders below it."""
        return grouped(self.facts, lambda f: f.folder)

    @cached_property
    def _by_kind(self) -> dict[tuple[str, str, str], list[Facts]]:
        return grouped((f for f in self.facts if f.whole), lambda f: (f.folder, f.group, f.id.kind))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str], list[Facts]]:
        """(group, kind, name) -> objects, of any namespace."""
        return grouped(self.facts, lambda f: (f.group, f.id.kind, f.id.name))

    @cached_property
    def _users(self) -> set[tuple[str, str, str]]:
        return {(place, r.kind, r.name) for f in self.facts for r in f.references for place in (f.folder, f.place.file)}

    @cached_property
    def operated_names(self) -> frozenset[str]:
        """Names of custom resources whose operators make whatever pods they like."""
        return frozenset(f.id.name for f in self.facts if f.operated)

    @cached_property
    def operated_files(self) -> frozenset[str]:
        """Files with such custom resources, where they show no pod template."""
        return frozenset(f.place.file for f in self.facts if f.operated and not f.pods)

    @cached_property
    def _makers(self) -> dict[tuple[str, str], list[tuple[Facts, GeneratedObject]]]:
        pairs = [(f, made) for f in self.facts for made in f.makes]
        return grouped(pairs, lambda pair: (pair[1].kind, pair[1].name))

    @cached_property
    def _host_ports(self) -> dict[tuple[int, str, str], list[tuple[Facts, PodFact, PortFact]]]:
        taken = [(f, pod, port) for f in self.facts if f.whole for pod in f.pods if pod.nodes for port in pod.ports if port.host_port]
        return grouped(taken, lambda each: (each[2].host_port, each[2].protocol, "" if self.complete else each[0].place.file))

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Names that custom resources and the like mention, and so may make."""
        return frozenset(self._mentions)

    @cached_property
    def _mentions(self) -> Counter[str]:
        """By name, how many objects mention it."""
        return Counter(chain.from_iterable(f.mentions for f in self.facts if f.mentions))

    def is_mentioned(self, name: str, by: Facts) -> bool:
        """Whether another object than the one that names it mentions a name as if to make what is called so."""
        return self._mentions[name] > (name in by.mentions)

    @cached_property
    def kubeconfig(self) -> dict[tuple[Section, str], Facts]:
        """(section, name) of a kubeconfig's entry -> the file that has it: the first one, as where KUBECONFIG merges several."""
        table: dict[tuple[Section, str], Facts] = {}
        for f in self.facts:
            for section, entries in f.kubeconfig.entries.items() if f.kubeconfig is not None else ():
                for name in entries:
                    table.setdefault((section, name), f)
        return table

    def once(self, make: Callable[[Bundle], Found]) -> Found:
        """What a function makes of the whole input, made when it is first asked for: a table by which a rule finds what it needs."""
        if make not in self._made:
            self._made[make] = make(self)
        found: Found = self._made[make]
        return found

    def named(self, kind: str, name: str, group: str = "") -> list[Facts]:
        """The objects of a kind and name, of any namespace."""
        return self._by_name.get((group, kind, name), [])

    def around(self, by: Facts, scope: Scope) -> list[Facts]:
        """The objects of the whole input, of an object's folder, or of its file."""
        if scope == "input":
            return self.facts
        return self._by_folder[by.folder] if scope == "folder" else self._by_file[by.place.file]

    def neighbours(self, by: Facts, kind: str, group: str = "") -> list[Facts]:
        """The whole objects of a kind in an object's folder."""
        return self._by_kind.get((by.folder, group, kind), [])

    def selected(self, by: Facts, selector: Selector, scope: Scope = "input") -> Iterator[Backend]:
        """The pods that a selector of an object matches, among those of whole objects that can belong together with it: first those
        of its file, then of its folder, then others: not all of many, where the input may be more than one application.
        """
        here, folder = by.place.file, by.folder
        yield from self._found(by, selector, self._table("file", here, by))
        if scope != "file":
            yield from self._found(by, selector, self._table("folder", folder, by), but_file=here)
        if scope == "input":
            far = self._found(by, selector, self._table("input", "", by), but_folder=folder)
            # Where many repositories lie side by side, some label is in all of them, and what is in one says little of another.
            yield from far if self.complete else islice(far, _FAR)

    def is_met(self, by: Facts, selector: Selector) -> bool:
        """Whether pods seem to be there for a selector of an object: what rules ask that say there are none."""
        if next(self.selected(by, selector), None) is not None:
            return True
        self._presence = self._presence or Presence(self.facts, self._table("input", "", by))
        return self._presence.seems(by, selector)

    def pods(self, by: Facts, scope: Scope) -> list[Backend]:
        """All pods of whole objects of an object's file, its folder or the input."""
        return self._table(scope, {"file": by.place.file, "folder": by.folder, "input": ""}[scope], by).pairs

    def alike(self, by: Facts, selector: Selector) -> Iterator[Backend]:
        """Pods of an object's folder that have some of what a selector wants, or but for a slip of the pen in a key or value would."""
        table = self._table("folder", by.folder, by)
        seen: set[int] = set()
        for label in table.alike(selector):
            for files in table.by_label.get(label, {}).values():
                for f, pod in (pair for pairs in files.values() for pair in pairs):
                    if id(pod) not in seen and self.together(by, f):
                        seen.add(id(pod))
                        yield f, pod

    def _found(
        self, by: Facts, selector: Selector, table: PodTable, but_file: str | None = None, but_folder: str | None = None
    ) -> Iterator[Backend]:
        """Those of a table, but for a file or folder whose pods were found before."""
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
            table = self._tables[scope, key] = PodTable(self.around(by, scope))
        return table

    def together(self, first: Facts, second: Facts) -> bool:
        """Whether two objects can live in one namespace of one cluster, as far as the input says: see Variants."""
        return may_share(first.id.namespace, second.id.namespace) and self.variants.together(first.named, second.named)

    def copies(self, reference: Reference) -> list[Facts]:
        """The objects of the input that a reference can mean, variants of one another included."""
        found = self._by_name.get((reference.api_group, reference.kind, reference.name), ())
        return [f for f in found if may_share(f.id.namespace, reference.namespace)]

    def meant(self, by: Facts, reference: Reference) -> list[Facts]:
        """Those of the copies that an object means: the one in its file, else all but those that a variant of it is nearer to."""
        copies = self.copies(reference)
        here = [f for f in copies if f.place.file == by.place.file]
        return here or [f for f in copies if self.variants.is_nearest(by.named, f.place.file)] or copies

    def makers(self, reference: Reference) -> list[GeneratedObject]:
        """What the controllers of objects of the input make that a reference can mean."""
        found = self._makers.get((reference.kind, reference.name), ())
        return [made for f, made in found if may_share(f.id.namespace, reference.namespace)]

    def covering(self, workload: Facts, aim: Aim, scope: Literal["file", "input"] = "input") -> list[Facts]:
        """The objects of the whole input, or of the workload's file, whose selectors of this aim match its pods."""
        key = (aim, workload.place.file if scope == "file" else "")
        if key not in self._coverage:
            self._coverage[key] = Coverage(self.around(workload, scope), partial(self.selected, scope=scope), aim, self.variants)
        return self._coverage[key].over(workload)

    @cached_property
    def _scalers(self) -> dict[tuple[str, str, str], list[tuple[Facts, Reference]]]:
        named = [(f, r) for f in self.facts if f.whole for r in f.references if r.use == "target"]
        return grouped(named, lambda pair: (pair[1].api_group, pair[1].kind, pair[1].name))

    def scalers(self, workload: Facts) -> list[tuple[Facts, Reference]]:
        """The autoscalers of a workload, and where they name it."""
        found = self._scalers.get((workload.group, workload.id.kind, workload.id.name), ())
        return [(f, r) for f, r in found if self.together(workload, f)]

    @cached_property
    def _claims(self) -> dict[tuple[str, str], list[tuple[Facts, Claim]]]:
        claimed = [(f, claim) for f in self.facts if f.whole for claim in f.claims]
        return grouped(claimed, lambda pair: (pair[1].what, pair[1].value))

    def claimants(self, claim: Claim) -> list[tuple[Facts, Claim]]:
        """All that claim the same thing."""
        return self._claims.get((claim.what, claim.value), [])

    @cached_property
    def _labelled(self) -> dict[tuple[str, str, str], list[Facts]]:
        pairs = [((f.id.kind, key, value), f) for f in self.facts for key, value in f.labels.items()]
        return grouped(pairs, *_PAIR)

    def labelled(self, kind: str, key: str, value: str) -> list[Facts]:
        """The objects of a kind, patches among them, that have a label themselves."""
        return self._labelled.get((kind, key, value), [])

    def is_used(self, file_or_folder: str, kind: str, name: str) -> bool:
        """Whether an object of a file or folder refers to a ConfigMap or Secret."""
        return (file_or_folder, kind, name) in self._users

    def takers(self, port: PortFact, file: str) -> list[tuple[Facts, PodFact, PortFact]]:
        """The pods that take the same port of their nodes, in a file or, where the input is complete, in all of it."""
        return self._host_ports.get((port.host_port, port.protocol, "" if self.complete else file), [])
