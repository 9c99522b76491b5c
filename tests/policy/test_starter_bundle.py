"""The policies of examples/policies: their tests pass, the converted ones are current, and they judge nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import kcheck
from kcheck.cli.main import kcheck as cli
from tests.conftest import ROOT

FOLDER = ROOT / "examples" / "policies"
TOPICS = sorted(each.name.removesuffix(".kcheck.yaml") for each in (FOLDER / "rules").glob("*.kcheck.yaml") if each.name[0] != "b")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["policy", *arguments, "--isolated"])
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def test_all_tests_pass() -> None:
    result = CliRunner().invoke(cli, ["policy", "test", str(FOLDER), "--isolated"])
    assert result.exit_code == 0, result.output
    assert "Without tests" not in result.output
    rows = json.loads(run("list", str(FOLDER), "--format", "json"))["policies"]
    assert len({row["id"] for row in rows if row["engine"] == "rule"}) >= 25
    assert len({row["id"] for row in rows if row["engine"] == "vap"}) >= 20


@pytest.mark.parametrize("topic", TOPICS)
def test_converted_policies_are_current(topic: str) -> None:
    converted = run("convert", str(FOLDER / "rules" / f"{topic}.kcheck.yaml"))
    file = FOLDER / "vap" / f"{topic}.yaml"
    if not converted:
        assert not file.exists()
        return
    first, _, rest = file.read_text().partition("\n")
    assert first == f"# Converted from ../rules/{topic}.kcheck.yaml by kcheck policy convert."
    assert f"---\n{rest}" == converted


def test_they_are_not_enforced_on_other_files(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "library")
    (tmp_path / "o.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    assert not kcheck.check(tmp_path, config={}, select="policy").findings
    found = kcheck.check(tmp_path / "o.yaml", config={}, policies=tmp_path / "library" / "rules", select="policy").findings
    assert [each.rule for each in found if each.family == "policy"] == ["policy/namespace-owner"]


def test_the_bundle_is_printed_for_the_cluster() -> None:
    output = run("bundle", str(FOLDER / "rules"))
    assert output.startswith("# starter 1.0.0\n---\n")
    assert output.count("kind: ValidatingAdmissionPolicyBinding\n") >= 15
