"""Objects and containers as messages call them."""

from __future__ import annotations

from kcheck.api import Container, Facts, Resource


def object_title(subject: Facts | Resource) -> str:
    """Kind and quoted name, such as `Deployment "web"`; the kind alone where the object has no name."""
    kind, name = (subject.id.kind, subject.id.name) if isinstance(subject, Facts) else (subject.kind, subject.name)
    return f'{kind} "{name}"' if name else kind


def container_title(container: Container) -> str:
    """`container "web"`, or `container without name`."""
    return f'container "{container.name}"' if container.name else "container without name"
