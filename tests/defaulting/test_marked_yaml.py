"""Objects as YAML with marks."""

from kcheck.defaulting.changes import FieldChange, changes_between
from kcheck.defaulting.marked_yaml import MarkedYaml, dropped_names
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def test_changes() -> None:
    written = {"a": 1, "b": {"c": None}, "d": [{"e": 1}, 2, 3], "f": "x", "g": True, "h": {}}
    held = {"a": 1, "b": {"c": 5}, "d": [{"e": 1, "k": 2}, 2], "f": "y", "g": 1, "i": {"j": 1}, "h": {}}
    assert list(changes_between(written, held)) == [
        FieldChange(("b", "c"), "set", 5),
        FieldChange(("d", 0, "k"), "set", 2),
        FieldChange(("d", 2), "dropped", 3),
        FieldChange(("f",), "changed", "y"),
        FieldChange(("g",), "changed", 1),
        FieldChange(("i",), "set", {"j": 1}),
    ]


def test_marks() -> None:
    value = {"a": [{"b": {"c": 1}, "d": []}, []], "e": {}, "f": "on", "g": {"h": None}}
    marks = {("a", 0, "b"): "default", ("f",): "was 1", ("e",): "default"}
    dropped = dropped_names(
        [FieldChange(("a", 0, "x"), "dropped", 1), FieldChange(("e", "y"), "dropped", 1), FieldChange(("z",), "dropped", 1)]
    )
    assert MarkedYaml(marks, dropped).text(value) == (
        "a:\n- b:  # default\n    c: 1  # default\n  d: []\n  # x: dropped\n- []\ne: {}  # default\n  # y: dropped\n"
        'f: "on"  # was 1\ng:\n  h: null\n# z: dropped\n'
    )


def test_every_text_survives() -> None:
    texts = [
        "",
        "a",
        "yes",
        "1",
        "a: b",
        "- a",
        "#",
        "a\nb",
        "a\nb\n",
        "a\n\n",
        "a\nb\n\n\n",
        " a\nb",
        "\n",
        "a\r\nb",
        "a\tb\nc",
        "é\nü",
        "\x07\na",
        "~",
        "a #b",
        "{",
        "%",
    ]
    value = {"list": texts, "map": {f"{number}": text for number, text in enumerate(texts)}, **{text: 1 for text in texts if text}}
    assert parse(Source("a.yaml", MarkedYaml({}, {}).text(value)))[0].root.plain() == value
