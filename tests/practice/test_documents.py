"""What is hidden from readers of a file, or ignored in it, is reported."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - {name: c, securityContext: {privileged: true}}\n"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n"
HIDDEN = ["privileged-container", "content-after-document-end", "unusual-line-break", "content-after-separator", "invalid-yaml"]


def rules_of(text: str) -> list[str]:
    return [f.rule for f in check_text(text, HIDDEN)]


@pytest.mark.parametrize("line_break", ["\r", "\x85", "\u2028", "\u2029"])
def test_no_line_break_hides_a_pod(line_break: str) -> None:
    flow = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, securityContext: {privileged: true}}]}}\n"
    assert rules_of(f"{CONFIG}---\n# see docs{line_break}{flow}") == ["unusual-line-break", "privileged-container"]
    assert rules_of(f"# all{line_break}{POD.replace(chr(10), line_break)}") == ["unusual-line-break", "privileged-container"]
    # The first document of a part is what is applied.
    assert rules_of(f"{POD}# notes{line_break}---\n{CONFIG}") == [
        "privileged-container",
        "unusual-line-break",
        "content-after-document-end",
    ]
    assert rules_of(f"{CONFIG}# notes{line_break}---\n{POD}") == ["unusual-line-break", "content-after-document-end"]
    assert rules_of(f"{CONFIG}--- # notes{line_break}{POD.replace(chr(10), line_break)}") == ["invalid-yaml"]


def test_usual_line_breaks() -> None:
    for text in (POD, POD.replace("\n", "\r\n"), POD.replace("\n", "\r\n").rstrip()):
        assert rules_of(text) == ["privileged-container"]


def test_directives_and_separators() -> None:
    assert rules_of(f"# c\n%YAML 1.1\n---\n{CONFIG}") == ["content-after-separator"]
    assert rules_of(f"{CONFIG}--- !!map\n{CONFIG}") == ["content-after-separator"]
    assert rules_of("--- \u3000a\n") == ["content-after-separator"]
    assert rules_of(f"{CONFIG}---x\n{CONFIG}") == ["invalid-yaml"]
    assert rules_of(f"{CONFIG}---# c\n{CONFIG}") == []
