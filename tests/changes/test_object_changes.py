"""Changes of objects against their older versions: matching, forms, custom resources, and the ways to run the check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.changes.forms import make_forms
from kcheck.changes.old_files import FolderFiles
from kcheck.changes.old_objects import OldObjects
from kcheck.cli.main import kcheck as main
from kcheck.engine.check import check, check_text
from kcheck.finding.report import Report
from kcheck.kube.ownership import owned_part
from kcheck.kube.resource import Resource, resources
from kcheck.schema.builtin.definitions import load
from kcheck.schema.server_side_apply import BuiltInMerge, apply_over
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
immutable: true
data:
  LEVEL: info
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-validations:
                - rule: "self.size >= oldSelf.size"
                  messageExpression: "oldSelf.size > 2 ? 'size cannot shrink from 3' : 'size'"
                - rule: "!oldSelf.hasValue() || oldSelf.value().name == self.name"
                  optionalOldSelf: true
                  message: name is fixed
                - rule: "self.size < 100"
                  message: size is too large
              properties:
                size: {type: integer, default: 1}
                name: {type: string, default: "", maxLength: 5}
                ports:
                  type: array
                  maxItems: 10
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items:
                    type: object
                    required: [name]
                    properties:
                      name: {type: string}
                      port:
                        type: integer
                        x-kubernetes-validations: [{rule: "self == oldSelf", message: port is fixed, reason: FieldValueForbidden}]
"""


def resource_of(text: str) -> Resource:
    return resources(parse(Source("a.yaml", text))[0])[0]


def app(spec: str) -> str:
    return f"apiVersion: example.com/v1\nkind: App\nmetadata: {{name: a}}\nspec: {spec}\n"


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., Report]:
    """Checks a text against an older one, each with further files by path."""

    def run(old: str, new: str, old_path: str = "old/a.yaml", new_path: str = "new/a.yaml", crd: str = "") -> Report:
        for path, text in ((old_path, old), (new_path, new)):
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        if crd:
            (tmp_path / "new" / "crd.yaml").write_text(crd)
        return check(tmp_path / "new", before=tmp_path / "old", config={}, select="spec", kubernetes="1.36")

    return run


def rules(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings]


def test_an_object_is_found_in_another_file_and_the_same_path_is_preferred(compare: Callable[..., Report]) -> None:
    changed = CONFIG_MAP.replace("info", "debug")
    report = compare(CONFIG_MAP, changed, "old/base/all.yaml", "new/web/settings.yaml")
    assert rules(report) == ["immutable-data"]
    # A copy with the new content in the same path is the older version then.
    report = compare(changed, changed + "---\n" + CONFIG_MAP.replace("settings", "other"), "old/web/settings.yaml", "new/web/settings.yaml")
    assert rules(report) == []


def test_the_old_place_is_a_related_location(compare: Callable[..., Report]) -> None:
    (finding,) = compare("# a comment\n" + CONFIG_MAP, CONFIG_MAP.replace("info", "debug")).findings
    (related,) = finding.related
    assert related.place.file.endswith("old/a.yaml")
    assert (finding.place.range.line, related.place.range.line) == (6, 7)
    assert (finding.place.field, related.place.field, finding.reason) == ("data", "data", "Forbidden")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("shop", "shop", True),
        ("shop", "", True),
        ("", "shop", True),
        ("shop", "other", False),
    ],
)
def test_objects_without_namespace_match_any(compare: Callable[..., Report], old: str, new: str, expected: bool) -> None:
    def named(text: str, namespace: str) -> str:
        return text.replace("name: settings", f"name: settings\n  namespace: {namespace}") if namespace else text

    report = compare(named(CONFIG_MAP, old), named(CONFIG_MAP, new).replace("info", "debug"))
    assert bool(rules(report)) is expected


