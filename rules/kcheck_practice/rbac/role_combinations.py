"""Permissions that are dangerous in combination. Source: the documentation's page "Role Based Access Control Good Practices"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Resource, rule

_READ = ("get", "list", "watch", "*")
_ENTER = ("create", "get", "*")
_SUBRESOURCES = ("pods/exec", "pods/attach", "pods/ephemeralcontainers")


@rule(
    "secrets-with-pod-exec",
    "Role combines reading Secrets with running commands in Pods (pods/exec)",
    groups=("rbac", "security"),
    default=False,
    kinds=("rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io ClusterRole"),
)
def secrets_and_exec(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem for the entry for pods/exec where another entry allows reading all Secrets. Wildcards are not checked."""
    entries = [each for each in resource["rules"] if any(group.text == "" for group in each["apiGroups"])]
    secrets = next((each for each in entries if not len(each["resourceNames"]) and _grants(each, ("secrets",), _READ)), None)
    entered = next((found for each in entries if (found := _grants(each, _SUBRESOURCES, _ENTER)) is not None), None)
    if secrets is not None and entered is not None:
        scope = "the cluster" if resource.kind == "ClusterRole" else "its namespace"
        message = f"{resource.title} allows reading Secrets and running commands in Pods ({entered.text}), which is control over {scope}"
        yield Problem(entered, message, help="grant the two permissions in separate roles to different subjects")


def _grants(entry: Node, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Node | None:
    """Return the named resource that a rule grants one of these verbs on."""
    if not any(verb.text in verbs for verb in entry["verbs"]):
        return None
    return next((each for each in entry["resources"] if each.text in resources), None)
