"""Facts: the data of an object that rules across objects use. Small and picklable, with locations."""

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
    """A port of a container, of a Service, or that a monitor scrapes.

    Attributes:
        name: name of the port. Of a monitor: port name of a Service or Pod.
        number: port number. Of a monitor: port number of a container.
        protocol: protocol of the port.
        place: location of the port.
        target: targetPort of a Service (number, name, or None for the same number). Of a monitor: port of a container.
        target_place: location of `target`.
        host_port: hostPort of a container, 0 if there is none.
        host_ip: hostIP of a container.
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
    """The nodes on which a Pod can run.

    Attributes:
        selector: nodeSelector of the Pod.
        narrowed: whether further fields restrict the nodes.
        tolerations: taints that the Pod tolerates.
    """

    selector: Mapping[str, str]
    narrowed: bool
    tolerations: frozenset[str]

    def covers(self, other: NodesFact) -> bool:
        """Return whether these nodes certainly include all nodes of `other`."""
        return not self.narrowed and self.selector.items() <= other.selector.items() and other.tolerations <= self.tolerations


class PodSecurityViolation(NamedTuple):
    """A violation of the Pod Security Standards by a Pod: see kube/pod_security.py.

    Attributes:
        control: name of the control.
        restricted: whether only the restricted level includes the control.
        text: the field and value, as messages quote it.
        who: names of the containers without the required field.
        place: location of the violating value, None if a required field is missing.
        since: minor version since which the control applies to namespaces with a pinned version.
        until: minor version since which it no longer applies to them.
        latest: whether the standards of the checked Kubernetes version include the control.
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
    """The Pods of an object: those that its controller creates, or the object itself.

    Attributes:
        labels: labels of the Pod.
        ports: ports of its containers. Ports of init containers that terminate and of ephemeral containers are not included.
        place: location of the labels.
        host_network: value of hostNetwork.
        added: keys of the labels that the controller adds, None if it may add any label.
        nodes: nodes on which the Pod can run; set only for Pods with host ports.
        patches: labels that patches in the input may add.
        probed: whether a container has a readiness probe, or the Pod needs none because it is an in-memory cache.
        local: whether a container uses an image that is never pulled, as in a development cluster.
        unrequested: cpu and memory, if a container has neither a request nor a limit.
        requested: cpu and memory, if a container has a request or a limit.
        breaches: violations of the Pod Security Standards; set only if the namespace is known.
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
    unrequested: frozenset[str] = frozenset()
    requested: frozenset[str] = frozenset()
    local: bool = False

    def meets(self, selector: Selector) -> bool:
        """Return whether the Pod has, or may get, the labels that a selector requires."""
        if self.surely_meets(selector):
            return True
        # A controller may add any label, but at least one label of the Pod must match.
        relevant = (r for r in selector.requirements if r.key in self.labels and r.operator not in ("NotIn", "DoesNotExist"))
        if self.added is not None or not any(r.matches(self.labels) for r in relevant):
            return False
        return all(r.matches(self.labels) or r.key not in self.labels for r in selector.requirements)

    def surely_meets(self, selector: Selector) -> bool:
        """Like `meets`, without labels that an unknown controller may add."""
        return all(r.matches(self.labels) or self._may_meet(r) for r in selector.requirements)

    def _may_meet(self, requirement: Requirement) -> bool:
        return requirement.key in (self.added or ()) or any(requirement.key in p and requirement.matches(p) for p in self.patches)


class SelectorFact(NamedTuple):
    """A selector of Pods in the same namespace, of Services (by a monitor), or of monitors and rules (by a Prometheus).

    Attributes:
        selector: the selector.
        place: location of the selector.
        owns: whether it is the selector of a controller, which must not overlap with another one.
        entries: location of each label of the selector of a Service, by key.
        aim: purpose of the selector. For a Prometheus, the kind of the selected objects.
        elsewhere: whether it may also select in other namespaces.
        topology: topologyKey of a term of (anti-)affinity.
        namespaces: namespaces in which a monitor selects, if it lists them.
        homes: selector of the namespaces in which a Prometheus selects, None for its own namespace.
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


