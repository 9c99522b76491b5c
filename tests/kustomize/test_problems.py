"""What builds tell of kustomizations that they cannot follow, and what ends them."""

from pathlib import Path

import pytest

from kcheck.kustomize.library import Limits, reader
from tests.kustomize.building import CONFIG_MAP, DEPLOYMENT, Repository

MAP = {"map.yaml": CONFIG_MAP.format("a")}


def problems(kustomization: str, **files: str) -> list[str]:
    repository = Repository({**MAP, "web.yaml": DEPLOYMENT, "kustomization.yaml": kustomization, **files})
    return repository.problems(repository.build())


@pytest.mark.parametrize(
    ("kustomization", "problem"),
    [
        ("resources: [map.yaml, gone.yaml]", "kustomization.yaml:1:23: missing: gone.yaml does not exist"),
        ("resources:\n- https://a.io/x.yaml", "kustomization.yaml:2:3: remote: https://a.io/x.yaml is remote and was not fetched"),
        (
            "resources: ['github.com/o/r//deploy?ref=v1']",
            "kustomization.yaml:1:13: remote: github.com/o/r//deploy?ref=v1 is remote and was not fetched",
        ),
        ("resources: [../up]", "kustomization.yaml:1:13: outside: ../up is outside of the input"),
        ("resources: [map.yaml, map.yaml]", "kustomization.yaml:1:23: error: ConfigMap 'a' is added twice"),
        ("resources: [.]", "kustomization.yaml:1:13: error: . leads back to a kustomization that it is part of"),
        ("resources: [map.yaml]\nnamespace: on", "kustomization.yaml:2:12: error: namespace must be a string"),
        ("images:\n- name: a\n  newTag: 1.5", "kustomization.yaml:3:11: error: newTag must be a string"),
        ("resources: [map.yaml]\npatchs: []", "kustomization.yaml:2:1: error: unknown field 'patchs'"),
        (
            "apiVersion: kustomize.config.k8s.io/v1\nresources: [map.yaml]",
            "kustomization.yaml:1:13: error: kustomize does not accept kustomize.config.k8s.io/v1 Kustomization",
        ),
        ("kind: Deployment", "kustomization.yaml:1:7: error: kustomize does not accept Deployment"),
        ("helmCharts:\n- name: x", "kustomization.yaml:1:1: unsupported: helm charts are not rendered"),
        ("transformers: [x.yaml]", "kustomization.yaml:1:1: unsupported: transformer plug-ins are not run"),
        (
            "configMapGenerator:\n- name: a\n  behavior: merge",
            "kustomization.yaml:2:3: error: behavior: merge, but ConfigMap 'a' does not exist",
        ),
        ("configMapGenerator:\n- name: a\n  literals: [b]", "kustomization.yaml:3:14: error: literal 'b' is not key=value"),
        ("configMapGenerator:\n- name: a\n  files: [b]", "kustomization.yaml:3:11: missing: b does not exist"),
        ("resources: [web.yaml]\nreplicas:\n- {name: x, count: 1}", "kustomization.yaml:3:10: error: no workload named 'x' has replicas"),
        (
            "resources: [map.yaml]\npatches:\n- patch: |\n    kind: ConfigMap\n    apiVersion: v1\n    metadata: {name: b}",
            "kustomization.yaml:4:5: error: no object matches the patch of ConfigMap 'b'",
        ),
        (
            "resources: [map.yaml]\nreplacements:\n- source: {kind: Secret}\n  targets: []",
            "kustomization.yaml:3:3: error: no object matches the source",
        ),
        (
            "resources: [map.yaml]\npatches:\n- target: {name: '('}\n  patch: '[{op: remove, path: /a}]'",
            "kustomization.yaml:3:18: error: '(' is not a regular expression: missing )",
        ),
    ],
)  # fmt: skip
def test_problem_with_its_place(kustomization: str, problem: str) -> None:
    assert problems(kustomization) == [problem]


def test_build_goes_on_after_a_problem() -> None:
    repository = Repository({**MAP, "kustomization.yaml": "resources: [gone.yaml, map.yaml]\nnamePrefix: my-\n"})
    build = repository.build()
    assert not build.complete
    assert [each.node["metadata"]["name"].text for each in build.objects] == ["my-a"]


def test_folder_without_kustomization() -> None:
    (problem,) = Repository({}).build("nowhere").problems
    assert problem.kind == "missing"


def test_broken_resource() -> None:
    assert problems("resources: [bad.yaml]", **{"bad.yaml": "a: b: c\n"})[0].startswith("bad.yaml:1:5: error: ")
    assert problems("resources: [bad.yaml]", **{"bad.yaml": "kind: A\nkind: B\n"}) == ["bad.yaml:2:1: error: duplicate key"]


def test_file_above_the_kustomization_is_read_and_reported() -> None:
    repository = Repository({**MAP, "app/kustomization.yaml": "resources: [../map.yaml]\n"})
    build = repository.build("app")
    assert len(build.objects) == 1
    assert [problem.kind for problem in build.problems] == ["outside"]


def test_cycle_through_folders_ends() -> None:
    files = {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"}
    (problem,) = Repository(files).build("a").problems
    assert "leads back" in problem.message


def test_bases_that_double_with_each_level_are_stopped() -> None:
    files = {f"l{n}/kustomization.yaml": f"resources: [../l{n + 1}, ../x/../l{n + 1}]\n" for n in range(40)}
    repository = Repository(files, Limits(work=200_000))
    (problem,) = [problem for problem in repository.build("l0").problems if problem.kind == "limit"]
    assert problem.message == "the build was stopped: the builds of this input take too long"


def test_depth_is_limited() -> None:
    files = {f"{'d/' * n}kustomization.yaml": "resources: [d]\n" for n in range(80)}
    assert [problem.kind for problem in Repository(files).build().problems] == ["limit"]


def test_files_are_read_once_for_all_builds() -> None:
    files = {**MAP, "kustomization.yaml": "resources: [map.yaml]\n", "o/kustomization.yaml": "resources: [..]\n"}
    repository = Repository(files)
    repository.build()
    repository.build("o")
    assert len(repository.read) == len(set(repository.read))


def test_builds_do_not_share_trees() -> None:
    files = {**MAP, "kustomization.yaml": "resources: [map.yaml]\n", "o/kustomization.yaml": "resources: [..]\nnamespace: n1\n"}
    repository = Repository(files)
    assert repository.build("o").objects[0].node["metadata"]["namespace"].text == "n1"
    assert not repository.build().objects[0].node["metadata"]["namespace"].exists


def test_reader_stays_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "in").mkdir()
    (folder / "secret").write_text("x", encoding="utf-8")
    (folder / "in" / "link").symlink_to(folder / "secret")
    (folder / "in" / "bytes").write_bytes(b"\xff\xfe\xff")
    (folder / "in" / "large").write_text("x" * 20, encoding="utf-8")
    read = reader(str(folder / "in"), 10)
    assert read("link") is None
    assert read("../secret") is None
    assert read("large") is None
    source = read("bytes")
    assert source is not None
    assert source.encode(source.text) == b"\xff\xfe\xff"
