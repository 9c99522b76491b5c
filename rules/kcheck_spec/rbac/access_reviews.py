"""SubjectAccessReviews and related kinds. Source: pkg/apis/authorization/validation."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, labels, remove, validator
from kcheck_spec.objects.labels import label_syntax

access_review = declare(
    "invalid-access-review", "Invalid SubjectAccessReview (resourceAttributes, nonResourceAttributes, user)", fixable=True
)

# Metadata that only stored objects may have.
_METADATA = ("name", "generateName", "labels", "annotations", "finalizers", "ownerReferences", "generation", "resourceVersion")
_REVIEWS = tuple(f"authorization/v1 {kind}" for kind in ("LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"))

tables = [
    fields(_REVIEWS, spec=()),
    fields("authorization/v1 SelfSubjectRulesReview", spec=()),
    fields("meta/v1 FieldSelectorRequirement", key=(), operator=()),
]


@validator(_REVIEWS, rule=access_review)
def questions_have_no_metadata(review: Node) -> Iterator[Problem]:
    """A review is not stored, so it has no name or labels. The server names metadata as a whole in its errors."""
    metadata = review["metadata"]
    for name in _METADATA:
        value = metadata[name]
        if value.value or (value.value == 0 and value.value.__class__ is not int):
            message = f"metadata.{name} is not allowed in an access review"
            yield Problem(value, message, help=remove(), reason="Invalid", at="key", field=metadata)


@validator(_REVIEWS, rule=access_review)
def questions_are_complete(review: Node) -> Iterator[Problem]:
    """Exactly one of resourceAttributes and nonResourceAttributes, and a user or group."""
    spec = review["spec"]
    resource, other = spec["resourceAttributes"], spec["nonResourceAttributes"]
    if resource and other:
        message = "resourceAttributes and nonResourceAttributes exclude each other"
        yield Problem(other, message, help="remove one", reason="Invalid", at="key")
    if not resource and not other:
        message = "access review has neither resourceAttributes nor nonResourceAttributes"
        yield Problem(resource, message, help="add one of them", reason="Invalid")
    if review["kind"].text != "SelfSubjectAccessReview" and not spec["user"].text and not len(spec["groups"]):
        yield Problem(spec["user"], "access review has neither user nor groups", help="add user or groups", reason="Invalid")


@validator("authorization/v1 LocalSubjectAccessReview", rule=access_review)
def local_questions_stay_in_their_namespace(review: Node) -> Iterator[Problem]:
    """The namespace of the resource must be that of the review. Unknown without metadata.namespace."""
    spec = review["spec"]
    own, asked = review.at("metadata", "namespace"), spec["resourceAttributes"]["namespace"]
    if spec["resourceAttributes"] and asked.text != own.text and (own.text or not asked.text):
        message = f'resourceAttributes.namespace "{asked.text}" differs from metadata.namespace "{own.text}"'
        help = f'set resourceAttributes.namespace to "{own.text}"' if own.text else "set both to the same namespace"
        yield Problem(asked, message, help=help, reason="Invalid")
    if spec["nonResourceAttributes"]:
        message = "nonResourceAttributes is not allowed in a LocalSubjectAccessReview"
        yield Problem(spec["nonResourceAttributes"], message, help="remove nonResourceAttributes", reason="Invalid", at="key")


@validator(("authorization/v1 LabelSelectorAttributes", "authorization/v1 FieldSelectorAttributes"), rule=access_review)
def selectors_are_given_once(selector: Node) -> Iterator[Problem]:
    """Either requirements or rawSelector. The server accepts unknown operators, which a newer client may send."""
    requirements, raw = selector["requirements"], selector["rawSelector"]
    if raw.text and len(requirements):
        yield Problem(raw, "rawSelector and requirements exclude each other", help="remove one", reason="Invalid", at="key")
    if not raw.text and not len(requirements):
        message = f"{selector.name} has neither requirements nor rawSelector"
        yield Problem(requirements, message, help=f"add one of them or remove {selector.name}", reason="Required")
    for each in requirements:
        operator, values = each["operator"].text, each["values"]
        if operator in ("In", "NotIn") and not len(values):
            message = f"operator {operator} requires at least one value"
            yield Problem(values, message, help="add values or use operator: Exists", reason="Required")
        if operator in ("Exists", "DoesNotExist") and len(values):
            message = f"operator {operator} does not allow values"
            yield Problem(values, message, help="remove values or use operator: In", reason="Forbidden")
        if selector.name == "fieldSelector" and not each["key"].text:
            yield Problem(each["key"], "requirement of fieldSelector has no key", help="add key", reason="Required")


@validator("authorization/v1 LabelSelectorAttributes", rule=label_syntax)
def selected_labels_are_well_formed(selector: Node) -> Iterator[Problem]:
    """Keys and values must be valid for labels; others select nothing."""
    for each in selector["requirements"]:
        wrong = labels.key(each["key"].text)
        if wrong:
            yield Problem(each["key"], wrong, reason="Invalid")
        for value in each["values"]:
            wrong = labels.value(value.text)
            if wrong:
                yield Problem(value, wrong, reason="Invalid")
