"""Which files are applied together, and what that means for rules across objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.facts.unit import Unit
from kcheck.repository.units import Units, find_units
from tests.relations.world import check, facts, holder, lines, service, workload

NAMESPACE = ", namespace: shop"


def units(files: Mapping[str, str], complete: bool = False) -> Units:
    """The units of files with these texts."""
    return find_units([(path, facts(text, path)) for path, text in files.items()], lambda file: 0 if complete else None)


def shown(files: Mapping[str, str], complete: bool = False) -> dict[str, list[str]]:
    """The files of each unit, by its title."""
    return {unit.title: list(members) for unit, members in units(files, complete).all}


def application(path: str) -> str:
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app}}
spec: {{source: {{repoURL: "https://git.example/x", path: {path}}}, destination: {{name: here}}}}
"""


def run(folder: Path, files: Mapping[str, str], *arguments: str) -> list[dict[str, Any]]:
    """The findings of `kcheck check` in a folder with these files, as JSON."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(kcheck, ["check", "--isolated", "--no-cache", "--format", "json", *arguments, str(folder)])
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return found


def test_a_folder_is_applied_as_a_whole() -> None:
    files = {"k8s/a.yaml": service(), "k8s/b.yaml": workload(), "k8s/sub/c.yaml": workload("c")}
    assert shown(files) == {"folder k8s": ["k8s/a.yaml", "k8s/b.yaml"], "file k8s/sub/c.yaml": ["k8s/sub/c.yaml"]}
    assert units(files).by_file["k8s/a.yaml"] == Unit("folder", "k8s", True)


def test_alternatives_are_units_of_their_own() -> None:
    files = {"a.yaml": workload("web"), "b.yaml": workload("web"), "c.yaml": workload("other", "app: c")}
    assert shown(files) == {"file a.yaml": ["a.yaml"], "file b.yaml": ["b.yaml"], "file c.yaml": ["c.yaml"]}


def test_a_namespace_in_every_file_is_not_an_alternative() -> None:
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n"
    assert list(shown({"a.yaml": namespace + service(), "b.yaml": namespace + workload()})) == ["folder ."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("web.input.yml", "other.golden.yml"),
        ("00-install.yaml", "00-assert.yaml"),
        ("01-a.yaml", "01-b.yaml"),
        ("examples/a.yaml", "examples/b.yaml"),
        ("pkg/testdata/x/a.yaml", "pkg/testdata/x/b.yaml"),
        ("config/samples/a.yaml", "config/samples/b.yaml"),
    ],
)
def test_files_of_tests_and_examples_are_independent(first: str, second: str) -> None:
    assert shown({first: workload("a", "app: a"), second: workload("b", "app: b"), "x.yaml": ""}) == {
        f"file {first}": [first],
        f"file {second}": [second],
    }


def test_numbered_files_are_applied_in_order() -> None:
    assert list(shown({"k/01-a.yaml": workload("a"), "k/02-b.yaml": workload("b")})) == ["folder k"]


def test_examples_that_refer_to_one_another_belong_together() -> None:
    user = workload(container=", envFrom: [{configMapRef: {name: web}}]")
    files = {
        "examples/config.yaml": holder("ConfigMap", "web"),
        "examples/other.yaml": workload("other", "app: other"),
        "examples/service.yaml": service(),
        "examples/web.yaml": user,
        "x.yaml": "",
    }
    assert shown(files) == {
        "file examples/config.yaml": ["examples/config.yaml", "examples/service.yaml", "examples/web.yaml"],
        "file examples/other.yaml": ["examples/other.yaml"],
    }


def test_a_file_belongs_to_each_of_the_alternatives_that_it_refers_to() -> None:
    files = {"cpu.yaml": workload(), "gpu.yaml": workload(), "service.yaml": service()}
    assert shown(files) == {"file cpu.yaml": ["cpu.yaml", "service.yaml"], "file gpu.yaml": ["gpu.yaml", "service.yaml"]}


def test_the_path_of_an_application_is_a_unit() -> None:
    files = {"apps/web.yaml": application("examples/web"), "examples/web/a.yaml": service(), "examples/web/b.yaml": workload()}
    assert shown(files)["application examples/web"] == ["examples/web/a.yaml", "examples/web/b.yaml"]


def test_a_complete_input_is_one_unit() -> None:
    assert shown({"a/a.yaml": service(), "b/b.yaml": workload()}, complete=True) == {"input": ["a/a.yaml", "b/b.yaml"]}


def test_alternatives_do_not_conflict(tmp_path: Path) -> None:
    files = {
        "a.golden.yml": workload("web", metadata=NAMESPACE),
        "b.golden.yml": workload("web1", metadata=NAMESPACE),
    }
    assert check(tmp_path, files, "selector-overlap") == []
    whole = {"k/a.yaml": workload("web", metadata=NAMESPACE), "k/b.yaml": workload("web1", metadata=NAMESPACE)}
    assert len(check(tmp_path, whole, "selector-overlap")) == 1


def test_the_key_of_an_unrelated_folder_is_not_compared(tmp_path: Path) -> None:
    user = workload(container=", env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: level}}}]")
    files = {"docs/config.yaml": holder("ConfigMap", "web", "other: x"), "test/web.yaml": user}
    assert check(tmp_path, files, "missing-key", "missing-config-map") == []
    assert len(check(tmp_path, {"k/config.yaml": holder("ConfigMap", "web", "other: x"), "k/web.yaml": user}, "missing-key")) == 1


def test_a_service_without_pods_in_a_whole_unit(tmp_path: Path) -> None:
    files = {"service.yaml": service("frontend", "app: frontend"), "web.yaml": workload()}
    (finding,) = check(tmp_path, files, "service-without-pods")
    assert finding.message == 'selector app=frontend matches no Pod in the input (closest: Deployment "web", with app=web)'


def test_pods_with_the_label_in_another_unit_are_enough(tmp_path: Path) -> None:
    files = {"a/service.yaml": service("frontend", "app: frontend"), "a/web.yaml": workload(), "b/f.yaml": workload("f", "app: frontend")}
    assert check(tmp_path, files, "service-without-pods") == []


ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules: [{apiGroups: [""], resources: [pods], verbs: [VERB]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: r}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: web}]
"""


