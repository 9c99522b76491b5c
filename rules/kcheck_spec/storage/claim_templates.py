"""Metadata in templates of Pods and claims, which the API server validates less strictly than the metadata of objects.

It does not validate the metadata of a CronJob's jobTemplate and of a StatefulSet's volumeClaimTemplates.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, validator
from kcheck_spec.objects.labels import label_problems, label_syntax
from kcheck_spec.objects.metadata import annotation_key, annotation_problems, annotations_too_large, size_limit

claim_template = declare("invalid-claim-template-metadata", "Claim template metadata has fields other than labels and annotations")

_CLAIMS = (
    "core/v1 PersistentVolumeClaimTemplate",
    *(f"resource/{version} ResourceClaimTemplateSpec" for version in ("v1", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2")),
)
_TEMPLATES = ("core/v1 PodTemplateSpec", *_CLAIMS)


def _place(template: Node, field: str) -> Node:
    """The node whose path the API server reports: for a Pod template it omits `metadata`."""
    return template["metadata"][field] if template.name in ("volumeClaimTemplate", "spec") else template.virtual(field)


@validator(_TEMPLATES, rule=label_syntax, fields="metadata")
def template_labels_are_well_formed(template: Node) -> Iterator[Problem]:
    """Yield invalid labels of a template. Source: ValidatePodTemplateSpec, ValidateTemplateObjectMeta."""
    yield from label_problems(template["metadata"]["labels"], _place(template, "labels"))


@validator(_TEMPLATES, rule=annotation_key, fields="metadata")
def template_annotations_are_well_formed(template: Node) -> Iterator[Problem]:
    """Yield invalid annotation keys of a template."""
    yield from annotation_problems(template["metadata"]["annotations"], _place(template, "annotations"))


@validator(_TEMPLATES, rule=size_limit, fields="metadata")
def template_annotations_have_a_limit(template: Node) -> Iterator[Problem]:
    """Yield annotations of a template that are larger than the limit of an object."""
    yield from annotations_too_large(template["metadata"]["annotations"], _place(template, "annotations"))


@validator(_CLAIMS, rule=claim_template)
def claims_are_labelled_only(template: Node) -> Iterator[Problem]:
    """Yield metadata other than labels and annotations: the name comes from the Pod. Source: ValidateTemplateObjectMeta."""
    metadata = template["metadata"]
    for key, value in metadata.entries:
        # Go distinguishes an empty list from none, and 0 from none in a pointer.
        zero = value.value in ("", 0) and key != "deletionGracePeriodSeconds"
        if value and not zero and key not in ("labels", "annotations"):
            message = f"metadata.{key} is not allowed in a claim template, which can only have labels and annotations"
            yield Problem(
                value,
                message,
                help=f"remove {key}",
                reason="Forbidden",
                at="key",
                field=metadata.virtual("uID") if key == "uid" else value,
            )
