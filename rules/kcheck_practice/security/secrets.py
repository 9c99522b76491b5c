"""Secrets in environment variables. Source: the documentation's page "Good practices for Kubernetes Secrets"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Problem, rule


@rule("secret-in-env", "Environment variable takes its value from a Secret (secretKeyRef)", groups=("security", "secrets"), default=False)
def secret_in_env(container: Container) -> Iterator[Problem]:
    """Child processes inherit the environment, crash reports print it, and changes of the Secret do not reach it."""
    instead = "mount the Secret as a volume instead"
    for entry in container["env"]:
        node = entry.at("valueFrom", "secretKeyRef")
        if node:
            message = f'key "{node["key"].text}" of Secret "{node["name"].text}" is exposed in the environment'
            yield Problem(node, message, help=instead, at="key")
    for source in container["envFrom"]:
        node = source["secretRef"]
        if node:
            message = f'all keys of Secret "{node["name"].text}" are exposed in the environment'
            yield Problem(node, message, help=instead, at="key")
