"""How messages name objects."""

from __future__ import annotations

from kcheck.api import Facts


def title(facts: Facts) -> str:
    """Kind and quoted name of an object, such as `Deployment "web"`."""
    return f'{facts.id.kind} "{facts.id.name}"'
