"""Groups: names that select several rules together."""

from __future__ import annotations

from collections.abc import Mapping

from kcheck.text.record import NamedTuple


class Group(NamedTuple):
    """A group added by a plug-in: a module-level value of one of its modules. `description`: one line."""

    name: str
    description: str


FAMILIES: Mapping[str, str] = {
    "all": "every rule, including those that are off by default",
    "spec": "rules about what the API server rejects, ignores or warns about",
    "practice": "rules about what the API server accepts and causes problems later",
}
"""Groups derived from the family of a rule."""

GROUPS: Mapping[str, str] = {
    "service-accounts": "ServiceAccounts and their tokens",
    "admission-policies": "ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings",
    "autoscaling": "HorizontalPodAutoscalers, VerticalPodAutoscalers and KEDA",
    "availability": "replicas, spreading, disruption budgets and rollouts",
    "capabilities": "Linux capabilities of containers",
    "change": "consequences of a change of objects, with --before or --since",
    "charts": "Helm charts: their templates and values",
    "control-plane": "command-line flags of control plane components and kubelets",
    "gitops": "Argo CD and Flux",
    "deprecated": "deprecated kinds, versions, fields, images and registries",
    "disruption": "PodDisruptionBudgets and evictions",
    "efficiency": "settings that waste compute resources",
    "exposure": "Services reachable from outside the cluster",
    "gateway-api": "Gateway API",
    "qos-guaranteed": "resource settings of Pods in the Guaranteed QoS class",
    "host-access": "access to the node: namespaces, paths, ports and devices",
    "images": "container images, their tags and registries",
    "ingress": "Ingresses",
    "jobs": "Jobs and CronJobs",
    "labels": "labels and annotations",
    "monitoring": "objects of the Prometheus Operator",
    "namespaces": "Namespaces and how objects are assigned to them",
    "network-policies": "NetworkPolicies",
    "networking": "Services, routes, ports and addresses",
    "openshift": "OpenShift",
    "pod-security-admission": "Pod Security admission of the namespace",
    "pod-security-baseline": "controls of the Baseline Pod Security Standard",
    "pod-security-restricted": "controls of the Restricted Pod Security Standard",
    "placeholders": "values that are not filled in; all other rules skip these values",
    "policy": "user-defined policies, and rules that enforce a policy of your organization; most of these need options",
    "privileges": "privileged containers and privilege escalation",
    "probes": "liveness, readiness and startup probes",
    "security-context": "seccomp, AppArmor and SELinux",
    "rbac": "Roles, ClusterRoles and their bindings",
    "relations": "relations between objects, such as references and selectors",
    "reliability": "settings that cause outages or unreliable workloads",
    "resources": "CPU, memory and storage requests and limits",
    "scheduling": "affinity, tolerations, topology spread and priorities",
    "secrets": "Secrets and credentials in plain text",
    "security": "everything that weakens the security of the cluster or its workloads",
    "known-software": "known software with insecure settings",
    "storage": "volumes, claims and StorageClasses",
    "style": "consistency and readability",
    "supply-chain": "provenance and integrity of images",
    "unused": "objects that nothing uses",
    "run-as-user": "user and group IDs of containers",
    "upgrades": "differences between Kubernetes versions",
    "verdict": "what API servers answer although nothing needs to be changed; --select spec includes these rules",
    "webhooks": "admission webhooks",
    "workloads": "Deployments and other controllers of Pods",
}
"""The groups of built-in rules and their descriptions."""
