"""The graph as a self-contained HTML page: no network, no library. `page/` contains its markup, style and scripts.

Content of manifests is never interpreted as markup: it is in a JSON block without `<` and displayed with `textContent`, and the content
security policy allows only the scripts and the style of kcheck, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
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
    css, script = _read("page.css"), "".join(map(_read, _SCRIPTS))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(css)}; base-uri 'none'; form-action 'none'"
    parts = {"POLICY": policy, "STYLE": css, "SCRIPT": script, "GRAPH": json.dumps(_data(graph)).translate(_ESCAPES)}
    head, *rest = _read("page.html").split("@")
    # The template alternates between text and part names, separated by '@'. It is split before parts are inserted, which may contain '@'.
    out.write(head + "".join(parts[name] + text for name, text in zip(rest[::2], rest[1::2], strict=True)))


def _data(graph: Graph) -> dict[str, Any]:
    return {
        "categories": {category: CATEGORY_TITLES[category] for category in CATEGORIES},
        "stages": {category: STAGES.get(category, 0) for category in CATEGORIES},
        "nodes": [node_data(n) | {"words": STATE_WORDS[n.state]} for n in graph.nodes],
        "edges": [edge_data(e) | {"label": e.label} for e in graph.edges],
        "unplaced": [finding_data(f) for f in graph.unplaced],
    }


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
