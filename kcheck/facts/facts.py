"""What an object says that other objects care about: small, picklable, with places. Rules across objects see nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal

from kcheck.facts.gitops import Delivery
from kcheck.facts.kubeconfig import Kubeconfig
from kcheck.facts.network import Address, Network
from kcheck.facts.variants import Named, identity
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.selector import Requirement, Selector
from kcheck.text.record import NamedTuple

Use = Literal[
    "env", "envFrom", "volume", "subPath", "pull", "backend", "hook", "target", "account", "subject", "role", "class", "own", "name",
]  # fmt: skip
Aim = Literal[
    "own", "service", "budget", "policy", "peer", "affinity", "anti-affinity", "preferred-anti-affinity", "spread", "monitor",
    "pod-monitor",
    "ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe", "ScrapeConfig",
]  # fmt: skip


_NO_ENTRIES: Mapping[str, Location] = {}


class PortFact(NamedTuple):
    """A port of a container, of a Service (then with `target`: number, name or None for the same number), or that a monitor asks for
    (`name`: that of a Service's or pod's port, `target` or `number`: a container's).
    """

    name: str
    number: int
    protocol: str
    place: Location
    target: int | str | None = None
    target_place: Location | None = None
    host_port: int = 0
    host_ip: str = ""


class NodesFact(NamedTuple):
    """Which nodes a pod can go to: its nodeSelector, whether more than that decides, and the taints that it tolerates."""

    selector: Mapping[str, str]
    narrowed: bool
    tolerations: frozenset[str]

    def covers(self, other: NodesFact) -> bool:
        """Whether a pod that runs on all of these nodes surely meets the other wherever that goes."""
        return not self.narrowed and self.selector.items() <= other.selector.items() and other.tolerations <= self.tolerations


class PodSecurityViolation(NamedTuple):
    """A control of the Pod Security Standards that a pod breaks: see kube/podsecurity.py. `place`: of what breaks it.

    `latest`: whether the standards of the Kubernetes at hand have it; pinned ones have it since 1.`since` and before 1.`until`.
    """

    control: str
    restricted: bool
    text: str
    who: tuple[str, ...]
    place: Location | None
    since: int
    until: int
    latest: bool


class PodFact(NamedTuple):
    """The pods that an object makes or is. `labels` are those of the pod; `place` shows them.

    `added`: keys of the labels that its controller adds, None where that may be any. `patches`: labels that patches in the input
    may give it. `nodes`: told of pods with host ports. `probed`: whether a container says when it is ready.
    `breaches`: told of pods whose namespace is known.
    """

    labels: Mapping[str, str]
    ports: tuple[PortFact, ...]
    place: Location
    host_network: bool = False
    added: frozenset[str] | None = frozenset()
    nodes: NodesFact | None = None
    patches: tuple[Mapping[str, str], ...] = ()
    probed: bool = True
    breaches: tuple[PodSecurityViolation, ...] = ()
    # Init containers that end and ephemeral ones serve nobody, so their ports are not here.

    def meets(self, selector: Selector) -> bool:
        """Whether the pod has, or may be given, the labels that a selector wants."""
        if self.surely_meets(selector):
            return True
        # A custom resource may be given any label, but something should speak for it.
        speaking = (r for r in selector.requirements if r.key in self.labels and r.operator not in ("NotIn", "DoesNotExist"))
        if self.added is not None or not any(r.matches(self.labels) for r in speaking):
            return False
        return all(r.matches(self.labels) or r.key not in self.labels for r in selector.requirements)

    def surely_meets(self, selector: Selector) -> bool:
        """The same, but nothing is expected of a controller that nobody knows."""
        return all(r.matches(self.labels) or self._may_meet(r) for r in selector.requirements)

    def _may_meet(self, requirement: Requirement) -> bool:
        return requirement.key in (self.added or ()) or any(requirement.key in p and requirement.matches(p) for p in self.patches)


class SelectorFact(NamedTuple):
    """A selector over pods of the same namespace, or of Services for a monitor. `owns`: a controller's, which must not overlap with
    another's.

    `entries`: where each label of a Service's selector stands, by its key. `elsewhere`: it may look into other namespaces, too.
    `topology`: of a term of (anti-)affinity. `namespaces`: of a monitor that names those in which it looks. A Prometheus selects
    monitors and rules, by the aims of their kinds; `homes`: the labels of the namespaces in which it looks, None for its own.
    """

    selector: Selector
    place: Location
    owns: bool
    entries: Mapping[str, Location] = _NO_ENTRIES
    aim: Aim = "own"
    elsewhere: bool = False
    topology: str = ""
    namespaces: frozenset[str] = frozenset()
    homes: Selector | None = None


class ScaleFact(NamedTuple):
    """How many pods a workload has, or an autoscaler gives its target. `written`: whether the object says so itself."""

    low: int
    high: int
    place: Location
    written: bool = True


class BudgetFact(NamedTuple):
    """What a disruption budget asks for: a number or a percentage, None for what it does not say."""

    available: int | str | None
    unavailable: int | str | None
    place: Location


class Grant(NamedTuple):
    """Rights on custom resources: a plural, and the API groups of which one should have it."""

    plural: str
    groups: tuple[str, ...]
    place: Location


class Claim(NamedTuple):
    """Something that only one object can have: `what` it is ("host", "external-dns", "user"), and which."""

    what: str
    value: str
    place: Location


class Reference(NamedTuple):
    """An object that this one names. `key`: the entry of its data or the port that is meant, "" for the whole of it.

    `partly`: of a volume, that it or its mounts choose entries, which are references of their own.
    """

    api_group: str
    kind: str
    namespace: str
    name: str
    place: Location
    key: str = ""
    key_place: Location | None = None
    optional: bool = False
    use: Use = "env"
    partly: bool = False


class GeneratedObject(NamedTuple):
    """A ConfigMap or Secret that a controller makes from an object. `keys`: its entries, None where they cannot be known."""

    kind: str
    name: str
    keys: frozenset[str] | None = None


@dataclass(slots=True)
class Facts:
    """One object as the others see it. Nobody changes one: it is not frozen, for making what is takes four times as long.

    `scale`, `budget`: of what has one. `claims`: what no other object may have. `marks`: single facts, such as "anti-affinity".
    `whole`: no patch, which names just what it changes. `keys`: entries of a ConfigMap's or Secret's data, None where they cannot
    be known. `makes`: what its controller makes of it; `mentions`: names in it that may be of such things, too; `words`: texts in it
    that may be names of what a program uses. `operated`: whether
    its controller may make pods that nobody can know. `headless`: of a Service. `network`: what policies, gateways, routes and grants
    say. `delivery`: what Argo CD and Flux deliver. `grants`: of a role.
    `addresses`: what its texts name.
    """

    id: ObjectId
    place: Location
    labels: Mapping[str, str]
    pods: tuple[PodFact, ...] = ()
    selectors: tuple[SelectorFact, ...] = ()
    references: tuple[Reference, ...] = ()
    ports: tuple[PortFact, ...] = ()
    keys: frozenset[str] | None = None
    makes: tuple[GeneratedObject, ...] = ()
    mentions: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    whole: bool = True
    operated: bool = False
    headless: bool = False
    scale: ScaleFact | None = None
    budget: BudgetFact | None = None
    claims: tuple[Claim, ...] = ()
    marks: frozenset[str] = frozenset()
    kubeconfig: Kubeconfig | None = None
    network: Network | None = None
    delivery: Delivery | None = None
    grants: tuple[Grant, ...] = ()
    addresses: tuple[Address, ...] = ()

    group: str = field(init=False, compare=False, repr=False)
    folder: str = field(init=False, compare=False, repr=False)
    named: Named = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """What look-ups across objects ask for time and again is made once."""
        api_version, kind, namespace, name = self.id
        file = self.place.file
        self.group = api_version.rpartition("/")[0]
        self.folder = file.rpartition("/")[0]
        self.named = Named(identity(self.group, kind, namespace, name), file)

    def __reduce__(self) -> tuple[type[Facts], tuple[Any, ...]]:
        """For pickling: thousands go from process to process, and what dataclasses do by themselves takes five times as long."""
        return Facts, _GIVEN(self)

    @property
    def title(self) -> str:
        """ "Deployment web", as messages call it."""
        return f"{self.id.kind} {self.id.name}"


_GIVEN: Callable[[Facts], tuple[Any, ...]] = attrgetter(*(each.name for each in fields(Facts) if each.init))
