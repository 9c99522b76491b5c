"""The flags of control-plane components that their operators should set, what each should be, and why.

Sources: the documentation's reference pages of kube-apiserver, kube-controller-manager, kube-scheduler and kubelet, etcd's page
"Transport security model", and the recommendations of the CIS Kubernetes Benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Test = Callable[[str | None], bool]
"""Whether a flag's value is as it should be; None where the flag is not there."""

APISERVER, MANAGER, SCHEDULER = "kube-apiserver", "kube-controller-manager", "kube-scheduler"
ETCD, KUBELET = "etcd", "kubelet"


class Flag(NamedTuple):
    """`rule`: under which it is told; `wrong`: what the component does where it is not right; `write`: what to do about it."""

    rule: str
    component: str
    name: str
    right: Test
    wrong: str
    write: str


def _given(value: str | None) -> bool:
    return bool(value)


def _absent(value: str | None) -> bool:
    return value is None


def _is(*words: str) -> Test:
    return lambda value: value in words


def _is_not(*words: str) -> Test:
    return lambda value: value not in words


def _at_least(number: int) -> Test:
    return lambda value: value is not None and value.isdecimal() and int(value) >= number


def _lists(word: str) -> Test:
    return lambda value: value is not None and word in value.split(",")


def _leaves_out(word: str) -> Test:
    return lambda value: value is None or word not in value.split(",")


# Those that go's TLS calls insecure, and those without forward secrecy.
_WEAK = ("RC4", "3DES", "_CBC_", "TLS_RSA_WITH")


def _strong(value: str | None) -> bool:
    return value is None or not any(part in cipher for cipher in value.split(",") for part in _WEAK)


def _kubelet_rotates(value: str | None) -> bool:
    return value is None or "RotateKubeletServerCertificate=false" not in value.split(",")


_MODE = "--authorization-mode=Node,RBAC"
_CIPHERS = "leave the flag out, Go's own choice is a good one, or list suites with ECDHE and GCM or CHACHA20"

