"""Images: which tags move, which names no node can pull."""

from __future__ import annotations

import pytest

from tests.practice.reported import containers, reported

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    "image", ["nginx", "nginx:latest", "docker.io/library/nginx", "localhost:5000/web", "ghcr.io/acme/web:latest", "acme/web", "'busybox'"]
)
def test_a_tag_that_moves(image: str) -> None:
    assert reported(containers(image), "latest-tag") == [(7, image)]


@pytest.mark.parametrize(
    "image",
    [
        "nginx:1", f"nginx@{DIGEST}", f"nginx:latest@{DIGEST}", "localhost:5000/web:1", "'ko://example.com/cmd/web'", "'$(IMAGE)'",
        "'${REGISTRY}/web'", "'{{ .Values.image }}'", "'<your image>'", "'%IMAGE%'", "controller:latest", "frontend", "''", "Not-An-Image",
    ],
)  # fmt: skip
def test_what_stays_quiet(image: str) -> None:
    assert reported(containers(image), "latest-tag") == []


def test_options_of_floating_tag() -> None:
    text = containers("busybox", "ghcr.io/acme/web:main", "ghcr.io/acme/api:edge")
    assert [line for line, _ in reported(text, "latest-tag", allow=["busybox"], tags=["main", "edge"])] == [9, 11]
    assert reported(text, "latest-tag", allow=["busybox", "ghcr.io/acme/web", "ghcr.io/acme/api"], tags=["main", "edge"]) == []


def test_containers_wherever_they_stand() -> None:
    text = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          initContainers:
          - {name: prepare, image: busybox}
          containers:
          - {name: work, image: "python:latest"}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    ephemeralContainers:
    - {name: debug, image: alpine}
    containers:
    - {name: c, image: "b:1"}
"""
    assert [line for line, _ in reported(text, "latest-tag")] == [12, 14, 24]


@pytest.mark.parametrize("image", ["mySshImage", "acme//web:1", "'acme/web:'", "acme/web@sha256:12", "acme/web-", "' nginx:1'"])
def test_a_name_that_no_node_can_pull(image: str) -> None:
    assert reported(containers(image), "invalid-image-name") == [(7, image)]


@pytest.mark.parametrize("image", ["nginx", "EXAMPLE.com/web:1", "a.b:5000/c_d/e--f:1_2", "'${IMAGE}'", "'{IMAGE}'", "''"])
def test_names_that_may_do(image: str) -> None:
    assert reported(containers(image), "invalid-image-name") == []


def test_unpinned_image_allows_a_registry_or_a_repository() -> None:
    text = containers("a.example/x:1", "b.example/y:1", f"c.example/z:1@{DIGEST}")
    assert [line for line, _ in reported(text, "unpinned-image")] == [7, 9]
    assert reported(text, "unpinned-image", allow=["a.example", "b.example/y"]) == []
