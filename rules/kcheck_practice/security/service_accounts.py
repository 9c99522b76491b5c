"""ServiceAccounts and tokens of Pods. Sources: the documentation's pages "Configure Service Accounts for Pods", "Service
Accounts" and "Role Based Access Control Good Practices".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Correction, Pod, Problem, Resource, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_DEFAULT = "default"
_SETTING = "automountServiceAccountToken: false"


@rule(
    "default-service-account",
    'Pod uses the ServiceAccount "default" (no serviceAccountName)',
    severity=INFO,
    groups=("service-accounts",),
    default=False,
)
def default_service_account(pod: Pod) -> Iterator[Problem]:
    """Permissions of ServiceAccount "default" apply to all Pods of the namespace without a serviceAccountName.

    A Pod without a token has no permissions, whatever its ServiceAccount.
    """
    if _account(pod) == _DEFAULT and pod["automountServiceAccountToken"].boolean is not False and is_whole_pod(pod):
        node = pod["serviceAccountName"]
        message = 'Pod runs with the permissions of ServiceAccount "default"'
        yield Problem(node, message, help="set serviceAccountName to a dedicated ServiceAccount", at="value" if node else "key")


@rule(
    "default-service-account-token",
    'Pod mounts a token of the ServiceAccount "default" (automountServiceAccountToken)',
    groups=("security", "service-accounts"),
    default=False,
    fixable=True,
)
def default_account_token(pod: Pod) -> Iterator[Problem]:
    """Pods that use the API server should have a dedicated ServiceAccount; for others the token is only useful to an attacker.

    automountServiceAccountToken: false of a ServiceAccount in the input is not taken into account.
    """
    if _account(pod) == _DEFAULT:
        yield from _mounted(pod)


@rule(
    "service-account-token-automount",
    "Pod mounts a ServiceAccount token (automountServiceAccountToken)",
    severity=INFO,
    groups=("service-accounts",),
    default=False,
    fixable=True,
)
def mounted_token(pod: Pod) -> Iterator[Problem]:
    """Pods with a dedicated ServiceAccount; the others are reported by default-service-account-token."""
    if _account(pod) != _DEFAULT:
        yield from _mounted(pod)


@rule(
    "default-service-account-automount",
    'ServiceAccount "default" does not set automountServiceAccountToken: false',
    groups=("service-accounts",),
    default=False,
    severity=INFO,
    fixable=True,
    kinds="core ServiceAccount",
)
def default_account_automount(resource: Resource) -> Iterator[Problem]:
    """The ServiceAccount named "default" of a namespace."""
    node = resource["automountServiceAccountToken"]
    if resource.name == _DEFAULT and node.boolean is not False:
        message = 'Pods without a serviceAccountName get a token of ServiceAccount "default"'
        fix = Correction.set(node, False, safe=False)
        advice = f"{'set' if node else 'add'} {_SETTING}"
        yield Problem(node if node else resource.node["metadata"]["name"], message, help=advice, field=node, fix=fix)


@rule(
    "default-service-account-binding",
    'Role is bound to the ServiceAccount "default"',
    kinds=("rbac.authorization.k8s.io RoleBinding", "rbac.authorization.k8s.io ClusterRoleBinding"),
    groups=("security", "service-accounts", "rbac"),
)
def default_account_binding(resource: Resource) -> Iterator[Problem]:
    """All Pods of the namespace without a serviceAccountName get the permissions. A binding with "default" in its name intends that."""
    if _DEFAULT in resource.name.lower():
        return
    for subject in resource["subjects"]:
        if subject["kind"].text == "ServiceAccount" and subject["name"].text == _DEFAULT:
            space = subject["namespace"].text or resource.namespace or _DEFAULT
            role = f'{resource["roleRef"]["kind"].text} "{resource["roleRef"]["name"].text}"'
            message = f'{role} is granted to every Pod in namespace "{space}" without a serviceAccountName'
            yield Problem(subject["name"], message, help="bind a dedicated ServiceAccount")


@rule(
    "long-lived-token",
    "Secret contains a ServiceAccount token that never expires",
    groups=("security", "service-accounts", "secrets"),
    default=False,
    kinds="core Secret",
)
def lasting_token(resource: Resource) -> Iterator[Problem]:
    """The token is valid until the Secret is deleted. Pods get short-lived tokens without such a Secret."""
    node = resource["type"]
    if node.text == "kubernetes.io/service-account-token":
        account = resource.annotations.get("kubernetes.io/service-account.name", "")
        message = f'token of ServiceAccount "{account}" never expires' if account else "ServiceAccount token never expires"
        advice = "remove this Secret and use kubectl create token or a projected serviceAccountToken volume"
        yield Problem(node, message, help=advice)


def _account(pod: Pod) -> str:
    return pod["serviceAccountName"].text or pod["serviceAccount"].text or _DEFAULT


def _mounted(pod: Pod) -> Iterator[Problem]:
    node = pod["automountServiceAccountToken"]
    if node.boolean is False or not is_whole_pod(pod):
        return
    verb = "set" if node else "add"
    fix = Correction.set(node, False, safe=False)
    message = f'a token of ServiceAccount "{_account(pod)}" is mounted into the Pod'
    advice = f"{verb} {_SETTING} unless the Pod uses the Kubernetes API"
    yield Problem(node, message, help=advice, at="value" if node else "key", fix=fix)
