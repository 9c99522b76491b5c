"""The page in a browser: what it shows of the examples, of a small input and of hostile names; search, zoom, filters, details."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcheck.discovery.discover import discover
from kcheck.graph import html
from kcheck.graph.graph import Graph
from kcheck.graph.relations import graph_of
from kcheck.run.run import run_pipeline
from tests.conftest import ROOT
from tests.graph.browser import PROGRAM, Browser
from tests.graph.drawn import HOSTILE, IMAGE, SCRIPT, draw
from tests.graph.test_formats import SMALL
from tests.relations.world import session, workload

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium is installed")

BOOKINFO = ROOT.parent / "shared" / "corpus" / "manifests" / "istio+istio" / "samples" / "bookinfo"
NODES = "[...document.querySelectorAll('.node')].map(n => n.dataset.id)"
EDGES = "[...document.querySelectorAll('.edge')].map(e => [e.dataset.source, e.dataset.target])"
ZOOM = "Number(document.documentElement.dataset.zoom)"
HERE = "getComputedStyle(document.getElementById('details')).display !== 'none' && document.querySelector('#details h2').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Opens the page of a graph. Whatever a test does, no page loads something or complains."""

    def open_page(graph: Graph, fragment: str = "") -> Browser:
        path = tmp_path / "graph.html"
        with path.open("w", encoding="utf-8") as out:
            html.write(graph, out)
        browser.open(path, fragment)
        return browser

    browser.errors.clear()
    yield open_page
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    assert len(browser.requests) == 1
    assert browser.errors == []


def example(name: str, *rules: str) -> Graph:
    return graph_of(run_pipeline(discover([str(ROOT / "examples" / name)]), session(*rules)))


def shows(browser: Browser, graph: Graph) -> None:
    """Every node and edge is drawn, and no two nodes on one another."""
    assert sorted(browser.run(NODES)) == sorted(node.id for node in graph.nodes)
    assert sorted(map(tuple, browser.run(EDGES))) == sorted({(e.source, e.target) for e in graph.edges})
    boxes = browser.boxes(".node .card")
    for number, (x, y, width, height) in enumerate(boxes):
        assert width > 0
        assert height > 0
        for left, top, *_ in boxes[:number]:
            assert abs(left - x) >= width or abs(top - y) >= height


@pytest.mark.parametrize("name", ["good", "bad"])
def test_the_examples(page: Callable[..., Browser], name: str) -> None:
    graph = example(name)
    browser = page(graph)
    shows(browser, graph)
    badges = dict(browser.run("[...document.querySelectorAll('.badge')].map(b => [b.closest('.node').dataset.id, b.textContent])"))
    assert badges == {n.id: str(len(n.findings)) for n in graph.nodes if n.findings}
    assert bool(badges) == (name == "bad")
    # All of it is in sight.
    left, top, width, height = browser.boxes("#canvas")[0]
    for x, y, *size in browser.boxes(".node"):
        assert left <= x <= left + width - size[0]
        assert top <= y <= top + height - size[1]


@pytest.mark.skipif(not BOOKINFO.is_dir(), reason="the recorded manifests are not beside the checkout")
def test_bookinfo(page: Callable[..., Browser]) -> None:
    graph = graph_of(run_pipeline(discover([str(BOOKINFO)]), session()))
    assert len(graph.nodes) > 100
    assert len(graph.edges) > 200
    shows(page(graph), graph)


def test_edges_run_from_the_left_to_the_right(page: Callable[..., Browser]) -> None:
    browser = page(example("good"))
    left = {id: browser.centre(f'.node[data-id="{id}"]')[0] for id in (
        "Ingress.networking.k8s.io/shop/web", "Service/shop/web", "Deployment.apps/shop/web", "ConfigMap/shop/web-nginx",
    )}  # fmt: skip
    assert sorted(left, key=left.__getitem__) == list(left)
    assert len({round(x) for x in left.values()}) == 4


def test_search(page: Callable[..., Browser], tmp_path: Path) -> None:
    browser = page(draw(tmp_path, {"a.yaml": SMALL}))
    browser.press("/")
    browser.type("shop deploy")
    assert browser.run("document.getElementById('found').textContent") == "1 of 4"
    assert browser.run("[...document.querySelectorAll('.node.match')].map(n => n.dataset.id)") == ["Deployment.apps/shop/web"]
    assert browser.run("document.querySelectorAll('.node.dim').length") == 3
    browser.press("Enter")
    assert browser.run(HERE) == "web"
    assert browser.run("new URLSearchParams(location.hash.slice(1)).get('focus')") == "Deployment.apps/shop/web"
    browser.press("Escape")
    assert browser.run(HERE) is False
    assert browser.run("document.querySelectorAll('.dim').length") == 0
    assert browser.run("location.hash") == ""