def test_lists_of_kubectl_and_groups_that_moved_are_matched(compare: Callable[..., Report]) -> None:
    item = "".join(f"    {line}\n" for line in CONFIG_MAP.splitlines())
    listed = f"apiVersion: v1\nkind: List\nitems:\n  -\n{item}"
    assert rules(compare(listed, CONFIG_MAP.replace("info", "debug"), "old/dump.yaml")) == ["immutable-data"]
    deployment = """\
apiVersion: {}
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: {}}}}}
  template:
    metadata: {{labels: {{app: {}}}}}
    spec: {{containers: [{{name: web, image: web:1}}]}}
"""
    report = compare(deployment.format("extensions/v1beta1", "a", "a"), deployment.format("apps/v1", "b", "b"), "old/dump.yaml")
    assert rules(report) == ["immutable-selector"]


def test_an_unchanged_file_and_an_unchanged_object_are_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG_MAP)
    objects = OldObjects(FolderFiles(str(tmp_path)))
    assert objects.is_unchanged(Source("x/a.yaml", CONFIG_MAP))
    assert not objects.is_unchanged(Source("x/a.yaml", CONFIG_MAP + "\n"))
    assert objects.find(resource_of(CONFIG_MAP)) is None
    assert objects.find(resource_of(CONFIG_MAP.replace("settings", "others"))) is None


CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
{}spec:
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 10Gi}}}}
{}"""


def test_what_the_cluster_has_set_in_a_dump_is_no_change(compare: Callable[..., Report]) -> None:
    live = "  uid: 6f1f5b0e-9a3f-4c63-8a4a-0f1a2b3c4d5e\n  resourceVersion: '12'\n  creationTimestamp: 2026-01-01T00:00:00Z\n"
    dump = CLAIM.format(live, "  storageClassName: standard\n  volumeName: pv-1\n  volumeMode: Filesystem\nstatus: {phase: Bound}\n")
    assert rules(compare(dump, CLAIM.format("", ""))) == []
    assert rules(compare(dump, CLAIM.format("", "  volumeName: pv-2\n"))) == ["immutable-volume-claim"]


def test_the_manifest_in_a_dump_says_which_fields_are_removed(compare: Callable[..., Report]) -> None:
    live = "  uid: 6f1f5b0e-9a3f-4c63-8a4a-0f1a2b3c4d5e\n  resourceVersion: '12'\n"
    applied = json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": "standard"}})
    dump = CLAIM.format(
        live + f"  annotations: {{kubectl.kubernetes.io/last-applied-configuration: '{applied}'}}\n", "  storageClassName: standard\n"
    )
    assert rules(compare(dump, CLAIM.format("", ""))) == ["immutable-volume-claim"]


def test_managed_fields_name_the_part_of_a_manifest() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  uid: u
  resourceVersion: "1"
  managedFields:
    - manager: kubectl
      operation: Apply
      fieldsV1:
        f:spec:
          f:replicas: {}
          f:template:
            f:spec:
              f:containers:
                k:{"name":"web"}: {.: {}, f:name: {}, f:image: {}}
    - manager: kube-controller-manager
      operation: Update
      subresource: status
      fieldsV1: {f:status: {f:replicas: {}}}
spec:
  replicas: 2
  minReadySeconds: 5
  template: {spec: {containers: [{name: web, image: a, imagePullPolicy: Always}, {name: sidecar, image: b}]}}
"""
    assert owned_part(resource_of(text)) == {"spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "web", "image": "a"}]}}}}
    assert (
        owned_part(resource_of(text.replace("operation: Apply", "operation: Update").replace("manager: kubectl", "manager: hpa"))) is None
    )


def test_an_apply_merges_lists_by_key_and_keeps_what_no_manifest_set() -> None:
    shape = load("1.36").shape("core/v1 PodSpec")
    stored = {"containers": [{"name": "a", "image": "x", "env": [{"name": "A"}]}, {"name": "injected"}], "hostNetwork": True, "priority": 0}
    owned = {"containers": [{"name": "a", "image": "x", "env": [{"name": "A"}]}], "hostNetwork": True}
    new = {"containers": [{"name": "b"}, {"name": "a", "image": "y"}]}
    assert apply_over(stored, owned, new, BuiltInMerge(shape)) == {
        "containers": [{"name": "b"}, {"name": "a", "image": "y"}, {"name": "injected"}],
        "priority": 0,
    }
    # null removes only what a manifest set.
    assert apply_over({"securityContext": {"runAsUser": 1, "fsGroup": 2}}, {"securityContext": {"fsGroup": 2}}, {"securityContext": None},
                      BuiltInMerge(shape)) == {"securityContext": {"runAsUser": 1}}  # fmt: skip


def test_device_requests_of_two_versions_are_compared() -> None:
    claim = """\
apiVersion: resource.k8s.io/{}
kind: ResourceClaim
metadata: {{name: gpu}}
spec: {{devices: {{requests: [{{name: a, {}}}]}}}}
"""
    old, new = claim.format("v1beta1", "deviceClassName: gpu"), claim.format("v1", "exactly: {deviceClassName: gpu}")
    for first, second in ((old, new), (new, old)):
        stored, applied = make_forms(resource_of(first), resource_of(second), Store(load("1.36")))
        assert stored["spec"] == applied["spec"]


def test_transition_rules_compare_with_the_old_object(compare: Callable[..., Report]) -> None:
    report = compare(app("{size: 3, name: a}"), app("{size: 2, name: b}"), crd=CRD)
    assert sorted((each.rule, each.message) for each in report.findings) == [
        ("crd-rule-violation", "name is fixed"),
        ("crd-rule-violation", "size cannot shrink from 3"),
    ]
    # Defaults count, and items are matched by their keys.
    old = "{size: 1, ports: [{name: a, port: 1}, {name: b, port: 2}]}"
    assert rules(compare(app(old), app("{ports: [{name: b, port: 2}, {name: c, port: 3}]}"), crd=CRD)) == []
    (finding,) = compare(app(old), app("{ports: [{name: b, port: 2}, {name: a, port: 3}]}"), crd=CRD).findings
    assert (finding.message, finding.reason, finding.place.field) == ("port is fixed", "Forbidden", "spec.ports[1].port")


def test_a_new_object_has_no_old_self(compare: Callable[..., Report]) -> None:
    assert rules(compare(CONFIG_MAP, app("{size: 2, name: b}"), crd=CRD)) == []


def test_unchanged_values_are_not_validated_again(compare: Callable[..., Report]) -> None:
    # As if the schema had become stricter: both values were valid before.
    assert rules(compare(app("{size: 1, name: too-long}"), app("{size: 2, name: too-long}"), crd=CRD)) == []
    changed = compare(app("{size: 1, name: long-too}"), app("{size: 1, name: too-long}"), crd=CRD)
    assert sorted(rules(changed)) == ["crd-schema-violation", "unevaluated-crd-rules"]
    # The rule is about the whole spec, which changes.
    assert rules(compare(app("{size: 101}"), app("{size: 102}"), crd=CRD)) == ["crd-rule-violation"]
    assert rules(compare(app("{size: 101}"), app("{size: 101}") + "  \n# more\n", crd=CRD)) == ["crd-rule-violation"]
    labelled = app("{size: 101}").replace("{name: a}", "{name: a, labels: {b: c}}")
    assert rules(compare(app("{size: 101}"), labelled, crd=CRD)) == []


def test_secret_values_do_not_appear(compare: Callable[..., Report]) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nimmutable: true\nstringData: {password: hunter-22}\n"
    report = compare(secret, secret.replace("hunter-22", "hunter-33"))
    assert rules(report) == ["immutable-data"]
    assert "hunter" not in repr([(f.message, f.help, f.place.line, f.related) for f in report.findings])


def test_processes_and_the_cache_give_the_same_findings(tmp_path: Path) -> None:
    for side, level in (("old", "info"), ("new", "debug")):
        (tmp_path / side).mkdir()
        for number in range(40):
            text = CONFIG_MAP.replace("settings", f"settings-{number}").replace("info", level if number % 2 else "info")
            (tmp_path / side / f"{number}.yaml").write_text(text + "#" * 2000 + "\n")

    def run(before: Path | None, jobs: int = 1, cache: Path | bool = False) -> list[str]:
        report = check(tmp_path / "new", before=before, jobs=jobs, cache=cache, config={}, select="spec")
        return [f"{f.file}: {f.message}: {f.related}" for f in report.findings]

    expected = run(tmp_path / "old")
    assert len(expected) == 20
    assert run(tmp_path / "old", jobs=2) == expected
    store = tmp_path / "cache"
    assert run(None, cache=store) == []
    for _ in range(2):
        assert run(tmp_path / "old", cache=store) == expected
    assert run(None, cache=store) == []
    (tmp_path / "old" / "1.yaml").write_text((tmp_path / "new" / "1.yaml").read_text())
    assert len(run(tmp_path / "old", cache=store)) == 19


def test_a_text_is_compared_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(CONFIG_MAP)
    report = check_text(CONFIG_MAP.replace("info", "debug"), before=tmp_path / "dump.yaml", config={}, select="spec")
    assert rules(report) == ["immutable-data"]


def test_an_invalid_old_file_is_skipped(compare: Callable[..., Report]) -> None:
    assert rules(compare("a: [\n---\n" + CONFIG_MAP, CONFIG_MAP.replace("info", "debug"))) == ["immutable-data"]


@pytest.mark.parametrize("flag", ["--shard=1/2", "--scheduler=tcp://localhost:1"])
def test_other_machines_do_not_have_the_older_objects(tmp_path: Path, flag: str) -> None:
    result = CliRunner().invoke(main, ["check", str(tmp_path), "--before", str(tmp_path), flag])
    assert result.exit_code == 2
    assert "--before cannot be combined with --" in result.output


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: front}}
    spec: {containers: [{name: web, image: "web:1"}]}
