"""Edits of YAML: other text stays as it is, and text with other meanings is not edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.yaml import edits
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

Function = Callable[..., list[Edit]]


def edited(text: str, function: Function, path: str, *arguments: Any) -> str | None:
    """The text after an edit of the value at a path, None if the value cannot be edited. Paths as arguments begin with a dot."""
    root = parse(Source("", text))[0].root
    given = [at(root, each[1:]) if isinstance(each, str) and each.startswith(".") else each for each in arguments]
    try:
        return apply_edits(text, function(text, at(root, path), *given))
    except edits.Uneditable:
        return None


def at(node: Node, path: str) -> Node:
    for key in path.split("/"):
        node = node[int(key) if key.isdigit() else key]
    return node


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("a: old # why\n", "new", "a: new # why\n"),
        ("a: 'old'\n", "new", "a: 'new'\n"),
        ('a: "old"\r\nb: 1\r\n', 'ne"w', 'a: "ne\\"w"\r\nb: 1\r\n'),
        ("a: old\n", "yes", 'a: "yes"\n'),
        ("a: old\n", "1.10", 'a: "1.10"\n'),
        ("a: '1'\n", 1, "a: 1\n"),
        ("{a: old, b: 1}\n", True, "{a: true, b: 1}\n"),
        ('{"a": 1}\n', "new", '{"a": "new"}\n'),
        ("a: [x, y]\n", ["ALL"], "a: [ALL]\n"),
        ("a: |\n  old\n", "new", None),
        ("a: old\n  old\n", "new", None),
        ("a:\n  - x\n", ["ALL"], None),
        ("a: &x old\nb: *x\n", "new", None),
        ("b: &x old\na: *x\n", "new", None),
        ("a: !!str old\n", "new", None),
    ],
)
def test_replace_value(before: str, value: Any, after: str | None) -> None:
    assert edited(before, edits.replace_value, "a", value) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: 1\nx: 2 # why\nb: 3\n", "x", "a: 1\nb: 3\n"),
        ("a: 1\n# about x\nx:\n  y: 2\n\n# about b\nb: 3\n", "x", "a: 1\n\n# about b\nb: 3\n"),
        ("# header\nx: 1\nb: 2\n", "x", "# header\nb: 2\n"),
        ("a: 1\r\nx: 2\r\n", "x", "a: 1\r\n"),
        ("a: 1\nx: 2", "x", "a: 1"),
        ("o:\n  x: 1\nb: 2\n", "o/x", "o: {}\nb: 2\n"),
        ("o: # why\n  x:\n    y: 1\nb: 2\n", "o/x", "o: {} # why\nb: 2\n"),
        ("o:\n  annotations:\n    x: 1\n  b: 2\n", "o/annotations/x", "o:\n  b: 2\n"),
        ("l:\n- x: 1\n  b: 2\n- c\n", "l/0/x", "l:\n- b: 2\n- c\n"),
        ("l:\n  - a\n  - x # why\n  - b\n", "l/1", "l:\n  - a\n  - b\n"),
        ("l:\n- x\nb: 1\n", "l/0", "l: []\nb: 1\n"),
        ("o: {a: 1, x: 2, b: 3}\n", "o/x", "o: {a: 1, b: 3}\n"),
        ("o: {a: 1, x: 2}\n", "o/x", "o: {a: 1}\n"),
        ("o: [x]\n", "o/0", "o: []\n"),
        ('{"a": 1,\n "x": 2}\n', "x", '{"a": 1}\n'),
        ("x: |+\n  a\n\nb: 1\n", "x", None),
        ("x: &a {b: 1}\ny: *a\n", "x", None),
        ("b: &a {x: 1, c: 2}\no:\n  <<: *a\n", "o/x", None),
        ("? x\n: 1\n", "x", None),
    ],
)
def test_remove_entry(before: str, path: str, after: str | None) -> None:
    assert edited(before, edits.remove_entry, path) == after


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("a: 1\nb:\n  c: 2\n", "x", True, "a: 1\nx: true\nb:\n  c: 2\n"),
        ("a: 1 # why\r\nb:\r\n    c: 2\r\n", "x/v", "z", "a: 1 # why\r\nx:\r\n    v: z\r\nb:\r\n    c: 2\r\n"),
        ("b:\n  c:\n    d: 1\n", "b/x", 1, "b:\n  x: 1\n  c:\n    d: 1\n"),
        ("l:\n- a: 1\n", "l/0/x", {"v": ["ALL"]}, "l:\n- a: 1\n  x:\n    v: [ALL]\n"),
        ("l:\n- b:\n    c: 1\n", "l/0/x", 1, "l:\n- x: 1\n  b:\n    c: 1\n"),
        ("o: {a: 1}\n", "o/x/v", False, "o: {a: 1, x: {v: false}}\n"),
        ("o: {}\n", "o/x", "a b", 'o: {x: "a b"}\n'),
        ("o:\nb: 1\n", "o/x", 1, "o: {x: 1}\nb: 1\n"),
        ("o: null\n", "o/x", 1, "o: {x: 1}\n"),
        ('{\n  "a": 1\n}\n', "x", "y", '{\n  "a": 1,\n  "x": "y"\n}\n'),
        ("o: &a\n  b: 1\nc: *a\n", "o/x", 1, None),
        ("b: &a\n  c: 1\no: *a\n", "o/x", 1, None),
    ],
)
def test_insert_entry(before: str, path: str, value: Any, after: str | None) -> None:
    assert edited(before, edits.insert_entry, path, value) == after


@pytest.mark.parametrize(
    ("before", "path", "target", "after"),
    [
        (
            "spec:\n  # ports\n  ports:\n  - 80 # http\n  list:\n  - name: a\n    image: b\n",
            "spec/ports",
            ".spec/list/0/ports",
            "spec:\n  list:\n  - name: a\n    image: b\n    # ports\n    ports:\n    - 80 # http\n",
        ),
        (
            "o:\n    x: |\n        text\n    b: 1\np:\n    c: 1\n",
            "o/x",
            ".p/q/x",
            "o:\n    b: 1\np:\n    c: 1\n    q:\n        x: |\n            text\n",
        ),
        ("o:\n  x: 1\np:\n  c: 1\n", "o/x", ".p/x", "o: {}\np:\n  c: 1\n  x: 1\n"),
        ("o: {x: [1], b: 2}\np:\n  c: 1\n", "o/x", ".p/x", "o: {b: 2}\np:\n  c: 1\n  x: [1]\n"),
        ("o:\n  x: 1\np: {c: 1}\n", "o/x", ".p/x", None),
        ("o:\n  x:\n    y: 1\n  b: 1\n", "o/x", ".o/x/y/x", None),
    ],
)
def test_move_entry(before: str, path: str, target: str, after: str | None) -> None:
    assert edited(before, edits.move_entry, path, target) == after


def test_rename_key() -> None:
    assert edited('"old" : 1\nb: 2\n', edits.rename_key, "old", "new") is None
    assert edited("'old': 1 # why\nb: 2\n", edits.rename_key, "old", "new") == "'new': 1 # why\nb: 2\n"
    assert edited("old: 1\nnew: 2\n", edits.rename_key, "old", "new") is None
    assert edited("a: &x {old: 1}\nb: *x\n", edits.rename_key, "b/old", "new") is None


def test_append_item() -> None:
    assert edited("l:\n- a # why\nb: 1\n", edits.append_item, "l", "x") == "l:\n- a # why\n- x\nb: 1\n"
    assert edited("l: [a]\n", edits.append_item, "l", "x") == "l: [a, x]\n"
    assert edited("l: []\n", edits.append_item, "l", "x") == "l: [x]\n"


def test_rewrite_entry() -> None:
    service = {"name": "web", "port": {"number": 80}}
    assert edited("b:\n    old: web # why\n    c: 1\n", edits.rewrite_entry, "b/old", "s", service) == (
        "b:\n    s:\n        name: web\n        port:\n            number: 80 # why\n    c: 1\n"
    )
    assert edited("b: {old: web}\n", edits.rewrite_entry, "b/old", "s", service) == "b: {s: {name: web, port: {number: 80}}}\n"


def test_nest_entries() -> None:
    assert (
        edited("s:\n  # all\n  a: b\n\n  c: d\nt: 1\n", edits.nest_entries, "s", "m") == "s:\n  # all\n  m:\n    a: b\n\n    c: d\nt: 1\n"
    )
    assert edited("s: {a: b}\n", edits.nest_entries, "s", "m") == "s: {m: {a: b}}\n"


def test_text_that_was_edited_stays_valid_yaml() -> None:
    text = "o:\n  x: 1\n"
    assert edited(text, edits.insert_entry, "o/v", "a: b") == 'o:\n  x: 1\n  v: "a: b"\n'
    assert edited(text, edits.insert_entry, "o/v", "#c") == 'o:\n  x: 1\n  v: "#c"\n'
    assert edited("o:\n  x: a\u2028b\n", edits.insert_entry, "o/v", 1) is None


def test_spans_of_anchors_with_aliases() -> None:
    text = "a: &x\n  b: 1\nc: *x\nd: &y 2\ne: &z 3\nf: *z\n"
    (document,) = parse(Source("", text))
    assert [text[span.start : span.end] for span in edits.aliased_spans(document)] == ["&x\n  b: 1", "&z 3"]
