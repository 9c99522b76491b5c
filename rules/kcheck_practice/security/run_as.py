"""As whom containers run. Sources: the documentation's pages "Pod Security Standards", "Configure a Security Context for a Pod or
Container" and "User Namespaces".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Node, Pod, Problem, rule
from kcheck_practice._support.security_contexts import contexts, has_user_namespace, is_in_whole_pod, is_on_windows, is_whole_pod, named

_RESTRICTED = ("security", "pod-security-restricted", "run-as-user")


@rule("root-user", "Pod or container runs as root (runAsUser: 0 or runAsNonRoot: false)", groups=_RESTRICTED, default=False)
def root_user(pod: Pod) -> Iterator[Problem]:
    """runAsUser: 0 or runAsNonRoot: false, of the pod or of any container, whether or not another level overrides it."""
    if has_user_namespace(pod):
        return
    for context in contexts(pod):
        user, asked = context["runAsUser"], context["runAsNonRoot"]
        if user.integer == 0:
            yield Problem(user, "runAsUser 0 is root", help="give the image a user of its own and write its number")
        if asked.flag is False:
            yield Problem(asked, "runAsNonRoot: false lets the image run as root", help="write true")


@rule(
    "missing-run-as-non-root",
    "Container may run as root (neither runAsNonRoot: true nor runAsUser is set)",
    groups=_RESTRICTED,
    default=False,
)
def may_run_as_root(container: Container) -> Iterator[Problem]:
    """Neither the container nor its pod says runAsNonRoot, or a user that is not root."""
    own, pods = container.node["securityContext"], container.pod.node["securityContext"]
    if has_user_namespace(container.pod) or not is_in_whole_pod(container):
        return
    if not _effective(container, "runAsNonRoot") and not _effective(container, "runAsUser"):
        where = "its securityContext" if pods["runAsNonRoot"] or own else "the pod's securityContext"
        message = f"container {container.name} runs as root if its image says so"
        yield Problem(named(container), message, help=f"add runAsNonRoot: true to {where}", field=own["runAsNonRoot"])


@rule(
    "run-as-user-without-non-root",
    "Container sets runAsUser but not runAsNonRoot: true",
    severity=INFO,
    groups=("pod-security-restricted", "run-as-user"),
    default=False,
)
def non_root_unstated(container: Container) -> Iterator[Problem]:
    """The restricted standard wants runAsNonRoot said, even where runAsUser is not 0."""
    if has_user_namespace(container.pod) or not is_in_whole_pod(container):
        return
    user = _effective(container, "runAsUser")
    if user.integer and not _effective(container, "runAsNonRoot"):
        asked = container.node.at("securityContext", "runAsNonRoot")
        message = f"runAsUser {user.value} keeps container {container.name} from root, but the standard wants runAsNonRoot: true beside it"
        yield Problem(named(container), message, field=asked)


@rule("low-user-id", "Container has a low runAsUser or none", severity=INFO, groups=("run-as-user",), default=False)
def low_user_id(
    pod: Pod,
    *,
    minimum: Annotated[int, "the lowest number that is fine"] = 10000,
) -> Iterator[Problem]:
    """Told where none is given, too: the image may say root."""
    yield from _low(pod, "runAsUser", minimum)


@rule("low-group-id", "Container has a low runAsGroup or none", severity=INFO, groups=("run-as-user",), default=False)
def low_group_id(
    pod: Pod,
    *,
    minimum: Annotated[int, "the lowest number that is fine"] = 10000,
) -> Iterator[Problem]:
    """Told where none is given, too: the runtime takes that of the image, which is often root's."""
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
    first: Annotated[int, "the lowest number that is allowed"] = 1000,
    last: Annotated[int, "the highest number that is allowed"] = 2147483647,
) -> Iterator[Problem]:
    """Asked of what is written: runAsUser, runAsGroup, fsGroup and supplementalGroups."""
    for context in contexts(pod):
        for node in (context["runAsUser"], context["runAsGroup"], context["fsGroup"], *context["supplementalGroups"]):
            if node.integer is not None and not first <= node.integer <= last:
                yield Problem(node, f"{node.integer} is outside of {first} to {last}, which is allowed here", help="write one of these")


@rule(
    "root-group",
    "Pod or container runs with group 0 (runAsGroup, fsGroup, supplementalGroups)",
    groups=("security", "run-as-user"),
    default=False,
)
def root_group(pod: Pod) -> Iterator[Problem]:
    """As primary, additional or file-system group, where that is written."""
    for context in contexts(pod):
        groups = [context["runAsGroup"]]
        if context.parent is pod.node:
            groups += [context["fsGroup"], *context["supplementalGroups"]]
        for node in groups:
            if node.integer == 0:
                yield Problem(
                    node, f"{node.name or 'supplementalGroups'} 0 is the group of root", help="write a group of the application's own"
                )


@rule(
    "host-users",
    "Pod shares the user namespace of its node (hostUsers is not false)",
    severity=INFO,
    groups=("run-as-user",),
    default=False,
)
def shared_user_namespace(pod: Pod) -> Iterator[Problem]:
    """hostUsers: false maps all users of the pod to numbers that own nothing; the pod must not share the node's namespaces then."""
    node = pod["hostUsers"]
    if node.flag is False or is_on_windows(pod) or any(pod[name].flag for name in ("hostNetwork", "hostPID", "hostIPC")):
        return
    if is_whole_pod(pod):
        yield Problem(node, "users of this pod are users of its node", help="add hostUsers: false", at="key")


def _effective(container: Container, name: str) -> Node:
    """A setting of the container or, where it says nothing, of its pod."""
    own = container.node["securityContext"][name]
    return own if own else container.pod.node["securityContext"][name]


def _low(pod: Pod, name: str, minimum: int) -> Iterator[Problem]:
    """Numbers below a limit where they are written, and containers that have none."""
    if is_on_windows(pod):
        return
    what = "user" if name == "runAsUser" else "group"
    for context in contexts(pod):
        node = context[name]
        if node.integer is not None and node.integer < minimum:
            yield Problem(node, f"{what} {node.integer} may belong to somebody on the node", help=f"write {minimum} or more")
    for container in pod.containers:
        if not _effective(container, name) and is_in_whole_pod(container):
            message = f"container {container.name} runs with the {what} of its image"
            yield Problem(
                named(container), message, help=f"write {name} with {minimum} or more", field=container.node["securityContext"][name]
            )
