"""The size limit of kubectl apply."""

from __future__ import annotations

from tests.practice.reported import reported

TEXT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {b: c}\ndata:\n  d: %s\n"
# The object as kubectl writes it, without the value, and the names and values of its annotations.
JSON = len('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"b":"c"},"namespace":"default"},"data":{"d":""}}\n')
OTHERS = len("kubectl.kubernetes.io/last-applied-configuration") + len("bc")
ROOM = 256 * 1024 - JSON - OTHERS


def test_the_limit_is_exact() -> None:
    assert reported(TEXT % ("x" * ROOM), "client-side-apply-limit") == []
    assert len(reported(TEXT % ("x" * (ROOM + 1)), "client-side-apply-limit")) == 1


def test_bytes_are_counted_and_escapes() -> None:
    assert reported(TEXT % ("ü" * (ROOM // 2)), "client-side-apply-limit") == []
    assert len(reported(TEXT % ("ü" * (ROOM // 2 + 1)), "client-side-apply-limit")) == 1
    assert len(reported(TEXT % ("x<" * (ROOM // 7 + 1)), "client-side-apply-limit")) == 1
