"""Containers in messages."""

from __future__ import annotations

from kcheck.api import Container


def container_title(container: Container) -> str:
    """Return `container "web"`, or `container without name`."""
    return f'container "{container.name}"' if container.name else "container without name"
