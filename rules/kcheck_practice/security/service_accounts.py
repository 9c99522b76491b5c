"""Whose rights a pod has at the API server. Sources: the documentation's pages "Configure Service Accounts for Pods", "Service
Accounts" and "Role Based Access Control Good Practices".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Edit, Fix, Pod, Problem, Resource, rule
from kcheck_practice._support.security_contexts import is_whole_pod
from kcheck_practice._support.yaml_edits import new_entry

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
    """What is granted to the default account is granted to all pods of the namespace that name none.

    A pod that gets no token has no rights, whatever its account.
    """
    if _account(pod) == _DEFAULT and pod["automountServiceAccountToken"].flag is not False and is_whole_pod(pod):
        node = pod["serviceAccountName"]
        message = "this pod has the rights of the namespace's default account"
        yield Problem(node, message, help="give it one of its own", at="value" if node else "key")


@rule(
    "default-service-account-token",
    'Pod mounts a token of the ServiceAccount "default" (automountServiceAccountToken)',
    groups=("security", "service-accounts"),
    default=False,
    fixable=True,
)
def default_account_token(pod: Pod) -> Iterator[Problem]:
    """A pod that talks to the API server has an account of its own; this one has a token that only an intruder uses.

    An account of the input that switches its token off is not heeded: say it in the pod, too, where all can see it.
    """
    if _account(pod) == _DEFAULT:
        yield from _mounted(pod, "the pod gets a token of the default account, which it hardly needs")


@rule(
    "service-account-token-automount",
    "Pod mounts a ServiceAccount token (automountServiceAccountToken)",
    severity=INFO,
    groups=("service-accounts",),
    default=False,
    fixable=True,
)
def mounted_token(pod: Pod) -> Iterator[Problem]:
    """For pods with an account of their own; default-service-account-token tells of the others."""
    account = _account(pod)
    if account != _DEFAULT:
        yield from _mounted(pod, f"whoever breaks into this pod has the rights of {account}; unless it asks the API server")


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
    """The ServiceAccount named default of the input."""
    node = resource["automountServiceAccountToken"]
    if resource.name == _DEFAULT and node.flag is not False:
        message = "every pod that names no account gets a token of this one"
        fix = None
        if node.flag is not None:
            fix = Fix("write false", (Edit(node.start, node.end, "false"),), safe=False)
        yield Problem(node if node else resource.node["metadata"]["name"], message, help=f"add {_SETTING}", field=node, fix=fix)


@rule(
    "default-service-account-binding",
    'Role is bound to the ServiceAccount "default"',
    kinds=("rbac.authorization.k8s.io RoleBinding", "rbac.authorization.k8s.io ClusterRoleBinding"),
    groups=("security", "service-accounts", "rbac"),
)
def default_account_binding(resource: Resource) -> Iterator[Problem]:
    """All pods of the namespace that name no account have them."""
    for subject in resource["subjects"]:
        if subject["kind"].text == "ServiceAccount" and subject["name"].text == _DEFAULT:
            space = subject["namespace"].text or resource.namespace or _DEFAULT
            message = f"all pods in {space} that name no account get {resource['roleRef']['name'].text}"
            yield Problem(subject["name"], message, help="bind an account of its own")


@rule(
    "long-lived-token",
    "Secret contains a ServiceAccount token that never expires",
    groups=("security", "service-accounts", "secrets"),
    default=False,
    kinds="core Secret",
)
def lasting_token(resource: Resource) -> Iterator[Problem]:
    """A Secret of this type holds it until somebody deletes the Secret. Pods have short-lived ones without asking."""
    node = resource["type"]
    if node.text == "kubernetes.io/service-account-token":
        account = resource.annotations.get("kubernetes.io/service-account.name", "an account")
        yield Problem(
            node, f"this token of {account} never expires", help="ask for one with kubectl create token, or project it into a volume"
        )


def _account(pod: Pod) -> str:
    return pod["serviceAccountName"].text or pod["serviceAccount"].text or _DEFAULT


def _mounted(pod: Pod, words: str) -> Iterator[Problem]:
    node = pod["automountServiceAccountToken"]
    if node.flag is False or not is_whole_pod(pod):
        return
    edit = None
    if node:
        edit = Edit(node.start, node.end, "false")
    elif not node.exists:
        edit = new_entry(pod.node, pod.resource, _SETTING)
    fix = Fix(f"write {_SETTING}", (edit,), safe=False) if edit is not None else None
    yield Problem(node, f"{words}: {'write' if node else 'add'} {_SETTING}", at="value" if node else "key", fix=fix)
