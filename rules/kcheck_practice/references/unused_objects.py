"""Objects that nothing in the input uses.

Sources: the documentation's pages "ConfigMaps", "Secrets", "Configure Service Accounts for Pods" and "Using RBAC Authorization".

An object is unused where no object references it, no string mentions its name, and no program can find it otherwise: by custom labels
or annotations, or because a role lets programs of its namespace read all objects of the kind, or create Pods with any ServiceAccount.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from kcheck.api import INFO, Bundle, Facts, KindPermission, Problem, Reference, is_provided, may_share, rule

_GROUPS = ("relations", "unused")
_RBAC = "rbac.authorization.k8s.io"
_MAX_KEYS = 5
# Names of roles that operators provide for users to bind.
_USER_ROLES = tuple(f"{who}{role}" for who in ("editor", "viewer", "reader", "admin", "view", "edit") for role in ("", "-role"))
# Namespaces where components of the cluster read objects by built-in names.
_SYSTEM_NAMESPACES = ("kube-", "openshift-")


@rule("unused-config-map", "ConfigMap is not used", severity=INFO, kinds="core ConfigMap", groups=_GROUPS, default=False)
def unused_config_map(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only where the input has Pods that could use the ConfigMap."""
    yield from _unused(facts, bundle, "ConfigMap", "reference the ConfigMap in a Pod or delete it")


