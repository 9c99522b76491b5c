"""Who is called when it breaks."""

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Group, Problem, Resource, rule

WORKLOADS = ("apps Deployment", "apps StatefulSet", "apps DaemonSet", "batch CronJob")
acme = Group("acme", "rules of Acme")


@rule("acme/owner-label", "a workload that no team answers for", groups=("acme",), kinds=WORKLOADS)
def owner_label(resource: Resource, *, label: Annotated[str, "the label that names the team"] = "acme.example/team") -> Iterator[Problem]:
    # What is not there is a node, too: false, and shown at the nearest key that is there.
    owner = resource["metadata"]["labels"][label]
    if not owner.text:
        yield Problem(owner, f"{resource.kind} {resource.name} has no label {label}", help="add it with the name of the team")
