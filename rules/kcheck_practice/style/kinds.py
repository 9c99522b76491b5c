"""Kinds of objects that are not allowed."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated

from kcheck.api import Problem, Resource, rule


@rule("forbidden-kind", "Kind is not allowed", groups=("policy",), default=False)
def forbidden_kind(
    resource: Resource,
    *,
    kinds: Annotated[tuple[str, ...], 'kinds such as "Ingress", or apiVersion and kind such as "extensions/* *"'] = (),
) -> Iterator[Problem]:
    """For teams that reserve some kinds for administrators, or that have migrated from an API."""
    full = f"{resource.api_version} {resource.kind}"
    found = next((each for each in kinds if fnmatchcase(full if " " in each else resource.kind, each)), None)
    if found is not None:
        message = f'{full} is not allowed: it matches "{found}" in option kinds'
        name = f' "{resource.name}"' if resource.name else ""
        yield Problem(resource["kind"], message, help=f"remove this {resource.kind}{name}")
