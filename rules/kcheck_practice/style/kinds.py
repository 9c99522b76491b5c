"""Kinds of objects that may not be used."""

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
    """For whoever leaves some kinds to others, or has an API that may not come back."""
    full = f"{resource.api_version} {resource.kind}"
    found = next((each for each in kinds if fnmatchcase(full if " " in each else resource.kind, each)), None)
    if found is not None:
        yield Problem(resource["kind"], f"{full} is not allowed here, by {found!r}", help=f"take {resource.name or 'it'} away")