@pytest.mark.parametrize(("verb", "expected"), [("patch", 0), ("get", 1)])
def test_a_pod_that_may_label_pods(verb: str, expected: int, tmp_path: Path) -> None:
    files = {
        "service.yaml": service("active", "app: web, role: active"),
        "web.yaml": workload(pod=", serviceAccountName: web"),
        "role.yaml": ROLE.replace("VERB", verb),
    }
    assert len(check(tmp_path, files, "service-with-unset-label")) == expected
    assert check(tmp_path, files, "service-without-pods") == []


def test_nothing_is_missing_in_a_managed_namespace(tmp_path: Path) -> None:
    text = service("frontend", "app: frontend", metadata=", namespace: gke-managed-x") + workload(metadata=", namespace: gke-managed-x")
    assert check(tmp_path, {"a.yaml": text}, "service-without-pods") == []


BASE = {
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "base/web.yaml": service() + workload(container=", ports: [{name: http, containerPort: 80}]"),
}


def overlay(name: str, text: str) -> dict[str, str]:
    return {f"overlays/{name}/kustomization.yaml": f"resources: [../../base]\n{text}"}


def test_overlays_of_one_base_are_units(tmp_path: Path) -> None:
    files = BASE | overlay("a", "namePrefix: a-\n") | overlay("b", "namePrefix: b-\n")
    assert run(tmp_path, files, "--select", "relations", "--ignore", "service-without-readiness-probe") == []


def test_a_problem_of_one_overlay_names_it(tmp_path: Path) -> None:
    operation = "{op: replace, path: /spec/template/metadata/labels, value: {app: x}}"
    patch = f"patches:\n  - target: {{kind: Deployment}}\n    patch: |\n      - {operation}\n"
    (finding,) = run(tmp_path, BASE | overlay("a", "") | overlay("b", patch), "--select", "service-without-pods")
    assert finding["file"].endswith("base/web.yaml")
    assert finding["message"].endswith(f'(in kustomization "{tmp_path}/overlays/b")')
    assert finding["object"]["unit"] == {"kind": "kustomization", "path": f"{tmp_path}/overlays/b"}


def test_a_problem_of_all_overlays_is_reported_once(tmp_path: Path) -> None:
    files = BASE | {
        "base/web.yaml": service(ports="port: 80, targetPort: htp") + workload(container=", ports: [{name: http, containerPort: 80}]")
    }
    files |= overlay("a", "namePrefix: a-\n") | overlay("b", "namePrefix: b-\n")
    (finding,) = run(tmp_path, files, "--select", "unknown-target-port-name")
    assert "overlays" not in finding["message"]
    assert finding["fix"] is None


