"""The comparison with other tools: what it counts, and that what it knows of them makes sense."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcheck.migration.equivalents import Counterparts
from kcheck.migration.tools import PEERS
from kcheck.rule.registry import Registry
from tests.test_mission import ROOT

BENCHMARKS = ROOT / "benchmarks"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: NAME}}
spec:
  containers:
    - name: main
      image: IMAGE
"""


@pytest.fixture(scope="module")
def differences() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import differences  # type: ignore[import-not-found]

        yield differences
    finally:
        sys.path.remove(str(BENCHMARKS))


def _row(check: str, name: str, file: str = "") -> str:
    return json.dumps({"repo": "shop", "check": check, "file": file or f"shop/{name}.yaml", "kind": "Pod", "namespace": "", "name": name})


def _compared(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, str(BENCHMARKS / "agreement.py"), "--manifests", str(folder / "manifests"), "--peers", str(folder / "peers")]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


@pytest.fixture
def field(tmp_path: Path) -> Path:
    (tmp_path / "manifests" / "shop").mkdir(parents=True)
    (tmp_path / "peers").mkdir()
    images = {"latest": "nginx:latest", "fixed": "nginx:1.29", "built": "controller", "unread": "nginx:latest", "wrong": "redis:8.2"}
    for name, image in images.items():
        text = POD.replace("NAME", name).replace("IMAGE", image)
        (tmp_path / "manifests" / "shop" / f"{name}.yaml").write_text(text)
    rows = [_row("restart-policy", name) for name in images if name != "unread"]
    rows += [_row("latest-tag", name) for name in ("latest", "built", "wrong")]
    (tmp_path / "peers" / "kube-linter.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_differences_are_counted_and_explained(field: Path) -> None:
    (restart, tag) = sorted(_compared(field, "--json")["checks"], key=lambda row: row["check"], reverse=True)
    assert tag["check"] == "kube-linter/latest-tag"
    # What the peer says nothing of, it has not read.
    assert (tag["judged"], tag["both"], tag["us"], tag["them"], tag["agreement"]) == (4, 1, 0, 2, 0.5)
    assert (tag["explained"], tag["unexplained"]) == ({"image placeholder": 1}, 1)
    assert (restart["explained"], restart["unexplained"]) == ({"default restartPolicy": 4}, 0)


def test_differences_are_shown_with_their_places(field: Path) -> None:
    shown = _compared(field, "--show", "kube-linter/latest-tag")
    assert "only them, unexplained: 1 (1 Pod)\n    shop/wrong.yaml:2 Pod wrong\n" in shown
    assert "only them, image placeholder: 1 (1 Pod)\n    shop/built.yaml:2 Pod built\n" in shown


def test_what_is_known_of_peers_makes_sense(differences: ModuleType) -> None:
    knowledge = differences.load_knowledge()
    known = {f"{peer}/{check}" for peer in PEERS for check in Counterparts(Registry.load()).checks(peer)}
    for each in knowledge.classes:
        assert each.right in ("us", "them", "both"), each.name
        assert each.side in ("", "us", "them"), each.name
        assert each.why, each.name
        assert each.example, each.name
        assert set(each.when) <= differences.PREDICATES.keys(), each.name
        assert all(any(differences.fnmatchcase(check, pattern) for check in known) for pattern in each.checks), each.name
    assert len({each.name for each in knowledge.classes}) == len(knowledge.classes)
    assert known >= {*knowledge.fields, *knowledge.options, *knowledge.at_bindings, *knowledge.of_any_text}
    used = {name for each in knowledge.classes for name in each.when}
    assert used == differences.PREDICATES.keys(), "a predicate that no class asks"
