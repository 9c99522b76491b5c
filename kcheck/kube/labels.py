"""Keys and values of labels, and the keys that are reserved for Kubernetes.

Facts: api/validate/content of k8s.io/apimachinery 1.36, and the documentation's page "Well-Known Labels, Annotations and Taints".
"""

from __future__ import annotations

from functools import lru_cache

from kcheck.kube import names
from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern

_VALUE = pattern("(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")

# Maximum total size of the annotations of an object (keys and values) in bytes.
ANNOTATIONS_LIMIT = 256 * 1024


# Names directly under kubernetes.io/, where components do not define further names.
_BARE = """
    arch os hostname metadata.name limit-ranger change-cause description enforce-mountable-secrets ingress-bandwidth
    egress-bandwidth service-name service-account.name service-account.uid legacy-token-last-used legacy-token-invalid-since
    ingress.class ingress.allow-http ingress.global-static-ip-name ingress.regional-static-ip-name tls-acme psp config.seen
    config.hash config.mirror config.source initial-events-end created-by createdby cluster-service bootstrapping name role
    minikube-addons minikube-addons-endpoint
"""
# Subdomains of components that define labels or annotations for users. Every release adds new ones.
_KUBERNETES_IO = """
    addonmanager admissionregistration alpha apf app applyset apps apiserver authentication autoscaling autoscaling.alpha batch
    beta cluster-autoscaler component config container.apparmor.security.beta container.seccomp.security.alpha
    apparmor.security.beta seccomp.security.alpha security.alpha controller control-plane.alpha csi.volume deployment descheduler
    descheduler.alpha dns.alpha endpoints endpointslice experimental.windows external-dns external-dns.alpha failure-domain.alpha
    failure-domain.beta ingress ingressclass internal.config kube-aggregator kubeadm kubeadm.alpha kubectl kubelet namespace
    networking node node.alpha node-restriction node-role pod pod-security pod.alpha pod.beta pv pvc rbac.authorization resource
    scheduler scheduler.alpha scheduling service service.alpha service.beta snapshot.storage statefulset storage storage.alpha
    storageclass storageclass.beta topology volume volume.alpha volume.beta volumes
"""
_K8S_IO = """
    addons autoscaling certificates certmanager cluster-autoscaler config csi.storage gateway.networking kops local-storage minikube
    networking policy.networking rbac.authorization resource scheduling secrets-store.csi storage
"""
# Every controller of these families has its own subdomain: nginx.ingress.kubernetes.io, jobset.sigs.k8s.io.
_FAMILIES = (".ingress.kubernetes.io", ".node.kubernetes.io", ".cloudprovider.kubernetes.io", ".sigs.k8s.io", ".csi.k8s.io")

_NAMES = frozenset(_BARE.split())
_DOMAINS = frozenset({*(f"{part}.kubernetes.io" for part in _KUBERNETES_IO.split()), *(f"{part}.k8s.io" for part in _K8S_IO.split())})


# Labels that programs set on their own Pods, or on Pods that they create: Vault (service registration) and Longhorn.
_RUN_TIME = frozenset(("vault-active", "vault-initialized", "vault-perf-standby", "vault-sealed", "vault-version"))
_RUN_TIME_PREFIXES = ("longhorn.io/",)


def is_set_at_run_time(key: str) -> bool:
    """Whether programs set a label on Pods while they run, so that no manifest contains it."""
    return key in _RUN_TIME or key.startswith(_RUN_TIME_PREFIXES)


# The same few keys and values occur in most objects, so results are cached.
@lru_cache(maxsize=4096)
def key(text: str) -> str:
    """Empty for a valid label key, [prefix/]name, otherwise a Complaint."""
    return names.qualified_name(text, noun="label key")


@lru_cache(maxsize=4096)
def annotation_key(text: str) -> str:
    """As `key`, but the server checks the lower-case form, so capitals are allowed in the prefix, too."""
    return names.qualified_name(text.lower(), noun="annotation key")


@lru_cache(maxsize=4096)
def value(text: str) -> str:
    """Empty for a valid label value (nothing, or up to 63 bytes with letters or digits at the ends), otherwise a Complaint."""
    if _VALUE.fullmatch(text):
        return ""
    if "/" in text:
        shown = "".join(char for char in text if char.isprintable())
        message = f'"{shown}" is not a valid label value: "/" is not allowed (only letters, digits, "-", "_" and ".")'
        return Complaint(message, "use an annotation for this value")
    return names.qualified_name(text, noun="label value")


def prefix(text: str) -> str:
    """The part before the '/', "" where there is none."""
    return text.rpartition("/")[0]


def belongs_to_kubernetes(text: str) -> bool:
    """Return whether the prefix is kubernetes.io, k8s.io or a subdomain of them. x-k8s.io, used by SIG projects, is a different domain."""
    return f".{prefix(text)}".endswith((".kubernetes.io", ".k8s.io"))


def reserved(text: str) -> bool:
    """Return whether a key has a reserved prefix but is not defined by Kubernetes or one of its projects."""
    return belongs_to_kubernetes(text) and not well_known(text)


def well_known(text: str) -> bool:
    """Return whether a key with a reserved prefix is defined, or belongs to a component that may define further keys."""
    domain, _, name = text.rpartition("/")
    if domain == "kubernetes.io":
        return name in _NAMES
    return domain in _DOMAINS or domain.endswith(_FAMILIES)


def replacement(text: str) -> str:
    """Return the replacement of a deprecated key, "" if the key is not deprecated."""
    return DEPRECATED.get(text, "")


# Deprecated keys, from the same page. Keys without prefix are former labels of the Job controller.
DEPRECATED = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "node-role.kubernetes.io/master": "node-role.kubernetes.io/control-plane",
    "kubectl.kubernetes.io/default-logs-container": "kubectl.kubernetes.io/default-container",
    "storageclass.beta.kubernetes.io/is-default-class": "storageclass.kubernetes.io/is-default-class",
    "service.kubernetes.io/topology-aware-hints": "service.kubernetes.io/topology-mode",
    "job-name": "batch.kubernetes.io/job-name",
    "controller-uid": "batch.kubernetes.io/controller-uid",
}

# The recommended labels that describe an application.
RECOMMENDED = tuple(f"app.kubernetes.io/{name}" for name in ("name", "instance", "version", "component", "part-of", "managed-by"))

# Keys that are most often written by hand; misspelled keys are compared with them.
COMMON = frozenset(
    {
        *RECOMMENDED,
        *(f"kubernetes.io/{name}" for name in ("arch", "os", "hostname", "metadata.name", "change-cause", "description")),
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/exclude-from-external-load-balancers",
        "node-role.kubernetes.io/control-plane",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-name",
        "batch.kubernetes.io/job-completion-index",
        "controller.kubernetes.io/pod-deletion-cost",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "kubectl.kubernetes.io/default-container",
        "ingressclass.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "rbac.authorization.kubernetes.io/autoupdate",
        *(f"rbac.authorization.k8s.io/aggregate-to-{role}" for role in ("admin", "edit", "view")),
        *(f"pod-security.kubernetes.io/{mode}{suffix}" for mode in ("enforce", "audit", "warn") for suffix in ("", "-version")),
    }
)
