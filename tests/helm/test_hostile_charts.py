"""Charts and settings from a repository that try to make helm or kcheck do something else than render templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcheck.helm.chart import Chart
from kcheck.helm.program import HelmFailed, HelmSettings
from kcheck.helm.rendering import render_chart
from tests.helm.programs import with_helm

SETTINGS = HelmSettings("shop", "default", "1.36.0", ("apps/v1", "apps/v1/Deployment"))
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"


def chart(**files: str) -> Chart:
    return Chart("web", {"Chart.yaml": CHART.encode(), **{name: text.encode() for name, text in files.items()}})


@with_helm
def test_a_release_is_not_an_option(helm: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    found = chart(**{"templates/a.yaml": "a: {{ .Values.a }}\n"})
    for release in (f"--set-file=a={tmp_path}/secret", f"--output-dir={tmp_path}/written"):
        with pytest.raises(HelmFailed, match="invalid release name"):
            render_chart(helm, found, SETTINGS._replace(release=release))
    assert not (tmp_path / "written").exists()


@with_helm
def test_characters_that_a_program_cannot_be_given(helm: str) -> None:
    with pytest.raises(HelmFailed, match="characters that a program cannot be given"):
        render_chart(helm, chart(**{"templates/a.yaml": "a: b\n"}), SETTINGS._replace(set=("a=\0",)))


@with_helm
@pytest.mark.parametrize("extra", [b"", b', "x": "\xff"', b', "x": ' + b"1" * 5000])
def test_schemas_refer_to_nothing_outside_of_the_chart(helm: str, tmp_path: Path, extra: bytes) -> None:
    (tmp_path / "schema.json").write_text('{"type": "number"}')
    found = chart(**{"templates/a.yaml": "a: b\n", "values.yaml": "a: b\n"})
    found.files["values.schema.json"] = b'{"properties": {"a": {"$ref": "%s"}}%s}' % ((tmp_path / "schema.json").as_uri().encode(), extra)
    assert render_chart(helm, found, SETTINGS) == {"web/templates/a.yaml": "a: b"}


@with_helm
def test_schemas_may_refer_to_themselves(helm: str) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/a"}},
        "definitions": {"a": {"type": "number"}},
    }
    found = chart(**{"templates/a.yaml": "a: b\n", "values.yaml": "a: b\n", "values.schema.json": json.dumps(schema)})
    with pytest.raises(HelmFailed, match="don't meet the specifications"):
        render_chart(helm, found, SETTINGS)


@pytest.mark.parametrize("files", [{"templates": "a", "templates/a.yaml": "a: b\n"}, {"..": "a"}, {"a\0b": "c"}, {"a" * 300: "b"}])
def test_files_that_cannot_be_written(files: dict[str, str]) -> None:
    with pytest.raises(HelmFailed, match="a copy of the chart cannot be written"):
        render_chart("helm", chart(**files), SETTINGS)


@with_helm
def test_thousands_of_api_versions(helm: str) -> None:
    versions = ('a/v1/"B"', "a/v1/C,D", *(f"group{number}.example.com/v1/Kind{number}" for number in range(6000)))
    found = chart(**{"templates/a.yaml": 'a: {{ .Capabilities.APIVersions.Has "group5999.example.com/v1/Kind5999" }}\n'})
    assert render_chart(helm, found, SETTINGS._replace(api_versions=versions)) == {"web/templates/a.yaml": "a: true"}
