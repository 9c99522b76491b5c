"""Metadata in the templates of objects: of pods and of claims. The server looks at it less closely than at an object's own.

The metadata of a CronJob's job template and of a StatefulSet's claim templates it does not look at at all.
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
    """The path that the server gives: of a pod template it leaves metadata out."""
    return template["metadata"][field] if template.name in ("volumeClaimTemplate", "spec") else template.imaginary(field)


@validator(_TEMPLATES, rule=label_syntax, fields="metadata")
def template_labels_are_well_formed(template: Node) -> Iterator[Problem]:
    """Labels of what is made of the template. Source: ValidatePodTemplateSpec, ValidateTemplateObjectMeta."""
    yield from label_problems(template["metadata"]["labels"], _place(template, "labels"))


@validator(_TEMPLATES, rule=annotation_key, fields="metadata")
def template_annotations_are_well_formed(template: Node) -> Iterator[Problem]:
    """Annotations of what is made of the template."""
    yield from annotation_problems(template["metadata"]["annotations"], _place(template, "annotations"))


@validator(_TEMPLATES, rule=size_limit, fields="metadata")
def template_annotations_have_a_limit(template: Node) -> Iterator[Problem]:
    """The same limit as in an object."""
    yield from annotations_too_large(template["metadata"]["annotations"], _place(template, "annotations"))


@validator(_CLAIMS, rule=claim_template)
def claims_are_labelled_only(template: Node) -> Iterator[Problem]:
    """A claim is called after its pod, so the template has labels and annotations alone. Source: ValidateTemplateObjectMeta."""
    metadata = template["metadata"]
    for key, value in metadata.entries:
        # Go tells an empty list from none, and 0 in what is a pointer there.
        zero = value.value in ("", 0) and key != "deletionGracePeriodSeconds"
        if value and not zero and key not in ("labels", "annotations"):
            message = "a template of a claim has labels and annotations alone"
            yield Problem(
                value,
                message,
                help=f"take {key} away",
                reason="Forbidden",
                at="key",
                field=metadata.imaginary("uID") if key == "uid" else value,
            )
