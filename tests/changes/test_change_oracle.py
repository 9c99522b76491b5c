"""Changes and the verdicts of a real API server, if they are next to the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcheck.changes.old_files import TextFiles
from kcheck.changes.old_objects import OldObjects
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "changes"
EVERY = 40


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no recorded results next to the checkout")
def test_a_sample_agrees_with_the_server() -> None:
    registry = Registry.load()
    wrong, number = [], 0
    for path in sorted(FOLDER.glob("*.jsonl")):
        crds = FOLDER / "crds" / f"{path.stem}.yaml"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[::EVERY]]
        session = Session(registry, choose(registry, ("spec",)), [Store(load("1.36"))], judges_placeholders=True, judges_as_server=True)
        session.before = OldObjects(TextFiles({f"{index:06}.yaml": row["old"] for index, row in enumerate(rows)}))
        targets = [Target(f"{index:06}.yaml", True, data=row["new"].encode()) for index, row in enumerate(rows)]
        if crds.is_file():
            targets.append(Target("crds.yaml", True, data=crds.read_bytes()))
        refused = {each.file for each in run_pipeline(Discovery(targets), session).findings if each.severity.word == "error"}
        for target, row in zip(targets, rows, strict=False):
            number += 1
            if (target.path in refused) != (row["verdict"] == "rejected"):
                wrong.append(f"{row['id']}: {row['verdict']}")
    assert number > 150
    assert len(wrong) <= number // 100, "\n".join(wrong)
