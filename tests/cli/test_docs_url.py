"""Findings link to the page of their rule, on the site that the config or the environment names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: nginx:latest}]
"""
RELATION = (
    POD
    + """\
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: webb}
  ports: [{port: 80}]
# kcheck: ignore[latest-tag] unused
"""
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KCHECK_DOCS_URL", raising=False)
    Path("pod.yaml").write_text(POD, encoding="utf-8")


def output(*arguments: str) -> Any:
    done = CliRunner().invoke(kcheck, arguments)
    assert done.exit_code == 1, done.output
    return json.loads(done.stdout)


def urls(*arguments: str) -> dict[str, str]:
    return {finding["rule"]: finding["url"] for finding in output(*arguments)["findings"]}


def help_uri(*arguments: str) -> str:
    driver = output("check", "--format", "sarif", "--select", "latest-tag", *arguments)["runs"][0]["tool"]["driver"]
    return next(str(rule["helpUri"]) for rule in driver["rules"] if rule["id"] == "latest-tag")


def test_findings_of_all_stages_link_to_the_page_of_their_rule() -> None:
    Path("pod.yaml").write_text(RELATION, encoding="utf-8")
    found = urls("check", "--format", "json", "--no-cache", "pod.yaml")
    assert {"latest-tag", "service-without-pods", "unused-ignore"} <= set(found)
    assert found == {rule: f"https://kcheck.dev/rules/{rule}/" for rule in found}


def test_sarif_links_to_the_page_of_the_rule() -> None:
    assert help_uri("pod.yaml") == "https://kcheck.dev/rules/latest-tag/"


def test_config_and_environment_replace_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".kcheck.yaml").write_text("docs-url: https://docs.example.com/kcheck/\n", encoding="utf-8")
    assert urls("check", "--format", "json", "pod.yaml")["latest-tag"] == "https://docs.example.com/kcheck/rules/latest-tag/"
    assert help_uri("pod.yaml") == "https://docs.example.com/kcheck/rules/latest-tag/"
    monkeypatch.setenv("KCHECK_DOCS_URL", "http://localhost:8000/")
    assert urls("check", "--format", "json", "pod.yaml")["latest-tag"] == "http://localhost:8000/rules/latest-tag/"


def test_a_base_that_is_not_a_url_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_DOCS_URL", "docs.example.com")
    done = CliRunner().invoke(kcheck, ["check", "pod.yaml"])
    assert done.exit_code == 2
    assert "KCHECK_DOCS_URL: must begin with https:// or http://, not 'docs.example.com'" in done.output


def test_merged_shards_link_to_the_same_site() -> None:
    Path(".kcheck.yaml").write_text("docs-url: https://docs.example.com\n", encoding="utf-8")
    for shard in ("1", "2"):
        CliRunner().invoke(kcheck, ["check", "pod.yaml", "--shard", f"{shard}/2", "--output", f"{shard}.json"])
    Path(".kcheck.yaml").unlink()
    assert urls("merge", "1.json", "2.json", "--format", "json")["latest-tag"] == "https://docs.example.com/rules/latest-tag/"
