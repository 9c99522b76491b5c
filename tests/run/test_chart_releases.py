"""Values of Argo CD Applications and Flux HelmReleases: in the object, in files, in ConfigMaps, and those that are not known."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Program, program
from tests.helm.programs import PROGRAMS, needs_helm
from tests.run.test_charts import CHART, POD, write

__all__ = ["program"]

pytestmark = needs_helm

HELM = PROGRAMS[0] if PROGRAMS else ""
SUB_POD = POD.replace(".Release.Name }}", ".Release.Name }}-sub")


@pytest.fixture(autouse=True)
def _chart(program: Program) -> None:
    write({".git/HEAD": "", "charts/web/Chart.yaml": CHART, "charts/web/values.yaml": "port: 80\nsub: {port: 81}\n"})
    write({"charts/web/templates/pod.yaml": POD, "charts/web/charts/sub/templates/pod.yaml": SUB_POD})
    write({"charts/web/charts/sub/Chart.yaml": CHART.replace("web", "sub"), "charts/web/charts/sub/values.yaml": "port: 82\n"})


def report(program: Program) -> Any:
    arguments = ("check", ".", "--isolated", "--helm", HELM, "--select", "invalid-port-number,failed-chart-render,internal-error")
    return json.loads(program(*arguments, "--format", "json").out)


def found(program: Program) -> list[tuple[str, str]]:
    """The findings as the template and message, with the last related place if it is that of a value."""
    rows = []
    for each in report(program)["findings"]:
        last = each["related"][-1]
        value = f" {last['file']}:{last['range']['start']['line']}" if last["message"].startswith("value of") else ""
        rows.append((each["file"].removeprefix("charts/web/"), each["message"].removeprefix("containerPort ") + value))
    return rows


def reasons(program: Program) -> list[str]:
    shown = program("check", ".", "--isolated", "--helm", HELM, "--select", "spec", "--verbose").out
    return [line.strip() for line in shown.splitlines() if "not rendered for" in line]


def application(name: str = "shop", spec: Any = None, **helm: Any) -> str:
    source = {"repoURL": "https://example.com/repo.git", "path": "charts/web", "helm": helm}
    return json.dumps(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name},
            "spec": spec or {"source": source},
        }
    )


def out_of_range(port: int, name: str) -> str:
    return f"{port} is out of range (1-65535) (with {name})"


def test_values_of_another_source(program: Program) -> None:
    url = "https://example.com/repo.git"
    helm = {"valueFiles": ["$values/envs/a.yaml", "$values/envs/b.yaml"]}
    sources = [{"repoURL": url, "path": "charts/web", "helm": helm}, {"repoURL": url, "ref": "values"}]
    write({"app.json": application(spec={"sources": sources}), "envs/a.yaml": "port: 70001\n"})
    write({"envs/b.yaml": "sub: {port: 70002}\n"})
    assert found(program) == [
        ("charts/sub/templates/pod.yaml", f"{out_of_range(70002, 'Application shop')} envs/b.yaml:1"),
        ("templates/pod.yaml", f"{out_of_range(70001, 'Application shop')} envs/a.yaml:1"),
    ]


def test_parameters(program: Program) -> None:
    helm: dict[str, Any] = {
        "parameters": [
            {"name": "port", "value": "70003"},
            {"name": "list", "value": "a,b"},
            {"name": "set", "value": "{a,b}"},
            {"name": "sub.port", "value": "70004", "forceString": True},
        ],
        "fileParameters": [{"name": "text", "path": "files/text.txt"}],
    }
    write({"app.json": application(**helm), "charts/web/files/text.txt": "a, b"})
    name = ".Values.list }} {{ .Values.set }} {{ .Values.text }} {{ kindOf .Values.sub.port }}"
    write({"charts/web/templates/pod.yaml": POD.replace(".Release.Name }}", name)})
    assert found(program) == [
        ("charts/sub/templates/pod.yaml", out_of_range(70004, "Application shop")),
        ("templates/pod.yaml", out_of_range(70003, "Application shop")),
    ]
    shown = program("check", ".", "--isolated", "--helm", HELM, "--select", "invalid-name", "--format", "concise").out
    assert '"a,b [a b] a, b string"' in shown


def test_values_in_a_string_have_their_lines(program: Program) -> None:
    text = application(values="VALUES").replace('"VALUES"', '"port: 70006"')
    block = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: block}\nspec:\n  source:\n    path: charts/web\n    helm:\n"
        "      values: |\n        # comment\n        port: 70005\n"
    )
    write({"app.json": text, "block.yaml": block})
    assert found(program) == [
        ("templates/pod.yaml", f"{out_of_range(70005, 'Application block')} block.yaml:10"),
        ("templates/pod.yaml", out_of_range(70006, "Application shop")),
    ]


def test_missing_files_with_values(program: Program) -> None:
    write({"app.json": application(valueFiles=["missing.yaml"], values="port: 70007")})
    assert found(program) == []
    assert reasons(program) == ['charts/web/Chart.yaml: not rendered for Application shop: the file "missing.yaml" was not found']
    write({"app.json": application(valueFiles=["missing.yaml"], values="port: 70007", ignoreMissingValueFiles=True)})
    assert found(program) == [("templates/pod.yaml", out_of_range(70007, "Application shop"))]
    write({"app.json": application(valueFiles=["https://example.com/values.yaml"], values="port: 70007")})
    assert reasons(program) == ["charts/web/Chart.yaml: not rendered for Application shop: it has values from another repository"]


@pytest.mark.parametrize("file", ["../{}/outside.yaml", "{}/outside.yaml"])
def test_files_out_of_the_repository_are_not_read(program: Program, tmp_path: Path, file: str) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "outside.yaml").write_text("port: 70007\n")
    path = file.format(outside.name if file.startswith("..") else outside)
    write({"app.json": application(valueFiles=[f"../../{path}" if file.startswith("..") else path])})
    assert (found(program), len(reasons(program))) == ([], 1)
    write({"app.json": application(fileParameters=[{"name": "port", "path": path}])})
    assert (found(program), len(reasons(program))) == ([], 1)


def test_releases_with_the_same_name(program: Program) -> None:
    write({"a.json": application(values="port: 70001"), "b.json": application(values="port: 70002")})
    assert found(program) == [
        ("templates/pod.yaml", out_of_range(70001, "Application shop")),
        ("templates/pod.yaml", out_of_range(70002, "Application shop (2)")),
    ]


def test_equal_findings_of_releases_become_one(program: Program) -> None:
    write({"a.json": application("one", values="port: 70001"), "b.json": application("two", values="port: 70001")})
    assert found(program) == [("templates/pod.yaml", out_of_range(70001, "Application one, Application two"))]


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: front, namespace: flux}
spec:
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: repo}}}
  valuesFrom:
  - {kind: ConfigMap, name: web-values}
  - {kind: ConfigMap, name: web-values, valuesKey: port, targetPath: sub.port}
  values: {other: 1}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web-values, namespace: flux}
data:
  port: "70002"
  values.yaml: |
    port: 70001
"""


