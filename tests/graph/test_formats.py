"""The forms of a graph: what people and programs read, with names that want to be more than names."""

import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from kcheck.graph.category import Category
from kcheck.graph.graph import STATE_WORDS, Graph, Relation
from kcheck.reporters.style import PLAIN, Style
from tests.conftest import ROOT
from tests.graph.drawn import HOSTILE, draw
from tests.relations.world import holder, service, workload

SCHEMA = json.loads((ROOT / "schemas" / "graph.schema.json").read_text(encoding="utf-8"))
SMALL = service(metadata=", namespace: shop") + workload(
    metadata=", namespace: shop", container=", envFrom: [{configMapRef: {name: web}}, {secretRef: {name: gone}}]"
)


def written(graph: Graph, form: str, style: Style = PLAIN, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    import_module(f"kcheck.graph.{form}").write(graph, out, style)
    out.flush()
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def small(tmp_path: Path) -> Graph:
    os.chdir(tmp_path)
    return draw(Path(), {"a.yaml": SMALL + holder("ConfigMap", "web", metadata=", namespace: shop")})


@pytest.fixture(autouse=True)
def _stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())


@pytest.fixture
def hostile(tmp_path: Path) -> Graph:
    return draw(tmp_path, {"a.yaml": HOSTILE}, "spec")


def test_text(small: Graph) -> None:
    assert (
        written(small, "text")
        == """\
namespace shop

Service/web  a.yaml:3
└─ selects  Deployment/web

Deployment/web  a.yaml:10
├─ envFrom  ConfigMap/web
└─ envFrom  Secret/gone  not in the input

ConfigMap/web  a.yaml:19

3 objects, 3 relations, 1 not in the input
"""
    )
    assert "\x1b[31mnot in the input\x1b[0m" in written(small, "text", Style(colour=True))
    assert "|- envFrom" in written(small, "text", encoding="ascii")


def test_text_cannot_steer_a_terminal(hostile: Graph) -> None:
    text = written(hostile, "text", Style(colour=True))
    assert not set(re.sub(r"\x1b\[[0-9;]*m|\n", "", text)) & {"\x1b", "\u202e", "\u2028"}
    assert "\\x1b[31m" in text


def test_json_keeps_its_contract(small: Graph, hostile: Graph) -> None:
    for graph in (small, hostile, Graph((), ())):
        text = written(graph, "json")
        assert text.isascii()
        document = json.loads(text)
        Draft202012Validator(SCHEMA).validate(document)
        assert len(document["nodes"]) == len(graph.nodes)
        assert {e[end] for e in document["edges"] for end in ("source", "target")} <= {n["id"] for n in document["nodes"]}


def test_the_schema_says_all() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def objects(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            if "properties" in schema:
                yield schema
            for part in schema.values():
                yield from objects(part)

    for part in objects(SCHEMA):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
        assert all(p["description"].endswith(".") for p in part["properties"].values())
    node, edge = SCHEMA["$defs"]["node"]["properties"], SCHEMA["$defs"]["edge"]["properties"]
    assert node["state"]["enum"] == list(STATE_WORDS)
    assert node["category"]["enum"] == list(get_args(Category))
    assert edge["relation"]["enum"] == list(get_args(Relation))


def test_dot(small: Graph) -> None:
    text = written(small, "dot")
    assert 'subgraph cluster_0 {\n    label="shop";' in text
    assert 'n1 [label="Service\\nweb", fillcolor="#d9e8fb"' in text
    assert 'n2 -> n4 [label="envFrom", style=solid];' in text
    assert text.count('style="rounded,dashed"') == 1


def test_dot_is_well_formed(hostile: Graph) -> None:
    text = written(hostile, "dot")
    # Without its strings nothing is left of the names.
    rest = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert '"' not in rest.replace('""', "")
    assert not re.search(r"script|img|onerror|alert", rest)
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", "-o", os.devnull], input=text, text=True, check=True, timeout=300)


def test_mermaid(small: Graph) -> None:
    assert (
        written(small, "mermaid")
        == """\
flowchart LR
  subgraph s0["shop"]
    n1["Service<br>web"]:::service
    n2["Deployment<br>web"]:::workload
    n3["ConfigMap<br>web"]:::config
    n4["Secret<br>gone"]:::outside
  end
  n1 -.->|"selects"| n2
  n2 -->|"envFrom"| n3
  n2 -->|"envFrom"| n4
  classDef service fill:#d9e8fb,stroke:#7a828c,color:#111
  classDef workload fill:#d5efdd,stroke:#7a828c,color:#111
  classDef config fill:#fbf0c9,stroke:#7a828c,color:#111
  classDef outside fill:none,stroke:#7a828c,stroke-dasharray:5 4
"""
    )


def test_mermaid_escapes_all_that_may_be_syntax(hostile: Graph) -> None:
    for line in written(hostile, "mermaid").splitlines():
        quoted = re.findall(r'"([^"]*)"', line)
        for text in quoted:
            assert re.fullmatch(r"(?:[\w .,:/()=*-]|#\d+;|<br>)*", text, re.ASCII), text
        assert line.count('"') == 2 * len(quoted)


class _Page(HTMLParser):
    """The elements of a page, and the text of its scripts and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = f"{tag} {dict(attrs).get('id') or ''}".strip() if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


def test_a_page_is_the_same_whatever_the_names(small: Graph, hostile: Graph) -> None:
    pages = [_Page(written(graph, "html")) for graph in (small, hostile)]
    assert pages[0].elements == pages[1].elements
    assert {k: v for k, v in pages[0].texts.items() if k != "script graph"} == {
        k: v for k, v in pages[1].texts.items() if k != "script graph"
    }
    data = pages[1].texts["script graph"]
    assert data.isascii()
    assert not set(data) & set("<>&")
    assert len(json.loads(data)["nodes"]) == len(hostile.nodes)


def test_a_page_may_run_its_own_scripts_and_load_nothing(small: Graph) -> None:
    page = _Page(written(small, "html"))
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in page.elements if {"src", "href"} & a.keys()]
    assert not [key for _, a in page.elements for key in a if key.startswith("on") or key == "style"]
    # Names of the namespaces of XML are no addresses.
    assert not re.findall(r"https?://(?!www\.w3\.org)[\w.]+", page.texts["script"] + page.texts["style"])
    assert "innerHTML" not in page.texts["script"]


ALL_FORMATS = """
from contextlib import suppress
from kcheck.cli.main import kcheck
for form in ("text", "json", "dot", "mermaid", "html"):
    with suppress(SystemExit):
        kcheck(["graph", "examples", "--isolated", "--format", form])
    print("END OF FORMAT")
"""


@pytest.mark.slow
def test_every_run_gives_the_same() -> None:
    command = [sys.executable, "-c", ALL_FORMATS]
    runs = [
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=300).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    outputs = runs[0].split(b"END OF FORMAT")[:-1]
    assert len(set(outputs)) == 5