@rule("unused-secret", "Secret is not used", severity=INFO, kinds="core Secret", groups=(*_GROUPS, "secrets"), default=False)
def unused_secret(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only where the input has Pods that could use the Secret; ServiceAccount tokens and Helm releases are skipped."""
    yield from _unused(facts, bundle, "Secret", "delete the Secret or reference it in a Pod")


@rule(
    "unused-service-account",
    "ServiceAccount is not used",
    severity=INFO,
    kinds="core ServiceAccount",
    groups=(*_GROUPS, "service-accounts"),
    default=False,
)
def unused_service_account(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """ServiceAccounts that neither a Pod nor a binding uses."""
    yield from _unused(facts, bundle, "ServiceAccount", "set serviceAccountName in the Pods that need the ServiceAccount or delete it")


@rule(
    "unused-persistent-volume-claim",
    "PersistentVolumeClaim is not used",
    severity=INFO,
    kinds="core PersistentVolumeClaim",
    groups=(*_GROUPS, "storage"),
    default=False,
)
def unused_volume_claim(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A claim keeps its volume whether or not a Pod uses it."""
    yield from _unused(facts, bundle, "PersistentVolumeClaim", "mount the claim in a Pod or delete it")


@rule(
    "unused-key",
    "Key of a ConfigMap or Secret is not used",
    severity=INFO,
    kinds=("core ConfigMap", "core Secret"),
    groups=_GROUPS,
    default=False,
)
def unused_key(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only where all users of the object select single keys."""
    if facts.group or facts.id.kind not in ("ConfigMap", "Secret") or not facts.keys or not facts.is_complete or _is_found(facts, bundle):
        return
    uses = _uses(facts, bundle)
    if not uses or not all(reference.key or reference.partly for reference in uses):
        return
    unused = sorted(facts.keys.difference(reference.key for reference in uses))
    if unused:
        names = ", ".join(f'"{key}"' for key in unused[:_MAX_KEYS]) + (", ..." if len(unused) > _MAX_KEYS else "")
        several = len(unused) > 1
        message = f"{'keys' if several else 'key'} {names} of {facts.title} {'are' if several else 'is'} not used in the input"
        yield Problem(facts.place, message, help=f"remove the {'keys or reference them' if several else 'key or reference it'}")


@rule(
    "unbound-role",
    "Role or ClusterRole is not referenced by any binding",
    severity=INFO,
    kinds=("rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io ClusterRole"),
    groups=(*_GROUPS, "rbac"),
    default=False,
)
def unbound_role(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Roles that are aggregated into other ClusterRoles are skipped."""
    if (
        facts.group == _RBAC
        and facts.id.kind in ("Role", "ClusterRole")
        and facts.is_complete
        and facts.id.name
        and not facts.is_discoverable
    ):
        given = is_provided(Reference(_RBAC, facts.id.kind, facts.id.namespace, facts.id.name, facts.place))
        if given or _uses(facts, bundle) or _is_named(facts, bundle) or facts.id.name.endswith(_USER_ROLES):
            return
        if bundle.complete or bundle.input.once(_bindings_there):
            yield Problem(facts.place, f"no binding in the input references {facts.title}", help=f"bind the {facts.id.kind} or delete it")


@rule("unused-binding-subject", "Binding grants a role to a ServiceAccount that no Pod uses", severity=INFO, facts="references",
      kinds=(f"{_RBAC} RoleBinding", f"{_RBAC} ClusterRoleBinding"),
      groups=(*_GROUPS, "rbac", "service-accounts"), default=False)  # fmt: skip
def idle_binding(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Only ServiceAccounts of the input."""
    if facts.group != _RBAC or not facts.is_complete:
        return
    for reference in facts.references:
        if reference.use != "subject" or reference.kind != "ServiceAccount" or is_provided(reference):
            continue
        accounts = bundle.candidates(reference)
        idle = [f for f in accounts if _is_idle(f, bundle)]
        if accounts and len(idle) == len(accounts):
            message = f'no Pod in the input uses ServiceAccount "{reference.name}"'
            yield Problem(
                reference.place, message, help="remove the subject or set serviceAccountName in the Pods that need the permissions"
            )


def _is_idle(account: Facts, bundle: Bundle) -> bool:
    """Whether no Pod uses a ServiceAccount, and nothing in the input seems to assign it to a Pod."""
    if (
        not account.is_complete
        or not _may_be_used(account, bundle)
        or _is_named(account, bundle)
        or _has_permission(account, KindPermission("create", "Pod"), bundle)
    ):
        return False
    return all(use.use != "account" for use in _uses(account, bundle))


def _unused(facts: Facts, bundle: Bundle, kind: str, help: str) -> Iterator[Problem]:
    if facts.group or facts.id.kind != kind or not facts.is_complete or not facts.id.name:
        return
    reference = Reference("", kind, facts.id.namespace, facts.id.name, facts.place)
    # An object without keys is filled by another program, which knows its name.
    empty = kind in ("ConfigMap", "Secret") and not facts.keys
    if empty or is_provided(reference) or _uses(facts, bundle) or _is_found(facts, bundle) or not _may_be_used(facts, bundle):
        return
    if kind == "ServiceAccount" and not _is_idle(facts, bundle):
        return
    yield Problem(facts.place, f"nothing in the input uses {facts.title}", help=help)


def _may_be_used(facts: Facts, bundle: Bundle) -> bool:
    """Whether the input has Pods that could use an object."""
    return bundle.complete or bool(bundle.pods(facts, "folder"))


def _is_found(facts: Facts, bundle: Bundle) -> bool:
    """Whether a program can find an object that no field of the input references."""
    if facts.is_discoverable or facts.id.namespace.startswith(_SYSTEM_NAMESPACES) or _is_named(facts, bundle):
        return True
    return _has_permission(facts, KindPermission("read", facts.id.kind), bundle)


def _is_named(facts: Facts, bundle: Bundle) -> bool:
    """Whether a string in the input is the name of an object."""
    return facts.id.name in bundle.input.once(_words) or facts.id.name in bundle.mentioned


def _words(bundle: Bundle) -> frozenset[str]:
    return frozenset(chain.from_iterable(f.words for f in bundle.facts if f.words))


def _uses(facts: Facts, bundle: Bundle) -> list[Reference]:
    """The references to an object in the input."""
    found = bundle.input.once(_references).get((facts.group, facts.id.kind, facts.id.name), ())
    return [reference for reference in found if may_share(reference.namespace, facts.id.namespace)]


def _references(bundle: Bundle) -> dict[tuple[str, str, str], list[Reference]]:
    table: dict[tuple[str, str, str], list[Reference]] = {}
    for f in bundle.facts:
        for reference in f.references:
            table.setdefault((reference.api_group, reference.kind, reference.name), []).append(reference)
    return table


def _bindings_there(bundle: Bundle) -> bool:
    return any(f.group == _RBAC and f.id.kind.endswith("Binding") for f in bundle.facts)


def _has_permission(facts: Facts, permission: KindPermission, bundle: Bundle) -> bool:
    """Whether a program has a permission in the namespace or folder of an object."""
    granted = bundle.input.once(_permissions)
    return (permission, facts.id.namespace) in granted or (permission, f"{facts.folder}/") in granted


def _permissions(bundle: Bundle) -> frozenset[tuple[KindPermission, str]]:
    """The permissions of programs, each with their namespaces and folders (which end in a slash)."""
    found: set[tuple[KindPermission, str]] = set()
    for binding in bundle.facts:
        if binding.group == _RBAC and binding.id.kind in ("RoleBinding", "ClusterRoleBinding"):
            roles = chain.from_iterable(bundle.candidates(r) for r in binding.references if r.use == "role")
            permissions = frozenset(chain.from_iterable(role.permissions for role in roles))
            spaces = {r.namespace for r in binding.references if r.use == "subject"}
            if binding.id.kind == "RoleBinding":
                spaces.add(binding.id.namespace)
            found.update((permission, place) for permission in permissions for place in (*spaces, f"{binding.folder}/"))
    return frozenset(found)
