"""Rules about single objects judge the objects that kustomizations build: what an overlay replaces or adds is not reported in the base."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.run import run as running
from kcheck.run.built_objects import is_unchanged
from tests.cli.conftest import Program, program

__all__ = ["program"]

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


Check = Callable[..., list[tuple[str, str, int]]]


@pytest.fixture
def check(program: Program) -> Check:
    """Checks the current folder and returns the findings: rule, file and line."""

    def check(*flags: str) -> list[tuple[str, str, int]]:
        done = program("check", ".", "--isolated", "--format", "json", *flags)
        assert done.code in (0, 1), done.err
        return [(f["rule"], f["file"], f["range"]["start"]["line"]) for f in json.loads(done.out)["findings"]]

    return check


def overlay(name: str, more: str) -> dict[str, str]:
    return {f"{name}/kustomization.yaml": f"resources: [../base]\n{more}"}


BASE = {"base/kustomization.yaml": "resources: [web.yaml, namespace.yaml]\n", "base/web.yaml": DEPLOYMENT, "base/namespace.yaml": NAMESPACE}


@pytest.mark.parametrize("cached", [False, True])
def test_what_all_overlays_replace_or_add_is_not_reported(
    cached: bool, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cached:
        monkeypatch.setenv("KCHECK_NO_CACHE", "0")
        monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / ".git" / "cache"))
        monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
    patch = {"prod/limit.yaml": LIMIT}
    prod = overlay("prod", f"namespace: shop\n{IMAGES}patches: [{{path: limit.yaml}}]\n")
    write(tmp_path, {**BASE, **patch, **prod})
    flags = ("--select", "missing-memory-limit,latest-tag")
    assert check(*flags) == []
    assert check(*flags) == []
    write(tmp_path, overlay("prod", "namespace: shop\n"))
    (tmp_path / "prod/limit.yaml").unlink()
    assert check(*flags) == [("missing-memory-limit", "base/web.yaml", 10), ("latest-tag", "base/web.yaml", 11)]


def test_what_one_of_two_overlays_leaves_is_reported_in_the_base(check: Check, tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", f"namespace: shop\n{IMAGES}"), **overlay("dev", "namespace: shop-dev\n")})
    assert ("latest-tag", "base/web.yaml", 11) in check()
    assert not [rule for rule, _, _ in check() if rule == "invalid-name"]


def test_what_only_an_overlay_makes_wrong_is_reported_there(check: Check, tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", f"namespace: shop\n{IMAGES}"), **overlay("dev", "namespace: Shop\n")})
    assert [place for place in check() if place[0] == "invalid-name"] == [("invalid-name", "dev/kustomization.yaml", 2)]


def test_findings_about_the_text_of_a_file_stay(check: Check, tmp_path: Path) -> None:
    twice = DEPLOYMENT.replace("image: nginx\n", "image: nginx:1.29.1\n          image: nginx:1.29.1\n")
    write(tmp_path, {**BASE, "base/web.yaml": twice, **overlay("prod", "namespace: shop\n")})
    assert ("duplicate-key", "base/web.yaml", 12) in check()


def test_a_kustomization_that_cannot_be_built_changes_nothing(check: Check, tmp_path: Path) -> None:
    write(tmp_path, {**BASE, **overlay("prod", "namespace: shop\npatches: [{path: missing.yaml}]\nreplicas: {a: b}\n")})
    found = check()
    assert ("latest-tag", "base/web.yaml", 11) in found
    assert ("missing-kustomization-file", "prod/kustomization.yaml", 3) in found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_cache_cannot_make_a_run_wait_for_a_pipe(tmp_path: Path) -> None:
    """The paths that cached results depend on come from the cache."""
    os.mkfifo(tmp_path / "pipe")
    assert not is_unchanged([(str(tmp_path / "pipe"), "0" * 64)], {})
    assert not is_unchanged([("/dev/zero", "0" * 64)], {})
