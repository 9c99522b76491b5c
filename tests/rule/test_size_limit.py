"""What is too large to be shown on a page."""

import base64

from kcheck.finding.finding import Finding
from kcheck.testing import check_text

MIB = 1024 * 1024


def reported(text: str) -> list[tuple[str, str]]:
    found: list[Finding] = check_text(text, ["oversized-object"])
    return [(each.place.field, each.reason) for each in found]


def object_of(kind: str, data: str, metadata: str = "") -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: large\n{metadata}{data}"


def test_values_of_a_config_map_have_a_limit_together() -> None:
    half = "x" * (MIB // 2)
    assert reported(object_of("ConfigMap", f"data:\n  a: {half}\n  b: {half}\n")) == []
    assert reported(object_of("ConfigMap", f"data:\n  a: {half}\n  b: {half}x\n")) == [("", "TooLong")]
    binary = base64.b64encode(b"x" * (MIB // 2 + 1)).decode()
    assert reported(object_of("ConfigMap", f"data:\n  a: {half}\nbinaryData:\n  b: {binary}\n")) == [("", "TooLong")]


def test_values_of_a_secret_count_decoded() -> None:
    encoded = base64.b64encode(b"x" * MIB).decode()
    assert reported(object_of("Secret", f"data:\n  a: {encoded}\n")) == []
    assert reported(object_of("Secret", f"data:\n  a: {encoded}\nstringData:\n  b: x\n")) == [("data", "TooLong")]
    # What stringData overwrites does not count.
    assert reported(object_of("Secret", f"data:\n  a: {encoded}\nstringData:\n  a: x\n")) == []


def test_characters_count_as_bytes() -> None:
    assert reported(object_of("ConfigMap", f"data:\n  a: {'ü' * (MIB // 2)}\n")) == []
    assert reported(object_of("ConfigMap", f"data:\n  a: {'ü' * (MIB // 2)}x\n")) == [("", "TooLong")]


def test_annotations_count_with_their_keys() -> None:
    note = "x" * (256 * 1024 - len("note"))
    assert reported(object_of("ConfigMap", "", f"  annotations:\n    note: {note}\n")) == []
    assert reported(object_of("ConfigMap", "", f"  annotations:\n    note: {note}x\n")) == [("metadata.annotations", "TooLong")]


def test_annotations_of_a_template_have_the_limit_too() -> None:
    note = "x" * (256 * 1024)
    text = f"apiVersion: v1\nkind: PodTemplate\nmetadata:\n  name: large\ntemplate:\n  metadata:\n    annotations:\n      note: {note}\n"
    assert reported(text) == [("template.annotations", "TooLong")]