class UtilizationFact(NamedTuple):
    """A target of an autoscaler in percent of the requests of the Pods.

    Attributes:
        resource: cpu or memory.
        place: location of the metric.
    """

    resource: str
    place: Location


class ScaleFact(NamedTuple):
    """The number of Pods of a workload, or the range of an autoscaler.

    Attributes:
        low: minimum number.
        high: maximum number.
        place: location of the field.
        written: whether the object sets the number explicitly.
        surges: whether an update of a Deployment starts new Pods before it stops old ones.
        utilization: targets of an autoscaler in percent of the requests.
    """

    low: int
    high: int
    place: Location
    written: bool = True
    surges: bool = False
    utilization: tuple[UtilizationFact, ...] = ()


class BudgetFact(NamedTuple):
    """The limits of a PodDisruptionBudget: numbers or percentages, None for a field that is not set.

    Attributes:
        available: minAvailable.
        unavailable: maxUnavailable.
        place: location of the limit.
    """

    available: int | str | None
    unavailable: int | str | None
    place: Location


class ServiceFact(NamedTuple):
    """The type of a Service.

    Attributes:
        type: type of the Service.
        headless: whether clusterIP is None.
    """

    type: str = "ClusterIP"
    headless: bool = False

    @property
    def is_external_name(self) -> bool:
        """Whether the Service is an alias of a DNS name."""
        return self.type == "ExternalName"

    @property
    def is_exposed(self) -> bool:
        """Whether the type makes the Service reachable from outside of the cluster."""
        return self.type in ("LoadBalancer", "NodePort")


class PriorityClassFact(NamedTuple):
    """The fields of a PriorityClass.

    Attributes:
        value: priority of the Pods of this class.
        is_default: whether the class applies to Pods without priorityClassName.
        preempts: whether Pods of this class may preempt other Pods.
    """

    value: int
    is_default: bool = False
    preempts: bool = True


class KustomizationFact(NamedTuple):
    """The fields of a kustomization.

    Attributes:
        folders: folders of its resources, bases and components.
        sets_namespace: whether it sets the namespace of its objects.
        resources: paths of its resources, bases and components: files and folders.
        patches: paths of its patches.
    """

    folders: frozenset[str] = frozenset()
    sets_namespace: bool = False
    resources: frozenset[str] = frozenset()
    patches: frozenset[str] = frozenset()


class KindPermission(NamedTuple):
    """A permission on all objects of a kind that makes a ConfigMap, Secret or ServiceAccount usable without a reference.

    Attributes:
        action: what is permitted.
        kind: kind of the objects: ConfigMap or Secret for "read", Pod (itself or by a workload) for "create".
    """

    action: Literal["read", "create"]
    kind: str


class Grant(NamedTuple):
    """Permissions on custom resources.

    Attributes:
        plural: plural name of the resource.
        groups: API groups, one of which must define the resource.
        place: location of the rule.
    """

    plural: str
    groups: tuple[str, ...]
    place: Location


class IngressPath(NamedTuple):
    """A path that an Ingress routes.

    Attributes:
        ingress_class: class of the Ingress, "" for the default.
        host: host in lower case, "" for any.
        type: pathType.
        path: the path; of type Prefix without a trailing slash.
    """

    ingress_class: str
    host: str
    type: str
    path: str


class Claim(NamedTuple):
    """A value that must be unique among objects.

    Attributes:
        what: type of the value: a path of an Ingress, a hostname of external-dns, or a user ID.
        value: the value.
        place: location of the value.
    """

    what: Literal["ingress-path", "external-dns", "user"]
    value: str | IngressPath
    place: Location


