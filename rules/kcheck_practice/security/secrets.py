"""How Secrets reach a container. Source: the documentation's page "Good practices for Kubernetes Secrets"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Problem, rule


@rule("secret-in-env", "Environment variable takes its value from a Secret (secretKeyRef)", groups=("security", "secrets"), default=False)
def secret_in_env(container: Container) -> Iterator[Problem]:
    """Every child process inherits the environment, crash reports print it, and it stays as it was when the Secret changes."""
    instead = "mount it as a volume"
    for entry in container["env"]:
        node = entry.at("valueFrom", "secretKeyRef")
        if node:
            key = node["key"].text
            yield Problem(node, f"key {key} of Secret {node['name'].text} leaks with the environment", help=instead, at="key")
    for source in container["envFrom"]:
        node = source["secretRef"]
        if node:
            yield Problem(node, f"all of Secret {node['name'].text} leaks with the environment", help=instead, at="key")
