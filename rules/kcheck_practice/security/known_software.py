"""Software with a name for being broken into. Sources: the documentation's page "Deploy and Access the Kubernetes Dashboard"; Helm's page
"Changes Since Helm 2".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Problem, Resource, rule

_GROUPS = ("security", "known-software")
_DASHBOARDS = ("dashboard", "dashboard-web", "dashboard-api")
_LABELS = ("app", "name", "k8s-app", "app.kubernetes.io/name")


@rule("kubernetes-dashboard", "Container runs the Kubernetes Dashboard", groups=_GROUPS, default=False)
def dashboard(container: Container) -> Iterator[Problem]:
    """A web page with the power of its service account; it has been left open to the world more than once."""
    node = container["image"]
    name = node.text.partition("@")[0].rpartition("/")[2].partition(":")[0]
    if name.startswith("kubernetes-dashboard") or (name in _DASHBOARDS and "kubernetesui/" in node.text):
        yield Problem(
            node, "the dashboard is a way into the cluster for whoever reaches it", help="use kubectl, or one on your own machine"
        )


@rule("tiller", "Container runs Tiller (Helm 2)", groups=_GROUPS, fields="image")
def tiller(container: Container) -> Iterator[Problem]:
    """Out of support since 2020. It does for whoever reaches its port what its service account may do, as a rule everything."""
    node = container["image"]
    if node.text.partition("@")[0].rpartition("/")[2].partition(":")[0] == "tiller":
        yield Problem(node, "Tiller obeys whoever reaches it and is out of support since 2020", help="use Helm 3, which needs no server")


@rule("tiller-service", "Service exposes Tiller (Helm 2)", kinds="core Service", groups=_GROUPS)
def tiller_service(resource: Resource) -> Iterator[Problem]:
    """Every pod of the cluster reaches it, and there is no log-in."""
    selected = resource["spec"]["selector"]
    node = next((selected[key] for key in _LABELS if selected[key].text == "tiller"), None)
    if node is not None or resource.name == "tiller-deploy":
        at = node if node is not None else resource.node.at("metadata", "name")
        yield Problem(at, "through this Service every pod reaches Tiller, which obeys whoever asks", help="take it away, and use Helm 3")


@rule(
    "gatekeeper-repo-prefix",
    "Gatekeeper K8sAllowedRepos prefix also matches other registries (no trailing slash)",
    kinds=("constraints.gatekeeper.sh K8sAllowedRepos", "constraints.gatekeeper.sh K8sAllowedReposv2"),
    groups=_GROUPS,
)
def open_image_prefix(resource: Resource) -> Iterator[Problem]:
    """registry.example.com also matches registry.example.com.evil.org."""
    for field in ("repos", "allowedImages"):
        for node in resource.node.at("spec", "parameters", field):
            prefix = node.text
            if prefix and not prefix.endswith(("/", ":", "@")) and "/" not in prefix and "." in prefix and "*" not in prefix:
                yield Problem(node, f"{prefix} also allows {prefix}.evil.example", help="end it with a slash")
