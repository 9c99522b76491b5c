"""Software that is often attacked. Sources: the documentation's page "Deploy and Access the Kubernetes Dashboard"; Helm's page
"Changes Since Helm 2".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Problem, Resource, Suggestion, did_you_mean, rule

_GROUPS = ("security", "known-software")
_DASHBOARDS = ("dashboard", "dashboard-web", "dashboard-api")
_LABELS = ("app", "name", "k8s-app", "app.kubernetes.io/name")


@rule("kubernetes-dashboard", "Container runs the Kubernetes Dashboard", groups=_GROUPS, default=False)
def dashboard(container: Container) -> Iterator[Problem]:
    """The Dashboard acts with the permissions of its ServiceAccount or its users, and has been exposed publicly more than once."""
    node = container["image"]
    name = node.text.partition("@")[0].rpartition("/")[2].partition(":")[0]
    if name.startswith("kubernetes-dashboard") or (name in _DASHBOARDS and "kubernetesui/" in node.text):
        message = f'image "{node.text}" runs Kubernetes Dashboard, which exposes the cluster to clients that can reach it'
        yield Problem(node, message, help="remove it and use kubectl or a local client")


@rule("tiller", "Container runs Tiller (Helm 2)", groups=_GROUPS, fields="image")
def tiller(container: Container) -> Iterator[Problem]:
    """Unsupported since November 2020. Clients that reach its port get the permissions of its ServiceAccount, usually cluster-admin."""
    node = container["image"]
    if node.text.partition("@")[0].rpartition("/")[2].partition(":")[0] == "tiller":
        message = "Tiller (Helm 2) has been unsupported since 2020 and accepts requests without authentication by default"
        yield Problem(node, message, help="remove it and use Helm 3, which needs no server")


@rule("tiller-service", "Service exposes Tiller (Helm 2)", kinds="core Service", groups=_GROUPS)
def tiller_service(resource: Resource) -> Iterator[Problem]:
    """Every Pod of the cluster can reach the Service, and Tiller requires no authentication by default."""
    selected = resource["spec"]["selector"]
    node = next((selected[key] for key in _LABELS if selected[key].text == "tiller"), None)
    if node is not None or resource.name == "tiller-deploy":
        at = node if node is not None else resource.node.at("metadata", "name")
        message = f'Service "{resource.name}" exposes Tiller (Helm 2) to every Pod in the cluster'
        yield Problem(at, message, help="remove this Service and use Helm 3")


@rule(
    "gatekeeper-repo-prefix",
    "Gatekeeper K8sAllowedRepos prefix also matches other registries (no trailing slash)",
    kinds=("constraints.gatekeeper.sh K8sAllowedRepos", "constraints.gatekeeper.sh K8sAllowedReposv2"),
    groups=_GROUPS,
    fixable=True,
)
def open_image_prefix(resource: Resource) -> Iterator[Problem]:
    """Entries of `repos` are prefixes; entries of `allowedImages` (K8sAllowedReposv2) are exact names unless they contain a wildcard."""
    for field in ("repos", "allowedImages"):
        for node in resource.node.at("spec", "parameters", field):
            prefix = node.text
            if prefix and not prefix.endswith(("/", ":", "@")) and "/" not in prefix and "." in prefix and "*" not in prefix:
                if field == "repos":
                    other = f"{prefix}0" if ":" in prefix else f"{prefix}.evil.example"
                    yield Problem(
                        node, f'prefix "{prefix}" also allows images from {other}', help=Suggestion(f'use "{prefix}/"', f"{prefix}/")
                    )
                else:
                    yield Problem(node, f'"{prefix}" allows only an image of exactly this name', help=did_you_mean(f"{prefix}/*"))
