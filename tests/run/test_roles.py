"""The roles of files, and what is checked in files with each role."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.config.config import AssignedRoles, Config
from kcheck.discovery.discover import discover
from kcheck.finding.report import Report
from kcheck.run.run import read_roles, run_pipeline
from kcheck.schema.builtin.definitions import newest
from tests.relations.world import session

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: nginx}]}\n"
CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicaz: 3, template: {spec: {containers: [{name: web}]}}}
"""
CHAINSAW = """\
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: a}
spec:
  steps:
    - try:
        - apply: {file: install.yaml}
        - assert:
            file: ready.yaml
"""
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: a
  uid: 6f1e
  resourceVersion: "1"
  labels: {beta.kubernetes.io/arch: amd64}
"""


def plant(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def roles(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    plant(folder, files)
    found = read_roles(discover([str(folder)]), session("spec"))
    return {os.path.relpath(each.file, folder): each.role.name for each in found}


def check(folder: Path, *rules: str) -> Report:
    return run_pipeline(discover([str(folder)]), session(*rules))


def verdict(folder: Path) -> Report:
    """Returns the report on what the API server would answer, as with `--select spec` on the command line."""
    judging = session("spec")
    judging.judges_as_server = True
    return run_pipeline(discover([str(folder)]), judging)


def found(report: Report, name: str) -> list[str]:
    return [each.rule for each in report.findings if each.file.endswith(name)]


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("web.yaml", "manifest"),
        ("testing-pod.yaml", "manifest"),
        ("test.yaml", "manifest"),
        ("assert.yaml", "manifest"),
        ("apps/errors-backend.yaml", "manifest"),
        ("load-testing/web.yaml", "manifest"),
        ("examples/web.yaml", "example"),
        ("integration/web.yaml", "manifest"),
        ("overlays/test/web.yaml", "manifest"),
        ("test/web.yaml", "test-fixture"),
        ("pkg/lint/testdata/web.yaml", "test-fixture"),
        ("pkg/fake/web.yaml", "test-fixture"),
        ("test/integration/testdata/web.yaml", "test-manifest"),
        ("tests/e2e-upgrade/web.yaml", "test-manifest"),
        ("testdata/test-error.yaml", "test-fixture"),
        ("e2e/01-assert.yaml", "assertion"),
        ("e2e/assert-ready.yaml", "assertion"),
        ("kuttl/x/02-errors.yaml", "assertion"),
        ("cmd/testdata/web.golden.yaml", "golden-file"),
        ("testdata/web-expected.yaml", "golden-file"),
        ("web-expected.yaml", "manifest"),
        ("samples/example_disallowed.yaml", "example"),
        ("clusters/demo/web.yaml", "manifest"),
        ("egress-allowed.yaml", "manifest"),
        ("05-error-pages.yaml", "manifest"),
        ("golden-signals.yaml", "manifest"),
        ("testdata/golden-web.yaml", "golden-file"),
        ("x/01-assert.yaml", "assertion"),
        ("vendor/acme/web.yaml", "vendored"),
        ("docs/web.yaml", "documentation"),
        (".github/web.yaml", "manifest"),
    ],
)
def test_a_role_by_the_path(tmp_path: Path, path: str, role: str) -> None:
    assert roles(tmp_path, {path: POD}) == {path: role}


def test_examples_of_a_policy_are_in_pairs(tmp_path: Path) -> None:
    found = roles(tmp_path, {"a/example_allowed.yaml": POD, "a/example_disallowed.yaml": POD})
    assert set(found.values()) == {"policy-example"}


def test_a_name_hides_no_risk(tmp_path: Path) -> None:
    """Ordinary names of manifests, and fields of objects that were read from a cluster, do not switch rules off."""
    privileged = POD.replace("[{name", "[{securityContext: {privileged: true}, name")
    owner = "{controller: true, apiVersion: apps/v1, kind: ReplicaSet, name: a, uid: b}"
    owned = f"{{uid: a, creationTimestamp: 2026-01-01T00:00:00Z, ownerReferences: [{owner}], "
    dumped = privileged.replace("metadata: {", f"metadata: {owned}", 1)
    names = ("05-error-pages.yaml", "golden-signals.yaml", "egress-allowed.yaml", "web.yaml")
    plant(tmp_path, {**dict.fromkeys(names, privileged), "dump.yaml": dumped})
    report = check(tmp_path, "privileged-container")
    assert [name for name in (*names, "dump.yaml") if found(report, name) == ["privileged-container"]] == [*names, "dump.yaml"]


def test_a_whole_workload_is_not_a_patch(tmp_path: Path) -> None:
    whole = DEPLOYMENT.replace("replicaz: 3", "selector: {matchLabels: {a: b}}").replace("name: web}]", "name: web, image: a:1}]")
    assert roles(tmp_path, {"patch-manager.yaml": whole, "patches/web.yaml": DEPLOYMENT}) == {
        "patch-manager.yaml": "manifest", "patches/web.yaml": "patch",
    }  # fmt: skip


def test_a_part_of_an_object_is_a_patch_by_its_shape(tmp_path: Path) -> None:
    delete = "$patch: delete\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
    images = DEPLOYMENT.replace("name: web}]", "name: web, image: a:1}]")
    files = {"base/delete.yaml": delete, "overlays/web.yaml": DEPLOYMENT, "examples/web.yaml": DEPLOYMENT, "app/web.yaml": images}
    assert set(roles(tmp_path, files).values()) == {"patch", "manifest"}
    report = check(tmp_path)
    assert found(report, "base/delete.yaml") == []
    assert found(report, "overlays/web.yaml") == found(report, "examples/web.yaml") == ["unknown-field"]
    assert "missing-required-field" in found(report, "app/web.yaml")
    assert "missing-required-field" in found(verdict(tmp_path), "overlays/web.yaml")


class TestExamples:
    WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: acme/web, ports: [{containerPort: 80}]}
        - {name: shell, image: mirror.gcr.io/busybox, securityContext: {privileged: true}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""

    def test_readers_copy_examples(self, tmp_path: Path) -> None:
        plant(tmp_path, {"web.yaml": self.WEB, "examples/web.yaml": self.WEB, "docs/web.yaml": self.WEB})
        report = check(tmp_path)
        assert found(report, f"{tmp_path.name}/web.yaml") == [
            "service-without-readiness-probe",
            "latest-tag",
            "latest-tag",
            "privileged-container",
        ]
        for file in ("examples/web.yaml", "docs/web.yaml"):
            assert found(report, file) == ["latest-tag", "privileged-container"]

    def test_on_request_all_rules_apply(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tmp_path, {"examples/web.yaml": self.WEB})
        monkeypatch.chdir(tmp_path)
        shown = CliRunner().invoke(kcheck, ["check", "--isolated", "--include", "examples", "--format", "concise", "."]).stdout
        assert "service-without-readiness-probe" in shown
        assert "busybox" in shown


def test_shortened_data_of_tests_and_old_versions_are_intended(tmp_path: Path) -> None:
    old = "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n"
    short = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{kind: Job, name: a}]}\nspec: {nodeNam: a, containers: }\n"
    plant(tmp_path, {"testdata/old.yaml": old, "testdata/short.yaml": short, "e2e/old.yaml": old})
    report = check(tmp_path)
    assert found(report, "testdata/old.yaml") == []
    assert found(report, "testdata/short.yaml") == ["unknown-field"]
    assert "removed-api" in found(report, "e2e/old.yaml")
    assert "missing-required-field" in found(verdict(tmp_path), "testdata/short.yaml")


def test_what_is_wrong_on_purpose_is_not_reported(tmp_path: Path) -> None:
    wrong = "apiVersion: v1\nkind: Pod\nspec: [\n"
    names = {
        "testdata/invalid.yaml",
        "testdata/a.bad.input.yml",
        "tests/checks/failures/a.yaml",
        "examples/invalid-a.yaml",
        "examples/broken-pods/a.yaml",
    }
    plant(tmp_path, dict.fromkeys([*names, "invalid.yaml", "tests/invalidate.yaml"], wrong))
    found = roles(tmp_path, {})
    assert {name for name, role in found.items() if role == "invalid-example"} == names
    assert {os.path.relpath(each.file, tmp_path) for each in check(tmp_path).findings} == {"invalid.yaml", "tests/invalidate.yaml"}
    assert len(verdict(tmp_path).findings) == len(names) + 2


def test_archived_files_are_skipped_unless_they_are_deployed(tmp_path: Path) -> None:
    plant(tmp_path, {"_archived/a.yaml": POD, "archived/b.yaml": POD, "archive/c.yaml": POD})
    assert {os.path.relpath(each.file, tmp_path) for each in check(tmp_path, "latest-tag").findings} == {"archive/c.yaml"}
    broken = POD.replace("kind: Pod", "kind: Pod\nspecs: {}")
    plant(tmp_path, {"_archived/a.yaml": broken})
    assert found(verdict(tmp_path), "_archived/a.yaml") == ["unknown-field"]
    plant(tmp_path, {"kustomization.yaml": "resources: [archived/b.yaml]\n"})
    assert found(check(tmp_path, "latest-tag"), "b.yaml") == ["latest-tag"]


def test_old_releases_are_skipped(tmp_path: Path) -> None:
    releases = dict.fromkeys([f"docs/install/v1_{minor}_0_full.yaml" for minor in (2, 9, 10)], POD)
    releases |= dict.fromkeys([f"config/install_v2_0_0{candidate}.yaml" for candidate in ("_rc1", "_rc2", "")], POD)
    alternatives = dict.fromkeys(
        ["a/v1.2.3.yaml", "a/v1.2.4.yaml", "deploy/v1.29/a.yaml", "deploy/v1.30/a.yaml", "deploy/v1.31/a.yaml"], POD
    )
    found = roles(tmp_path, {**releases, **alternatives})
    assert {name for name, role in found.items() if role == "archived"} == {
        "docs/install/v1_2_0_full.yaml",
        "docs/install/v1_9_0_full.yaml",
        "config/install_v2_0_0_rc1.yaml",
        "config/install_v2_0_0_rc2.yaml",
    }
    plant(tmp_path, {"docs/kustomization.yaml": "resources: [install/v1_2_0_full.yaml]\n"})
    assert roles(tmp_path, {})["docs/install/v1_2_0_full.yaml"] != "archived"
    assert set(roles(tmp_path / "b", {"v1.0.0/a.yaml": POD, "v1.1.0/a.yaml": POD, "v2.0.0/a.yaml": POD}).values()) == {
        "manifest",
        "archived",
    }


def test_documentation_shows_files_with_region_tags(tmp_path: Path) -> None:
    tagged = f"# [START web_pod]\n{POD}# [END web_pod]\n"
    found = roles(tmp_path, {"a.yaml": tagged, "b.yaml": POD, "c.yaml": f"# [START]\n{POD}", "e2e/d.yaml": tagged})
    assert found == {"a.yaml": "example", "b.yaml": "manifest", "c.yaml": "manifest", "e2e/d.yaml": "test-manifest"}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("acme+kubernetes-examples", "example"),
        ("web-samples", "example"),
        ("examples", "manifest"),
        ("counterexamples", "manifest"),
        ("shop-demo", "manifest"),
    ],
)
def test_the_checked_folder_is_a_repository_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, role: str) -> None:
    assert roles(tmp_path / name, {"web.yaml": POD, "apps/web.yaml": POD}) == {"web.yaml": role, "apps/web.yaml": role}
    monkeypatch.chdir(tmp_path / name)
    assert {each.role.name for each in read_roles(discover(["."]), session("spec"))} == {role}


def test_an_environment_is_not_a_test(tmp_path: Path) -> None:
    found = roles(tmp_path, {"envs/a/test/web.yaml": POD, "envs/a/production/web.yaml": POD, "pkg/test/web.yaml": POD})
    assert found == {"envs/a/test/web.yaml": "manifest", "envs/a/production/web.yaml": "manifest", "pkg/test/web.yaml": "test-fixture"}


def test_a_role_by_the_content(tmp_path: Path) -> None:
    files = {"a.yaml": CRD, "b.yaml": CRD + "---\n" + POD, "c.yaml": NODE, "d.yaml": "colors: [red]\n", "docs/e.yaml": "colors: [red]\n"}
    assert roles(tmp_path, files) == {
        "a.yaml": "crd-bundle", "b.yaml": "manifest", "c.yaml": "cluster-dump", "d.yaml": "other", "docs/e.yaml": "other",
    }  # fmt: skip


def test_a_manifest_of_kubectl_create_is_not_a_dump(tmp_path: Path) -> None:
    created = POD.replace("{name: web}", "{name: web, creationTimestamp: null}", 1) + "status: {}\n"
    assert roles(tmp_path, {"a.yaml": created}) == {"a.yaml": "manifest"}


def test_what_a_chainsaw_test_compares_is_an_assertion(tmp_path: Path) -> None:
    found = roles(tmp_path, {"a/chainsaw-test.yaml": CHAINSAW, "a/install.yaml": POD, "a/ready.yaml": POD})
    assert found == {"a/chainsaw-test.yaml": "test-manifest", "a/install.yaml": "test-manifest", "a/ready.yaml": "assertion"}


def test_only_folders_below_the_argument_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "testdata" / "app"
    plant(repository, {"web.yaml": POD, "fixtures/web.yaml": POD})
    expected = ["test-fixture", "manifest"]
    monkeypatch.chdir(repository)
    for argument in (str(repository), ".", "../app"):
        assert [each.role.name for each in read_roles(discover([argument]), session("spec"))] == expected, argument
    for argument in ("fixtures", "fixtures/web.yaml", "fixtures/*.yaml"):
        assert [each.role.name for each in read_roles(discover([argument]), session("spec"))] == ["manifest"], argument


def test_a_hook_names_every_file_but_means_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {"testdata/web.yaml": POD, "web.yaml": POD})
    monkeypatch.chdir(tmp_path)
    for prefix in ("", f"{tmp_path}/"):
        paths = [f"{prefix}testdata/web.yaml", f"{prefix}web.yaml"]
        shown = CliRunner().invoke(kcheck, ["files", "--as-found", "--format", "json", *paths]).stdout
        assert [each["role"] for each in json.loads(shown)["files"]] == ["test-fixture", "manifest"]


class TestPolicy:
    def test_fixtures_get_errors_only(self, tmp_path: Path) -> None:
        wrong = POD.replace("image: nginx", "image: nginx:latest, ports: [{containerPort: 99999}], readinessProbe: {httpGet: {port: web}}")
        plant(tmp_path, {"testdata/a.yaml": wrong, "a.yaml": wrong})
        report = check(tmp_path, "spec", "latest-tag", "unknown-probe-port-name")
        assert sorted(found(report, "testdata/a.yaml")) == ["unknown-probe-port-name"]
        assert sorted(found(report, f"{tmp_path.name}/a.yaml")) == ["invalid-port-number", "latest-tag", "unknown-probe-port-name"]
        assert [(os.path.basename(each.file), each.why) for each in report.limited] == [
            ("a.yaml", 'test-fixture: the folder "testdata" contains test data')
        ]

    def test_data_of_tests_are_searched_for_slips(self, tmp_path: Path) -> None:
        slips = POD.replace("image: nginx", "imagee: nginx, image: nginx, image: nginx, name: [web]")
        plant(tmp_path, {"testdata/a.yaml": slips, "testdata/b.yaml": POD.replace("v1", "v7"), "e2e/b.yaml": POD.replace("v1", "v7")})
        report = check(tmp_path, "spec")
        assert sorted(set(found(report, "a.yaml"))) == ["duplicate-key", "unknown-field", "wrong-type"]
        assert found(report, "testdata/b.yaml") == []
        assert found(report, "e2e/b.yaml") == ["unknown-kind"]

    def test_what_a_selector_matches_may_be_left_out_in_examples(self, tmp_path: Path) -> None:
        service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
        pod = POD.replace("{name: web}", "{name: web, labels: {app: wob}}", 1)
        link = "---\napiVersion: v1\nkind: Service\nmetadata: {name: wob}\nspec: {selector: {app: wob}, ports: [{port: 80}]}\n"
        plant(tmp_path, {"examples/a.yaml": pod + service, "examples/b/pod.yaml": pod, "examples/b/service.yaml": service + link})
        plant(tmp_path, {"apps/pod.yaml": pod, "apps/service.yaml": service})
        report = check(tmp_path, "service-without-pods")
        assert sorted(os.path.relpath(each.file, tmp_path) for each in report.findings) == ["apps/service.yaml", "examples/a.yaml"]
        assert found(check(tmp_path / "examples" / "a.yaml", "service-without-pods"), "a.yaml") == ["service-without-pods"]

    def test_manifests_of_tests_need_lasting_images(self, tmp_path: Path) -> None:
        privileged = POD.replace("image: nginx", "image: nginx, securityContext: {privileged: true}")
        plant(tmp_path, {"e2e/a.yaml": privileged})
        assert found(check(tmp_path, "latest-tag", "naked-pod", "privileged-container"), "a.yaml") == ["latest-tag"]

    def test_a_step_of_a_test_may_be_partial(self, tmp_path: Path) -> None:
        complete = DEPLOYMENT.replace("name: web}]", "name: web, image: nginx}]")
        plant(tmp_path, {"e2e/a.yaml": DEPLOYMENT, "e2e/b.yaml": complete, "tests/a.yaml": complete, "a.yaml": complete})
        report = check(tmp_path, "spec")
        assert found(report, "e2e/a.yaml") == ["unknown-field"]
        assert found(report, "tests/a.yaml") == ["unknown-field"]
        assert "missing-required-field" in found(report, "e2e/b.yaml")
        assert "missing-required-field" in found(report, f"{tmp_path.name}/a.yaml")

    def test_an_assertion_is_judged_by_what_it_says(self, tmp_path: Path) -> None:
        text = (
            DEPLOYMENT.replace("replicaz: 3", "replicaz: 3, (length(x)): 3, replicas: ($n), minReadySeconds: {(@): 1}")
            + "---\n"
            + POD.replace("image: nginx", "imagee: nginx")
        )
        plant(tmp_path, {"e2e/00-assert.yaml": text})
        assert found(check(tmp_path, "spec", "practice"), "assert.yaml") == ["unknown-field", "unknown-field"]

    def test_an_assertion_creates_nothing(self, tmp_path: Path) -> None:
        service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
        plant(tmp_path, {"e2e/00-assert.yaml": service, "e2e/a.yaml": POD})
        report = check(tmp_path, "spec")
        assert [facts.id.kind for facts in report.bundle.facts] == ["Pod"]

    def test_absence_is_not_a_finding_in_tests(self, tmp_path: Path) -> None:
        binding = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a, namespace: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: missing}
subjects: [{kind: ServiceAccount, name: a, namespace: b}]
"""
        role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: other, namespace: b}\nrules: []\n"
        for name, expected in (("apps/a.yaml", ["missing-role"]), ("testdata/a.yaml", [])):
            plant(tmp_path / name, {name: binding + role})
            report = run_pipeline(discover([str(tmp_path / name)]), session("missing-role", complete=True))
            assert found(report, "a.yaml") == expected

    def test_the_user_can_include_fixtures(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tmp_path, {"testdata/a.yaml": POD})
        monkeypatch.chdir(tmp_path)
        arguments = ["check", "--select", "latest-tag", "--format", "concise", "."]
        assert "latest-tag" not in CliRunner().invoke(kcheck, arguments).stdout
        assert "latest-tag" in CliRunner().invoke(kcheck, [*arguments, "--include", "fixtures"]).stdout
        plant(tmp_path, {".kcheck.yaml": "include: fixtures\n"})
        assert "latest-tag" in CliRunner().invoke(kcheck, arguments).stdout

    def test_a_named_file_is_checked(self, tmp_path: Path) -> None:
        plant(tmp_path, {"vendor/testdata/a.yaml": POD})
        for path in ("vendor/testdata/a.yaml", "vendor/testdata"):
            assert found(run_pipeline(discover([str(tmp_path / path)]), session("latest-tag")), "a.yaml") == ["latest-tag"]

    def test_vendored_kinds_are_known(self, tmp_path: Path) -> None:
        schema = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}"
        crd = f"{CRD}spec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: Widget, plural: widgets}}\n  versions:\n"
        crd += f"    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n    - oops\n"
        widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: big}\n"
        plant(
            tmp_path,
            {"third_party/crd.yaml": crd.replace("    - oops\n", ""), "third_party/web.yaml": "kind: Pod\n" + POD, "a.yaml": widget},
        )
        report = check(tmp_path, "spec")
        assert found(report, "a.yaml") == ["wrong-type"]
        assert [each.rule for each in report.findings] == ["wrong-type"]
        assert {os.path.basename(each.file): each.why for each in report.passed} == dict.fromkeys(
            ("crd.yaml", "web.yaml"), 'the folder "third_party" contains copies of other projects'
        )

    def test_kinds_of_tests_do_not_apply(self, tmp_path: Path) -> None:
        schema = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}"
        crd = f"{CRD}spec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: Widget, plural: widgets}}\n  versions:\n"
        crd += f"    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n"
        widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: big, color: red}\n"
        plant(tmp_path, {"hack/testdata/v1/crd.yaml": crd, "hack/testdata/a.yaml": widget, "a.yaml": widget})
        report = check(tmp_path, "spec")
        assert report.without_schema.total() == 2
        assert found(report, f"{tmp_path.name}/a.yaml") == []
        assert found(report, "testdata/a.yaml") == []
        plant(tmp_path, {"crd.yaml": crd.replace("integer", "string")})
        assert found(check(tmp_path, "spec"), "a.yaml") == ["unknown-field", "unknown-field"]

    def test_settings_of_kustomize_are_not_an_unknown_kind(self, tmp_path: Path) -> None:
        plant(tmp_path, {"prefix.yaml": "apiVersion: builtin\nkind: PrefixSuffixTransformer\nmetadata: {name: a}\nprefix: a-\n"})
        assert not check(tmp_path, "spec").findings

    def test_a_vendored_folder_that_is_deployed_is_checked(self, tmp_path: Path) -> None:
        inner = "third_party/base/kustomization.yaml"
        plant(tmp_path, {"third_party/base/a.yaml": POD, "third_party/b.yaml": POD, inner: "resources: [a.yaml]\n"})
        assert found(check(tmp_path, "latest-tag"), "a.yaml") == []
        plant(tmp_path, {"prod/kustomization.yaml": "resources: [../third_party/base]\n"})
        report = check(tmp_path, "latest-tag")
        assert (found(report, "a.yaml"), found(report, "b.yaml")) == (["latest-tag"], [])

    def test_what_the_cluster_writes_is_not_the_user_s(self, tmp_path: Path) -> None:
        plant(tmp_path, {"dump.yaml": NODE, "written.yaml": NODE.replace("  uid: 6f1e\n", "")})
        report = check(tmp_path, "deprecated-label")
        assert found(report, "dump.yaml") == []
        assert found(report, "written.yaml") == ["deprecated-label"]


