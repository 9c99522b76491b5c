"""The graph as one page that needs nothing else: no network, no library. `page/` holds its markup, style and scripts.

What manifests say is data to the page, never markup: it stands in a block of JSON without `<`, is shown by `textContent`, and the page's
policy lets nothing run or load but the scripts and the style that are ours, by their digests.
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
# In a script element of HTML, and in a script of old, these mean something.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """The page, in ASCII but for what `page/` holds."""
    css, script = _read("page.css"), "".join(map(_read, _SCRIPTS))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(css)}; base-uri 'none'; form-action 'none'"
    parts = {"POLICY": policy, "STYLE": css, "SCRIPT": script, "GRAPH": json.dumps(_data(graph)).translate(_ESCAPES)}
    head, *rest = _read("page.html").split("@")
    # Names and texts take turns between the signs, so that nothing in a part is taken for a sign.
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
