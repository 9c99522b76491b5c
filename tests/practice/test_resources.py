"""Requests and limits, and what else a pod says of its needs."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from tests.practice.reported import reported


def container(resources: str, spec: str = "") -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
{spec}  containers:
  - name: c
    image: b:1
    resources: {{{resources}}}
"""


@pytest.mark.parametrize(
    ("resources", "missing"),
    [
        ("", True), ("requests: {cpu: 1}", False), ("limits: {cpu: 1}", False), ("requests: {memory: 1Gi}", True),
        ("requests: {cpu: 0}", True), ("requests: {cpu: '0m'}", True), ("requests: {cpu: nonsense}", False), ("requests: null", True),
    ],
)  # fmt: skip
def test_a_request(resources: str, missing: bool) -> None:
    assert bool(reported(container(resources), "missing-cpu-request")) is missing


def test_resources_of_the_whole_pod() -> None:
    spec = "  resources: {requests: {cpu: 1, memory: 1Gi}, limits: {memory: 1Gi}}\n"
    for rule in ("missing-cpu-request", "missing-memory-request", "missing-memory-limit"):
        assert reported(container("", spec), rule) == []
    assert reported(container("", spec), "missing-cpu-limit") == [(7, "c")]


@pytest.mark.parametrize(
    ("resources", "shown"),
    [
        ("requests: {memory: 1Gi}, limits: {memory: 1024Mi}", []), ("requests: {memory: 1G}, limits: {memory: 1Gi}", [(8, "1G")]),
        ("limits: {memory: 1Gi}", []), ("requests: {memory: 1Gi}", [(8, "1Gi")]), ("", []),
        # The server refuses this.
        ("requests: {memory: 2Gi}, limits: {memory: 1Gi}", []),
    ],
)  # fmt: skip
def test_guaranteed_memory(resources: str, shown: list[tuple[int, str]]) -> None:
    assert reported(container(resources), "memory-request-below-limit") == shown


def test_ratio_and_size() -> None:
    text = container("requests: {cpu: 100m, memory: 1Gi}, limits: {cpu: 5, memory: 4Gi}")
    assert reported(text, "high-limit-request-ratio") == [(8, "5")]
    assert reported(text, "high-limit-request-ratio", cpu=50.0, memory=3.5) == [(8, "4Gi")]
    assert reported(text, "large-resource-limit") == [(8, "5")]
    assert reported(text, "large-resource-limit", cpu="5", memory="4096Mi") == []


@pytest.mark.parametrize(
    ("request_", "rule", "help"),
    [
        ("memory: 64Mi", "missing-memory-limit", "set resources.limits.memory, such as 256Mi"),
        ("memory: 1Gi", "missing-memory-limit", "set resources.limits.memory, such as 1Gi"),
        ("cpu: 2500m", "missing-cpu-limit", "set resources.limits.cpu, such as 2500m"),
        ("cpu: 2", "missing-cpu-limit", 'set resources.limits.cpu, such as "2"'),
    ],
)
def test_the_limit_in_the_help_is_not_below_the_request(request_: str, rule: str, help: str) -> None:
    (finding,) = check_text(container(f"requests: {{{request_}}}"), [rule])
    assert finding.help == help


def test_a_container_without_name() -> None:
    (finding,) = check_text(container("").replace("name: c\n    image", "image"), ["missing-memory-limit"])
    assert finding.message == "container without name has no memory limit, so it may use all memory of its node"
