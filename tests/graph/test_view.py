"""Parts of a graph."""

from pathlib import Path

import pytest

from kcheck.graph.graph import Graph
from kcheck.graph.view import NotFound, around, of_kinds, of_namespaces
from tests.graph.drawn import draw, states
from tests.graph.test_relations import BINDING
from tests.relations.world import holder, service, workload


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    pods = workload(metadata=", namespace: shop", container=", envFrom: [{configMapRef: {name: web}}]", pod=", priorityClassName: high")
    other = workload("other", "app: other", metadata=", namespace: else")
    text = service(metadata=", namespace: shop") + pods + holder("ConfigMap", "web", metadata=", namespace: shop") + other + BINDING
    return draw(tmp_path, {"a.yaml": text})


def test_by_namespace(graph: Graph) -> None:
    part = of_namespaces(graph, ["shop"])
    assert set(states(part)) == {
        "Service/shop/web", "Deployment.apps/shop/web", "ConfigMap/shop/web", "PriorityClass.scheduling.k8s.io/high",
        "ServiceAccount/shop/web", "ClusterRoleBinding.rbac.authorization.k8s.io/web",
    }  # fmt: skip
    assert len(part.edges) == 4
    with pytest.raises(NotFound, match='unknown namespace "shoop"; did you mean "shop"'):
        of_namespaces(graph, ["shoop"])


def test_by_kind(graph: Graph) -> None:
    part = of_kinds(graph, ["service", "Deployment"])
    assert list(states(part)) == ["Service/shop/web", "Deployment.apps/shop/web", "Deployment.apps/else/other"]
    assert len(part.edges) == 1
    with pytest.raises(NotFound, match='unknown kind "Deploymnet"; did you mean "Deployment"'):
        of_kinds(graph, ["Deploymnet"])


@pytest.mark.parametrize(("depth", "count"), [(0, 1), (1, 2), (2, 4)])
def test_around_an_object(graph: Graph, depth: int, count: int) -> None:
    assert len(around(graph, "service/web", depth).nodes) == count


def test_around_nothing(graph: Graph) -> None:
    with pytest.raises(NotFound, match='unknown object "Service/wbe"; did you mean "Service/web"'):
        around(graph, "Service/wbe", 1)
    with pytest.raises(NotFound, match="use KIND/NAME"):
        around(graph, "nothing", 1)