def test_a_location_in_an_inline_patch(tmp_path: Path) -> None:
    operation = "op: replace\n        path: /spec/selector\n        value: {app: wob}"
    patch = f"patches:\n  - target: {{kind: Service}}\n    patch: |\n      - {operation}\n"
    found = check(tmp_path, BASE | overlay("a", patch), "service-without-pods")
    assert lines(tmp_path, found) == ["overlays/a/kustomization.yaml:7 wob"]


def test_references_follow_the_build(tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: web, literals: [a=b]}]\n",
        "web.yaml": workload(container=", env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: c}}}]"),
    }
    (finding,) = check(tmp_path, files, "missing-key", "missing-config-map")
    assert lines(tmp_path, [finding]) == ["web.yaml:8 c"]


def test_cached_results_depend_on_what_builds_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    folder = tmp_path / "input"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text("resources: [web.yaml]\npatches: [{path: p.yaml, target: {kind: Service}}]\n")
    (folder / "web.yaml").write_text(BASE["base/web.yaml"])
    found = []
    for value in ("web", "wob", "web"):
        (folder / "p.yaml").write_text(f"[{{op: replace, path: /spec/selector, value: {{app: {value}}}}}]\n")
        result = CliRunner().invoke(kcheck, ["check", "--isolated", "--format", "json", "--select", "service-without-pods", str(folder)])
        found.append(len(json.loads(result.stdout)["findings"]))
    assert found == [0, 1, 0]


def test_provided_objects_exist(tmp_path: Path) -> None:
    user = workload(container=", envFrom: [{secretRef: {name: db}}]")
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: db, uid: a}\n")
    files = {"a.yaml": user, "b.yaml": service()}
    assert len(run(tmp_path / "in", files, "--complete", "--select", "missing-secret")) == 1
    assert run(tmp_path / "in", files, "--complete", "--provided", str(cluster), "--select", "missing-secret") == []


def test_provided_files_must_contain_objects(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(service())
    (tmp_path / "none.yaml").write_text("a: b\n")
    result = CliRunner().invoke(kcheck, ["check", "--isolated", "--provided", str(tmp_path / "none.yaml"), str(tmp_path / "a.yaml")])
    assert result.exit_code == 2
    assert "contains no Kubernetes object" in result.output


def test_a_unit_may_be_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = workload(container=", envFrom: [{secretRef: {name: db}}]")
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_text(user)
        (tmp_path / name / "y.yaml").write_text(service())
    (tmp_path / ".kcheck.yaml").write_text("complete: [a]\n")
    result = CliRunner().invoke(kcheck, ["check", "--no-cache", "--format", "json", "--select", "missing-secret", "."])
    assert [finding["file"] for finding in json.loads(result.stdout)["findings"]] == ["a/x.yaml"]


def test_files_that_are_named_one_by_one_are_only_a_part_of_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = holder("ConfigMap", "web", "url: http://db.shop.svc/", NAMESPACE)
    Path("k8s").mkdir()
    Path("k8s/web.yaml").write_text(service("web", metadata=NAMESPACE) + settings)
    Path("k8s/api.yaml").write_text(service("api", "app: api", metadata=NAMESPACE))
    whole = ["k8s", "k8s/web.yaml k8s/api.yaml", "k8s/web.yaml --complete"]
    for arguments in ["k8s/web.yaml", "k8s/web.yaml k8s/web.yaml", *whole]:
        flags = ["--isolated", "--no-cache", "--format", "json", "--select", "unknown-service-address"]
        result = CliRunner().invoke(kcheck, ["check", *flags, *arguments.split()])
        found = [each["message"] for each in json.loads(result.stdout)["findings"]]
        message = 'address refers to Service "db" in namespace "shop", which is not in the input'
        assert found == ([message] if arguments in whole else []), arguments


def test_a_patch_that_requests_nothing_does_not_hide_a_missing_request(tmp_path: Path) -> None:
    scaler = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
"""
    part = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: c%s}]}}}\n"
    files = {"web.yaml": workload(), "hpa.yaml": scaler, "part.yaml": part % ", env: [{name: A, value: b}]"}
    assert [each.rule for each in check(tmp_path, files, "hpa-without-requests")] == ["hpa-without-requests"]
    files["part.yaml"] = part % ", resources: {requests: {cpu: 1}}"
    assert check(tmp_path, files, "hpa-without-requests") == []