def test_values_of_config_maps(program: Program) -> None:
    write({"apps/release.yaml": RELEASE, "apps/values.yaml": CONFIG_MAP})
    assert found(program) == [
        ("charts/sub/templates/pod.yaml", out_of_range(70002, "HelmRelease front")),
        ("templates/pod.yaml", f"{out_of_range(70001, 'HelmRelease front')} apps/values.yaml:7"),
    ]
    # Values of the release take precedence.
    write({"apps/release.yaml": RELEASE.replace("{other: 1}", "{port: 1, sub: {port: 2}}")})
    assert found(program) == []


def test_values_of_generated_config_maps(program: Program) -> None:
    generator = "namespace: flux\nconfigMapGenerator:\n- {name: web-values, files: [values.yaml=web.yaml], literals: [port=70002]}\n"
    write(
        {
            "apps/release.yaml": RELEASE,
            "apps/kustomization.yaml": f"resources: [release.yaml]\n{generator}",
            "apps/web.yaml": "port: 70001\n",
        }
    )
    # A ConfigMap with this name in another folder belongs to another application.
    write({"other/kustomization.yaml": generator, "other/web.yaml": "port: 70003\n"})
    assert found(program) == [
        ("charts/sub/templates/pod.yaml", out_of_range(70002, "HelmRelease front")),
        ("templates/pod.yaml", f"{out_of_range(70001, 'HelmRelease front')} apps/web.yaml:1"),
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("web-values, valuesKey", "absent, valuesKey"), 'the values in ConfigMap "absent" are not known'),
        (("valuesKey: port", "valuesKey: absent"), 'the values in ConfigMap "web-values" are not known'),
        (("kind: ConfigMap, name: web-values}", "kind: Secret, name: credentials}"), 'the values in Secret "credentials" are not known'),
    ],
)
def test_values_that_are_not_known(program: Program, change: tuple[str, str], reason: str) -> None:
    write({"apps/release.yaml": RELEASE.replace(*change), "apps/values.yaml": CONFIG_MAP})
    assert (found(program), reasons(program)) == ([], [f"charts/web/Chart.yaml: not rendered for HelmRelease front: {reason}"])
    optional = RELEASE.replace(*change).replace("sub.port}", "sub.port, optional: true}")
    write({"apps/release.yaml": optional})
    assert bool(reasons(program)) == ("Secret" in reason)


