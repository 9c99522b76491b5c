"""Files of other tools that are not YAML: skipped in a folder like the YAML files of other tools, reported if named."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.kube.placeholders import fill_in_template
from kcheck.run import run as running
from tests.run.texts import POD

SETTINGS = '{\n  // comments are not JSON\n  "compilerOptions": {"strict": true,},\n}\n'
TEMPLATE = "{{- range .Files }}\nname: {{ .Name }\n{{- end }}\nother: [\n"
BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n"
BROKEN_JSON = '{"apiVersion": "v1", "kind": "ConfigMap", // comment\n "metadata": {"name": "a",}\n'


def check(*paths: str) -> str:
    format = () if "--format" in paths else ("--format", "concise")
    return CliRunner().invoke(kcheck, ["check", "--no-cache", "--isolated", *format, "--preset", "minimal", *paths]).output


@pytest.mark.parametrize(("text", "name"), [(SETTINGS, "settings.json"), (TEMPLATE, "index.yaml")])
def test_files_of_other_tools(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert "invalid-yaml" not in check(str(tmp_path))
    assert "invalid-yaml" in check(str(path))


@pytest.mark.parametrize("text", [BROKEN, BROKEN_JSON])
def test_broken_manifests(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert "invalid-yaml" in check(str(tmp_path))


KUSTOMIZATION = "resources: [a.yaml]\nnamespace: {{ .Namespace }}\n"
VALUES = POD.replace("metadata: {name: a}", "metadata:\n  name: {{ .Name }}")
LINES = """\
{{- $name := .Name }}
{% set image = "b" %}
apiVersion: v1
kind: Pod
metadata:
  name: {{ $name }}
  {{- with .Labels }}
  labels: {{ . }}
  {{- end }}
spec:
  containers:
  {{- range .Containers }}
  - name: {{ .Name }}
    image: {{ if .Registry }}{{ .Registry }}/{{ end }}{{ .Image }}:{{ .Tag }}
    {{ include "resources {{ .Name }}" . | indent 4 }}
  {{- end }}
"""
NUMBERED = "{{ range .Pods }}\n---\n" + VALUES + "---\n{{ end }}\n"


CERTIFICATE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  ca.crt: |
$CA_CERT
"""
ADDRESS = "apiVersion: a.example.com/v1\nkind: Network\nmetadata: {name: a}\nspec:\n  networks:\n  - cidr: {IPv6}/128\n"


@pytest.mark.parametrize("text", [CERTIFICATE, CERTIFICATE.replace("$CA_CERT", "${CA_CERT}"), ADDRESS])
def test_a_file_in_which_a_program_replaces_variables_is_skipped(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert check(str(tmp_path)).startswith("kcheck: warning: no manifest was checked: 1 ")
    assert check(str(tmp_path / "a.yaml")).count("invalid-yaml") == 1
    (tmp_path / "a.yaml").write_text(text + "  \tb: c\n")
    assert check(str(tmp_path)).count("invalid-yaml") == 1


@pytest.mark.parametrize("text", [VALUES, LINES, NUMBERED, KUSTOMIZATION])
def test_a_template_of_another_tool_is_skipped_unless_it_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("kustomization.yaml" if text == KUSTOMIZATION else "a.yaml")
    path.write_text(text)
    assert check(str(tmp_path)).startswith("kcheck: warning: no manifest was checked: 1 ")
    assert "template of another tool" in check("--format", "text", "--verbose", str(tmp_path))
    assert check(str(path)).count("error[invalid-yaml]: the file is a template, not YAML") == 1


def test_with_select_spec_a_template_is_judged_as_the_api_server_does(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(VALUES)
    assert check("--select", "spec", str(tmp_path)).count("invalid-yaml") == 1


def test_an_error_beside_a_template_expression_is_reported(tmp_path: Path) -> None:
    alert = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: "{{ $labels.pod }}"\n\tb: c\n'
    (tmp_path / "a.yaml").write_text(alert)
    (tmp_path / "b.yaml").write_text(VALUES.replace("kind: Pod", "kind: Pod: Pod"))
    assert check(str(tmp_path)).count("invalid-yaml") == 2


def test_other_documents_of_a_template_are_checked(tmp_path: Path) -> None:
    wrong = POD.replace("image:", "imagePullpolicy: Always, image:")
    path = tmp_path / "a.yaml"
    path.write_text(f"{VALUES}---\n{wrong}---\n{VALUES}")
    lines = check(str(tmp_path)).splitlines()
    assert ["unknown-field" in line for line in lines] == [True]
    shown = check("--format", "text", "--verbose", str(tmp_path))
    assert "a.yaml: 2 of 3 documents are templates of another tool\n" in shown
    assert "1 file checked only in part." in shown
    assert "invalid-yaml" in check(str(path))


def test_the_cache_knows_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
    (tmp_path / "a.yaml").write_text(f"{VALUES}---\n{POD}")
    (tmp_path / "b.yaml").write_text(VALUES)
    monkeypatch.chdir(tmp_path)
    arguments = ["check", "--isolated", "--preset", "minimal", "--format", "json", "."]
    first, second = (json.loads(CliRunner().invoke(kcheck, arguments).stdout) for _ in range(2))
    assert first == second
    assert {key: first["summary"][key] for key in ("passed_over", "limited")} == {"passed_over": 1, "limited": 1}


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_filling_in_takes_linear_time(count: int) -> None:
    for text in ("{{" * count, '{{"' * count, "{{a}}" * count + "x", "{%" * count):
        start = time.process_time()
        fill_in_template(text)
        assert time.process_time() - start < max(1, count / 4_000)
