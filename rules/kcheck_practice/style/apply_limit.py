"""The size limit of `kubectl apply`, which stores the applied object in an annotation.

Sources: GetOriginalConfiguration and GetModifiedConfiguration (k8s.io/kubectl, pkg/util/apply.go), TotalAnnotationSizeLimitB
(k8s.io/apimachinery, pkg/api/validation).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Problem, Resource, labels, rule

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# The JSON of an object is not four times as long as its YAML, unless it consists of aliases or of escaped characters.
_FEWEST_CHARACTERS = labels.ANNOTATIONS_LIMIT // 4


@rule(
    "client-side-apply-limit",
    "Object is too large for kubectl apply without --server-side",
    groups=("gitops",),
    default=False,
)
def client_side_apply_limit(resource: Resource) -> Iterator[Problem]:
    """The annotation of kubectl apply and the other annotations together are limited to 256 KiB."""
    if resource.node.end - resource.node.start < _FEWEST_CHARACTERS:
        return
    annotations = {key: value for key, value in resource.annotations.items() if key != _APPLIED}
    others = sum(_size(key) + _size(value) for key, value in annotations.items())
    size = _applied_size(resource) + len(_APPLIED) + others
    if size > labels.ANNOTATIONS_LIMIT:
        message = f"kubectl apply fails: the annotations would have {size:,} bytes, but at most {labels.ANNOTATIONS_LIMIT:,} are allowed"
        help = "use kubectl apply --server-side, or ServerSideApply=true in Argo CD"
        yield Problem(resource["metadata"]["name"], message, help=help)


def _applied_size(resource: Resource) -> int:
    """Return the bytes of the object as kubectl writes it into the annotation: JSON of Go, which escapes <, > and &.

    kubectl adds the namespace and a map of annotations where they are missing.
    """
    applied = resource.node.plain()
    metadata = applied.get("metadata")
    if isinstance(metadata, dict):
        annotations = metadata.setdefault("annotations", {})
        if isinstance(annotations, dict):
            annotations.pop(_APPLIED, None)
        if resource.namespaced and not resource.namespace:
            metadata["namespace"] = "default"
    text = json.dumps(applied, ensure_ascii=False, separators=(",", ":"), default=str)
    return _size(text) + 5 * sum(map(text.count, "<>&")) + 1


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
