"""The template files that rendered text names: found by the name of the chart, never outside of the folder, never guessed."""

from pathlib import Path

import pytest

from kcheck.run.chart_sources import rendered_text

TEMPLATE = """\
{{- if .Values.enabled }}
apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}}
{{- if .Values.host }}
hostNetwork: true
{{- else }}
hostPID: true
{{- end }}
spec: {}
{{- end }}
---
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: v1
kind: {{ .Values.kind }}
metadata: {name: map}
data: {a: b}
{{ define "x" }}kind: Pod{{ end }}
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n"


@pytest.fixture(autouse=True)
def _charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, name in (
        ("charts/shop", "shop"),
        ("charts/shop/charts/redis", "redis"),
        ("one", "twice"),
        ("two", "twice"),
        (".git", "hidden"),
    ):
        templates = tmp_path / folder / "templates"
        templates.mkdir(parents=True)
        (templates / "a.yaml").write_text(TEMPLATE)
        (tmp_path / folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: '{name}'\nversion: 1.2.0+x\n")
    (tmp_path / "two/templates/b.yaml").write_text(TEMPLATE)
    (tmp_path / "outside.yaml").write_text(TEMPLATE)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("shop/templates/a.yaml", "charts/shop/templates/a.yaml"),
        ("shop/charts/redis/templates/a.yaml", "charts/shop/charts/redis/templates/a.yaml"),
        ("shop/templates/b.yaml", ""),
        ("redis/templates/a.yaml", ""),
        ("twice/templates/a.yaml", ""),
        ("twice/templates/b.yaml", "two/templates/b.yaml"),
        ("hidden/templates/a.yaml", ""),
        ("shop/../../outside.yaml", ""),
        ("shop//outside.yaml", ""),
        ("/outside.yaml", ""),
        ("shop", ""),
        ("other/templates/a.yaml", ""),
    ],
)
def test_template_files(source: str, file: str) -> None:
    assert rendered_text(f"---\n# Source: {source}\n{POD}").template(3) == file


@pytest.mark.parametrize(
    ("document", "fits"),
    [
        (POD, True),
        (POD.replace("spec", "hostNetwork: true\nspec"), True),
        (POD.replace("v1", "v2"), False),
        (POD.replace("spec", "status"), False),
        (POD.replace("kind: Pod\n", "") + "kind: Pod\n", False),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n", True),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: other}\n", False),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {a: b}\n", True),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n", False),
        ("", False),
        ("a: b\n", False),
    ],
)
def test_a_chart_with_the_same_name_is_not_named(document: str, fits: bool) -> None:
    assert rendered_text(f"# Source: shop/templates/a.yaml\n{document}").template(2) == ("charts/shop/templates/a.yaml" if fits else "")


@pytest.mark.parametrize(
    ("label", "fits"), [("shop-1.2.0_x", True), ("shop-1.2.0", False), ("shop-1.3.0", False), ("other", True), ("shop-web-2.0.0", True)]
)
def test_another_version_of_a_chart_is_not_named(label: str, fits: bool) -> None:
    labelled = POD.replace("{name: a}\n", f"{{name: a}}\n  labels:\n    helm.sh/chart: {label}\n")
    assert bool(rendered_text(f"# Source: shop/templates/a.yaml\n{labelled}").template(2)) == fits


def test_text_that_templates_cannot_print(tmp_path: Path) -> None:
    (tmp_path / "charts/shop/templates/a.yaml").write_text(TEMPLATE + "{{ if")
    assert not rendered_text(f"# Source: shop/templates/a.yaml\n{POD}").template(2)
    (tmp_path / "charts/shop/templates/a.yaml").write_text('{{ include "all" . }}')
    assert not rendered_text(f"# Source: shop/templates/a.yaml\n{POD}").template(2)


def test_a_chart_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("charts/shop")
    assert rendered_text(f"# Source: shop/templates/a.yaml\n{POD}").template(1) == "templates/a.yaml"


def test_lines_belong_to_the_document_of_the_comment() -> None:
    text = f"first\n---\r\n# Source: shop/templates/a.yaml  \r\n{POD}--- # next\n{POD}text: |\n  # Source: shop/templates/a.yaml\n"
    found = rendered_text(text)
    assert [found.template(line) for line in range(1, 15)] == ["", "", *["charts/shop/templates/a.yaml"] * 5, *[""] * 7]
