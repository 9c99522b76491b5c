"""Rules about limits of namespaces and of emptyDir volumes.

Source: the pages "Limit Ranges", "Resource Quotas" and "Volumes" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Node, Pod, Problem, enumeration, rule
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
    sections: Annotated[tuple[str, ...], "fields that a limit of type Container must set"] = ("default", "defaultRequest", "max", "min"),
) -> Iterator[Problem]:
    """Yields a problem for a limit of type Container with missing fields. Limits of other types have no defaults."""
    if item["type"].text != "Container":
        return
    missing = [name for name in sections if not len(item[name])]
    if missing:
        message = f"limit of type Container does not set {enumeration(missing, 'or')}"
        yield Problem(item["type"], message, help=f"set {enumeration(missing)} for cpu and memory", field=item)


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
    resources: Annotated[tuple[str, ...], "resources that a ResourceQuota must limit"] = (
        "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
    ),
) -> Iterator[Problem]:  # fmt: skip
    """Yields a problem for a quota without the required resources. The names cpu and memory mean requests.cpu and requests.memory."""
    hard = spec["hard"]
    if not hard:
        return
    limited = {key for key, _ in hard.entries}
    limited |= {f"requests.{key}" for key in limited}
    missing = [name for name in resources if name not in limited]
    if missing:
        yield Problem(
            hard, f"spec.hard does not limit {enumeration(missing, 'or')}", help=f"add {enumeration(missing)} to spec.hard", at="key"
        )


@rule("missing-empty-dir-size-limit", "emptyDir volume has no sizeLimit", groups=("resources", "reliability"), default=False, severity=INFO)
def unbounded_empty_dir(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for each emptyDir volume without sizeLimit. It uses the node's disk, or its memory with medium: Memory."""
    if not is_whole_pod(pod):
        return
    for volume in pod["volumes"]:
        source = volume["emptyDir"]
        if source and not source["sizeLimit"]:
            name = volume["name"].text
            shown = f'volume "{name}"' if name else "volume"
            where = "memory" if source["medium"].text == "Memory" else "disk"
            message = f"emptyDir {shown} has no sizeLimit and can fill the {where} of its node"
            yield Problem(source, message, help="set emptyDir.sizeLimit, for example to 500Mi", at="key", field=source["sizeLimit"])
