"""Comparison of the findings of two versions of an input."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kcheck.baseline.matching import TIERS, compare, plain_field, plain_text
from kcheck.finding.fingerprint import Fingerprint
from kcheck.kube.location import ObjectId

WEB = ObjectId("apps/v1", "Deployment", "shop", "web")
FINDING = Fingerprint("web.yaml", "latest-tag", WEB, "spec.template.spec.containers[0].image", "nginx:latest")


def numbers(old: Sequence[Fingerprint], new: Sequence[Fingerprint]) -> tuple[int, int, int]:
    """How many findings are known, new and gone."""
    compared = compare(old, new, TIERS)
    assert len(compared.known) + len(compared.gone) == len(old)
    assert len(compared.known) + len(compared.new) == len(new)
    assert {o for o, _ in compared.known} | set(compared.gone) == set(range(len(old)))
    return len(compared.known), len(compared.new), len(compared.gone)


@pytest.mark.parametrize(
    "changed",
    [
        FINDING,
        FINDING._replace(file="apps/web/deployment.yaml"),
        FINDING._replace(object=WEB._replace(api_version="extensions/v1beta1")),
        FINDING._replace(object=WEB._replace(name="website")),
        FINDING._replace(field="spec.template.spec.containers[3].image"),
        FINDING._replace(file="apps/web.yaml", field="spec.template.spec.containers[1].image"),
        FINDING._replace(text='"nginx:latest"'),
        FINDING._replace(text="'nginx:latest'  # pinned later"),
        FINDING._replace(file="apps/web.yaml", text='"nginx:latest"'),
    ],
    ids=[
        "same",
        "file renamed",
        "API version",
        "object renamed",
        "item inserted",
        "file and item",
        "quoted",
        "commented",
        "file and quotes",
    ],
)
def test_a_moved_or_reformatted_finding_is_known(changed: Fingerprint) -> None:
    assert numbers([FINDING], [changed]) == (1, 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        FINDING._replace(rule="unpinned-image"),
        FINDING._replace(text="redis:latest"),
        FINDING._replace(file="other.yaml", object=WEB._replace(name="api")),
        FINDING._replace(field="spec.template.spec.initContainers[0].image"),
    ],
    ids=["rule", "text", "object and file", "field"],
)
def test_another_finding_is_new(other: Fingerprint) -> None:
    assert numbers([FINDING], [other]) == (0, 1, 1)


def test_each_entry_is_used_once() -> None:
    assert numbers([FINDING], [FINDING, FINDING]) == (1, 1, 0)
    assert numbers([FINDING, FINDING], [FINDING]) == (1, 0, 1)
    assert numbers([FINDING], [FINDING._replace(file="a.yaml"), FINDING, FINDING._replace(file="b.yaml")]) == (1, 2, 0)


def test_a_copy_in_another_file_is_the_new_one() -> None:
    copy = FINDING._replace(file="a.yaml")
    assert compare([FINDING], [copy, FINDING], TIERS).new == [0]


def test_an_inserted_item_is_the_new_one() -> None:
    sidecar = FINDING._replace(text="proxy:latest")
    shifted = FINDING._replace(field="spec.template.spec.containers[1].image")
    assert compare([FINDING], [sidecar, shifted], TIERS).new == [0]


def test_another_version_of_the_same_image_is_known() -> None:
    old = FINDING._replace(rule="unpinned-image", text="registry.example.com:5000/web:1.2")
    assert numbers([old], [old._replace(text='"registry.example.com:5000/web:1.3@sha256:00ff"')]) == (1, 0, 0)
    assert numbers([old], [old._replace(text="registry.example.com:5000/api:1.2")]) == (0, 1, 1)
    port = old._replace(field="spec.ports[0].name", text="http:1")
    assert numbers([port], [port._replace(text="http:2")]) == (0, 1, 1)


def test_findings_of_two_containers_that_change_places_are_known() -> None:
    first, second = (FINDING._replace(field=f"spec.containers[{n}].image", text=text) for n, text in ((0, "a"), (1, "b")))
    swapped = [first._replace(text="b"), second._replace(text="a")]
    assert compare([first, second], swapped, TIERS).known == [(1, 0), (0, 1)]


def test_a_field_has_the_same_path_with_and_without_a_schema() -> None:
    assert plain_field("metadata.annotations[kubernetes.io/ingress.class]") == plain_field(
        "metadata.annotations.kubernetes.io/ingress.class"
    )
    assert plain_field("rules[3].resources[0]") == plain_field("rules[12].resources[1]") != plain_field("rules[3].verbs[0]")


def test_a_number_sign_within_a_text_is_no_comment() -> None:
    assert plain_text("a#b") == "a#b"
    assert plain_text('"a"  # b') == "a"
