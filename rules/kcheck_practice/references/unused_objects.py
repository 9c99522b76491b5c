"""What the input holds and nothing in it uses. Sources: the documentation's pages "ConfigMaps", "Secrets", "Configure Service Accounts for
Pods" and "Using RBAC Authorization".

Unused is what no object names and no text mentions, and what no program can find otherwise: by labels or annotations of its own, or
because a role lets programs of its namespace read all objects of the kind, or make pods with whatever account.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from kcheck.api import INFO, Bundle, Facts, Problem, Reference, is_provided, may_share, rule

_GROUPS = ("relations", "unused")
_RBAC = "rbac.authorization.k8s.io"
_SHOWN = 5
# Roles that operators bring along for whoever likes to bind them.
_FOR_PEOPLE = tuple(f"{who}{role}" for who in ("editor", "viewer", "reader", "admin", "view", "edit") for role in ("", "-role"))
# Programs of the cluster itself know by heart what they read here.
_SYSTEM = ("kube-", "openshift-")


@rule("unused-config-map", "ConfigMap is not used", severity=INFO, kinds="core ConfigMap", groups=_GROUPS, default=False)
def unused_config_map(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked where there are pods that could use it."""
    yield from _unused(facts, bundle, "ConfigMap", "mount it, take variables from it, or delete it")