class Reference(NamedTuple):
    """A reference to another object.

    Attributes:
        api_group: API group of the object.
        kind: kind of the object.
        namespace: namespace of the object.
        name: name of the object.
        place: location of the reference.
        key: referenced data key or port, "" for the whole object.
        key_place: location of the key.
        optional: whether the object may be missing.
        use: purpose of the reference.
        partly: whether a volume or its mounts select single keys, which are separate references.
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
    """A ConfigMap or Secret that a controller generates from an object.

    Attributes:
        kind: ConfigMap or Secret.
        name: name of the generated object.
        keys: its data keys, None if unknown.
    """

    kind: str
    name: str
    keys: frozenset[str] | None = None


@dataclass(slots=True)
class Facts:
    """The facts of one object. Treat as immutable; not frozen, because construction would be four times slower.

    Attributes:
        id: identity of the object.
        place: location of the object.
        labels: labels of the object.
        pods: Pods of the object.
        selectors: selectors of the object.
        references: references to other objects.
        ports: ports of a Service or monitor.
        keys: data keys of a ConfigMap or Secret, None if unknown.
        makes: objects that the controller of this object generates.
        mentions: names in the object that may be names of further generated objects.
        words: strings in the object that may be names of objects that a program uses.
        is_complete: False for a patch, which contains only the fields that it changes.
        operated: whether the controller of the object may create arbitrary Pods.
        scale: number of Pods of a workload, or range of an autoscaler.
        budget: limits of a PodDisruptionBudget.
        service: type of a Service.
        priority_class: fields of a PriorityClass.
        storage_class: storageClassName of a PersistentVolume or PersistentVolumeClaim.
        is_attached: False for a PersistentVolume that nodes mount without attaching it, such as a hostPath or NFS volume.
        access_modes: access modes of a PersistentVolumeClaim.
        kustomization: fields of a kustomization.
        claims: values that must be unique among objects.
        kubeconfig: content of a kubeconfig file.
        network: facts of a NetworkPolicy, Gateway, route or ReferenceGrant.
        delivery: sources and destinations of an object of Argo CD or Flux.
        grants: permissions of a role on custom resources.
        permissions: permissions of a role by which programs use objects without a reference.
        is_discoverable: whether programs may find the object by its labels, annotations or type.
        addresses: hosts that strings of the object contain.
        changes_pods: whether a role permits to create or patch Pods.
        group: API group, "" for the core group.
        folder: folder of the file.
        named: identity and file, for `Variants`.
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
    is_complete: bool = True
    operated: bool = False
    scale: ScaleFact | None = None
    budget: BudgetFact | None = None
    service: ServiceFact | None = None
    priority_class: PriorityClassFact | None = None
    storage_class: str = ""
    kustomization: KustomizationFact | None = None
    claims: tuple[Claim, ...] = ()
    kubeconfig: Kubeconfig | None = None
    network: Network | None = None
    delivery: Delivery | None = None
    grants: tuple[Grant, ...] = ()
    permissions: frozenset[KindPermission] = frozenset()
    is_discoverable: bool = False
    addresses: tuple[Address, ...] = ()
    access_modes: frozenset[str] = frozenset()
    changes_pods: bool = False
    is_attached: bool = True

    group: str = field(init=False, compare=False, repr=False)
    folder: str = field(init=False, compare=False, repr=False)
    named: Named = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Set the derived attributes, which lookups use often."""
        api_version, kind, namespace, name = self.id
        file = self.place.file
        self.group = api_version.rpartition("/")[0]
        self.folder = file.rpartition("/")[0]
        self.named = Named(identity(self.group, kind, namespace, name), file)

    def __reduce__(self) -> tuple[type[Facts], tuple[Any, ...]]:
        """Support pickling. Thousands of facts are sent between processes; the default of dataclasses takes five times as long."""
        return Facts, _INIT_VALUES(self)

    @property
    def title(self) -> str:
        """Kind and quoted name, such as `Deployment "web"`; only the kind if the name is empty."""
        return f'{self.id.kind} "{self.id.name}"' if self.id.name else self.id.kind


_INIT_VALUES: Callable[[Facts], tuple[Any, ...]] = attrgetter(*(each.name for each in fields(Facts) if each.init))
