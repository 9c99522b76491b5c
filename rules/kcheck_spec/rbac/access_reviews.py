"""Questions about permissions. Source: pkg/apis/authorization/validation."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, labels, validator
from kcheck_spec.objects.labels import label_syntax

access_review = declare("invalid-access-review", "Invalid SubjectAccessReview (resourceAttributes, nonResourceAttributes, user)")

# What a question cannot have: all that belongs to objects which are stored.
_METADATA = ("name", "generateName", "labels", "annotations", "finalizers", "ownerReferences", "generation", "resourceVersion")
_REVIEWS = tuple(f"authorization/v1 {kind}" for kind in ("LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"))

tables = [
    fields(_REVIEWS, spec=()),
    fields("authorization/v1 SelfSubjectRulesReview", spec=()),
    fields("meta/v1 FieldSelectorRequirement", key=(), operator=()),
]


@validator(_REVIEWS, rule=access_review)
def questions_have_no_metadata(review: Node) -> Iterator[Problem]:
    """A question is not stored, so nothing names or labels it. The server names metadata as a whole."""
    metadata = review["metadata"]
    for name in _METADATA:
        value = metadata[name]
        if value.value or (value.value == 0 and value.value.__class__ is not int):
            yield Problem(value, f"a review has no {name}", help="take it away", reason="Invalid", at="key", field=metadata)


@validator(_REVIEWS, rule=access_review)
def questions_are_complete(review: Node) -> Iterator[Problem]:
    """One thing asked about, and somebody to ask for."""
    spec = review["spec"]
    resource, other = spec["resourceAttributes"], spec["nonResourceAttributes"]
    if resource and other:
        yield Problem(other, "resourceAttributes and nonResourceAttributes exclude each other", help="keep one", reason="Invalid", at="key")
    if not resource and not other:
        yield Problem(resource, "nothing is asked", help="add resourceAttributes or nonResourceAttributes", reason="Invalid")
    if review["kind"].text != "SelfSubjectAccessReview" and not spec["user"].text and not len(spec["groups"]):
        yield Problem(spec["user"], "nobody is asked about", help="add user or groups", reason="Invalid")


@validator("authorization/v1 LocalSubjectAccessReview", rule=access_review)
def local_questions_stay_in_their_namespace(review: Node) -> Iterator[Problem]:
    """It is asked about resources of the namespace that it is sent to. Unknown where it says none."""
    spec = review["spec"]
    own, asked = review.at("metadata", "namespace"), spec["resourceAttributes"]["namespace"]
    if spec["resourceAttributes"] and asked.text != own.text and (own.text or not asked.text):
        yield Problem(asked, f"the review is in namespace {own.text or 'none'}", help="write the same here", reason="Invalid")
    if spec["nonResourceAttributes"]:
        message = "a LocalSubjectAccessReview is about resources of a namespace"
        yield Problem(spec["nonResourceAttributes"], message, help="take nonResourceAttributes away", reason="Invalid", at="key")


@validator(("authorization/v1 LabelSelectorAttributes", "authorization/v1 FieldSelectorAttributes"), rule=access_review)
def selectors_are_given_once(selector: Node) -> Iterator[Problem]:
    """As requirements or as text. Operators that the server does not know are no fault: a newer client may send them."""
    requirements, raw = selector["requirements"], selector["rawSelector"]
    if raw.text and len(requirements):
        yield Problem(raw, "rawSelector and requirements exclude each other", help="keep one", reason="Invalid", at="key")
    if not raw.text and not len(requirements):
        yield Problem(
            requirements, f"{selector.name} selects nothing", help="add requirements or rawSelector, or take it away", reason="Required"
        )
    for each in requirements:
        operator, values = each["operator"].text, each["values"]
        if operator in ("In", "NotIn") and not len(values):
            yield Problem(values, f"{operator} needs at least one value", help="add values, or write Exists", reason="Required")
        if operator in ("Exists", "DoesNotExist") and len(values):
            yield Problem(values, f"{operator} takes no values", help="take them away, or write In", reason="Forbidden")
        if selector.name == "fieldSelector" and not each["key"].text:
            yield Problem(each["key"], "a requirement needs the key of a field", help="add it", reason="Required")


@validator("authorization/v1 LabelSelectorAttributes", rule=label_syntax)
def selected_labels_are_well_formed(selector: Node) -> Iterator[Problem]:
    """Keys and values that no label can have select nothing."""
    for each in selector["requirements"]:
        wrong = labels.key(each["key"].text)
        if wrong:
            yield Problem(each["key"], wrong, reason="Invalid")
        for value in each["values"]:
            wrong = labels.value(value.text)
            if wrong:
                yield Problem(value, wrong, reason="Invalid")
