"""`--render`: kustomize builds kustomizations, and findings point to the same places as with our own builds."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.kustomize.program import RenderingFailed, find_program, render
from tests.cli.conftest import Program, program

__all__ = ["program"]

needs_kustomize = pytest.mark.skipif(not find_program(), reason="neither kustomize nor kubectl is installed")

FILES = {
    ".git/HEAD": "",
    "base/kustomization.yaml": "resources: [web.yaml, service.yaml]\nconfigMapGenerator: [{name: web, literals: [A=b]}]\n",
    "base/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: wob}, ports: [{port: 80}]}\n",
    "base/web.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: nginx
          envFrom: [{configMapRef: {name: web}}]
        - name: side
          image: side:1
""",
    "prod/kustomization.yaml": """\
resources: [../base]
namePrefix: prod-
namespace: shop
images: [{name: nginx, newTag: 1.29.1}]
patches:
  - path: ports.yaml
  - target: {kind: Deployment}
    patch: |-
      - {op: add, path: /spec/template/spec/containers/1/imagePullPolicy, value: Sometimes}
""",
    "prod/ports.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: side
          ports: [{containerPort: 99999}]
""",
}
PLACES = [
    ("service-without-pods", "base/service.yaml", 4),
    ("invalid-port-number", "prod/ports.yaml", 9),
    ("unsupported-value", "prod/kustomization.yaml", 9),
]

Places = list[tuple[str, str, int]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)


def findings(program: Program, *flags: str) -> list[dict[str, Any]]:
    done = program("check", ".", "--isolated", "--no-cache", "--format", "json", *flags)
    found: list[dict[str, Any]] = json.loads(done.out)["findings"]
    return found


@pytest.fixture
def places(program: Program) -> Callable[..., Places]:
    return lambda *flags: [(each["rule"], each["file"], each["range"]["start"]["line"]) for each in findings(program, *flags)]


@needs_kustomize
def test_places_are_those_of_our_own_build(places: Callable[..., Places]) -> None:
    own = places()
    assert set(PLACES) <= set(own)
    assert places("--render") == own


@needs_kustomize
def test_what_only_kustomize_builds_is_judged(places: Callable[..., Places]) -> None:
    Path("prod/generator.yaml").write_text(
        "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: _}\nname: '-bad-'\nliterals: [A=b]\n"
        "options: {disableNameSuffixHash: true}\n"
    )
    Path("prod/kustomization.yaml").write_text("resources: [../base]\ngenerators: [generator.yaml]\n")
    found = ("invalid-name", "prod/generator.yaml", 1)
    assert found not in places()
    assert found in places("--render")


@needs_kustomize
def test_a_kustomization_that_kustomize_refuses_is_a_finding(program: Program) -> None:
    Path("prod/ports.yaml").write_text(FILES["prod/ports.yaml"].replace("name: web", "name: wob"))
    found = [each for each in findings(program, "--render") if each["rule"] == "failed-kustomize-build"]
    assert [(each["file"], each["severity"]) for each in found] == [("prod/kustomization.yaml", "error")]
    assert "wob" in found[0]["message"]
    assert str(Path.cwd()) not in found[0]["message"]


@needs_kustomize
def test_the_repository_is_not_changed(program: Program, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    findings(program, "--render")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.skipif(os.name != "posix", reason="needs shell scripts")
def test_remote_entries_are_not_passed_to_kustomize(
    program: Program, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("bin")
    script(
        folder, "kustomize", f'/bin/pwd >> "{folder}/calls"; echo "$2" >> "{folder}/calls"; /bin/cat "$2/kustomization.yaml" >&2; exit 1'
    )
    monkeypatch.setenv("PATH", str(folder))
    for entry in ("resources:\n- github.com/acme/app//deploy?ref=v1", "transformers: ['https://acme.example/t.yaml']", "resources: ["):
        Path("base/kustomization.yaml").write_text(f"{entry}\n")
        assert not [each for each in findings(program, "--render") if each["rule"] == "failed-kustomize-build"]
        assert not (folder / "calls").exists()
    Path("base/kustomization.yaml").write_text("resources:\n- github.com/acme/app//deploy?ref=v1\n")
    text = program("check", ".", "--isolated", "--no-cache", "--render", "--verbose").out
    assert "Remote resources of 1 kustomization were not seen." in text
    assert "base/kustomization.yaml: github.com/acme/app//deploy?ref=v1 is remote and was not fetched" in text
    Path("base/kustomization.yaml").write_text(FILES["base/kustomization.yaml"])
    assert [each["rule"] for each in findings(program, "--render")].count("failed-kustomize-build") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs shell scripts")
def test_kustomize_and_what_it_started_is_stopped(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("bin")
    script(folder, "kustomize", f'echo "$GIT_ALLOW_PROTOCOL $HTTPS_PROXY" > "{folder}/environment"\nsleep 30 &\nsleep 30')
    start = time.monotonic()
    with pytest.raises(RenderingFailed, match=r"kustomize was stopped after 0\.5 seconds"):
        render([str(folder / "kustomize"), "build"], "prod", 0.5)
    assert time.monotonic() - start < 20
    assert (folder / "environment").read_text() == "file http://127.0.0.1:9\n"


def test_without_kustomize_it_is_a_usage_error(program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = program("check", ".", "--render")
    assert done.code == 2
    assert "--render: neither kustomize nor kubectl is in PATH" in done.err
    # A program in the folder that is checked is not run.
    script(tmp_path, "kustomize", "exit 0")
    monkeypatch.setenv("PATH", ".")
    assert program("check", ".", "--render").code == 2
    assert "--render cannot be combined with --fix" in program("check", ".", "--render", "--fix").err


@needs_kustomize
def test_shards_are_merged_with_builds_of_kustomize(
    program: Program, places: Callable[..., Places], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = tmp_path / "1.shard"
    assert program("check", ".", "--isolated", "--render", "--shard", "1/1", "--output", str(shard)).code == 0
    merged = json.loads(program("merge", str(shard), "--format", "json").out)["findings"]
    assert [(each["rule"], each["file"], each["range"]["start"]["line"]) for each in merged] == places("--render")
    monkeypatch.chdir(tmp_path / "prod")
    done = program("merge", str(shard))
    assert done.code == 2
    assert "kustomization.yaml does not exist here" in done.err


def test_variables_are_replaced_in_builds_and_when_shards_are_merged(program: Program, tmp_path: Path) -> None:
    Path(".kcheck.yaml").write_text("substitute: {values: {PORT: 70000, APP: web}}\n")
    Path("base/service.yaml").write_text(FILES["base/service.yaml"].replace("app: wob", 'app: "${APP}"'))
    Path("prod/ports.yaml").write_text(FILES["prod/ports.yaml"].replace("99999", "${PORT}"))
    flags = ("--select", "service-without-pods,invalid-port-number", "--format", "json")
    whole = json.loads(program("check", ".", "--no-cache", *flags).out)["findings"]
    assert [(each["rule"], each["file"]) for each in whole] == [("invalid-port-number", "prod/ports.yaml")]
    assert "70000" in whole[0]["message"]
    shard = str(tmp_path / "1.shard")
    program("check", ".", "--shard", "1/1", "--output", shard, *flags[:2])
    assert "70000" not in Path(shard).read_text().splitlines()[0]
    assert json.loads(program("merge", shard, "--format", "json").out)["findings"] == whole
    Path(".kcheck.yaml").rename("other.yaml")
    assert json.loads(program("merge", shard, "--format", "json", "--config", "other.yaml").out)["findings"] == whole
    done = program("merge", shard)
    assert (done.code, "the config defines no variable APP, PORT" in done.err) == (2, True)