class TestConfig:
    def test_the_last_glob_applies(self, tmp_path: Path) -> None:
        of = AssignedRoles(Config(tmp_path, roles=(("test/", "manifest"), ("test/*.golden.yaml", "golden-file")))).of
        assert of(str(tmp_path / "other/a.yaml")) is None
        names = [role.name for name in ("a.yaml", "a.golden.yaml") if (role := of(str(tmp_path / "test" / name))) is not None]
        assert names == ["manifest", "golden-file"]

    def test_roles_of_the_config(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        config = "roles:\n  test/: manifest\n  broken.yaml: other\n"
        plant(tmp_path, {".kcheck.yaml": config, "test/a.yaml": POD, "broken.yaml": POD})
        monkeypatch.chdir(tmp_path)
        shown = json.loads(CliRunner().invoke(kcheck, ["files", "--format", "json", "."]).stdout)
        assert [(each["file"], each["role"], each["rules"], each["reason"]) for each in shown["files"]] == [
            (".kcheck.yaml", "tool-configuration", "none", "kcheck configuration"),
            ("broken.yaml", "other", "none", 'the config assigns it: "broken.yaml"'),
            ("test/a.yaml", "manifest", "all", 'the config assigns it: "test/"'),
        ]
        report = json.loads(CliRunner().invoke(kcheck, ["check", "--select", "latest-tag", "--format", "json", "."]).stdout)
        assert [(each["file"], each["role"]) for each in report["findings"]] == [("test/a.yaml", "manifest")]

    def test_mistakes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tmp_path, {".kcheck.yaml": "roles:\n  a.yaml: manifests\n  ../b.yaml: manifest\ninclude: [tests]\n", "a.yaml": POD})
        monkeypatch.chdir(tmp_path)
        lines = CliRunner().invoke(kcheck, ["check", "."]).stderr.splitlines()
        assert lines == [
            '.kcheck.yaml:2:11: unknown role "manifests"; did you mean "manifest"?',
            '.kcheck.yaml:3:3: "../b.yaml" leaves the folder of this file; globs match files in this folder and below',
            '.kcheck.yaml:4:11: unknown value "tests"; use one of fixtures, examples',
        ]