"""


def test_files_of_kustomizations_are_compared_as_they_are(tmp_path: Path) -> None:
    """Neither the selectors that a kustomization adds nor a patch instead of the object are changes of the object."""
    for side in ("old", "new"):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "kustomization.yaml").write_text(
            "resources: [web.yaml]\nlabels: [{pairs: {team: shop}, includeSelectors: true}]\npatches: [{path: patch.yaml}]\n"
        )
        (folder / "web.yaml").write_text(DEPLOYMENT)
    patch = tmp_path / "new" / "patch.yaml"
    patch.write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: other}}}\n")
    (tmp_path / "new" / "web.yaml").write_text(DEPLOYMENT.replace("web:1", "web:2"))

    def run() -> list[str]:
        return [each.rule for each in check(tmp_path / "new", before=tmp_path / "old", config={}, select="spec").findings if each.related]

    assert run() == []
    (tmp_path / "new" / "web.yaml").write_text(DEPLOYMENT.replace("{app: web}}\n  template", "{tier: front}}\n  template"))
    assert run() == ["immutable-selector"]
    (tmp_path / "new" / "web.yaml").write_text(DEPLOYMENT.replace("spec:\n", "spec:\n  strategy: {type: Recreate}\n", 1))
    assert run() == ["left-over-value"]


def test_deep_annotation_is_ignored() -> None:
    """The JSON of an annotation is not limited by the depth of the document."""
    old = CONFIG_MAP.replace(
        "immutable", "  annotations: {kubectl.kubernetes.io/last-applied-configuration: '" + "[" * 100_000 + "'}\nimmutable"
    )
    assert owned_part(resource_of(old)) == resource_of(old).node.plain()
