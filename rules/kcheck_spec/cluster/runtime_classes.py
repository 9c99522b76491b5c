"""RuntimeClass. Source: ValidateRuntimeClass (pkg/apis/node/validation), GetWarningsForRuntimeClass (pkg/api/node)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Complaint, Node, Problem, fields, labels, names, remove, validator
from kcheck_spec.objects.common_constraints import deprecated_field, required, text, unique
from kcheck_spec.objects.engine import list_duplicates
from kcheck_spec.objects.labels import label_map
from kcheck_spec.workloads import _resource_names as resource_names
from kcheck_spec.workloads import resources

tables = [
    fields("node/v1 RuntimeClass", handler=(required, text(names.dns_label))),
    fields("node/v1 Scheduling", nodeSelector=label_map),
]

_OVERHEAD = "node/v1 Overhead"


@validator(_OVERHEAD, rule=resources.resource_name)
def overhead_resources_exist(overhead: Node) -> Iterator[Problem]:
    """Names of the resources that the runtime uses. The server checks them as limits of a container."""
    yield from _as_written(resources.name_problems(_demand(overhead), resource_names.of_container), overhead)


@validator(_OVERHEAD, rule=resources.resource_amount)
def overhead_amounts_exist(overhead: Node) -> Iterator[Problem]:
    """Quantities of the resources that the runtime uses."""
    yield from _as_written(resources.amount_problems(_demand(overhead)), overhead)


@validator(_OVERHEAD, rule=resources.request_over_limit)
def overhead_has_cpu_or_memory(overhead: Node) -> Iterator[Problem]:
    """Huge pages require cpu or memory."""
    yield from resources.request_problems(_demand(overhead))


def _demand(overhead: Node) -> resources.Demand:
    return resources.Demand(overhead, resources.read_amounts(overhead["podFixed"]), {})


def _as_written(problems: Iterable[Problem], overhead: Node) -> Iterator[Problem]:
    """Problems of limits, shown at podFixed; the server names limits in its errors, though the type has no such field."""
    for problem in problems:
        if isinstance(problem.field, Node):
            name = problem.field.name
            yield problem.replace(node=overhead["podFixed"][name], field=f"overhead.limits[{name}]")


@validator("node/v1 Scheduling", rule=list_duplicates)
def tolerations_differ(scheduling: Node) -> Iterator[Problem]:
    """Duplicate tolerations, compared field by field."""
    keys = ("key", "operator", "value", "effect", "tolerationSeconds")
    yield from unique(scheduling["tolerations"], lambda each: tuple(str(each[key].value or "") for key in keys), _same)


def _same(toleration: Node) -> str:
    key = toleration["key"].text
    return Complaint(f'duplicate toleration of "{key}"' if key else "duplicate toleration of all taints", remove())


@validator("node/v1 Scheduling", rule=deprecated_field)
def node_labels_are_up_to_date(scheduling: Node) -> Iterator[Problem]:
    """Node labels that were renamed."""
    for key, value in scheduling["nodeSelector"].entries:
        instead = labels.replacement(key)
        if instead and labels.belongs_to_kubernetes(key):
            yield Problem(value, f'label "{key}" is deprecated', help=f'use "{instead}"', at="key")
