"""Volumes that no container mounts, and references to environment variables that are not expanded."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits
from tests.practice.reported import reported


def pod(container: str, volumes: str = "", annotations: str = "", kind: str = "Pod") -> str:
    return f"""\
apiVersion: v1
kind: {kind}
metadata: {{name: a, annotations: {{{annotations}}}}}
spec:
  containers: [{{name: c, image: "b:1", {container}}}]
  volumes: [{volumes}]
"""


VOLUME = "{name: data, emptyDir: {}}"


@pytest.mark.parametrize(
    ("container", "volumes", "annotations", "found"),
    [
        ("", VOLUME, "", ["data"]), ("volumeMounts: [{name: data, mountPath: /a}]", VOLUME, "", []),
        ("volumeDevices: [{name: data, devicePath: /a}]", "{name: data, persistentVolumeClaim: {claimName: a}}", "", []),
        ("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: data, path: a, key: b}}}]", VOLUME, "", []),
        ("", VOLUME, "inject.example.com/volume: data", []), ("", "{name: gke-gcsfuse-cache, emptyDir: {}}", "", []),
        ("volumeMounts: [{name: other, mountPath: /a}]", VOLUME, "", ["data"]),
    ],
)  # fmt: skip
def test_volumes(container: str, volumes: str, annotations: str, found: list[str]) -> None:
    assert [shown for _, shown in reported(pod(container, volumes, annotations), "unused-volume")] == found


@pytest.mark.parametrize("medium", ["memory", '"memory"', "'MEMORY'"])
def test_the_fix_of_a_medium_keeps_quotes(medium: str) -> None:
    text = pod("", f"{{name: data, emptyDir: {{medium: {medium}}}}}")
    (finding,) = check_text(text, ["unknown-empty-dir-medium"])
    assert finding.fix is not None
    assert apply_edits(text, finding.fix.edits) == text.replace(medium, medium.replace(medium.strip("'\""), "Memory"))


def test_a_medium_with_escapes_has_no_fix() -> None:
    (finding,) = check_text(pod("", '{name: data, emptyDir: {medium: "m\\x65mory"}}'), ["unknown-empty-dir-medium"])
    assert finding.fix is None


def test_volumes_of_a_patch() -> None:
    assert reported(pod("", VOLUME).replace('image: "b:1", ', ""), "unused-volume") == []


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ("args: ['--a=$(B)'], env: [{name: B, value: x}]", 0), ("args: ['--a=$(B)']", 1), ("args: ['--a=$$(B)']", 0),
        ("args: ['--a=$(B)'], envFrom: [{configMapRef: {name: a}}]", 0), ("args: ['--a=$(date)']", 0),
        ("args: ['--a=$(DB_SERVICE_HOST):$(DB_PORT_5432_TCP)']", 0), ("command: [sh, -c, 'echo $(B)']", 0),
        ("command: [/run.sh, '$(B)']", 0), ("args: [-c, 'echo $(B)']", 0),
        ("env: [{name: A, value: $(B)}, {name: B, value: x}]", 1), ("env: [{name: B, value: x}, {name: A, value: $(B)}]", 0),
        ("env: [{name: A, value: $(B)}]", 1), ("env: [{name: A, value: $(A)}]", 1),
        ("env: [{name: A, value: x}, {name: A, value: $(A)y}]", 0),
    ],
)  # fmt: skip
def test_variables(container: str, found: int) -> None:
    assert len(reported(pod(container), "undefined-env-var")) == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("[app, '${B}']", 1), ("[app, '--x=$B']", 1), ("[app, '$${B}']", 0), ("[app, '${C}']", 0), ("[sh, -c, 'app ${B}']", 0),
        ("[app, '$(B)']", 0), ("[/bin/bash, -ec, '${B}']", 0), ("[envsubst, '${B}']", 0), ("[app, $BUCKET]", 0),
    ],
)  # fmt: skip
def test_variables_of_a_shell(command: str, found: int) -> None:
    text = pod(f"command: {command}, env: [{{name: B, value: x}}]")
    assert len(reported(text, "shell-variable-in-args")) == found


def test_roles_with_secrets_and_exec() -> None:
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules:\n"
    secrets = "- {apiGroups: [''], resources: [secrets], verbs: [get]}\n"
    entered = "- {apiGroups: [''], resources: [pods/exec], verbs: [create]}\n"
    rule = "secrets-with-pod-exec"
    assert reported(head + secrets + entered, rule) == [(6, "pods/exec")]
    assert reported(head + secrets, rule) == reported(head + entered, rule) == []
    assert reported(head + secrets.replace("verbs: [get]", "verbs: [create]") + entered, rule) == []
    assert reported(head + secrets.replace("verbs: [get]", "resourceNames: [one], verbs: [get]") + entered, rule) == []
