"""Probes: of which containers, of which ports."""

from __future__ import annotations

import pytest

from tests.practice.reported import reported


def container(fields: str, name: str = "containers", restart: str = "") -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  {name}:
  - name: c
    image: b:1
{restart}{fields}"""


PORTS = "    ports: [{name: http, containerPort: 8080}, {containerPort: 9090}]\n"


@pytest.mark.parametrize(
    ("port", "rules"),
    [
        ("http", []), ("htpp", ["unknown-probe-port-name"]), ("8080", []), ("9090", []), ("80", ["undeclared-probe-port"]),
        # The server refuses these.
        ("'8080'", []), ("''", []), ("0", []),
    ],
)  # fmt: skip
def test_ports_of_probes(port: str, rules: list[str]) -> None:
    text = container(f"{PORTS}    startupProbe: {{httpGet: {{path: /, port: {port}}}}}\n")
    found = [rule for rule in ("unknown-probe-port-name", "undeclared-probe-port") if reported(text, rule)]
    assert found == rules


def test_sidecars_are_asked_and_other_init_containers_are_not() -> None:
    assert reported(container("", "initContainers"), "missing-liveness-probe") == []
    assert reported(container("", "initContainers", "    restartPolicy: Always\n"), "missing-liveness-probe") == [(6, "c")]


def test_probes_that_ask_the_same() -> None:
    same = "    livenessProbe: {grpc: {port: 1}, periodSeconds: 3}\n    readinessProbe: {grpc: {port: 1}}\n"
    assert [line for line, _ in reported(container(same), "identical-probes")] == [8]
    assert reported(container(same.replace("port: 1}}", "port: 1, service: ready}}")), "identical-probes") == []
    assert reported(container("    livenessProbe: {}\n    readinessProbe: {}\n"), "identical-probes") == []


@pytest.mark.parametrize(
    ("command", "reported_count"),
    [("[ps]", True), ("[/bin/ls, -l]", True), ("[sh, -c, 'cat x; ps|grep y']", True), ("[sh, -c, /app/check]", False), ("[stops]", False)],
)
def test_commands_of_probes(command: str, reported_count: bool) -> None:
    assert bool(reported(container(f"    livenessProbe: {{exec: {{command: {command}}}}}\n"), "unsuitable-probe-command")) is reported_count
