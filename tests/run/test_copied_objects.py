"""Findings about objects that several files of a repository contain."""

from __future__ import annotations

import os
from pathlib import Path

from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.finding.rendered import RenderedPath
from kcheck.finding.severity import WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.run.copied_objects import merge_copies
from kcheck.run.run import run_pipeline
from kcheck.text.span import Range
from tests.relations.world import session


def deployment(name: str, image: str) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: web, image: "{image}"}}]}}
"""


def accounts(number: int, prefix: str = "a") -> str:
    return "".join(f"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {prefix}{each}}}\n" for each in range(number))


def findings(folder: Path, files: dict[str, str]) -> list[str]:
    """Returns the file, object and message of each finding about images."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    report = run_pipeline(discover([str(folder)]), session("latest-tag", "spec"))
    return [f"{os.path.relpath(f.file, folder)} {f.object.name}: {f.message}" for f in report.findings if f.rule == "latest-tag"]


WEB = deployment("web", "nginx")
MESSAGE = 'image "nginx" has no tag and defaults to latest, which can change at any time'


def test_the_source_is_reported_and_not_the_collections_of_it(tmp_path: Path) -> None:
    files = {"base/web.yaml": WEB, "base/accounts.yaml": accounts(20), "all.yaml": WEB + accounts(20), "ha/all.yaml": WEB + accounts(20)}
    assert findings(tmp_path, files) == [f"base/web.yaml web: {MESSAGE} (also in 2 other files with this object)"]


def test_of_several_collections_the_first_is_reported(tmp_path: Path) -> None:
    files = {f"{name}.yaml": WEB + accounts(20) for name in ("aws", "gcp")}
    assert findings(tmp_path, files) == [f"aws.yaml web: {MESSAGE} (also in 1 other file with this object)"]


def test_a_file_counts_once(tmp_path: Path) -> None:
    two = WEB.replace("{name: web,", "{name: a, image: nginx}, {name: web,")
    files = {"base.yaml": two, "accounts.yaml": accounts(20), "all.yaml": two + accounts(20)}
    assert findings(tmp_path, files) == [f"base.yaml web: {MESSAGE} (also in 1 other file with this object)", f"base.yaml web: {MESSAGE}"]


def test_a_template_of_a_chart_is_a_source() -> None:
    template = RenderedPath("chart/templates/web.yaml", "chart", "", "", "chart/templates/web.yaml")
    at = Location("all.yaml", 0, Range(1, 1, 1, 1), "", ObjectId("v1", "Pod", "", "web"), "", 0)
    copy = Finding("latest-tag", WARNING, "practice", MESSAGE, at)
    source = copy._replace(place=at._replace(file="chart/templates/web.yaml"))
    in_rendering = copy._replace(place=at._replace(file=str(template)))
    [found] = merge_copies([copy, source], [copy, in_rendering], {"all.yaml"}, lambda _: True)
    assert (found.file, found.message) == (source.file, f"{MESSAGE} (also in 1 other file with this object)")


def test_small_files_are_alternatives(tmp_path: Path) -> None:
    files = {f"{name}.yaml": WEB + accounts(10) for name in ("a", "b")}
    assert findings(tmp_path, files) == [f"a.yaml web: {MESSAGE}", f"b.yaml web: {MESSAGE}"]


def test_a_file_with_other_objects_is_no_collection(tmp_path: Path) -> None:
    files = {"a.yaml": WEB + accounts(20), "b.yaml": WEB + accounts(20, "b")}
    assert findings(tmp_path, files) == [f"a.yaml web: {MESSAGE}", f"b.yaml web: {MESSAGE}"]


def test_another_problem_of_the_object_is_reported(tmp_path: Path) -> None:
    files = {"base.yaml": WEB, "accounts.yaml": accounts(20), "ci.yaml": deployment("web", "httpd") + accounts(20)}
    assert findings(tmp_path, files) == [f"base.yaml web: {MESSAGE}", f"ci.yaml web: {MESSAGE.replace('nginx', 'httpd')}"]


def test_a_suppressed_finding_is_not_reported_in_the_copy(tmp_path: Path) -> None:
    files = {"base.yaml": WEB.replace("    spec:", "    # kcheck: ignore[latest-tag] local\n    spec:"), "accounts.yaml": accounts(20)}
    assert findings(tmp_path, {**files, "x/all.yaml": WEB + accounts(20)}) == []


def test_data_of_tests_are_no_copies(tmp_path: Path) -> None:
    files = {"e2e/all.yaml": WEB + accounts(20), "install.yaml": WEB + accounts(20)}
    assert findings(tmp_path, files) == [f"e2e/all.yaml web: {MESSAGE}", f"install.yaml web: {MESSAGE}"]


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: applications.shop-operator.example.com}
"""


class TestOwnImages:
    def test_a_release_replaces_their_tag(self, tmp_path: Path) -> None:
        own = deployment("a", "ghcr.io/shop-operator/controller:latest") + "---\n" + deployment("b", "ghcr.io/shopoperator-io/server")
        files = {"crd.yaml": CRD, "own.yaml": own, "other.yaml": deployment("c", "ghcr.io/other/controller:latest")}
        assert [each.partition(":")[0] for each in findings(tmp_path, files)] == ["other.yaml c"]

    def test_the_name_of_an_image_alone_does_not_count(self, tmp_path: Path) -> None:
        files = {"crd.yaml": CRD.replace("shop-operator", "rabbitmq"), "a.yaml": deployment("a", "bitnami/rabbitmq:latest")}
        assert [each.partition(":")[0] for each in findings(tmp_path, files)] == ["a.yaml a"]

    def test_readers_of_examples_have_no_release(self, tmp_path: Path) -> None:
        files = {"crd.yaml": CRD, "examples/a.yaml": deployment("a", "ghcr.io/shop-operator/client:latest")}
        assert [each.partition(":")[0] for each in findings(tmp_path, files)] == ["examples/a.yaml a"]

    def test_a_definition_of_a_test_does_not_count(self, tmp_path: Path) -> None:
        files = {"testdata/crd.yaml": CRD, "a.yaml": deployment("a", "ghcr.io/shop-operator/controller:latest")}
        assert [each.partition(":")[0] for each in findings(tmp_path, files)] == ["a.yaml a"]


def test_the_name_of_a_file_is_not_that_of_a_rendered_template(tmp_path: Path) -> None:
    assert findings(tmp_path, {"a\x1fb.yaml": WEB}) == [f"a\x1fb.yaml web: {MESSAGE}"]
