"""Predicates about a single object: Pods, containers and incomplete objects."""

from __future__ import annotations

import re

from case import WORKLOADS, Case, all_containers, of_case, of_object
from inventory import Object

from kcheck.migration.suppressions import MARKS

# The object.


@of_object
def fragment(each: Object) -> bool:
    """A patch, or a Pod whose containers have no image: it cannot be created as it is."""
    if each.part or each.at("$patch"):
        return True
    return each.kind in WORKLOADS and not (each.containers and all(c.get("image") for c in all_containers(each)))


@of_object
def lacks_selector(each: Object) -> bool:
    """A workload or PodDisruptionBudget without the required selector."""
    selecting = each.kind == "PodDisruptionBudget" or each.resource.api_version.startswith("apps/v1")
    return selecting and not each.at("spec", "selector")


@of_case
def same_name(case: Case) -> bool:
    """Other objects with the same kind and name are in the repository."""
    return len(case.objects) > 1


@of_case
def unread(case: Case) -> bool:
    """The peer has no findings in the folder."""
    folders = {each.folder for each in case.heard}
    return not any(each.folder in folders for each in case.objects)


@of_object
def old_api(each: Object) -> bool:
    return bool(re.search(r"(alpha|beta)\d+$|^extensions/", each.resource.api_version))


@of_object
def skipped_by_annotation(each: Object) -> bool:
    """An annotation suppresses findings of one of the tools."""
    keys = [*each.at("metadata", "annotations"), *((each.template.get("metadata") or {}).get("annotations") or ())]
    return any(mark in key for key in keys for mark in MARKS)


# Containers.


@of_case
def in_init_containers(case: Case) -> bool:
    """All findings of kcheck are in init containers."""
    return bool(case.findings) and all("initContainers" in f.field for f in case.findings)


@of_object
def has_pod_resources(each: Object) -> bool:
    return bool(each.pod.get("resources"))


@of_object
def limit_without_request(each: Object) -> bool:
    """A container sets a limit and no request: the server uses the limit as the request."""
    for container in each.containers:
        resources = container.get("resources") or {}
        if set(resources.get("limits") or ()) - set(resources.get("requests") or ()):
            return True
    return False


@of_object
def has_unnamed_image(each: Object) -> bool:
    """An image that a build fills in: a placeholder or a single word."""
    return any(re.search(r"^[^/:@]+(:latest)?$|ko://|[${}<>%]|@@", str(c.get("image", ""))) for c in all_containers(each))


@of_object
def has_digest(each: Object) -> bool:
    return any("@" in str(c.get("image", "")) for c in all_containers(each))


@of_object
def has_no_pull_policy(each: Object) -> bool:
    return any(not c.get("imagePullPolicy") for c in each.containers)


@of_object
def says_no_capabilities(each: Object) -> bool:
    """No container drops capabilities or adds any."""
    return any(not (c.get("securityContext") or {}).get("capabilities") for c in all_containers(each))


@of_object
def adds_net_raw(each: Object) -> bool:
    capabilities = [(c.get("securityContext") or {}).get("capabilities") or {} for c in each.containers]
    return any("RAW" in str(each.get("add", "")).upper() for each in capabilities)


@of_object
def drops_all_in_small_letters(each: Object) -> bool:
    capabilities = [(c.get("securityContext") or {}).get("capabilities") or {} for c in each.containers]
    return any("all" in (each.get("drop") or ()) for each in capabilities)


@of_object
def says_secret(each: Object) -> bool:
    """An environment variable has the word in its name."""
    return any("secret" in str(v.get("name", "")).lower() for c in all_containers(each) for v in c.get("env") or ())


@of_object
def has_user_namespace(each: Object) -> bool:
    return each.pod.get("hostUsers") is False


@of_object
def has_no_liveness_probe(each: Object) -> bool:
    return any("livenessProbe" not in c for c in each.containers)


@of_object
def has_readiness_probe(each: Object) -> bool:
    return any("readinessProbe" in c for c in each.containers)


# Pods and workloads.


@of_object
def has_no_labels(each: Object) -> bool:
    return not each.labels


@of_object
def names_account(each: Object) -> bool:
    return bool(each.pod.get("serviceAccountName") or each.pod.get("serviceAccount"))


@of_object
def gets_no_token(each: Object) -> bool:
    return each.pod.get("automountServiceAccountToken") is False


@of_object
def has_no_restart_policy(each: Object) -> bool:
    return not each.pod.get("restartPolicy")


@of_object
def restarts_on_failure(each: Object) -> bool:
    return each.pod.get("restartPolicy") == "OnFailure"


@of_object
def has_no_strategy(each: Object) -> bool:
    return not (each.at("spec", "strategy", "type") or each.at("spec", "updateStrategy", "type"))


@of_object
def has_node_selector(each: Object) -> bool:
    return bool(each.pod.get("nodeSelector") or each.pod.get("nodeName"))


@of_object
def leaves_cluster_dns(each: Object) -> bool:
    return each.pod.get("dnsPolicy") in ("Default", "None")


@of_object
def says_no_replicas(each: Object) -> bool:
    return not isinstance(each.content.get("spec"), dict) or "replicas" not in each.content["spec"]


@of_object
def runs_no_pods(each: Object) -> bool:
    return bool(each.at("spec", "replicas") == 0)


@of_object
def is_on_host_network(each: Object) -> bool:
    return each.pod.get("hostNetwork") is True


@of_object
def has_no_instance_label(each: Object) -> bool:
    return not each.at("metadata", "labels", "app.kubernetes.io/instance")
