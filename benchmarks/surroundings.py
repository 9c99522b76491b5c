"""Predicates about the other objects of the repository: selectors and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from case import WORKLOADS, Case, all_containers, of_case, of_object
from inventory import Object
from traits import fragment, lacks_selector


@of_case
def autoscaled(case: Case) -> bool:
    """An autoscaler of the repository targets the object."""
    targets = [each.at("spec", "scaleTargetRef") for each in case.around if "spec" in each.content and each.at("spec", "scaleTargetRef")]
    return any(isinstance(t, dict) and (t.get("kind", "Deployment"), t.get("name")) == (case.key.kind, case.key.name) for t in targets)


@of_object
def selects_nothing(each: Object) -> bool:
    """A Service without a selector."""
    return not each.at("spec", "selector")


@of_object
def selects_everything(each: Object) -> bool:
    """An empty podSelector."""
    selector = each.at("spec", "podSelector")
    return not (selector.get("matchLabels") or selector.get("matchExpressions"))


@of_case
def chosen(case: Case) -> bool:
    """Pods of the repository have the labels, but are in another folder, or have another or no namespace."""
    return any(True for _ in _chosen(case))


@of_case
def chosen_by_custom_pods(case: Case) -> bool:
    """Pods of a custom resource of the repository have the labels."""
    return any(other.kind not in WORKLOADS for other in _chosen(case))


@of_case
def chosen_by_old_controllers(case: Case) -> bool:
    """ReplicationControllers, ReplicaSets or DeploymentConfigs have the labels."""
    return any(other.kind in ("ReplicationController", "ReplicaSet", "DeploymentConfig") for other in _chosen(case))


@of_case
def chosen_by_operator(case: Case) -> bool:
    """A custom resource is in the same folder, or one of the repository has a value of the selector, or a controller sets the label."""
    selectors = [each.at("spec", "selector") or each.at("spec", "podSelector") for each in case.objects]
    wanted = [selector.get("matchLabels", selector) for selector in selectors]
    if any(key.startswith("statefulset.kubernetes.io/") for selector in wanted for key in selector):
        return True
    values = [value for selector in wanted for value in selector.values() if isinstance(value, str)]
    custom = [each for each in case.around if is_custom(each)]
    if any(each.folder == own.folder for each in custom for own in case.objects):
        return True
    return any(value in text for text in map(str, (each.content for each in custom)) for value in values)


@of_object
def asks_in_system_namespaces(each: Object) -> bool:
    """The Services are in namespaces of every cluster."""
    names = each.at("spec", "namespaceSelector", "matchNames")
    return bool(names) and set(names) <= {"default", "kube-system"}


@of_object
def selects_by_expressions(each: Object) -> bool:
    selector = each.at("spec", "selector")
    return isinstance(selector, dict) and bool(selector.get("matchExpressions"))


@of_case
def budget_of_fragments(case: Case) -> bool:
    """Pods that a PodDisruptionBudget selects belong to incomplete objects."""
    return any(fragment(each) or lacks_selector(each) for each in _chosen(case))


@of_case
def policed(case: Case) -> bool:
    """A NetworkPolicy of the repository, in any folder and namespace, selects the Pods."""
    return any(_covers(each, other.at("spec", "podSelector")) for each in case.objects for other in _all(case, "NetworkPolicy"))


@of_case
def half_policed(case: Case) -> bool:
    """The selector of a NetworkPolicy of the repository contains one of the labels of the Pods."""
    return any(_touches(each, other.at("spec", "podSelector")) for each in case.objects for other in _all(case, "NetworkPolicy"))


@of_case
def budgeted(case: Case) -> bool:
    """A PodDisruptionBudget of the repository selects the Pods."""
    return any(_covers(each, other.at("spec", "selector")) for each in case.objects for other in _all(case, "PodDisruptionBudget"))


@of_case
def half_budgeted(case: Case) -> bool:
    """The selector of a PodDisruptionBudget of the repository contains one of the labels of the Pods."""
    return any(_touches(each, other.at("spec", "selector")) for each in case.objects for other in _all(case, "PodDisruptionBudget"))


@of_case
def beside_service_without_selector(case: Case) -> bool:
    """The repository has a Service without selector in the namespace."""
    open_services = [other for other in _all(case, "Service") if not other.at("spec", "selector")]
    return any(other.namespace == each.namespace for each in case.objects for other in open_services)


@of_object
def leads_to_resource(each: Object) -> bool:
    """A backend of an Ingress is not a Service."""
    return each.kind == "Ingress" and "'resource':" in str(each.at("spec"))


@of_case
def there(case: Case) -> bool:
    """All referenced objects are in the repository, in another folder, or with another or no namespace."""
    known = {(other.kind, other.name) for other in case.around}
    return any(wanted and all(each in known for each in wanted) for wanted in (set(_named(each)) for each in case.objects))


@of_case
def absent(case: Case) -> bool:
    """A referenced object is not in the repository."""
    known = {(other.kind, other.name) for other in case.around}
    return any(wanted not in known for each in case.objects for wanted in _named(each))


@of_case
def mentioned(case: Case) -> bool:
    """The referenced objects that are not in the repository are created or mentioned by another object."""
    known = {(other.kind, other.name) for other in case.around}
    missing = {name for each in case.objects for kind, name in _named(each) if (kind, name) not in known}
    return bool(missing) and all(any(_speaks_of(other, name) for other in case.around) for name in missing)


def _speaks_of(each: Object, name: str) -> bool:
    """Whether an object mentions a name outside of references: in an argument, a rule of a role or a setting."""
    if each.kind in WORKLOADS:
        words = [str(word) for c in all_containers(each) for key in ("args", "command") for word in c.get(key) or ()]
    else:
        words = [str(each.content)]
    return any(name in word for word in words)


def _all(case: Case, kind: str) -> Iterator[Object]:
    return (other for other in case.around if other.kind == kind)


def _covers(each: Object, selector: Any) -> bool:
    """Whether a label selector selects, or may select, the Pods of an object. matchExpressions are not evaluated."""
    wanted = selector.get("matchLabels") or {} if isinstance(selector, dict) else {}
    return wanted.items() <= each.labels.items()


def _touches(each: Object, selector: Any) -> bool:
    wanted = selector.get("matchLabels") or {} if isinstance(selector, dict) else {}
    return bool(wanted.items() & each.labels.items())


def _chosen(case: Case) -> Iterator[Object]:
    for each in case.objects:
        selector = each.at("spec", "selector") or each.at("spec", "podSelector")
        wanted = selector.get("matchLabels", selector) if isinstance(selector, dict) else {}
        if isinstance(wanted, dict) and wanted and each.kind == "ServiceMonitor":
            yield from (other for other in _all(case, "Service") if wanted.items() <= other.at("metadata", "labels").items())
        elif isinstance(wanted, dict) and wanted:
            yield from (other for other in case.around if other.labels and wanted.items() <= other.labels.items())


def is_custom(each: Object) -> bool:
    """Whether the kind is not a built-in kind of Kubernetes."""
    group = each.resource.group
    return "." in group and not group.endswith(".k8s.io")


def _named(each: Object) -> Iterator[tuple[str, str]]:
    """Returns the objects that an object refers to, as (kind, name), limited to references that checks of peers use."""
    target = each.at("spec", "scaleTargetRef") if each.kind == "HorizontalPodAutoscaler" else {}
    if target:
        yield target.get("kind", ""), target.get("name", "")
    if each.kind == "Ingress":
        backends = [each.at("spec", "defaultBackend"), each.at("spec", "backend")]
        for rule in each.at("spec", "rules") or ():
            backends += [path.get("backend") or {} for path in (rule.get("http") or {}).get("paths") or ()]
        names = [(b.get("service") or {}).get("name") or b.get("serviceName") for b in backends if isinstance(b, dict)]
        yield from (("Service", name) for name in names if name)
    if each.kind in WORKLOADS:
        account = each.pod.get("serviceAccountName") or each.pod.get("serviceAccount")
        if account:
            yield "ServiceAccount", account


@of_case
def values_there(case: Case) -> bool:
    """The ConfigMaps and Secrets in valueFrom of its environment variables are in the repository."""
    known = {(other.kind, other.name) for other in case.around}
    return any(wanted and wanted <= known for wanted in (set(_env_named(each)) for each in case.objects))


@of_case
def values_mentioned(case: Case) -> bool:
    """The ConfigMaps and Secrets in valueFrom of its environment variables are created or mentioned by another object."""
    known = {(other.kind, other.name) for other in case.around}
    missing = {name for each in case.objects for kind, name in _env_named(each) if (kind, name) not in known}
    return bool(missing) and all(any(_speaks_of(other, name) for other in case.around) for name in missing)


def _env_named(each: Object) -> Iterator[tuple[str, str]]:
    for container in all_containers(each):
        for variable in container.get("env") or ():
            source = variable.get("valueFrom") or {}
            for key, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
                if source.get(key):
                    yield kind, source[key].get("name", "")
