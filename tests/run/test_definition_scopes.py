"""Several definitions of one kind: those of the unit of an object apply to it, otherwise only what all of them refuse is reported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.run import run
from kcheck.workers import workers
from tests.cli.conftest import Program, program

__all__ = ["program"]

LARGEST = {
    "v1/crd.yaml": 5,
    "v2/crd.yaml": 10,
    "kust/crd/crd.yaml": 3,
    "chart/crds/crd.yaml": 4,
    "same/both.yaml": 1,
}


def definition(maximum: int) -> str:
    return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.acme.io}}
spec:
  group: acme.io
  scope: Namespaced
  names: {{kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {{spec: {{type: object, properties: {{size: {{type: integer, maximum: {maximum}}}}}}}}}
---
"""


def widget(name: str, size: object) -> str:
    return f"apiVersion: acme.io/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{size: {size}}}\n"


FILES = {
    **{path: definition(maximum) for path, maximum in LARGEST.items()},
    "v1/widget.yaml": widget("same-folder", 7),
    "v2/widget.yaml": widget("same-folder", 7),
    "other/between.yaml": widget("between", 7),
    "other/large.yaml": widget("large", 12),
    "other/text.yaml": widget("text", '"x"'),
    "kust/base/widget.yaml": widget("same-kustomization", 7),
    "kust/base/kustomization.yaml": "resources: [widget.yaml]\n",
    "kust/crd/kustomization.yaml": "resources: [crd.yaml]\n",
    "kust/prod/kustomization.yaml": "resources: [../base, ../crd]\n",
    "chart/Chart.yaml": "name: chart\n",
    "chart/crds/widget.yaml": widget("same-chart", 5),
    "same/both.yaml": definition(1) + widget("same-file", 2),
    "app/testdata/widget.yaml": widget("other-test", 2),
}
FOUND = [
    ("chart/crds/widget.yaml", "size 5 is greater than the maximum of 4"),
    ("kust/base/widget.yaml", "size 7 is greater than the maximum of 3"),
    ("other/large.yaml", "size 12 is greater than the maximum of 10"),
    ("other/text.yaml", "expected an integer, found the string"),
    ("same/both.yaml", "size 2 is greater than the maximum of 1"),
    ("v1/widget.yaml", "size 7 is greater than the maximum of 5"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(FILES)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


Findings = list[tuple[str, str]]
FLAGS = ("--isolated", "--ignore", "practice", "--format", "json")


def shortened(text: str) -> Findings:
    found: list[dict[str, Any]] = json.loads(text)["findings"]
    return [(each["file"], each["message"].partition(' "x"')[0]) for each in found]


@pytest.fixture
def check(program: Program) -> Callable[..., Findings]:
    return lambda *flags: shortened(program("check", ".", *FLAGS, *flags).out)


def test_definitions_of_the_unit_apply(check: Callable[..., Findings]) -> None:
    assert check("--no-cache") == FOUND


def test_the_number_of_processes_does_not_matter(check: Callable[..., Findings], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MIN_CHARS_PER_PROCESS", 1)
    assert check("--no-cache", "--jobs", "3") == FOUND


def test_cached_results_depend_on_the_unit(
    check: Callable[..., Findings], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("KCHECK_NO_CACHE", "")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(run, "CACHE_MIN_CHARS", 1)
    assert check() == FOUND
    assert check() == FOUND
    write({"v2/crd.yaml": definition(6)})
    changed = check()
    assert ("v2/widget.yaml", "size 7 is greater than the maximum of 6") in changed
    assert ("other/between.yaml", "size 7 is greater than the maximum of 6") in changed
    write({"v2/crd.yaml": FILES["v2/crd.yaml"]})
    # Only the unit changes.
    os.rename("v1/widget.yaml", "other/widget.yaml")
    assert [file for file, _ in check()] == [file for file, _ in FOUND if file != "v1/widget.yaml"]


def test_shards_know_the_definitions_of_all_units(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("shards")
    paths = [f"{folder}/{number}.shard" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        assert program("check", ".", "--shard", f"{number}/3", "--output", path, "--isolated", "--ignore", "practice").code == 0
    assert shortened(program("merge", "--format", "json", *paths).out) == FOUND


def test_definitions_of_the_unit_apply_in_each_cluster(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    shard = f"{tmp_path_factory.mktemp('shards')}/1.shard"
    override = '{files: [v1/, kust/, app/], kubernetes: "1.30"}'
    write({".kcheck.yaml": f'kubernetes: "1.34"\noverrides: [{override}]\nrules: {{practice: off}}\n'})
    patch = "patches: [{target: {kind: Widget}, patch: '[{op: replace, path: /spec/size, value: 8}]'}]\n"
    write({"kust/prod/kustomization.yaml": FILES["kust/prod/kustomization.yaml"] + patch})
    expected = [each for each in FOUND if not each[0].startswith("kust/")]
    expected.insert(1, ("kust/prod/kustomization.yaml", "size 8 is greater than the maximum of 3"))
    assert shortened(program("check", ".", "--no-cache", "--format", "json").out) == expected
    assert program("check", ".", "--shard", "1/1", "--output", shard).code == 0
    assert shortened(program("merge", "--format", "json", shard).out) == expected


def test_built_objects_are_judged_by_the_definitions_of_their_build(check: Callable[..., Findings]) -> None:
    size = "patches: [{target: {kind: Widget}, patch: '[{op: replace, path: /spec/size, value: %s}]'}]\n"
    prod = FILES["kust/prod/kustomization.yaml"]
    write({"kust/prod/kustomization.yaml": prod + size % 3})
    assert check("--no-cache") == [each for each in FOUND if not each[0].startswith("kust/")]
    write({"kust/base/widget.yaml": widget("same-kustomization", 1), "kust/prod/kustomization.yaml": prod + size % 8})
    found = [each for each in check("--no-cache") if each[0].startswith("kust/")]
    assert found == [("kust/prod/kustomization.yaml", "size 8 is greater than the maximum of 3")]


def test_built_objects_are_judged_by_definitions_elsewhere_in_the_input(
    program: Program, check: Callable[..., Findings], tmp_path_factory: pytest.TempPathFactory
) -> None:
    write({"kust/prod/kustomization.yaml": "resources: [../base]\npatches: [{target: {kind: Widget}, path: patch.json}]\n"})
    write({"kust/base/widget.yaml": widget("web", 1), "kust/prod/patch.json": '[{"op": "replace", "path": "/spec/size", "value": 20}]'})
    expected = [("kust/prod/patch.json", "size 20 is greater than the maximum of 10")]
    assert [each for each in check("--no-cache") if each[0].startswith("kust/")] == expected
    shard = f"{tmp_path_factory.mktemp('shards')}/1.shard"
    program("check", ".", "--shard", "1/1", "--output", shard, *FLAGS[:3])
    assert [each for each in shortened(program("merge", "--format", "json", shard).out) if each[0].startswith("kust/")] == expected