@rule("unused-secret", "Secret is not used", severity=INFO, kinds="core Secret", groups=(*_GROUPS, "secrets"), default=False)
def unused_secret(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked where there are pods that could use it; tokens of accounts and of Helm are none of ours."""
    yield from _unused(facts, bundle, "Secret", "delete it, for nobody needs what it keeps")


@rule(
    "unused-service-account",
    "ServiceAccount is not used",
    severity=INFO,
    kinds="core ServiceAccount",
    groups=(*_GROUPS, "service-accounts"),
    default=False,
)
def unused_service_account(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """By no pod and in no binding."""
    yield from _unused(facts, bundle, "ServiceAccount", "set serviceAccountName in the pods that it is for, or delete it")


@rule(
    "unused-persistent-volume-claim",
    "PersistentVolumeClaim is not used",
    severity=INFO,
    kinds="core PersistentVolumeClaim",
    groups=(*_GROUPS, "storage"),
    default=False,
)
def unused_volume_claim(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A claim costs as long as it is there, used or not."""
    yield from _unused(facts, bundle, "PersistentVolumeClaim", "mount it, or delete it")


@rule(
    "unused-key",
    "Key of a ConfigMap or Secret is not used",
    severity=INFO,
    kinds=("core ConfigMap", "core Secret"),
    groups=_GROUPS,
    default=False,
)
def unused_key(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where all that use the object choose entries of it."""
    if facts.group or facts.id.kind not in ("ConfigMap", "Secret") or not facts.keys or not facts.whole or _is_found(facts, bundle):
        return
    uses = _uses(facts, bundle)
    if not uses or not all(reference.key or reference.partly for reference in uses):
        return
    unused = sorted(facts.keys.difference(reference.key for reference in uses))
    if unused:
        names = ", ".join(unused[:_SHOWN]) + (", ..." if len(unused) > _SHOWN else "")
        yield Problem(facts.place, f"nothing in the input uses {names} of {facts.title}", help="take it out, or use it")


@rule(
    "unbound-role",
    "Role or ClusterRole is not referenced by any binding",
    severity=INFO,
    kinds=("rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io ClusterRole"),
    groups=(*_GROUPS, "rbac"),
    default=False,
)
def unbound_role(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Roles that are gathered into others, by their labels, are apart."""
    if facts.group == _RBAC and facts.id.kind in ("Role", "ClusterRole") and facts.whole and facts.id.name and "found" not in facts.marks:
        given = is_provided(Reference(_RBAC, facts.id.kind, facts.id.namespace, facts.id.name, facts.place))
        if given or _uses(facts, bundle) or _is_named(facts, bundle) or facts.id.name.endswith(_FOR_PEOPLE):
            return
        if bundle.complete or bundle.once(_bindings_there):
            yield Problem(facts.place, f"no binding in the input gives {facts.title} to anybody", help="bind it, or delete it")


@rule("unused-binding-subject", "Binding grants a role to a ServiceAccount that no Pod uses", severity=INFO, facts="references",
      kinds=(f"{_RBAC} RoleBinding", f"{_RBAC} ClusterRoleBinding"),
      groups=(*_GROUPS, "rbac", "service-accounts"), default=False)  # fmt: skip
def idle_binding(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked of accounts of the input."""
    if facts.group != _RBAC or not facts.whole:
        return
    for reference in facts.references:
        if reference.use != "subject" or reference.kind != "ServiceAccount" or is_provided(reference):
            continue
        accounts = bundle.copies(reference)
        idle = [f for f in accounts if _is_idle(f, bundle)]
        if accounts and len(idle) == len(accounts):
            message = f"no pod in the input has the service account {reference.name}"
            yield Problem(reference.place, message, help="take it out, or delete it with its rights")


def _is_idle(account: Facts, bundle: Bundle) -> bool:
    """Whether no pod has an account, nor seems to get it."""
    if not account.whole or not _may_be_used(account, bundle) or _is_named(account, bundle) or _has_power(account, "makes=Pod", bundle):
        return False
    return all(use.use != "account" for use in _uses(account, bundle))


def _unused(facts: Facts, bundle: Bundle, kind: str, remedy: str) -> Iterator[Problem]:
    if facts.group or facts.id.kind != kind or not facts.whole or not facts.id.name:
        return
    reference = Reference("", kind, facts.id.namespace, facts.id.name, facts.place)
    # Without entries it is there to be filled, and somebody will name it who does.
    empty = kind in ("ConfigMap", "Secret") and not facts.keys
    if empty or is_provided(reference) or _uses(facts, bundle) or _is_found(facts, bundle) or not _may_be_used(facts, bundle):
        return
    if kind == "ServiceAccount" and not _is_idle(facts, bundle):
        return
    yield Problem(facts.place, f"nothing in the input uses {facts.title}", help=remedy)


def _may_be_used(facts: Facts, bundle: Bundle) -> bool:
    """Whether pods are in sight that could use an object."""
    return bundle.complete or bool(bundle.pods(facts, "folder"))


def _is_found(facts: Facts, bundle: Bundle) -> bool:
    """Whether a program can come by an object though no field of the input refers to it."""
    if "found" in facts.marks or facts.id.namespace.startswith(_SYSTEM) or _is_named(facts, bundle):
        return True
    return _has_power(facts, f"reads={facts.id.kind}", bundle)


def _is_named(facts: Facts, bundle: Bundle) -> bool:
    """Whether some text is the name of an object."""
    return facts.id.name in bundle.once(_words) or facts.id.name in bundle.mentioned


def _words(bundle: Bundle) -> frozenset[str]:
    return frozenset(chain.from_iterable(f.words for f in bundle.facts if f.words))


def _uses(facts: Facts, bundle: Bundle) -> list[Reference]:
    """Where objects of the input refer to an object."""
    found = bundle.once(_references).get((facts.group, facts.id.kind, facts.id.name), ())
    return [reference for reference in found if may_share(reference.namespace, facts.id.namespace)]


def _references(bundle: Bundle) -> dict[tuple[str, str, str], list[Reference]]:
    table: dict[tuple[str, str, str], list[Reference]] = {}
    for f in bundle.facts:
        for reference in f.references:
            table.setdefault((reference.api_group, reference.kind, reference.name), []).append(reference)
    return table


def _bindings_there(bundle: Bundle) -> bool:
    return any(f.group == _RBAC and f.id.kind.endswith("Binding") for f in bundle.facts)


def _has_power(facts: Facts, power: str, bundle: Bundle) -> bool:
    """Whether some program may do something in the namespace or folder of an object."""
    powers = bundle.once(_powers)
    return (power, facts.id.namespace) in powers or (power, f"{facts.folder}/") in powers


def _powers(bundle: Bundle) -> frozenset[tuple[str, str]]:
    """What programs may do, each with the namespaces and folders (these with a slash) of those that may."""
    found: set[tuple[str, str]] = set()
    for binding in bundle.facts:
        if binding.group == _RBAC and binding.id.kind in ("RoleBinding", "ClusterRoleBinding"):
            marks = {mark for r in binding.references if r.use == "role" for role in bundle.copies(r) for mark in role.marks if "=" in mark}
            spaces = {r.namespace for r in binding.references if r.use == "subject"}
            if binding.id.kind == "RoleBinding":
                spaces.add(binding.id.namespace)
            found.update((mark, place) for mark in marks for place in (*spaces, f"{binding.folder}/"))
    return frozenset(found)
