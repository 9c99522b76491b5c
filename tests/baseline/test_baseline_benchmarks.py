"""Small versions of the benchmarks of baselines: git history, and edits that change nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.git import GitRepository

BENCHMARKS = ROOT / "benchmarks"
DEPLOYMENT = """\
apiVersion: apps/v1 # was apps/v1beta2
kind: Deployment
metadata:
  name: frontend
spec:
  selector:
    matchLabels:
      app: guestbook
      tier: frontend
  replicas: 3
  template:
    metadata:
      labels:
        app: guestbook
        tier: frontend
    spec:
      containers:
      - name: php-redis
        image: gcr.io/google-samples/gb-frontend:v5
        env:
        - name: GET_HOSTS_FROM
          value: dns
        ports:
        - containerPort: 80
"""
PODS = "---\n".join(
    f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod-{n}\nspec:\n  containers:\n  - name: main\n    image: nginx\n" for n in range(6)
)


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield import_module("baseline_history")
    del sys.modules["baseline_history"]


@pytest.mark.slow
def test_history(history: ModuleType, tmp_path: Path) -> None:
    """Files are renamed and items inserted; one finding is new, one is on an edited line, and one is copied."""
    repository = GitRepository(tmp_path)
    (tmp_path / "pods.yaml").write_text(PODS)
    (tmp_path / "web.yaml").write_text(DEPLOYMENT.replace(":v5", ""))
    before = repository.commit({})
    pods = PODS.replace("spec:\n", "spec:\n  # the Pod\n  hostPID: true\n", 1)
    (tmp_path / "pods.yaml").unlink()
    (tmp_path / "all.yaml").write_text(pods.replace("image: nginx", "image: redis", 1))
    proxy = "      - name: proxy\n        image: proxy:1\n"
    (tmp_path / "web.yaml").write_text(DEPLOYMENT.replace(":v5", "").replace("      - name: php", f"{proxy}      - name: php"))
    (tmp_path / "copy.yaml").write_text((tmp_path / "web.yaml").read_text())
    after = repository.commit({})
    found = [history.findings_of(tmp_path, each, "latest-tag,host-pid") for each in (before, after)]
    assert [len(each) for each in found] == [7, 9]
    by_blame, by_origin = history.judge(tmp_path, before, after, *found)
    assert by_origin == history.Score(old=6, reported=0, new=3, absorbed=0)
    assert by_blame.old + by_blame.new == 9
    assert by_blame.absorbed == 0


@pytest.mark.slow
def test_edits(tmp_path: Path) -> None:
    (tmp_path / "web" / "guestbook").mkdir(parents=True)
    (tmp_path / "web" / "guestbook" / "frontend-deployment.yaml").write_text(DEPLOYMENT)
    (tmp_path / "pods.yaml").write_text(PODS)
    (tmp_path / "more.yaml").write_text(PODS.replace("pod-", "more-"))
    script = BENCHMARKS / "baseline_edits.py"
    done = subprocess.run(
        [sys.executable, str(script), "--edits", "60", "--batch", "30", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mistakes: 10, wrong: 0" in done.stdout
    assert done.stdout.endswith("no unexpected findings\n")
