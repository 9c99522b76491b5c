"""How command lines of components are read, and that every recommendation of the table is heeded and can be."""

from __future__ import annotations

import json

import pytest

from kcheck.testing import check_text
from kcheck_practice.control_plane._component_flags import APISERVER, ETCD, FLAGS, KUBELET, Flag


def pod(command: list[str], args: list[str] | None = None, env: dict[str, str] | None = None) -> str:
    variables = [{"name": name, "value": value} for name, value in (env or {}).items()]
    container = {"name": "c", "image": "a:1", "command": command, "args": args or [], "env": variables}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}})


def messages(text: str, *rules: str) -> list[str]:
    return [f.concise for f in check_text(text, rules or ["control-plane"])]


# What is right for each flag that can be reported for being absent or wrong.
RIGHT = {
    "anonymous-auth": "false", "authorization-mode": "Node,RBAC", "profiling": "false", "audit-log-maxage": "30",
    "audit-log-maxbackup": "10", "audit-log-maxsize": "100", "client-cert-auth": "true", "peer-client-cert-auth": "true",
    "use-service-account-credentials": "true",
    "bind-address": "127.0.0.1", "terminated-pod-gc-threshold": "1000", "protect-kernel-defaults": "true", "read-only-port": "0",
    "enable-admission-plugins": "NodeRestriction,AlwaysPullImages,EventRateLimit,DenyServiceExternalIPs", "insecure-port": "0",
    "secure-port": "6443", "kubelet-https": "true", "auto-tls": "false", "peer-auto-tls": "false", "rotate-certificates": "true",
    "feature-gates": "RotateKubeletServerCertificate=true", "tls-cipher-suites": "TLS_CHACHA20_POLY1305_SHA256", "request-timeout": "60s",
    "service-account-lookup": "true", "streaming-connection-idle-timeout": "4h", "event-qps": "50", "make-iptables-util-chains": "true",
    "disable-admission-plugins": "DefaultStorageClass",
}  # fmt: skip
NEVER = ("basic-auth-file", "token-auth-file", "insecure-bind-address", "hostname-override")


@pytest.mark.parametrize("component", sorted({flag.component for flag in FLAGS}))
def test_a_command_line_can_please_all(component: str) -> None:
    flags = [flag for flag in FLAGS if flag.component == component and flag.name not in NEVER]
    modes = {"authorization-mode": "Webhook"} if component == KUBELET else {}
    command = [component, *(f"--{flag.name}={(RIGHT | modes).get(flag.name, '/a/file')}" for flag in flags)]
    assert messages(pod(command)) == []


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: f"{flag.component}-{flag.name}-{flag.help}")
def test_each_flag_can_be_wrong(flag: Flag) -> None:
    """Absent, or with one of the values that are wrong for some."""
    values = ["false", "true", "0", "1", "AlwaysAllow", "RBAC", "Node", "PodSecurityPolicy", "SecurityContextDeny", "AlwaysAdmit", "a",
              "ServiceAccount", "NamespaceLifecycle", "RotateKubeletServerCertificate=false", "TLS_RSA_WITH_RC4_128_SHA", "0s"]  # fmt: skip
    texts = [pod([flag.component]), *(pod([flag.component, f"--{flag.name}={value}"]) for value in values)]
    assert any(flag.wrong in message for text in texts for message in messages(text, flag.rule))


@pytest.mark.parametrize(
    "text",
    [
        pod([APISERVER, "--anonymous-auth=true"]),
        pod(["/usr/local/bin/kube-apiserver", "--anonymous-auth", "true"]),
        pod(["/bin/sh", "-c"], ["exec kube-apiserver --anonymous-auth=true --v=2 1>>/log"]),
        pod([], ["kube-apiserver", "--v=2"]),
    ],
)
def test_ways_to_write_a_command_line(text: str) -> None:
    state = "--anonymous-auth=true" if "anonymous" in text else "--anonymous-auth is not set"
    assert messages(text, "anonymous-auth") == [f"kube-apiserver accepts anonymous requests ({state}); set --anonymous-auth=false"]


@pytest.mark.parametrize("text", [pod(["etcdctl", "get"]), pod(["sleep"], ["--anonymous-auth=true"]), pod([])])
def test_other_programs(text: str) -> None:
    assert messages(text) == []


def test_a_file_may_say_what_the_command_line_does_not() -> None:
    assert messages(pod([KUBELET, "--config=/etc/kubelet.yaml"])) == []
    assert messages(pod([KUBELET, "--config=/etc/kubelet.yaml", "--read-only-port=10255"]), "insecure-port")
    assert messages(pod([ETCD, "--config-file=/etc/etcd.yaml"])) == []
    assert messages(pod([APISERVER, "--authorization-config=/etc/a.yaml"]), "insecure-authorization-mode") == []


def test_variables_of_etcd() -> None:
    text = pod([ETCD], env={"ETCD_CERT_FILE": "/a", "ETCD_KEY_FILE": "/b", "ETCD_CLIENT_CERT_AUTH": "true"})
    assert messages(text, "insecure-etcd-tls") == [
        "etcd connects to peers without TLS (--peer-cert-file is not set); set --peer-cert-file to a certificate file",
        "etcd connects to peers without TLS (--peer-key-file is not set); set --peer-key-file to a key file",
        "etcd does not require certificates from peers (--peer-client-cert-auth is not set); set --peer-client-cert-auth=true",
    ]


def test_wanted_plugins_are_an_option() -> None:
    found = check_text(pod([APISERVER]), ["insecure-admission-plugins"], options={"insecure-admission-plugins": {"wanted": ["Mine"]}})
    assert [f.concise for f in found] == ["kube-apiserver does not enable admission plugin Mine; add Mine to --enable-admission-plugins"]


def test_it_is_off_unless_asked_for() -> None:
    text = pod([APISERVER])
    assert {f.rule for f in check_text(text)}.isdisjoint(f.rule for f in check_text(text, ["control-plane"]))
