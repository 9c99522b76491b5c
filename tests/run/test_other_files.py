"""Files of other tools that are not YAML: skipped in a folder like the YAML files of other tools, reported if named."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck

SETTINGS = '{\n  // comments are not JSON\n  "compilerOptions": {"strict": true,},\n}\n'
TEMPLATE = "{{- range .Files }}\nname: {{ .Name }\n{{- end }}\nother: [\n"
BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n"
BROKEN_JSON = '{"apiVersion": "v1", "kind": "ConfigMap", // comment\n "metadata": {"name": "a",}\n'


def check(*paths: str) -> str:
    return CliRunner().invoke(kcheck, ["check", "--no-cache", "--isolated", "--format", "concise", *paths]).output


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
