"""Users and groups that containers run as. Sources: the documentation's pages "Pod Security Standards", "Configure a
Security Context for a Pod or Container" and "User Namespaces".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Correction, Node, Pod, Problem, rule
from kcheck_practice._support.security_contexts import contexts, has_user_namespace, is_in_whole_pod, is_on_windows, is_whole_pod, named

_RESTRICTED = ("security", "pod-security-restricted", "run-as-user")


@rule("root-user", "Pod or container runs as root (runAsUser: 0 or runAsNonRoot: false)", groups=_RESTRICTED, default=False, fixable=True)
def root_user(pod: Pod) -> Iterator[Problem]:
    """runAsUser: 0 or runAsNonRoot: false of the Pod or of any container, even where a container overrides the Pod."""
    if has_user_namespace(pod):
        return
    for context in contexts(pod):
        user, asked = context["runAsUser"], context["runAsNonRoot"]
        if user.integer == 0:
            yield Problem(user, "runAsUser: 0 is the root user", help="set it to the ID of a non-root user")
        if asked.boolean is False:
            yield Problem(
                asked,
                "runAsNonRoot: false allows containers to run as root",
                help="set runAsNonRoot: true",
                fix=Correction.set(asked, True, safe=False),
            )


@rule(
    "missing-run-as-non-root",
    "Container may run as root (neither runAsNonRoot: true nor runAsUser is set)",
    groups=_RESTRICTED,
    default=False,
    fixable=True,
)
def may_run_as_root(container: Container) -> Iterator[Problem]:
    """Neither the container nor its Pod sets runAsNonRoot or runAsUser."""
    own, pods = container.node["securityContext"], container.pod.node["securityContext"]
    if has_user_namespace(container.pod) or not is_in_whole_pod(container):
        return
    if not _effective(container, "runAsNonRoot") and not _effective(container, "runAsUser"):
        is_own = bool(pods["runAsNonRoot"] or own)
        place, where = (own, "its securityContext") if is_own else (pods, "the securityContext of the Pod")
        message = f'container "{container.name}" runs as root if the user of its image is root'
        yield Problem(
            named(container),
            message,
            help=f"add runAsNonRoot: true to {where}",
            field=own["runAsNonRoot"],
            fix=Correction.set(place["runAsNonRoot"], True, safe=False),
        )


@rule(
    "run-as-user-without-non-root",
    "Container sets runAsUser but not runAsNonRoot: true",
    severity=INFO,
    groups=("pod-security-restricted", "run-as-user"),
    default=False,
    fixable=True,
)
def non_root_unstated(container: Container) -> Iterator[Problem]:
    """The restricted standard requires runAsNonRoot: true even where runAsUser is not 0."""
    if has_user_namespace(container.pod) or not is_in_whole_pod(container):
        return
    user = _effective(container, "runAsUser")
    if user.integer and not _effective(container, "runAsNonRoot"):
        asked = container.node.at("securityContext", "runAsNonRoot")
        standard = "which the restricted Pod Security Standard requires"
        message = f'container "{container.name}" has runAsUser: {user.value} but not runAsNonRoot: true, {standard}'
        yield Problem(
            named(container),
            message,
            help="add runAsNonRoot: true to its securityContext",
            field=asked,
            fix=Correction.set(asked, True, safe=False),
        )


@rule("low-user-id", "Container has a low runAsUser or none", severity=INFO, groups=("run-as-user",), default=False)
def low_user_id(
    pod: Pod,
    *,
    minimum: Annotated[int, "the lowest ID that is not reported"] = 10000,
) -> Iterator[Problem]:
    """Reports containers without runAsUser as well: the user of the image may be root."""
    yield from _low(pod, "runAsUser", minimum)


@rule("low-group-id", "Container has a low runAsGroup or none", severity=INFO, groups=("run-as-user",), default=False)
def low_group_id(
    pod: Pod,
    *,
    minimum: Annotated[int, "the lowest ID that is not reported"] = 10000,
) -> Iterator[Problem]:
    """Reports containers without runAsGroup as well: the group of the image is often 0."""
    yield from _low(pod, "runAsGroup", minimum)


@rule(
    "forbidden-user-id",
    "User or group ID is outside the allowed range (runAsUser, runAsGroup, fsGroup)",
    groups=("policy", "run-as-user"),
    default=False,
)
def id_range(
    pod: Pod,
    *,
    first: Annotated[int, "the lowest allowed ID"] = 1000,
    last: Annotated[int, "the highest allowed ID"] = 2147483647,
) -> Iterator[Problem]:
    """Checks the values of runAsUser, runAsGroup, fsGroup and supplementalGroups; missing values are not reported."""
    for context in contexts(pod):
        for node in (context["runAsUser"], context["runAsGroup"], context["fsGroup"], *context["supplementalGroups"]):
            if node.integer is not None and not first <= node.integer <= last:
                yield Problem(node, f"{node.name or 'supplementalGroups'}: {node.integer} is outside the allowed range {first}-{last}")


@rule(
    "root-group",
    "Pod or container runs with group 0 (runAsGroup, fsGroup, supplementalGroups)",
    groups=("security", "run-as-user"),
    default=False,
)
def root_group(pod: Pod) -> Iterator[Problem]:
    """Group 0 in runAsGroup, fsGroup or supplementalGroups."""
    for context in contexts(pod):
        groups = [context["runAsGroup"]]
        if context.parent is pod.node:
            groups += [context["fsGroup"], *context["supplementalGroups"]]
        for node in groups:
            if node.integer == 0:
                message = f"{node.name}: 0 is the root group" if node.name else "supplementalGroups contains 0, the root group"
                yield Problem(node, message, help="use the ID of a non-root group")


@rule(
    "host-users",
    "Pod shares the user namespace of its node (hostUsers is not false)",
    severity=INFO,
    groups=("run-as-user",),
    default=False,
    fixable=True,
)
def shared_user_namespace(pod: Pod) -> Iterator[Problem]:
    """Pods without hostUsers: false, except where the Pod shares a namespace of the node, which the API server rejects with it."""
    node = pod["hostUsers"]
    if node.boolean is False or is_on_windows(pod) or any(pod[name].boolean for name in ("hostNetwork", "hostPID", "hostIPC")):
        return
    if is_whole_pod(pod):
        message = "user IDs in the Pod are user IDs of the node because hostUsers is not false"
        # The API server does not allow block devices together with a user namespace.
        has_devices = any(len(container["volumeDevices"]) for container in pod.containers)
        fix = None if has_devices else Correction.set(node, False, safe=False)
        yield Problem(node, message, help="set hostUsers: false", at="key", fix=fix)


def _effective(container: Container, name: str) -> Node:
    """A field of the container's securityContext or, where that is absent or null, of the Pod's."""
    own = container.node["securityContext"][name]
    return own if own else container.pod.node["securityContext"][name]


def _low(pod: Pod, name: str, minimum: int) -> Iterator[Problem]:
    """Problems for IDs below `minimum`, and for containers without an ID."""
    if is_on_windows(pod):
        return
    what = "user" if name == "runAsUser" else "group"
    for context in contexts(pod):
        node = context[name]
        if node.integer is not None and node.integer < minimum:
            message = f"{name}: {node.integer} may be the ID of a {what} on the node"
            yield Problem(node, message, help=f"use {minimum} or higher")
    for container in pod.containers:
        if not _effective(container, name) and is_in_whole_pod(container):
            message = f'container "{container.name}" has no {name} and runs with the {what} of its image'
            field = container.node["securityContext"][name]
            yield Problem(named(container), message, help=f"set {name} to {minimum} or higher", field=field)
