"""The answers of a server in docs/diff.md are those that a real one gave."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT

ANSWERS = ROOT.parent / "shared" / "oracle" / "changes"
KINDS = ("Deployment", "ConfigMap", "StatefulSet", "ClusterRoleBinding")
QUOTES = re.findall(r"^> ([\w.]+): (.*)$", (ROOT / "docs/diff.md").read_text(encoding="utf-8"), re.MULTILINE)


def without_value(message: str) -> str:
    """The message without the value of the object, which differs between objects."""
    return re.sub(r"^(Invalid value): .*: ", r"\1: ", message, flags=re.DOTALL)


@pytest.mark.skipif(not ANSWERS.is_dir(), reason="needs recorded answers of a server")
@pytest.mark.parametrize(("kind", "quote"), list(zip(KINDS, QUOTES, strict=True)), ids=KINDS)
def test_a_server_gave_this_answer(kind: str, quote: tuple[str, str]) -> None:
    field, message = quote
    rows = map(json.loads, (ANSWERS / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines())
    given = {(cause["field"], without_value(cause["message"])) for row in rows for cause in row["causes"]}
    assert (field, without_value(message)) in given
