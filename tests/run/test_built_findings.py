"""Rules about single objects judge the objects that kustomizations build: what an overlay replaces or adds is not reported in the base."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcheck.run.built_objects import is_unchanged

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: nginx
          resources: {requests: {memory: 1Gi}}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n"
LIMIT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: web, resources: {limits: {memory: 1Gi}}}]}}}
"""
IMAGES = "images: [{name: nginx, newTag: 1.29.1}]\n"


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def check(folder: Path, *flags: str) -> list[tuple[str, str, int]]:
    command = [sys.executable, "-m", "kcheck", "check", ".", "--isolated", "--format", "json", *flags]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [(f["rule"], f["file"], f["range"]["start"]["line"]) for f in json.loads(done.stdout)["findings"]]


def overlay(name: str, more: str) -> dict[str, str]:
    return {f"{name}/kustomization.yaml": f"resources: [../base]\n{more}"}


BASE = {"base/kustomization.yaml": "resources: [web.yaml, namespace.yaml]\n", "base/web.yaml": DEPLOYMENT, "base/namespace.yaml": NAMESPACE}


@pytest.mark.parametrize("cached", [False, True])
def test_what_all_overlays_replace_or_add_is_not_reported(cached: bool, tmp_path: Path) -> None:
    patch = {"prod/limit.yaml": LIMIT}
    prod = overlay("prod", f"namespace: shop\n{IMAGES}patches: [{{path: limit.yaml}}]\n")
    write(tmp_path, {**BASE, **patch, **prod})
    flags = ("--select", "missing-memory-limit,latest-tag", *(() if cached else ("--no-cache",)))
    assert check(tmp_path, *flags) == []
    assert check(tmp_path, *flags) == []
    write(tmp_path, overlay("prod", "namespace: shop\n"))
    (tmp_path / "prod/limit.yaml").unlink()
    assert check(tmp_path, *flags) == [("missing-memory-limit", "base/web.yaml", 10), ("latest-tag", "base/web.yaml", 11)]


def test_what_one_of_two_overlays_leaves_is_reported_in_the_base(tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", f"namespace: shop\n{IMAGES}"), **overlay("dev", "namespace: shop-dev\n")})
    assert ("latest-tag", "base/web.yaml", 11) in check(tmp_path, "--no-cache")
    assert not [rule for rule, _, _ in check(tmp_path, "--no-cache") if rule == "invalid-name"]


def test_what_only_an_overlay_makes_wrong_is_reported_there(tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", f"namespace: shop\n{IMAGES}"), **overlay("dev", "namespace: Shop\n")})
    assert [place for place in check(tmp_path, "--no-cache") if place[0] == "invalid-name"] == [
        ("invalid-name", "dev/kustomization.yaml", 2)
    ]


def test_findings_about_the_text_of_a_file_stay(tmp_path: Path) -> None:
    twice = DEPLOYMENT.replace("image: nginx\n", "image: nginx:1.29.1\n          image: nginx:1.29.1\n")
    write(tmp_path, {**BASE, "base/web.yaml": twice, **overlay("prod", "namespace: shop\n")})
    assert ("duplicate-key", "base/web.yaml", 12) in check(tmp_path, "--no-cache")


def test_a_kustomization_that_cannot_be_built_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", "namespace: shop\npatches: [{path: missing.yaml}]\nreplicas: {a: b}\n")})
    found = check(tmp_path, "--no-cache")
    assert ("latest-tag", "base/web.yaml", 11) in found
    assert ("missing-kustomization-file", "prod/kustomization.yaml", 3) in found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_cache_cannot_make_a_run_wait_for_a_pipe(tmp_path: Path) -> None:
    """The paths that cached results depend on come from the cache."""
    os.mkfifo(tmp_path / "pipe")
    assert not is_unchanged([(str(tmp_path / "pipe"), "0" * 64)], {})
    assert not is_unchanged([("/dev/zero", "0" * 64)], {})
