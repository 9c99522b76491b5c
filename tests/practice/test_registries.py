"""Where images come from and when they are pulled."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits
from tests.practice.reported import containers, reported


@pytest.mark.parametrize(
    ("image", "allow", "fine"),
    [
        ("nginx", "docker.io/library", True), ("nginx", "docker.io", True), ("acme/web", "docker.io/library", False),
        ("ghcr.io/acme/web:1", "ghcr.io/acme", True), ("ghcr.io/acme2/web:1", "ghcr.io/acme", False),
        ("ghcr.io/acme/web", "ghcr.io/", True), ("localhost:5000/web", "localhost:5000", True), ("localhost:5000/web", "localhost", False),
    ],
)  # fmt: skip
def test_registries_on_a_list(image: str, allow: str, fine: bool) -> None:
    assert bool(reported(containers(image), "forbidden-registry", allow=[allow])) is not fine


def test_without_a_list_nothing_is_foreign() -> None:
    assert reported(containers("nginx"), "forbidden-registry") == []


@pytest.mark.parametrize(
    ("image", "right", "safe"),
    [
        ("k8s.gcr.io/pause:3.9", "registry.k8s.io/pause:3.9", True), ("'k8s.gcr.io/pause:3.9'", "'registry.k8s.io/pause:3.9'", True),
        ("gcr.io/google-containers/pause", "registry.k8s.io/pause", False),
    ],
)  # fmt: skip
def test_retired_registries(image: str, right: str, safe: bool) -> None:
    text = containers(image)
    (found,) = check_text(text, ["deprecated-registry"])
    assert found.fix is not None
    assert found.fix.safe is safe
    assert apply_edits(text, found.fix.edits) == containers(right)


@pytest.mark.parametrize(
    ("image", "reported_count"),
    [("nginx", False), ("nginx:latest", False), ("nginx:1", True), ("nginx@sha256:" + "0" * 64, True), ("'${IMAGE}'", False)],
)
def test_the_policy_that_the_server_fills_in(image: str, reported_count: bool) -> None:
    assert bool(reported(containers(image), "pull-policy-not-always")) is reported_count


@pytest.mark.parametrize(
    ("image", "reported_count"),
    [
        ("nginx", False), ("123.dkr.ecr.eu-west-1.amazonaws.com/web", False), ("registry.example.com:5000/web", True),
        ("localhost:5000/a", False),
    ],
)  # fmt: skip
def test_registries_that_want_credentials(image: str, reported_count: bool) -> None:
    assert bool(reported(containers(image), "missing-image-pull-secret")) is reported_count
