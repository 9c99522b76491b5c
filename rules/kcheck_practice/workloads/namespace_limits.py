"""Limits of whole namespaces. Source: the documentation's pages "Limit Ranges" and "Resource Quotas"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Node, Pod, Problem, rule
from kcheck_practice._support.security_contexts import is_whole_pod


@rule(
    "incomplete-limit-range",
    "LimitRange does not limit everything it should (default, defaultRequest, max, min)",
    groups=("resources",),
    default=False,
    severity=INFO,
    types="core/v1 LimitRangeItem",
)
def limit_range_gaps(
    item: Node,
    *,
    sections: Annotated[tuple[str, ...], "what a limit on containers must say"] = ("default", "defaultRequest", "max", "min"),
) -> Iterator[Problem]:
    """Asked of limits on containers: the others have no defaults."""
    if item["type"].text != "Container":
        return
    missing = [name for name in sections if not len(item[name])]
    if missing:
        yield Problem(
            item["type"], f"the limit on containers leaves out {' and '.join(missing)}", help="say them for cpu and memory", field=item
        )


@rule(
    "incomplete-resource-quota",
    "ResourceQuota does not limit CPU or memory",
    groups=("resources",),
    default=False,
    severity=INFO,
    types="core/v1 ResourceQuotaSpec",
)
def quota_gaps(
    spec: Node,
    *,
    resources: Annotated[tuple[str, ...], "what the quota must bound"] = (
        "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
    ),
) -> Iterator[Problem]:  # fmt: skip
    """`cpu` and `memory` are other names of requests.cpu and requests.memory."""
    hard = spec["hard"]
    if not hard:
        return
    # A quota of some pods only, or of counts of objects beside another, is a part of what bounds the namespace.
    named = {key for key, _ in hard.entries}
    named |= {f"requests.{key}" for key in named}
    missing = [name for name in resources if name not in named]
    if missing:
        yield Problem(hard, f"the quota leaves out {' and '.join(missing)}: a namespace can use up what is not bounded", at="key")


@rule("missing-empty-dir-size-limit", "emptyDir volume has no sizeLimit", groups=("resources", "reliability"), default=False, severity=INFO)
def unbounded_empty_dir(pod: Pod) -> Iterator[Problem]:
    """On the node's disk or, with medium Memory, in its memory, up to the limits of the containers that write there."""
    if not is_whole_pod(pod):
        return
    for volume in pod["volumes"]:
        source = volume["emptyDir"]
        if source and not source["sizeLimit"]:
            where = "memory" if source["medium"].text == "Memory" else "disk"
            message = f"volume {volume['name'].text} can fill the {where} of its node"
            yield Problem(source, message, help="add sizeLimit", at="key", field=source["sizeLimit"])
