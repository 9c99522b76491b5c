"""Texts that mutations begin with: the examples of all rule pages, the example application, and constructs that these lack."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
_BLOCK = re.compile(r"^```(?:yaml|json)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MOST = 6_000
"""Characters of a seed: short ones make more inputs in the same time."""

ODD = (
    "a: &x {b: 1, c: [1, 2]}\nd: *x\ne: {<<: *x, b: 2}\nf:\n  <<: [*x, *x]\n  g: *x\n",
    "a: !!str 1\nb: !!int '2'\nc: !t {d: !!null x}\ne: !<tag:yaml.org,2002:binary> aGk=\nf: !!set {a, b}\n",
    "a: |\n  x\n   y\n\nb: >-\n  x\n\n  y\nc: |+2\n    z\n\n\nd: >1\n  w\n",
    "%YAML 1.1\n%TAG ! tag:x,2000:\n---\na: 1\n...\n---\n- b\n- ? c\n  : d\n- [e, {f: g}, 'h', \"i\\n\\u00e9\\U0001F600\"]\n",
    '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\\ud83d\\ude00"}}]}\n',
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n---\n# kcheck: ignore[x]\n",
    "{{- if .Values.x }}\nkind: {{ .Values.kind | quote }}\n{{- end }}\n",
    "a: 0x1f\nb: 0o17\nc: 017\nd: 1_000\ne: .inf\nf: -.NaN\ng: 1e400\nh: 2001-01-01\ni: 1:30\nj: ~\nk: yes\nl: =\n",
    "a: 'it''s'\r\nb: \"x\\\r\n  y\"\r\nc:\r\n- d\r\n-   e\r\n",
)  # fmt: skip


@cache
def manifests() -> tuple[str, ...]:
    """Seeds in an order that is always the same."""
    found = list(ODD)
    for page in sorted((ROOT / "rules").glob("*/*/pages/*.md")):
        found += _BLOCK.findall(page.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        found.append(path.read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(text for text in found if len(text) <= _MOST))
