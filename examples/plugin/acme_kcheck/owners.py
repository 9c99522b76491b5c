"""Ownership of workloads."""

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Group, Problem, Resource, rule

WORKLOADS = ("apps Deployment", "apps StatefulSet", "apps DaemonSet", "batch CronJob")
acme = Group("acme", "rules of Acme")


@rule("acme/owner-label", "Workload has no owner label (acme.example/team)", groups=("acme",), kinds=WORKLOADS)
def owner_label(resource: Resource, *, label: Annotated[str, "the label that names the team"] = "acme.example/team") -> Iterator[Problem]:
    # A missing key is a node too: it is false, and its location is that of the nearest key that exists.
    owner = resource["metadata"]["labels"][label]
    if not owner.text:
        yield Problem(owner, f'{resource.kind} "{resource.name}" has no label {label}', help="add the label with the name of the team")