def test_the_summary_counts_and_the_list_explains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {"testdata/a.yaml": POD, "vendor/b.yaml": POD, "c.yaml": POD})
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(kcheck, ["check", "--isolated", "--select", "spec", "--verbose", "."]).stdout
    assert shown.splitlines() == [
        "Skipped files:",
        '  vendor/b.yaml: the folder "vendor" contains copies of other projects',
        "Files checked only in part:",
        '  testdata/a.yaml: test-fixture: the folder "testdata" contains test data',
        "",
        f"No findings in 2 files (2 documents, 2 deployment units) for Kubernetes {newest()}.",
        "1 file skipped, 1 file checked only in part.",
    ]


def test_the_list_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {"testdata/a.yaml": POD, "c.yaml": POD})
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(kcheck, ["files", "."]).stdout.splitlines() == [
        "ROLE          RULES  FILE             UNIT                  REASON",
        "manifest      all    c.yaml           file c.yaml           nothing indicates another role",
        'test-fixture  some   testdata/a.yaml  file testdata/a.yaml  the folder "testdata" contains test data',
    ]


def test_the_list_contains_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = POD.replace("metadata: {name: web}", "metadata: {name: b}")
    base = {"base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": POD}
    overlay = {"prod/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "prod/p.yaml": POD}
    plant(tmp_path, {**base, **overlay, "apps/a.yaml": POD, "apps/b.yaml": other, "apps/e2e/00-assert.yaml": POD})
    (tmp_path / "unreadable.yaml").write_bytes(b"\xff")
    monkeypatch.chdir(tmp_path)
    shown = json.loads(CliRunner().invoke(kcheck, ["files", "--format", "json", "."]).stdout)
    production, apps = {"kind": "kustomization", "path": "prod"}, {"kind": "folder", "path": "apps"}
    assert {each["file"]: each["unit"] for each in shown["files"]} == {
        "apps/a.yaml": apps,
        "apps/b.yaml": apps,
        "apps/e2e/00-assert.yaml": None,
        "base/a.yaml": production,
        "base/kustomization.yaml": production,
        "prod/kustomization.yaml": production,
        "prod/p.yaml": production,
    }


def test_a_file_that_is_skipped_by_its_content_gets_no_rules(tmp_path: Path) -> None:
    template = POD.replace(" {name: web}\n", "\n  name: {{ .Name }}\n")
    assert roles(tmp_path, {"a.yaml": template, "testdata/a.json": "{// comment\n}"}) == {"a.yaml": "other", "testdata/a.json": "other"}


@pytest.mark.parametrize("include", [[], ["--include", "fixtures"]])
def test_shards_and_the_cache_know_the_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, include: list[str]) -> None:
    files = {
        "testdata/a.yaml": POD,
        "e2e/a.yaml": POD,
        "e2e/00-assert.yaml": DEPLOYMENT,
        "vendor/a.yaml": POD,
        "docs/a.yaml": POD.replace("nginx", "acme/web"),
    }
    files |= {"k/kustomization.yaml": "patches: [{path: a.yaml}]\n", "k/a.yaml": DEPLOYMENT, "crd.yaml": CRD, "a.yaml": POD}
    plant(tmp_path / "in", files)
    monkeypatch.chdir(tmp_path / "in")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KCHECK_NO_CACHE", "0")
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(kcheck, arguments)
        assert result.exit_code in (0, 1), result.output
        return result.stdout

    alone = run("check", "--isolated", *include, "--no-cache", "--format", "json", ".")
    roles = {each["role"] for each in json.loads(alone)["findings"]}
    assert roles >= {"manifest", "test-manifest", "assertion", "patch", "documentation"}
    for _ in range(2):
        assert run("check", "--isolated", *include, "--format", "json", ".") == alone
    assert (tmp_path / "cache").is_dir()
    shards = [str(tmp_path / f"{number}.shard") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        run("check", "--isolated", *include, "--shard", f"{number}/2", "--output", shard, ".")
    assert run("merge", "--format", "json", *shards) == alone


@pytest.mark.parametrize(("select", "expected"), [((), []), (("--select", "spec"), ["a/patch.yaml", "testdata/web.yaml"])])
def test_the_rules_of_the_api_server_alone_judge_files_as_they_are(
    select: tuple[str, ...], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their role: what is not whole would be rejected."""
    part = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"
    plant(tmp_path, {"a/patch.yaml": part, "testdata/web.yaml": part})
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(kcheck, ["check", ".", "--isolated", "--format", "json", *select])
    assert sorted({f["file"] for f in json.loads(done.stdout)["findings"] if f["rule"] == "missing-required-field"}) == expected


def test_the_verdict_of_the_api_server_includes_what_nobody_needs_to_change(tmp_path: Path) -> None:
    token = "volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t}}]}}], containers:"
    plant(tmp_path, {"a.yaml": POD.replace("containers:", token)})
    for arguments, expected in (((), 0), (("--select", "spec"), 1), (("--select", "service-accounts"), 1), (("--select", "practice"), 0)):
        shown = CliRunner().invoke(kcheck, ["check", "--format", "concise", *arguments, str(tmp_path)]).stdout
        assert shown.count("token-without-service-account") == expected
