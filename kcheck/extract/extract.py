"""What other objects need to know of an object."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.extract.custom_references import conventional
from kcheck.extract.generated import RBAC, is_custom, made, may_make_pods, mentions
from kcheck.extract.gitops import DELIVERING, delivery
from kcheck.extract.indirect_use import finders
from kcheck.extract.istio import ISTIO, mesh_links
from kcheck.extract.mentioned_names import words
from kcheck.extract.network import READERS, label_selector, network
from kcheck.extract.pod_security import breaches
from kcheck.extract.prometheus import MONITORED, endpoints, monitoring
from kcheck.extract.rbac import ROLES, granted
from kcheck.extract.references import links, pod_links
from kcheck.extract.scaling import BUDGET, SCALED, budget, claims, may_claim, scale
from kcheck.extract.service_addresses import addresses
from kcheck.facts.facts import Aim, Facts, NodesFact, PodFact, PortFact, Reference, SelectorFact
from kcheck.facts.kubeconfig import Kubeconfig
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource, strings
from kcheck.kube.selector import EVERYTHING, of_map
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_LABEL_SELECTORS = {("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job"),
                    ("argoproj.io", "Rollout")}  # fmt: skip
_MAP_SELECTORS = {("", "ReplicationController"), ("apps.openshift.io", "DeploymentConfig")}
_SERVICE = ("", "Service")
_NONE: frozenset[str] = frozenset()
_KEYED = {("", "ConfigMap"): ("data", "binaryData"), ("", "Secret"): ("data", "stringData")}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# Labels that controllers give the pods that they make.
_JOB_LABELS = frozenset(
    {"job-name", "controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid",
     "batch.kubernetes.io/job-completion-index"}
)  # fmt: skip
_ADDED = {
    "Deployment": frozenset({"pod-template-hash"}),
    "ReplicaSet": frozenset({"pod-template-hash"}),
    "StatefulSet": frozenset({"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}),
    "DaemonSet": frozenset({"controller-revision-hash", "pod-template-generation"}),
    "Job": _JOB_LABELS,
    "CronJob": _JOB_LABELS,
    "Pod": frozenset[str](),
    "PodTemplate": frozenset[str](),
    "ReplicationController": frozenset[str](),
}
# What a Secret or ConfigMap wears into which a controller puts data.
_FILLED = (
    "kubernetes.io/service-account.name", "cert-manager.io/inject", "service.beta.openshift.io/inject", "config.openshift.io/inject",
    "secretgenerator.mittwald.de/", "replicator.v1.mittwald.de/", "reflector.v1.k8s.emberstack.com/",
)  # fmt: skip


def collect(resource: Resource, pods: list[Pod], placer: Locator, usage: bool = True) -> Facts:
    """The facts of one object. `pods`: those that the walk met in it; `usage`: whether anybody asks for what is used without a field."""
    group, name = resource.group, resource.kind
    kind = (group, name)
    custom = is_custom(group)
    references: list[Reference] = []
    for pod in pods:
        references += pod_links(pod, placer)
    references += links(resource, placer)
    if group == ISTIO:
        references += mesh_links(resource, placer)
    making = tuple(made(resource, custom))
    mentioned = mentions(resource, pods, custom) if custom or pods or group == RBAC else _NONE
    if mentioned:
        # What a template in a custom resource refers to is nothing that its controller makes.
        mentioned = mentioned.difference([r.name for r in references if r.kind != "ServiceAccount"])
    if custom:
        told = {(r.kind, r.name) for r in references} | {(m.kind, m.name) for m in making}
        references += conventional(resource, told, placer)
    selectors = _selectors(resource, kind, placer)
    for pod in pods:
        selectors += _affinities(pod, placer)
    marks = _marks(resource, pods)
    if usage:
        marks += finders(resource)
    # For most kinds, most of this is empty: what a kind cannot have is not asked for.
    return Facts(
        id=resource.id,
        place=placer.place(resource.node.at("metadata", "name")),
        labels=resource.labels,
        pods=tuple([_pod(pod, placer, custom) for pod in pods]) if pods else _patched(resource, placer),
        selectors=tuple(selectors),
        references=tuple(references),
        ports=_ports(resource, kind, placer),
        keys=_keys(resource, _KEYED[kind]) if kind in _KEYED else None,
        makes=making,
        mentions=mentioned,
        words=words(resource, pods, placer.secrets) if usage else _NONE,
        whole=_is_whole(resource, kind, pods),
        operated=custom and may_make_pods(resource),
        headless=kind == _SERVICE and resource["spec"]["clusterIP"].text == "None",
        scale=scale(resource, placer) if kind in SCALED else None,
        budget=budget(resource, placer) if kind == BUDGET else None,
        claims=tuple(claims(resource, pods, placer)) if may_claim(group, name) else (),
        marks=frozenset(marks) if marks else _NONE,
        kubeconfig=_kubeconfig(resource, placer) if name == "Config" and resource.is_a("v1 Config") else None,
        network=network(resource, placer) if kind in READERS else None,
        delivery=delivery(resource, placer) if kind in DELIVERING else None,
        grants=tuple(granted(resource, placer)) if kind in ROLES else (),
        addresses=addresses(resource, pods, placer) if pods or name == "ConfigMap" else (),
    )


def _kubeconfig(resource: Resource, placer: Locator) -> Kubeconfig:
    # Loaded where there is one, for few runs meet any.
    from kcheck.extract.kubeconfig import kubeconfig

    return kubeconfig(resource, placer)


def _keys(resource: Resource, fields: tuple[str, ...]) -> frozenset[str] | None:
    """The entries of a ConfigMap or Secret, None where somebody else puts some in."""
    if resource["type"].text in ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"):
        return None
    if any(key.startswith(_FILLED) for key in (*resource.annotations, *resource.labels)):
        return None
    # One without any is there to be filled.
    # "password=hunter2" is no key, but a value that nobody should see.
    return frozenset(key.partition("=")[0] for name in fields for key, _ in resource[name].entries) or None


def _is_whole(resource: Resource, kind: tuple[str, str], pods: list[Pod]) -> bool:
    """Whether an object can stand by itself: patches leave out what every object of their kind has."""
    if resource.part or (kind[0] == "apps" and kind in _LABEL_SELECTORS and not resource["spec"]["selector"]):
        return False
    if kind == _SERVICE:
        return bool(resource["spec"]["ports"] or resource["spec"]["externalName"] or resource["spec"]["clusterIP"])
    for pod in pods:
        for container in pod.containers:
            if not container["image"].text:
                return False
    return resource["$patch"].text == ""


def _patched(resource: Resource, placer: Locator) -> tuple[PodFact, ...]:
    """What a patch without a pod spec says of the pods."""
    template = resource["spec"]["template"]
    labels = template["metadata"]["labels"] if template else template
    return (PodFact(strings(labels), (), placer.place(labels)),) if len(labels) else ()


def _pod(pod: Pod, placer: Locator, custom: bool) -> PodFact:
    node = pod.metadata["labels"]
    on_host = pod["hostNetwork"].flag is True
    ports = tuple(_container_port(p, placer, on_host) for c in pod.containers if c.runs_on for p in c["ports"] if p.is_map)
    added = None if custom else _ADDED.get(pod.resource.kind)
    nodes = _nodes(pod) if any(p.host_port for p in ports) else None
    probed = any(container["readinessProbe"] for container in pod.containers)
    broken = tuple(breaches(pod, placer))
    return PodFact(pod.labels, ports, placer.place(node), on_host, added, nodes, probed=probed, breaches=broken)


def _nodes(pod: Pod) -> NodesFact:
    affinity = pod["affinity"]
    required = affinity.at("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    narrowed = bool(pod["nodeName"].text or required or affinity["podAffinity"] or affinity["podAntiAffinity"])
    tolerations = frozenset(
        " ".join(t[name].text for name in ("key", "operator", "value", "effect")) for t in pod["tolerations"] if t.is_map
    )
    return NodesFact(strings(pod["nodeSelector"]), narrowed, tolerations)


def _container_port(node: Node, placer: Locator, on_host: bool) -> PortFact:
    number = node["containerPort"].integer or 0
    return PortFact(
        name=node["name"].text,
        number=number,
        protocol=node["protocol"].text or "TCP",
        place=placer.place(node["hostPort"] if node["hostPort"] else node["containerPort"]),
        # Under hostNetwork the server fills it in.
        host_port=node["hostPort"].integer or (number if on_host else 0),
        host_ip=node["hostIP"].text,
    )


def _ports(resource: Resource, kind: tuple[str, str], placer: Locator) -> tuple[PortFact, ...]:
    if kind == _SERVICE:
        return tuple(_service_port(p, placer) for p in resource["spec"]["ports"] if p.is_map)
    return tuple(endpoints(resource, placer)) if kind in MONITORED else ()


def _service_port(node: Node, placer: Locator) -> PortFact:
    target = node["targetPort"]
    value = target.value if isinstance(target.value, (int, str)) and not isinstance(target.value, bool) else None
    return PortFact(
        name=node["name"].text,
        number=node["port"].integer or 0,
        protocol=node["protocol"].text or "TCP",
        place=placer.place(node["port"]),
        target=value or None,
        target_place=placer.place(target if target else node["port"]),
    )


def _marks(resource: Resource, pods: list[Pod]) -> list[str]:
    """Single facts that rules across objects ask for."""
    found: list[str] = []
    kind = resource.kind
    if kind == "Service":
        type = resource["spec"]["type"].text
        if type == "ExternalName":
            found.append("external-name-service")
        if type in ("LoadBalancer", "NodePort"):
            found.append("open")
    elif kind == "PriorityClass":
        found.append(f"value={resource['value'].integer or 0}")
        if resource["globalDefault"].flag:
            found.append("default")
        if resource["preemptionPolicy"].text == "Never":
            found.append("never-preempts")
    elif kind == "PersistentVolume":
        found.append(f"class={resource['spec']['storageClassName'].text}")
    elif kind == "NetworkPolicy":
        types = [node.text for node in resource["spec"]["policyTypes"]]
        found += types or (["Ingress", "Egress"] if len(resource["spec"]["egress"]) else ["Ingress"])
    for pod in pods:
        if pod["priorityClassName"].text:
            found.append(f"priority={pod['priorityClassName'].text}")
        if pod["affinity"]["podAntiAffinity"]:
            found.append("anti-affinity")
        if len(pod["topologySpreadConstraints"]):
            found.append("spread")
        if resource["spec"]["strategy"]["type"].text == "Recreate":
            found.append("recreate")
    return found


def _affinities(pod: Pod, placer: Locator) -> Iterator[SelectorFact]:
    """What a pod must stand beside, what it must not or had better not, and with what it is spread."""
    affinity = pod["affinity"]
    if affinity:
        for term in affinity["podAffinity"][_REQUIRED]:
            yield from _term(term, "affinity", placer)
        for term in affinity["podAntiAffinity"][_REQUIRED]:
            yield from _term(term, "anti-affinity", placer)
        for preference in affinity["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]:
            yield from _term(preference["podAffinityTerm"], "preferred-anti-affinity", placer)
    for constraint in pod["topologySpreadConstraints"]:
        yield from _term(constraint, "spread", placer)


def _term(term: Node, aim: Aim, placer: Locator) -> Iterator[SelectorFact]:
    found = label_selector(term["labelSelector"]) if term["labelSelector"] else None
    if found is not None:
        others = bool(len(term["namespaces"])) or term["namespaceSelector"].is_map
        # The keys that are matched with those of the pod itself are not known before.
        open_ended = others or bool(len(term["matchLabelKeys"]) or len(term["mismatchLabelKeys"]))
        yield SelectorFact(found, placer.place(term["labelSelector"]), False, {}, aim, open_ended, term["topologyKey"].text)


def _policy_selectors(resource: Resource, placer: Locator) -> Iterator[SelectorFact]:
    """The pods that a NetworkPolicy is for, and those of its peers."""
    node = resource["spec"]["podSelector"]
    if found := label_selector(node) if node else EVERYTHING:
        yield SelectorFact(found, placer.place(node), False, {}, "policy")
    for way, peers in (("ingress", "from"), ("egress", "to")):
        for rule in resource["spec"][way]:
            for peer in rule[peers]:
                chosen = peer["podSelector"]
                if chosen.is_map and (found := label_selector(chosen)):
                    yield SelectorFact(found, placer.place(chosen), False, {}, "peer", peer["namespaceSelector"].is_map)


def _selectors(resource: Resource, kind: tuple[str, str], placer: Locator) -> list[SelectorFact]:
    if kind == ("networking.k8s.io", "NetworkPolicy"):
        return list(_policy_selectors(resource, placer))
    if kind[0] == "monitoring.coreos.com":
        return list(monitoring(resource, placer))
    node = resource["spec"]["selector"]
    if not node:
        return []
    if kind == _SERVICE:
        # A Service of this type has no endpoints.
        selector = of_map(strings(node)) if resource["spec"]["type"].text != "ExternalName" and len(node) else None
    elif kind in _MAP_SELECTORS:
        selector = of_map(strings(node))
    elif kind in _LABEL_SELECTORS or kind == BUDGET:
        selector = label_selector(node)
    else:
        return []
    if selector is None:
        return []
    owns = kind in _LABEL_SELECTORS or kind in _MAP_SELECTORS
    entries = {key: placer.place(value) for key, value in node.entries} if kind == _SERVICE else {}
    aim: Aim = "service" if kind == _SERVICE else "budget" if kind == BUDGET else "own"
    return [SelectorFact(selector, placer.place(node), owns, entries, aim)]