def test_what_the_address_says(page: Callable[..., Browser], tmp_path: Path) -> None:
    browser = page(draw(tmp_path, {"a.yaml": SMALL}), "q=web&focus=Service%2Fshop%2Fweb&zoom=2")
    assert browser.run("document.getElementById('search').value") == "web"
    assert browser.run("document.documentElement.dataset.matches") == "3"
    assert browser.run(ZOOM) == 2
    assert browser.run(HERE) == "web"


def test_zoom_and_pan(page: Callable[..., Browser], tmp_path: Path) -> None:
    browser = page(draw(tmp_path, {"a.yaml": SMALL}))
    start = browser.run(ZOOM)
    target = '.node[data-id="Service/shop/web"]'
    x, y = browser.centre(target)
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    browser.run("new Promise(requestAnimationFrame)")
    nearer = browser.run(ZOOM)
    assert nearer > start * 1.2
    # What is under the pointer stays there.
    assert browser.centre(target) == pytest.approx((x, y), abs=2)
    browser.mouse("mousePressed", 700, 800, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", 760, 770, button="left", buttons=1)
    browser.mouse("mouseReleased", 760, 770, button="left", clickCount=1)
    assert browser.centre(target) == pytest.approx((x + 60, y - 30), abs=2)
    assert browser.run(HERE) is False
    browser.click("#out")
    assert browser.run(ZOOM) < nearer
    browser.press("0")
    assert browser.run(ZOOM) == pytest.approx(start)


def test_details(page: Callable[..., Browser]) -> None:
    graph = example("bad")
    browser = page(graph)
    browser.click('.node[data-id="Deployment.apps/shop/api"] .name')
    text = browser.run("document.getElementById('details').innerText")
    api = graph.by_id["Deployment.apps/shop/api"]
    assert api.findings
    for finding in api.findings:
        assert finding.message in text
        assert f"{finding.rule}, line {finding.range.start.line}" in text
    assert f"{api.file}:{api.line}" in text
    for key, value in api.labels.items():
        assert f"{key}: {value}" in text
    browser.click("#details .incoming button")
    assert browser.run("new URLSearchParams(location.hash.slice(1)).get('focus')") == "Service/shop/api"
    browser.click("#details .close")
    assert browser.run(HERE) is False


def test_filters(page: Callable[..., Browser], tmp_path: Path) -> None:
    browser = page(draw(tmp_path, {"a.yaml": SMALL + workload("alone", "app: alone")}))
    assert len(browser.run(NODES)) == 5
    browser.click("input[data-filter=kind][data-value=Service]")
    assert "Service/shop/web" not in browser.run(NODES)
    browser.click("input[data-filter=kind][data-value=Service]")
    browser.click("input[data-filter=namespace][data-value='']")
    assert "Deployment.apps/alone" not in browser.run(NODES)
    browser.click("input[data-filter=namespace][data-value='']")
    browser.click("input[data-filter=show][data-value=alone]")
    browser.click("input[data-filter=show][data-value=outside]")
    assert browser.run(NODES) == ["Service/shop/web", "Deployment.apps/shop/web"]
    browser.click("input[data-filter=relation][data-value=selector]")
    assert browser.run(EDGES) == []


def test_hostile_names_are_text(page: Callable[..., Browser], tmp_path: Path) -> None:
    graph = draw(tmp_path, {"a.yaml": HOSTILE}, "spec")
    browser = page(graph)
    shows(browser, graph)
    for node in graph.nodes:
        browser.run(f"select(byId.get({json.dumps(node.id)}), true)")
        assert browser.run("document.querySelector('#details h2').textContent") == node.name
    titles = browser.run("[...document.querySelectorAll('.node > title')].map(t => t.textContent).join(' ')")
    assert SCRIPT in titles
    assert IMAGE in titles
    assert browser.run("document.title") == "kcheck graph"
    assert browser.run("document.querySelectorAll('img, b, svg script, #details script, iframe, a').length") == 0
    assert browser.run("document.scripts.length") == 2


def test_a_thousand_objects(page: Callable[..., Browser], tmp_path: Path) -> None:
    files = {f"{n}/a.yaml": SMALL.replace("web", f"web-{n}") for n in range(300)}
    # One folder's Services are all of it: a part that is too large to be drawn as one.
    crowd = "".join(workload(f"w{n}", "app: crowd, n: 'a'", container=", envFrom: [{configMapRef: {name: all}}]") for n in range(150))
    graph = draw(tmp_path, {**files, "crowd/a.yaml": crowd})
    assert len(graph.nodes) > 1300
    browser = page(graph)
    assert sorted(browser.run(NODES)) == sorted(node.id for node in graph.nodes)
    took = browser.run("(start => (draw(), performance.now() - start))(performance.now())")
    assert took < 5000


def test_dark_and_light(page: Callable[..., Browser]) -> None:
    browser = page(example("good"))
    colours = []
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    browser.call("Emulation.setEmulatedMedia", features=[])
    assert colours[0] != colours[1]


def test_an_empty_graph(page: Callable[..., Browser]) -> None:
    browser = page(Graph((), ()))
    assert browser.run(NODES) == []
    assert browser.run("document.getElementById('summary').textContent") == "0 objects, 0 relations"
