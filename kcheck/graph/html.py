"""The graph as a self-contained HTML page: no network, no library. `page/` contains its markup, style and scripts.

Content of manifests is never interpreted as markup: it is in a JSON block without `<` and displayed with `textContent`, and the content
security policy allows only the scripts and the style of kcheck, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from kcheck.graph.category import CATEGORIES, CATEGORY_TITLES, STAGES
from kcheck.graph.graph import STATE_WORDS, Graph
from kcheck.graph.json import edge_data, finding_data, node_data
from kcheck.reporters.style import PLAIN, Style

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("layout.js", "picture.js", "panels.js", "page.js")
# Characters with a special meaning in script elements or in older versions of JavaScript.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """Writes the page. The data is in ASCII."""
    template, css, body, start = (read(_PAGE / name) for name in ("page.html", "page.css", "body.html", "start.js"))
    write_page(out, template, css, graph_script() + start, {"BODY": body}, {"GRAPH": graph_data(graph)})


def write_page(out: TextIO, template: str, css: str, script: str, parts: Mapping[str, str], data: Mapping[str, Any]) -> None:
    """Writes a page that loads nothing and allows only this style and this script.

    `template`: text with the names of parts between '@'. `parts`: trusted markup. `data`: JSON blocks, which may be untrusted.
    """
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(css)}; base-uri 'none'; form-action 'none'"
    known = {"POLICY": policy, "STYLE": css, "SCRIPT": script, **parts}
    known |= {name: json.dumps(value).translate(_ESCAPES) for name, value in data.items()}
    head, *rest = template.split("@")
    # The template alternates between text and part names, separated by '@'. It is split before parts are inserted, which may contain '@'.
    out.write(head + "".join(known[name] + text for name, text in zip(rest[::2], rest[1::2], strict=True)))


def graph_script() -> str:
    """Returns the script of the graph. Its function `start` draws the graph."""
    return "".join(read(_PAGE / name) for name in _SCRIPTS)


def graph_markup() -> tuple[str, str]:
    """Returns the style and the markup of the graph."""
    return read(_PAGE / "page.css"), read(_PAGE / "body.html")


def graph_data(graph: Graph) -> dict[str, Any]:
    """Returns the data of the graph for its script."""
    return {
        "categories": {category: CATEGORY_TITLES[category] for category in CATEGORIES},
        "stages": {category: STAGES.get(category, 0) for category in CATEGORIES},
        "nodes": [node_data(n) | {"words": STATE_WORDS[n.state]} for n in graph.nodes],
        "edges": [edge_data(e) | {"label": e.label} for e in graph.edges],
        "unplaced": [finding_data(f) for f in graph.unplaced],
    }


def read(path: Path) -> str:
    """Returns the text of a file of the program."""
    return path.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