def test_config_maps_that_cannot_be_told_apart(program: Program) -> None:
    write({"apps/release.yaml": RELEASE, "one/values.yaml": CONFIG_MAP, "two/values.yaml": CONFIG_MAP})
    assert reasons(program) == [
        'charts/web/Chart.yaml: not rendered for HelmRelease front: the values in ConfigMap "web-values" are not known'
    ]


@pytest.mark.parametrize(
    ("text", "value"), [("true", "true bool"), ("7", "7 float64"), ("'7'", "7 string"), ("07", "07 string"), ("a b", "a b string")]
)
def test_types_of_single_values(program: Program, text: str, value: str) -> None:
    write({"apps/release.yaml": RELEASE.replace("sub.port", "name"), "apps/values.yaml": CONFIG_MAP.replace('"70002"', json.dumps(text))})
    write({"charts/web/templates/pod.yaml": POD.replace(".Release.Name }}", ".Values.name }} {{ kindOf .Values.name }}")})
    shown = program("check", ".", "--isolated", "--helm", HELM, "--select", "invalid-name").out
    assert f'"{value}"' in shown, shown


@pytest.mark.parametrize("change", [{"path": "charts\0web"}, {"helm": {"valueFiles": ["a\0b"]}}, {"helm": {"releaseName": "a\0b"}}])
def test_paths_and_names_with_null_characters(program: Program, change: dict[str, Any]) -> None:
    source = {"repoURL": "https://example.com/repo.git", "path": "charts/web", **change}
    write({"app.json": application(spec={"source": source})})
    assert not {each["rule"] for each in report(program)["findings"]} & {"internal-error"}


@pytest.mark.parametrize("kind", ["parameters", "fileParameters"])
def test_deeply_nested_parameters(program: Program, kind: str) -> None:
    name = ".".join("a" * 3000)
    write({"app.json": application(**{kind: [{"name": name, "value": "1", "path": "values.yaml", "forceString": True}]})})
    assert reasons(program) == [
        f'charts/web/Chart.yaml: not rendered for Application shop: the value of its parameter "{name}" is not known'
    ]


def test_only_the_values_of_a_key_are_read(program: Program) -> None:
    """The time of reading all values of a ConfigMap grew with the square of their number."""
    others = "".join(f"  key-{number}: |\n    port: {number}\n" for number in range(4_000))
    write({"apps/release.yaml": RELEASE, "apps/values.yaml": CONFIG_MAP + others})
    start = time.process_time()
    assert len(found(program)) == 2
    assert time.process_time() - start < 20


@pytest.mark.parametrize(("helm", "name"), [({"valueFiles": ["../../envs/a.yaml"]}, "envs/a.yaml"), ({"values": "a: [\n"}, "values")])
def test_messages_name_the_file_with_values(program: Program, helm: dict[str, Any], name: str) -> None:
    write({"app.json": application(**helm), "envs/a.yaml": "a: [\n"})
    (message,) = (each["message"] for each in report(program)["findings"] if each["rule"] == "failed-chart-render")
    assert f" {name}: " in message
    assert "kcheck-values" not in message
