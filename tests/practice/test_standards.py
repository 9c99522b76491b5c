"""Pods held to the standards that the labels of their namespace name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcheck.kube.pod import Pod
from kcheck.kube.pod_security import LATEST, version_of, violations
from kcheck.kube.resource import Resource
from kcheck.testing import check_text
from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.practice.test_pod_security import Maker, baseline, restricted

# The controls as the second reading of the standards calls them.
_CONTROLS = {
    "windowsHostProcess": "hostProcess", "hostNamespaces": "hostNamespaces", "privileged": "privileged",
    "capabilities_baseline": "capabilities", "capabilities_restricted": "capabilities", "hostPathVolumes": "hostPath",
    "hostPorts": "hostPorts", "hostProbesAndHostLifecycle": "hostProbes", "appArmorProfile": "appArmor",
    "seLinuxOptions": "seLinux", "procMount": "procMount", "seccompProfile_baseline": "seccomp",
    "seccompProfile_restricted": "seccomp", "sysctls": "sysctls", "restrictedVolumes": "volumes",
    "allowPrivilegeEscalation": "escalation", "runAsNonRoot": "nonRoot", "runAsUser": "user",
}  # fmt: skip


def broken(pod: dict[str, Any], level: str, version: int) -> set[str]:
    document = parse(Source("pod.json", json.dumps(pod)))[0]
    found = violations(Pod(document.root["spec"], Resource(document.root, document)))
    asked = (each for each in found if level == "restricted" or each.level == "baseline")
    return {_CONTROLS[each.control] for each in asked if each.since <= version < each.until}


@pytest.mark.parametrize("version", [25, 30, 37, *(pytest.param(each, marks=pytest.mark.slow) for each in (28, 31, 32, 33, 34, 35, 36))])
def test_controls_of_a_version_are_those_of_the_standards(version: int) -> None:
    maker = Maker(version)
    for _ in range(300):
        pod = maker.pod()
        shown = json.dumps(pod)
        assert broken(pod, "baseline", version) == baseline(pod, version), shown
        assert broken(pod, "restricted", version) == restricted(pod, version), shown


def test_before_125_windows_was_not_let_off() -> None:
    container = {"name": "a", "image": "a:1", "securityContext": {"runAsNonRoot": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"os": {"name": "windows"}, "containers": [container]}}
    assert broken(pod, "restricted", 24) == {"escalation", "capabilities", "seccomp"}
    assert broken(pod, "restricted", 25) == set()


@pytest.mark.parametrize(
    ("text", "version"),
    [("latest", LATEST), ("", LATEST), ("v1.36", 36), ("v1.0", 0), ("1.36", None), ("v1.036", None), ("v2.1", None), ("newest", None)],
)
def test_versions(text: str, version: int | None) -> None:
    assert version_of(text) == version


def space(*labels: str, name: str = "shop") -> str:
    said = "".join(f"    pod-security.kubernetes.io/{label}\n" for label in labels)
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  labels:\n    team: a\n{said}---\n"


def job(spec: str = "hostPID: true", namespace: str = "shop") -> str:
    return (
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: task, namespace: {namespace}}}\nspec:\n  template:\n    spec:\n"
        f"      {spec}\n      restartPolicy: Never\n      containers: [{{name: a, image: 'a:1'}}]\n---\n"
    )


def reported(text: str, **options: Any) -> list[str]:
    given = {f"pod-security-{mode}": options for mode in ("enforce-violation", "warn-violation", "audit-violation")} if options else {}
    return [f.rule.removeprefix("pod-security-") for f in check_text(text, ["pod-security-admission"], options=given)]


def test_each_mode_tells_what_the_stronger_ones_have_not() -> None:
    assert reported(space("enforce: baseline") + job()) == ["enforce-violation"]
    assert reported(space("warn: baseline", "audit: baseline") + job()) == ["warn-violation"]
    assert reported(space("audit: baseline") + job()) == ["audit-violation"]
    assert sorted(reported(space("enforce: baseline", "warn: restricted", "audit: restricted") + job())) == [
        "enforce-violation",
        "warn-violation",
    ]


def test_a_clean_pod_and_a_privileged_namespace() -> None:
    assert reported(space("enforce: baseline") + job("hostPID: false")) == []
    assert reported(space("enforce: privileged") + job()) == []
    assert reported(space() + job()) == []


def test_another_namespace_and_none() -> None:
    assert reported(space("enforce: baseline") + job(namespace="other")) == []
    assert reported(space("enforce: baseline") + job().replace(", namespace: shop", "")) == []


def test_namespaces_that_say_different_things_say_nothing() -> None:
    assert reported(space("enforce: baseline") + space("enforce: privileged") + job()) == []
    assert reported(space("enforce: baseline") + space("enforce: baseline") + job()) == ["enforce-violation"]


def test_the_version_of_the_label_counts() -> None:
    sysctl = "securityContext: {sysctls: [{name: net.ipv4.tcp_rmem, value: '1'}]}"
    assert reported(space("enforce: baseline") + job(sysctl)) == []
    assert reported(space("enforce: baseline", "enforce-version: latest") + job(sysctl)) == []
    assert reported(space("enforce: baseline", "enforce-version: v1.31") + job(sysctl)) == ["enforce-violation"]


def test_exemptions() -> None:
    text = space("enforce: baseline") + job("runtimeClassName: kata\n      hostPID: true")
    assert reported(text) == ["enforce-violation"]
    assert reported(text, runtime_classes=["kata"]) == []
    assert reported(text, namespaces=["shop"]) == []


def test_pods_of_custom_resources_are_held_to_it_too() -> None:
    rollout = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: shop}\nspec:\n  template:\n"
    rollout += "    spec: {hostNetwork: true, containers: [{name: a, image: 'a:1'}]}\n"
    assert reported(space("enforce: baseline") + rollout) == ["enforce-violation"]


def test_a_message_names_few_containers() -> None:
    containers = ", ".join(f"{{name: c{i}, image: 'a:1'}}" for i in range(5))
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: shop}}\nspec: {{containers: [{containers}]}}\n"
    message = check_text(space("enforce: restricted") + pod, ["pod-security-enforce-violation"])[0].concise
    assert 'allowPrivilegeEscalation: false (containers "c0", "c1", "c2" and 2 more)' in message
    standard = 'Namespace "shop" enforces the restricted Pod Security Standard'
    assert message.startswith(f'{standard}, so the API server rejects Pod "p"; add to securityContext: ')
