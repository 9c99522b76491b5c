"""Reading YAML: values, places, documents, faults, limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.text.complaint import concise
from kcheck.text.source import Source, Undecodable
from kcheck.yaml.document import Document
from kcheck.yaml.libyaml.builder import ALIAS_LIMIT
from kcheck.yaml.node import Node
from kcheck.yaml.parse import _MAYBE_ONLY_COMMENTS, _ONLY_COMMENTS, DOCUMENT_LIMIT, parse
from kcheck.yaml.read_document import DEPTH_LIMIT


def read(text: str) -> list[Document]:
    return parse(Source("test.yaml", text))


def root(text: str) -> Node:
    (document,) = read(text)
    assert document.fault is None, document.fault
    return document.root


def nodes(node: Node) -> list[Node]:
    return [node, *(found for child in node for found in nodes(child))]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0400", 256), ("0o400", 256), ("08", 8), ("1_000", 1000), ("0x1F", 31), ("+5", 5), ("1e3", 1000), ("1.50", 1.5), (".5", 0.5),
        ("on", True), ("y", True), ("Off", False), ("nULL", "nULL"), ("~", None), ("1:30", "1:30"), ("2001-01-01", "2001-01-01"),
        ("100m", "100m"), ("1e400", "1e400"), ("<<", "<<"), ("'yes'", "yes"), ("!!str 1", "1"), ("! 1", "1"), ("!!int '7'", 7),
        ('"\\\'"', "'"), ("[http://x:1/y, b:c]", ["http://x:1/y", "b:c"]), ('{"a":1}', {"a": 1}),
    ],
)  # fmt: skip
def test_scalars(text: str, value: object) -> None:
    assert root(f"k: {text}")["k"].plain() == value
    assert type(root(f"k: {text}")["k"].plain()) is type(value)


@pytest.mark.parametrize(("key", "name"), [("on", "true"), ("0400", "256"), ("1.0", "1"), ("6e6", "6e+06"), ("'on'", "on"), ("a b", "a b")])
def test_keys_become_text(key: str, name: str) -> None:
    assert list(root(f"{key}: x").value) == [name]


def test_every_node_knows_its_characters() -> None:
    text = "a: &x 1\nb:\n- 'two'\n- c: |\n    text\n    more\n\n  d: {e: [f, *x]}\nempty:\n"
    tree = root(text)
    shown = {n.path: text[n.start : n.end] for n in nodes(tree)}
    assert shown["a"] == "1"
    assert shown["b"] == "- 'two'\n- c: |\n    text\n    more\n\n  d: {e: [f, *x]}"
    assert shown["b[0]"] == "'two'"
    assert shown["b[1].c"] == "|\n    text\n    more"
    assert shown["b[1].d"] == "{e: [f, *x]}"
    assert shown["b[1].d.e[1]"] == "*x"
    assert text[slice(*tree.at("b", 1, "d", "e").key_span)] == "e"
    assert tree.at("b", 1, "d", "e", 1).value == 1


def test_absent_nodes_are_total() -> None:
    node = root("spec: {a: 1}").at("spec", "b", 3, "c")
    assert not node
    assert not node.exists
    assert node.path == "spec.b[3].c"
    assert node.text == ""
    assert list(node) == []
    assert node.key_span == root("spec: {a: 1}")["spec"].key_span


def test_null_is_false_and_zero_is_true() -> None:
    tree = root("a: null\nb: 0\nc: ''\nd: false")
    assert [bool(tree[k]) for k in "abcd"] == [False, True, True, True]


def test_merge_keys_win_by_order() -> None:
    tree = root("a: &x {p: 1, q: 1}\nb:\n  p: 0\n  <<: *x\n  q: 2")
    assert tree["b"].plain() == {"p": 1, "q": 2}
    assert tree["b"]["p"].path == "b.p"


def test_documents_stand_for_themselves() -> None:
    documents = read("%YAML 1.1\n---\na: 1\n---\n# nothing\n---\nb: c: d\n--- # comment\ne: 2\n...\nlost: 1\n---\nnull\n")
    assert [d.index for d in documents] == [0, 1, 2]
    assert documents[0].root.plain() == {"a": 1}
    assert documents[1].fault is not None
    assert documents[1].source.position(documents[1].fault.start) == (7, 5)
    assert documents[2].root.plain() == {"e": 2}
    assert documents[2].source.text[documents[2].trailing :].startswith("lost")  # type: ignore[misc]


def test_json_objects_in_a_row() -> None:
    assert [d.root.plain() for d in read('{"a": "\\/"}{"b": 2}\n{"c": [3]}')] == [{"a": "/"}, {"b": 2}, {"c": [3]}]


def test_kyaml_and_crlf() -> None:
    text = '---\r\n{\r\n  apiVersion: "v1", # why\r\n  items: [\r\n    "a",\r\n  ],\r\n}\r\n'
    (document,) = read(text)
    assert document.root.plain() == {"apiVersion": "v1", "items": ["a"]}
    assert document.source.position(document.root["items"].start) == (4, 10)


def test_duplicates_name_both_keys() -> None:
    (document,) = read("a: 1\nb: 2\na: 3\n")
    ((later, first),) = document.duplicates
    assert (later.key_span.start, first.key_span.start) == (10, 0)
    assert document.root["a"].value == 3


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(encoding: str) -> None:
    source = Source.decode("x.yaml", "kind: é\nname: x\n".encode(encoding))
    assert parse(source)[0].root.plain() == {"kind": "é", "name": "x"}
    assert source.position(parse(source)[0].root["name"].start) == (2, 7)
    assert Source.decode("x", source.encode(source.text)).text == source.text


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(Undecodable, match="0xff") as error:
        Source.decode("x.yaml", b"a: 1\nb: \xff\n")
    assert error.value.line == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: b: c", "quote the value"),
        ("a:\n\t- b", "tab in the indentation"),
        ("a: {{ x }}", "not allowed as a key"),
        ("a: *x", 'unknown anchor "&x"'),
        ("a: &x [*x]", "contain itself"),
        ("a: .inf", "quote it"),
        ("~: x", "key is null"),
        ("a: &x 1\nb:\n  <<: *x", "merges only a map"),
        ("a: 'x", "unclosed quote"),
        ('a: "b\\/c"', "is an escape sequence only in JSON"),
        ("{a: b}}", 'expected "---"'),
        ("... \na: b", "before it begins"),
        ("a: \x07", "control character"),
        ("a: \ud800", "surrogate"),
        ("a: &x [{n: 1}]\nb:\n- <<: *x", '"<<" merges only a map'),
        ("a: !!binary aGVs=", "not valid base64"),
        ("a: !!binary \u00fc", "not valid base64"),
        ("a: !!timestamp 2001-02-29", "not a valid !!timestamp"),
        ("a: !!timestamp 1900-02-29", "not a valid !!timestamp"),
        ("!!null ~: 1", "key is null"),
        ('"a\\/b": 1', "is an escape sequence only in JSON"),
        ("---x: 1", "only whitespace or a comment may follow ---"),
        ("null\r---\ra: 1", "content after an empty document"),
        ("a: 1\n\ufeffb: 2", "byte order mark"),
        ("a: 1 # \ufeff", "byte order mark"),
        ("# \ufeff", "byte order mark"),
        ("{}\r---\na: 1", "more content follows a JSON object"),
        ("%YAML 1.1\n", "belongs to no document"),
        ("\t\n", "tab in the indentation"),
        ("# \x01\n", "control character"),
    ],
)
def test_faults_say_what_to_do(text: str, words: str) -> None:
    (document,) = read(text)
    assert document.fault is not None
    assert words in concise(document.fault.message)


def test_hostile_documents_are_refused() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    deep = "[" * 5000
    large = "a: " + "x" * DOCUMENT_LIMIT
    for text, words in ((bomb, f"{ALIAS_LIMIT:,}"), (deep, f"{DEPTH_LIMIT} levels"), (large, "3 MiB")):
        (document,) = read(text)
        assert document.fault is not None
        assert words in concise(document.fault.message)


YAMLISH = st.text(st.sampled_from("ab:-?[]{}&*!|>'\"%#@`,\\ \n\t~01.<\u00e9\U0001f600\x85\r"), max_size=60)


@given(YAMLISH)
def test_never_crashes_and_places_lie_in_the_text(text: str) -> None:
    for document in read(text):
        spans = [document.fault[:2]] if document.fault else [(n.start, n.end) for n in nodes(document.root)]
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        if not document.fault:
            for node in nodes(document.root):
                if isinstance(node.value, str) and node.style == "" and node.value == node.value.strip() and "\n" not in node.value:
                    raw = text[node.start : node.end]
                    assert raw == node.value or raw.startswith(("*", "!")) or "\n" in raw or "\r" in raw or "\x85" in raw


@pytest.mark.parametrize("line_break", ["\r", "\x85", "\u2028", "\u2029"])
def test_all_line_breaks_end_comments_and_lines(line_break: str) -> None:
    assert [d.root.plain() for d in read(f"# c{line_break}a: 1{line_break}b: 2")] == [{"a": 1, "b": 2}]
    assert [d.root.plain() for d in read(f"a: 1\n---\n# c{line_break}b: 2")] == [{"a": 1}, {"b": 2}]
    text = f"a: 1\n# c{line_break}---\nb: 2\n"
    (document,) = read(text)
    assert document.root.plain() == {"a": 1}
    assert document.trailing == text.index("b")
    (first, lost) = read(f"a: 1\n--- # c{line_break}b: 2\n---\n")
    assert first.root.plain() == {"a": 1}
    assert lost.fault is not None
    assert "is ignored" in lost.fault.message


def test_an_anchor_ends_before_a_colon() -> None:
    text = "a: &x:y z\nb: *x\n"
    node = root(text)["a"]
    assert (node.value, text[node.start : node.end]) == (":y z", ":y z")
    assert root(text)["b"].value == ":y z"


def test_the_last_line_is_ended() -> None:
    assert root("a: |\n  x")["a"].value == "x\n"
    assert root("a: >\n  x\n  y")["a"].value == "x y\n"


def test_a_mark_begins_a_later_document() -> None:
    assert [d.root.plain() for d in read("a: 1\n---\n\ufeffb: 2\n---# c\nc: 3\n")] == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_json_escapes_are_for_the_first_document() -> None:
    first, second = read('{"a": "\\/"}\n---\n{"a": "\\/"}\n')
    assert first.root.plain() == {"a": "/"}
    assert second.fault is not None


def test_every_line_that_begins_with_three_hyphens_separates() -> None:
    text = "a: 1\n----\n ---\nb: 1\n---\nc: 1\n--- \nd: 1\n---\te\n---"
    documents = read(text)
    assert [(d.start, d.end, d.body, d.fault is None) for d in documents] == [
        (0, 5, 0, True), (5, 10, 5, False), (10, 20, 10, False), (20, 29, 24, True), (29, 39, 34, True), (39, 45, 39, True)
    ]  # fmt: skip


def test_a_directive_before_a_broken_separator() -> None:
    documents = parse(Source("a.yaml", "%YAML 1.1\n----\na: 1\n"))
    assert [(d.start, d.end, d.fault is not None) for d in documents] == [(0, 15, True), (15, 20, False)]


@given(st.text(alphabet="# -%YAML\n\r\t\x85\u2028\ufeffa", max_size=16))
def test_the_fast_check_for_comments_excludes_no_text_of_comments(text: str) -> None:
    if _ONLY_COMMENTS.match(text):
        assert _MAYBE_ONLY_COMMENTS.match(text)
