"""What containers may do and as whom they run, beyond what the Pod Security Standards say."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits
from tests.practice.reported import pod, reported


def container(fields: str, spec: str = "") -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n{spec}  containers:\n  - name: c\n    image: b:1\n{fields}"


def test_patches_are_not_asked_for_what_they_leave_out() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    spec:
      containers:
      - name: c
        env: [{name: A, value: b}]
"""
    found = check_text(
        text,
        [
            "security",
            "pod-security-restricted",
            "reliability",
            "resources",
            "security-context",
            "run-as-user",
            "service-accounts",
            "images",
        ],
    )
    assert [f.rule for f in found if f.family == "practice"] == []


def test_containers_of_every_role() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers: [{name: i, image: "b:1"}]
  containers: [{name: c, image: "b:1"}]
  ephemeralContainers: [{name: e, image: "b:1"}]
"""
    for rule in (
        "missing-run-as-non-root",
        "undropped-capabilities",
        "writable-root-filesystem",
        "missing-seccomp",
        "privilege-escalation-unset",
    ):
        assert [shown for _, shown in reported(text, rule)] == ["i", "c", "e"]
    # Ephemeral containers have no resources, and probes mean nothing to those that end.
    assert [shown for _, shown in reported(text, "missing-cpu-request")] == ["i", "c"]
    assert [shown for _, shown in reported(text, "missing-readiness-probe")] == ["c"]


@pytest.mark.parametrize(
    ("capability", "rules"),
    [
        ("SYS_ADMIN", {"dangerous-capability"}), ("CAP_SYS_ADMIN", {"dangerous-capability"}), ("ALL", {"dangerous-capability"}),
        ("NET_RAW", {"added-capability"}), ("CAP_CHOWN", {"added-capability"}), ("CHOWN", {"restricted-capability"}),
        ("NET_BIND_SERVICE", set()),
    ],
)  # fmt: skip
def test_one_rule_for_each_capability(capability: str, rules: set[str]) -> None:
    text = container(f"    securityContext: {{capabilities: {{drop: [ALL], add: [{capability}]}}}}\n")
    assert {f.rule for f in check_text(text, ["dangerous-capability", "added-capability", "restricted-capability"])} == rules


@pytest.mark.parametrize(
    ("pods", "own", "rules"),
    [
        ("", "", ["missing-run-as-non-root"]), ("runAsNonRoot: true", "", []), ("runAsUser: 1", "", ["run-as-user-without-non-root"]),
        ("runAsUser: 1", "runAsNonRoot: true", []), ("runAsNonRoot: true", "runAsNonRoot: false", ["root-user"]),
        ("", "runAsUser: 0", ["root-user"]), ("runAsUser: 0, runAsNonRoot: true", "", ["root-user"]),
        ("runAsNonRoot: null", "", ["missing-run-as-non-root"]),
    ],
)  # fmt: skip
def test_one_rule_for_each_way_to_be_root(pods: str, own: str, rules: list[str]) -> None:
    text = container(f"    securityContext: {{{own}}}\n", f"  securityContext: {{{pods}}}\n")
    assert [f.rule for f in check_text(text, ["root-user", "missing-run-as-non-root", "run-as-user-without-non-root"])] == rules


@pytest.mark.parametrize(
    "path", ["/var/run/docker.sock", "/run//docker.sock", "/run/containerd/containerd.sock", "/var/run/crio/crio.sock", "/run/containerd",
             "/run/k3s/containerd/containerd.sock", "/var/run/cri-dockerd.sock", r"\\.\pipe\docker_engine", "/run/podman/podman.sock"],
)  # fmt: skip
def test_sockets_of_runtimes(path: str) -> None:
    assert reported(pod(f"  volumes: [{{name: s, hostPath: {{path: '{path}'}}}}]\n"), "runtime-socket") == [(6, f"'{path}'")]


_SENSITIVE = "read-only-sensitive-host-path"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/", _SENSITIVE), ("//", _SENSITIVE), ("/etc/", _SENSITIVE), ("/etc/kubernetes/pki", _SENSITIVE), ("/var/run", _SENSITIVE),
        ("/srv", "host-path-volume"),
        ("/etc/localtime", "host-path-volume"), ("/lib/modules", "host-path-volume"),
        ("/rootfs", "host-path-volume"), ("/run/app.sock", "host-path-volume"), ("/run/docker.sock", "runtime-socket"),
    ],
)  # fmt: skip
def test_one_rule_for_each_path(path: str, rule: str) -> None:
    text = pod(f"  volumes: [{{name: s, hostPath: {{path: {path}}}}}]\n")
    assert [f.rule for f in check_text(text, ["sensitive-host-path", _SENSITIVE, "host-path-volume", "runtime-socket"])] == [rule]


@pytest.mark.parametrize(
    ("mount", "rule"),
    [
        ("{name: s, mountPath: /host}", "sensitive-host-path"),
        ("{name: s, mountPath: /host, readOnly: true}", _SENSITIVE),
        ("{name: other, mountPath: /host}", _SENSITIVE),
    ],
)
def test_a_sensitive_path_that_can_be_written_has_a_rule_of_its_own(mount: str, rule: str) -> None:
    text = container(f"    volumeMounts: [{mount}]\n") + "  volumes: [{name: s, hostPath: {path: /}}]\n"
    assert [f.rule for f in check_text(text, ["sensitive-host-path", _SENSITIVE])] == [rule]


CONTEXT = "    securityContext:\n"
ADDED = "      allowPrivilegeEscalation: false\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (container(""), container(CONTEXT + ADDED)),
        (container(f"{CONTEXT}      runAsUser: 1  # me\n"), container(f"{CONTEXT}      runAsUser: 1  # me\n{ADDED}")),
        (
            container(f"{CONTEXT}      capabilities:\n        drop: [ALL]\n"),
            container(f"{CONTEXT}{ADDED}      capabilities:\n        drop: [ALL]\n"),
        ),
        (container("").replace("\n", "\r\n"), container(CONTEXT + ADDED).replace("\n", "\r\n")),
        (container("").rstrip("\n"), container(CONTEXT + ADDED).rstrip("\n")),
        (
            container("    securityContext: {runAsUser: 1}\n"),
            container("    securityContext: {runAsUser: 1, allowPrivilegeEscalation: false}\n"),
        ),
        (container("    securityContext: {}\n"), container("    securityContext: {allowPrivilegeEscalation: false}\n")),
        (container("    securityContext: null\n"), container("    securityContext: {allowPrivilegeEscalation: false}\n")),
    ],
)
def test_lines_that_a_fix_adds(before: str, after: str) -> None:
    (found,) = check_text(before, ["privilege-escalation-unset"])
    assert found.fix is not None
    assert apply_edits(before, found.fix.edits) == after
    assert check_text(after, ["privilege-escalation-unset"]) == []


@pytest.mark.parametrize(
    "fields", ["    securityContext:\n      privileged: true\n", "    securityContext:\n      allowPrivilegeEscalation: null\n",
               "    securityContext:\n      capabilities: {add: [SYS_ADMIN]}\n"],
)  # fmt: skip
def test_no_fix_where_it_would_not_be_simple_or_not_be_taken(fields: str) -> None:
    (found,) = check_text(container(fields), ["privilege-escalation-unset"])
    assert found.fix is None
