"""Flags of control-plane components and the values that the rules require, with the reasons.

Sources: the documentation's reference pages of kube-apiserver, kube-controller-manager, kube-scheduler and kubelet, etcd's page
"Transport security model", and the recommendations of the CIS Kubernetes Benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Test = Callable[[str | None], bool]
"""Whether the value of a flag is accepted; None means a flag that is not set."""

APISERVER, MANAGER, SCHEDULER = "kube-apiserver", "kube-controller-manager", "kube-scheduler"
ETCD, KUBELET = "etcd", "kubelet"


class Flag(NamedTuple):
    """A requirement on one flag. `rule`: the id that it is reported under; `right`: whether a value is accepted.

    `wrong`: what the component does otherwise, as the end of a sentence about the component; `help`: what to do.
    """

    rule: str
    component: str
    name: str
    right: Test
    wrong: str
    help: str


def _given(value: str | None) -> bool:
    return bool(value)


def _absent(value: str | None) -> bool:
    return value is None


def _is(*words: str | None) -> Test:
    return lambda value: value in words


def _is_not(*words: str) -> Test:
    return lambda value: value not in words


def _at_least(number: int) -> Test:
    return lambda value: value is not None and value.isdecimal() and int(value) >= number


def _unlimited_or_at_least(number: int) -> Test:
    """Whether a limit is at least `number`, or is not set or 0, which means no limit (or a default that is high enough)."""
    return lambda value: value in (None, "0") or _at_least(number)(value)


def _lists(word: str) -> Test:
    return lambda value: value is not None and word in value.split(",")


def _authorizes(value: str | None) -> bool:
    return value is not None and "AlwaysAllow" not in value.split(",")


def _lists_mode(mode: str) -> Test:
    """Whether an authorization mode is listed; the default and AlwaysAllow alone are reported as such."""
    return lambda value: value in (None, "AlwaysAllow") or _lists(mode)(value)


def _is_limit(value: str | None) -> bool:
    return value is not None and not value.startswith(("0", "-"))


def _leaves_out(word: str) -> Test:
    return lambda value: value is None or word not in value.split(",")


# Parts of the names of cipher suites that Go lists as insecure, or that lack forward secrecy.
_WEAK = ("RC4", "3DES", "_CBC_", "TLS_RSA_WITH")


def _strong(value: str | None) -> bool:
    return value is None or not any(part in cipher for cipher in value.split(",") for part in _WEAK)


def _kubelet_rotates(value: str | None) -> bool:
    return value is None or "RotateKubeletServerCertificate=false" not in value.split(",")


FLAGS = (
    Flag("anonymous-auth", APISERVER, "anonymous-auth", _is("false"), "accepts anonymous requests", "set --anonymous-auth=false"),
    Flag("anonymous-auth", KUBELET, "anonymous-auth", _is("false"), "accepts anonymous requests", "set --anonymous-auth=false"),
    Flag("static-credentials", APISERVER, "basic-auth-file", _absent,
         "reads static passwords from a file", "remove --basic-auth-file and use client certificates or OpenID Connect"),
    Flag("static-credentials", APISERVER, "token-auth-file", _absent,
         "reads static tokens from a file", "remove --token-auth-file and use client certificates or OpenID Connect"),
    Flag("insecure-authorization-mode", APISERVER, "authorization-mode", _authorizes, "allows all requests",
         "set --authorization-mode=Node,RBAC"),
    Flag("insecure-authorization-mode", APISERVER, "authorization-mode", _lists_mode("Node"),
         "does not limit kubelets to the objects of Pods on their node",
         "add Node to --authorization-mode"),
    Flag("insecure-authorization-mode", APISERVER, "authorization-mode", _lists_mode("RBAC"),
         "ignores Roles and RoleBindings",
         "add RBAC to --authorization-mode"),
    Flag("insecure-authorization-mode", KUBELET, "authorization-mode", _is("Webhook"),
         "does not ask the API server to authorize requests", "set --authorization-mode=Webhook"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("AlwaysAdmit"),
         "enables the deprecated admission plugin AlwaysAdmit", "remove AlwaysAdmit from --enable-admission-plugins"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("PodSecurityPolicy"),
         "enables admission plugin PodSecurityPolicy, which was removed in Kubernetes 1.25",
         "remove PodSecurityPolicy from --enable-admission-plugins and use Pod Security Admission"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("SecurityContextDeny"),
         "enables admission plugin SecurityContextDeny, which was removed in Kubernetes 1.30",
         "remove SecurityContextDeny from --enable-admission-plugins and use Pod Security Admission"),
    Flag("insecure-admission-plugins", APISERVER, "disable-admission-plugins", _leaves_out("ServiceAccount"),
         "assigns no ServiceAccounts to Pods", "remove ServiceAccount from --disable-admission-plugins"),
    Flag("insecure-admission-plugins", APISERVER, "disable-admission-plugins", _leaves_out("NamespaceLifecycle"),
         "accepts new objects in namespaces that are being deleted", "remove NamespaceLifecycle from --disable-admission-plugins"),
    Flag("insecure-port", APISERVER, "insecure-bind-address", _absent,
         "configures a port without TLS and authentication", "remove --insecure-bind-address"),
    # Kubernetes 1.20 removed the port, and 1.24 the flag.
    Flag("insecure-port", APISERVER, "insecure-port", _is(None, "0"), "configures a port without TLS and authentication",
         "remove --insecure-port"),
    Flag("insecure-port", APISERVER, "secure-port", _is_not("0"), "serves no port with TLS", "set --secure-port=6443"),
    Flag("insecure-port", KUBELET, "read-only-port", _is("0"),
         "does not disable the read-only port, which needs no authentication", "set --read-only-port=0"),
    Flag("profiling-endpoint", APISERVER, "profiling", _is("false"), "serves the profiling endpoint /debug/pprof", "set --profiling=false"),
    Flag("profiling-endpoint", MANAGER, "profiling", _is("false"), "serves the profiling endpoint /debug/pprof", "set --profiling=false"),
    Flag("profiling-endpoint", SCHEDULER, "profiling", _is("false"), "serves the profiling endpoint /debug/pprof", "set --profiling=false"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-path", _given,
         "writes no audit log", "set --audit-log-path=/var/log/kubernetes/audit.log"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxage", _unlimited_or_at_least(30),
         "deletes audit log files before they are 30 days old", "set --audit-log-maxage=30"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxbackup", _unlimited_or_at_least(10),
         "keeps fewer than 10 old audit log files", "set --audit-log-maxbackup=10"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxsize", _unlimited_or_at_least(100),
         "rotates audit log files before they reach 100 MB", "set --audit-log-maxsize=100"),
    Flag("missing-encryption-at-rest", APISERVER, "encryption-provider-config", _given,
         "stores Secrets unencrypted in etcd", "set --encryption-provider-config to an EncryptionConfiguration file"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-https", _is_not("false"),
         "connects to kubelets without TLS", "remove --kubelet-https"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-client-certificate", _given,
         "does not authenticate to kubelets", "set --kubelet-client-certificate to a certificate file"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-client-key", _given,
         "does not authenticate to kubelets", "set --kubelet-client-key to a key file"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-certificate-authority", _given,
         "does not verify the certificates of kubelets", "set --kubelet-certificate-authority to a CA file"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-certfile", _given,
         "does not authenticate to etcd", "set --etcd-certfile to a certificate file"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-keyfile", _given, "does not authenticate to etcd", "set --etcd-keyfile to a key file"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-cafile", _given,
         "has no CA file to verify the certificate of etcd", "set --etcd-cafile to a CA file"),
    Flag("insecure-api-server-tls", APISERVER, "tls-cert-file", _given,
         "uses a self-signed serving certificate", "set --tls-cert-file to a certificate file"),
    Flag("insecure-api-server-tls", APISERVER, "tls-private-key-file", _given,
         "uses a self-signed serving certificate", "set --tls-private-key-file to a key file"),
    Flag("insecure-api-server-tls", APISERVER, "client-ca-file", _given,
         "does not accept client certificates", "set --client-ca-file to a CA file"),
    Flag("insecure-etcd-tls", ETCD, "cert-file", _given, "serves clients without TLS", "set --cert-file to a certificate file"),
    Flag("insecure-etcd-tls", ETCD, "key-file", _given, "serves clients without TLS", "set --key-file to a key file"),
    Flag("insecure-etcd-tls", ETCD, "client-cert-auth", _is("true"),
         "does not require certificates from clients", "set --client-cert-auth=true"),
    Flag("insecure-etcd-tls", ETCD, "auto-tls", _is_not("true"), "uses a self-signed certificate for clients", "set --auto-tls=false"),
    Flag("insecure-etcd-tls", ETCD, "peer-cert-file", _given,
         "connects to peers without TLS", "set --peer-cert-file to a certificate file"),
    Flag("insecure-etcd-tls", ETCD, "peer-key-file", _given, "connects to peers without TLS", "set --peer-key-file to a key file"),
    Flag("insecure-etcd-tls", ETCD, "peer-client-cert-auth", _is("true"),
         "does not require certificates from peers", "set --peer-client-cert-auth=true"),
    Flag("insecure-etcd-tls", ETCD, "peer-auto-tls", _is_not("true"),
         "uses a self-signed certificate for peers", "set --peer-auto-tls=false"),
    Flag("insecure-kubelet-tls", KUBELET, "client-ca-file", _given,
         "does not accept client certificates", "set --client-ca-file to a CA file"),
    Flag("insecure-kubelet-tls", KUBELET, "tls-cert-file", _given,
         "uses a self-signed serving certificate", "set --tls-cert-file to a certificate file"),
    Flag("insecure-kubelet-tls", KUBELET, "tls-private-key-file", _given,
         "uses a self-signed serving certificate", "set --tls-private-key-file to a key file"),
    Flag("disabled-certificate-rotation", KUBELET, "rotate-certificates", _is_not("false"),
         "does not renew its client certificate", "set --rotate-certificates=true"),
    Flag("disabled-certificate-rotation", KUBELET, "feature-gates", _kubelet_rotates,
         "does not renew its serving certificate", "remove RotateKubeletServerCertificate=false from --feature-gates"),
    Flag("disabled-certificate-rotation", MANAGER, "feature-gates", _kubelet_rotates,
         "disables the rotation of kubelet serving certificates", "remove RotateKubeletServerCertificate=false from --feature-gates"),
    Flag("weak-cipher", APISERVER, "tls-cipher-suites", _strong,
         "accepts weak TLS cipher suites", "remove --tls-cipher-suites or list only ECDHE suites with GCM or CHACHA20"),
    Flag("weak-cipher", KUBELET, "tls-cipher-suites", _strong,
         "accepts weak TLS cipher suites", "remove --tls-cipher-suites or list only ECDHE suites with GCM or CHACHA20"),
    Flag("insecure-service-account-tokens", APISERVER, "service-account-lookup", _is_not("false"),
         "accepts tokens of deleted ServiceAccounts", "set --service-account-lookup=true"),
    Flag("insecure-service-account-tokens", APISERVER, "service-account-key-file", _given,
         "verifies ServiceAccount tokens with the key of its serving certificate", "set --service-account-key-file to a public key file"),
    Flag("insecure-service-account-tokens", MANAGER, "service-account-private-key-file", _given,
         "has no key to sign ServiceAccount tokens", "set --service-account-private-key-file to a private key file"),
    Flag("insecure-service-account-tokens", MANAGER, "root-ca-file", _given,
         "gives Pods no CA certificate to verify the API server", "set --root-ca-file to a CA file"),
    Flag("insecure-service-account-tokens", MANAGER, "use-service-account-credentials", _is("true"),
         "runs all controllers with the same credentials", "set --use-service-account-credentials=true"),
    Flag("non-local-bind-address", MANAGER, "bind-address", _is("127.0.0.1", "localhost", "::1"),
         "accepts connections from other hosts", "set --bind-address=127.0.0.1"),
    Flag("non-local-bind-address", SCHEDULER, "bind-address", _is("127.0.0.1", "localhost", "::1"),
         "accepts connections from other hosts", "set --bind-address=127.0.0.1"),
    Flag("missing-component-limit", APISERVER, "request-timeout", _is_not("0", "0s"),
         "has no timeout for requests", "set --request-timeout=60s"),
    Flag("missing-component-limit", MANAGER, "terminated-pod-gc-threshold", _is_limit, "sets no limit for terminated Pods",
         "set --terminated-pod-gc-threshold=1000"),
    Flag("missing-component-limit", KUBELET, "streaming-connection-idle-timeout", _is_not("0", "0s", "0h"),
         "keeps idle streaming connections open", "set --streaming-connection-idle-timeout=4h"),
    Flag("missing-component-limit", KUBELET, "event-qps", _is_not("1", "2", "3", "4"),
         "creates fewer than 5 events per second and drops the others", "set --event-qps=50"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "protect-kernel-defaults", _is("true"),
         "changes kernel settings of the node", "set --protect-kernel-defaults=true"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "make-iptables-util-chains", _is_not("false"),
         "does not maintain its iptables chains", "set --make-iptables-util-chains=true"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "hostname-override", _absent,
         "uses a name other than the host name of the node", "remove --hostname-override"),
)  # fmt: skip

# Flags that name a configuration file: a setting that is not on the command line may be in that file.
FILES = {
    KUBELET: ("config", ""),
    SCHEDULER: ("config", "profiling"),
    ETCD: ("config-file", ""),
}
"""By component: the flag of the file, and the only flag that the file can replace; "" where it can replace any."""
APISERVER_FILES = {"anonymous-auth": "authentication-config", "authorization-mode": "authorization-config"}
"""The flags of kube-apiserver that a file replaces, with the flag that names the file."""