FLAGS = (
    Flag("anonymous-auth", APISERVER, "anonymous-auth", _is("false"), "answers who does not say who he is",
         "write --anonymous-auth=false"),
    Flag("anonymous-auth", KUBELET, "anonymous-auth", _is("false"), "answers who does not say who he is",
         "write --anonymous-auth=false"),
    Flag("static-credentials", APISERVER, "basic-auth-file", _absent, "reads passwords from a file, which nobody ever changes",
         "take the flag away, and use certificates or OpenID Connect"),
    Flag("static-credentials", APISERVER, "token-auth-file", _absent, "reads tokens from a file, which hold until it restarts",
         "take the flag away, and use certificates or OpenID Connect"),
    Flag("insecure-authorization-mode", APISERVER, "insecure-authorization-mode", lambda value: value is not None and "AlwaysAllow" not in value.split(","),
         "allows everything to everybody", f"write {_MODE}"),
    Flag("insecure-authorization-mode", APISERVER, "insecure-authorization-mode", lambda value: value in (None, "AlwaysAllow") or _lists("Node")(value),
         "lets each kubelet read what others' pods need", f"write {_MODE}"),
    Flag("insecure-authorization-mode", APISERVER, "insecure-authorization-mode", lambda value: value in (None, "AlwaysAllow") or _lists("RBAC")(value),
         "heeds no Roles", f"write {_MODE}"),
    Flag("insecure-authorization-mode", KUBELET, "insecure-authorization-mode", _is("Webhook"), "allows everything to everybody it knows",
         "write --authorization-mode=Webhook"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("AlwaysAdmit"), "admits all that comes",
         "take AlwaysAdmit away"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("PodSecurityPolicy"),
         "does not start with a plugin that is gone since 1.25", "take PodSecurityPolicy away, and label namespaces"),
    Flag("insecure-admission-plugins", APISERVER, "enable-admission-plugins", _leaves_out("SecurityContextDeny"),
         "does not start with a plugin that is gone since 1.30", "take SecurityContextDeny away, and label namespaces"),
    Flag("insecure-admission-plugins", APISERVER, "disable-admission-plugins", _leaves_out("ServiceAccount"),
         "gives pods no account", "take ServiceAccount away"),
    Flag("insecure-admission-plugins", APISERVER, "disable-admission-plugins", _leaves_out("NamespaceLifecycle"),
         "lets objects come into namespaces that are going", "take NamespaceLifecycle away"),
    Flag("insecure-port", APISERVER, "insecure-bind-address", _absent, "asks for a port without TLS", "take the flag away"),
    Flag("insecure-port", APISERVER, "insecure-port", _is("0"), "asks for a port without TLS", "take the flag away"),
    Flag("insecure-port", APISERVER, "secure-port", _is_not("0"), "has no port with TLS", "write --secure-port=6443"),
    Flag("insecure-port", KUBELET, "read-only-port", _is("0"), "shows pods to all who can reach it", "write --read-only-port=0"),
    Flag("profiling-endpoint", APISERVER, "profiling", _is("false"), "serves profiles, which tell of its inside and cost it time",
         "write --profiling=false"),
    Flag("profiling-endpoint", MANAGER, "profiling", _is("false"), "serves profiles, which tell of its inside and cost it time",
         "write --profiling=false"),
    Flag("profiling-endpoint", SCHEDULER, "profiling", _is("false"), "serves profiles, which tell of its inside and cost it time",
         "write --profiling=false"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-path", _given, "keeps no record of who did what",
         "write --audit-log-path=/var/log/kubernetes/audit.log"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxage", _at_least(30), "keeps records for fewer than 30 days",
         "write --audit-log-maxage=30"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxbackup", _at_least(10), "keeps fewer than 10 old files of records",
         "write --audit-log-maxbackup=10"),
    Flag("incomplete-audit-log", APISERVER, "audit-log-maxsize", _at_least(100), "begins a new file of records before 100 MB",
         "write --audit-log-maxsize=100"),
    Flag("missing-encryption-at-rest", APISERVER, "encryption-provider-config", _given, "leaves Secrets in etcd as they are",
         "write --encryption-provider-config=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-https", _is_not("false"), "speaks with kubelets without TLS", "take the flag away"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-client-certificate", _given, "does not tell kubelets who it is",
         "write --kubelet-client-certificate=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-client-key", _given, "does not tell kubelets who it is", "write --kubelet-client-key=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "kubelet-certificate-authority", _given, "speaks with whoever says that he is a kubelet",
         "write --kubelet-certificate-authority=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-certfile", _given, "does not tell etcd who it is", "write --etcd-certfile=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-keyfile", _given, "does not tell etcd who it is", "write --etcd-keyfile=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "etcd-cafile", _given, "speaks with whoever says that he is etcd", "write --etcd-cafile=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "tls-cert-file", _given, "signs its own certificate", "write --tls-cert-file=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "tls-private-key-file", _given, "signs its own certificate", "write --tls-private-key-file=FILE"),
    Flag("insecure-api-server-tls", APISERVER, "client-ca-file", _given, "knows nobody by a certificate", "write --client-ca-file=FILE"),
    Flag("insecure-etcd-tls", ETCD, "cert-file", _given, "speaks with clients without TLS", "write --cert-file=FILE"),
    Flag("insecure-etcd-tls", ETCD, "key-file", _given, "speaks with clients without TLS", "write --key-file=FILE"),
    Flag("insecure-etcd-tls", ETCD, "client-cert-auth", _is("true"), "serves all who reach it", "write --client-cert-auth=true"),
    Flag("insecure-etcd-tls", ETCD, "auto-tls", _is_not("true"), "signs its own certificate", "write --auto-tls=false"),
    Flag("insecure-etcd-tls", ETCD, "peer-cert-file", _given, "speaks with its peers without TLS", "write --peer-cert-file=FILE"),
    Flag("insecure-etcd-tls", ETCD, "peer-key-file", _given, "speaks with its peers without TLS", "write --peer-key-file=FILE"),
    Flag("insecure-etcd-tls", ETCD, "peer-client-cert-auth", _is("true"), "takes whoever comes for a peer", "write --peer-client-cert-auth=true"),
    Flag("insecure-etcd-tls", ETCD, "peer-auto-tls", _is_not("true"), "signs its own certificate for peers", "write --peer-auto-tls=false"),
    Flag("insecure-kubelet-tls", KUBELET, "client-ca-file", _given, "knows nobody by a certificate", "write --client-ca-file=FILE"),
    Flag("insecure-kubelet-tls", KUBELET, "tls-cert-file", _given, "signs its own certificate", "write --tls-cert-file=FILE"),
    Flag("insecure-kubelet-tls", KUBELET, "tls-private-key-file", _given, "signs its own certificate", "write --tls-private-key-file=FILE"),
    Flag("disabled-certificate-rotation", KUBELET, "rotate-certificates", _is_not("false"), "does not renew its certificate",
         "write --rotate-certificates=true"),
    Flag("disabled-certificate-rotation", KUBELET, "feature-gates", _kubelet_rotates, "does not renew the certificate that it serves with",
         "take RotateKubeletServerCertificate=false away"),
    Flag("disabled-certificate-rotation", MANAGER, "feature-gates", _kubelet_rotates, "signs no certificates that kubelets serve with",
         "take RotateKubeletServerCertificate=false away"),
    Flag("weak-cipher", APISERVER, "tls-cipher-suites", _strong, "takes ciphers that can be broken", _CIPHERS),
    Flag("weak-cipher", KUBELET, "tls-cipher-suites", _strong, "takes ciphers that can be broken", _CIPHERS),
    Flag("insecure-service-account-tokens", APISERVER, "service-account-lookup", _is_not("false"), "takes tokens of accounts that are gone",
         "write --service-account-lookup=true"),
    Flag("insecure-service-account-tokens", APISERVER, "service-account-key-file", _given, "checks tokens with the key of its own certificate",
         "write --service-account-key-file=FILE"),
    Flag("insecure-service-account-tokens", MANAGER, "service-account-private-key-file", _given, "has no key of its own for tokens",
         "write --service-account-private-key-file=FILE"),
    Flag("insecure-service-account-tokens", MANAGER, "root-ca-file", _given, "gives pods nothing to know the API server by", "write --root-ca-file=FILE"),
    Flag("insecure-service-account-tokens", MANAGER, "use-service-account-credentials", _is("true"), "lends all controllers the same rights",
         "write --use-service-account-credentials=true"),
    Flag("non-local-bind-address", MANAGER, "bind-address", _is("127.0.0.1", "localhost", "::1"), "listens to the whole network",
         "write --bind-address=127.0.0.1"),
    Flag("non-local-bind-address", SCHEDULER, "bind-address", _is("127.0.0.1", "localhost", "::1"), "listens to the whole network",
         "write --bind-address=127.0.0.1"),
    Flag("missing-component-limit", APISERVER, "request-timeout", _is_not("0", "0s"), "lets requests last for ever", "write --request-timeout=60s"),
    Flag("missing-component-limit", MANAGER, "terminated-pod-gc-threshold", lambda value: value is not None and not value.startswith(("0", "-")),
         "keeps 12500 finished pods, or all of them", "write --terminated-pod-gc-threshold=1000"),
    Flag("missing-component-limit", KUBELET, "streaming-connection-idle-timeout", _is_not("0", "0s", "0h"), "keeps idle streams for ever",
         "write --streaming-connection-idle-timeout=4h"),
    Flag("missing-component-limit", KUBELET, "event-qps", _is_not("1", "2", "3", "4"), "drops events, and with them what happened",
         "write --event-qps=50"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "protect-kernel-defaults", _is("true"), "changes settings of the kernel that it does not like",
         "write --protect-kernel-defaults=true"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "make-iptables-util-chains", _is_not("false"), "leaves the rules of iptables to others",
         "write --make-iptables-util-chains=true"),
    Flag("unsafe-kubelet-host-settings", KUBELET, "hostname-override", _absent, "goes by a name that its certificate does not have",
         "take the flag away"),
)  # fmt: skip

# A flag that names a file with the same settings: what is not on the command line may be there.
FILES = {
    KUBELET: ("config", ""),
    SCHEDULER: ("config", "profiling"),
    ETCD: ("config-file", ""),
}
"""By component: the flag, and the only setting that the file can have, "" where it can have any."""
APISERVER_FILES = {"anonymous-auth": "authentication-config", "insecure-authorization-mode": "authorization-config"}
