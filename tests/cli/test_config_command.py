"""`kcheck config` shows the settings of a file and where they come from, and `kcheck init` creates a config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.config.file import read
from kcheck.rule.registry import Registry
from tests.cli.conftest import POD, Program

CONFIG = """\
extends: [strict, ./base.yaml]
kubernetes: "1.33"
exclude: [vendor/]
rules:
  security: warning
  latest-tag: {allow: [a]}
overrides:
  - files: [old/]
    kubernetes: "1.29-1.30"
    complete: true
    rules: {latest-tag: "off"}
"""


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.fixture
def shown(program: Program) -> Any:
    def show(*arguments: str) -> dict[str, Any]:
        outcome = program("config", "--format", "json", *arguments)
        assert (outcome.code, outcome.err) == (0, "")
        document: dict[str, Any] = json.loads(outcome.out)
        return document

    return show


def test_values_and_their_origins(shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write({".kcheck.yaml": CONFIG, "base.yaml": "fail-on: error\nrules: {latest-tag: info}\n"})
    monkeypatch.setenv("KCHECK_EXCLUDE", "gen/ tmp/")
    document = shown("new/a.yaml", "old/a.yaml", "gen/a.yaml", "--placeholders", "check")
    assert document["configs"] == [".kcheck.yaml", "base.yaml"]
    new, old, generated = document["files"]
    values = {name: (each["value"], each["from"]) for name, each in new["settings"].items()}
    assert values["extends"] == ("strict", ".kcheck.yaml:1")
    assert values["kubernetes"] == ("1.33", ".kcheck.yaml:2")
    assert values["fail-on"] == ("error", "base.yaml:1")
    assert values["exclude"] == (["gen/", "tmp/"], "environment (KCHECK_EXCLUDE)")
    assert values["placeholders"] == ("check", "command line (--placeholders)")
    assert values["complete"] == (False, "default")
    assert old["settings"]["kubernetes"] == {"value": "1.29-1.30", "from": ".kcheck.yaml:9"}
    assert old["settings"]["complete"] == {"value": True, "from": ".kcheck.yaml:10"}
    assert (new["excluded"], generated["excluded"]) == (None, "gen/")
    assert new["rules"]["latest-tag"] == {
        "on": True, "severity": "info", "options": {"allow": ["a"]}, "from": ["base.yaml:2", ".kcheck.yaml:6"],
    }  # fmt: skip
    assert old["rules"]["latest-tag"]["on"] is False
    assert old["rules"]["latest-tag"]["from"][-1] == ".kcheck.yaml:11"
    assert new["rules"]["privileged-container"]["from"] == [".kcheck.yaml:5"]
    assert new["rules"]["unknown-field"]["from"] == ["preset strict"]


def test_rules_of_the_command_line(shown: Any) -> None:
    (file,) = shown("--select", "latest-tag,security", "--ignore", "privileged-container")["files"]
    rules = file["rules"]
    assert rules["latest-tag"]["from"] == ["command line (--select)"]
    assert (rules["privileged-container"]["on"], rules["privileged-container"]["from"]) == (False, ["command line (--ignore)"])
    assert rules["unknown-field"]["on"] is False
    assert file["settings"]["extends"] == {"value": "default", "from": "default"}


def test_the_text_lists_what_is_not_as_in_the_preset(program: Program) -> None:
    write({".kcheck.yaml": "rules: {latest-tag: {severity: error, allow: [a, b]}, host-network: off}\n"})
    outcome = program("config", "a.yaml")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "config: .kcheck.yaml"
    assert [line.split() for line in lines if line.startswith(("latest-tag", "host-network"))] == [
        ["host-network", "off", "-", ".kcheck.yaml:1"],
        ["latest-tag", "error", "allow:", "a,", "b", ".kcheck.yaml:1"],
    ]
    assert lines[-1].endswith("rules are on. --all lists all rules.")
    assert len(program("config", "--all").out.splitlines()) > 400


def test_an_invalid_config_is_an_error(program: Program) -> None:
    write({".kcheck.yaml": "rule: {}\n", ".kcheck.yml": ""})
    assert "contains .kcheck.yaml and .kcheck.yml; keep one of them" in program("config").err
    Path(".kcheck.yml").unlink()
    outcome = program("config")
    assert (outcome.code, outcome.out) == (2, "")
    assert ".kcheck.yaml:1:1: unknown key" in outcome.err


REPOSITORY = {
    "k8s/pod.yaml": POD.replace("  name: web\n", "  name: web\n  annotations: {ignore-check.kube-linter.io/latest-tag: x}\n", 1),
    "k8s/kustomization.yaml": "resources: [pod.yaml]\n",
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "crds/w.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: w.example.com}\n",
    "infra/eks.tf": 'module "eks" {\n  # cluster_version = "1.20"\n  cluster_version = "1.30"\n}\n',
    ".github/workflows/ci.yaml": "jobs:\n  a:\n    run: kubeconform -kubernetes-version 1.32.0 k8s/\n",
    "test/kind.yaml": "kind: Cluster\nnodes: [{image: kindest/node:v1.26.1}]\n",
    ".kube-linter.yaml": "checks: {}\n",
}


def test_init_writes_what_it_finds(program: Program) -> None:
    write(REPOSITORY)
    outcome = program("init")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "Found 1 manifest, 1 kustomization, 1 Helm chart, 1 folder with CustomResourceDefinitions.",
        "Kubernetes 1.32: .github/workflows/ci.yaml:3",
        "Kubernetes 1.30: infra/eks.tf:3",
        "kube-linter config: .kube-linter.yaml; to convert it, run: kcheck migrate .kube-linter.yaml",
        "kube-linter annotations: k8s/pod.yaml:5; to convert them, run: kcheck migrate --write FILES",
        "Wrote .kcheck.yaml. Edit it, then run: kcheck check",
    ]
    text = Path(".kcheck.yaml").read_text()
    assert "Found in .github/workflows/ci.yaml:3, infra/eks.tf:3." in text
    assert "#   helm template charts/shop | kcheck check -" in text
    assert "# schemas: [crds/]" in text
    config = read(Path(".kcheck.yaml"), Registry.load())
    assert config.kubernetes == ("1.30", "1.31", "1.32")
    # The keys in comments are valid, too.
    comments = [line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# complete", "# exclude", "# rules", "#   "))]
    write({"all.yaml": "\n".join(line for line in comments if "helm" not in line)})
    assert read(Path("all.yaml"), Registry.load()).complete


def test_init_does_not_overwrite(program: Program) -> None:
    write({"kcheck.yml": "complete: true\n", "pod.yaml": POD})
    outcome = program("init")
    assert (outcome.code, outcome.out) == (2, "")
    assert "kcheck.yml exists already; use --force to replace it" in outcome.err
    assert Path("kcheck.yml").read_text() == "complete: true\n"
    assert '# kubernetes: "1.33"' in program("init", "--print").out
    assert program("init", "--force").code == 0
    assert "complete: true" not in Path("kcheck.yml").read_text().replace("# complete: true", "")
    assert not Path(".kcheck.yaml").exists()


def test_init_in_an_empty_folder(program: Program) -> None:
    assert program("init").out.splitlines()[0] == "Found no manifests."


def test_a_path_cannot_end_a_comment(program: Program) -> None:
    write({"a\nrules: {all: off}\n#/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n"})
    assert program("init").code == 0
    assert read(Path(".kcheck.yaml"), Registry.load()).settings == {}
