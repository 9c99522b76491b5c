"""What rules say of a text, in a form that is easy to compare."""

from __future__ import annotations

from typing import Any

from kcheck.testing import check_text


def reported(text: str, *rules: str, name: str = "input.yaml", **options: Any) -> list[tuple[int, str]]:
    """Line and marked characters of each finding."""
    lines = text.split("\n")
    given = {rules[0]: options} if options else {}
    found = check_text(text, rules, options=given, name=name)
    return [(f.range.start.line, lines[f.range.start.line - 1][f.range.start.column - 1 : f.range.end.column - 1]) for f in found]


def pod(spec: str, metadata: str = "name: a") -> str:
    """A Pod with one sound container; `spec` is indented by two."""
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{{metadata}}}\nspec:\n  containers: [{{name: c, image: 'b:1'}}]\n{spec}"


def containers(*images: str) -> str:
    lines = [f"  - name: c{i}\n    image: {image}\n" for i, image in enumerate(images)]
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n" + "".join(lines)
