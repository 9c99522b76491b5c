"""What is loaded when: start-up is most of a small run, so libraries wait until they are needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n"
PROGRAM = """
import sys
sys.argv[0] = "kcheck"
try:
    from kcheck.cli.main import main
    main()
except SystemExit:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def loaded(folder: Path, *arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    return set(done.stderr.split())


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path


def test_version_needs_click_alone(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "--version")
    assert "click" in modules
    assert modules.isdisjoint({"ruamel.yaml", "_ruamel_yaml"})
    assert modules.isdisjoint({"jsonschema", "pluggy", "importlib.metadata"})
    assert {m for m in modules if m.startswith("kcheck")} <= {
        "kcheck",
        "kcheck.check",
        "kcheck.cli",
        "kcheck.cli.main",
        "kcheck.cli.streams",
    }


def test_a_check_loads_no_more_than_it_uses(pod: Path) -> None:
    modules = loaded(pod, "check", "pod.yaml")
    assert modules.isdisjoint({"ruamel.yaml", "_ruamel_yaml"})
    assert modules.isdisjoint({"jsonschema", "referencing", "pathspec", "importlib.metadata", "unittest", "asyncio", "ssl"})
    # Kinds of one's own, config files and other forms of the report are read by modules of their own.
    late = {
        "kcheck.schema.crd.custom_resources",
        "kcheck.schema.external.json_schemas",
        "kcheck.cel.eval.program",
        "kcheck.config.file",
        "kcheck.reporters.sarif",
        "kcheck.rule.equivalents",
        "kcheck.graph",
        "kcheck.testing",
        "kcheck.cache.store",
        "kcheck.cache.results",
        "pickle",
        "kcheck.workers.processes",
        "kcheck.shards.files",
        "kcheck.workers.dask",
        "kcheck.run.fixing",
        "kcheck.cli.fix",
        "difflib",
        "lzma",
        "click.shell_completion",
        "distributed",
        "multiprocessing",
        # Policies, charts and objects as the API server holds them.
        "kcheck.policy",
        "kcheck.run.policy_reading",
        "kcheck.run.charts",
        "kcheck.run.chart_releases",
        "kcheck.defaulting",
        "kcheck.kustomize",
        "kcheck.check.kustomizations",
        "kcheck.repository.definition_scopes",
    }
    assert modules.isdisjoint(late)


POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: named
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: object.metadata.name != "shop"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: named
spec:
  policyName: named
  validationActions: [Deny]
"""


def test_a_cached_run_evaluates_nothing(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(pod / "cache"))
    (pod / "policy.yaml").write_text(POLICY)
    # Smaller inputs are not cached.
    (pod / "large.yaml").write_text("---\n".join(POD.replace("web", f"web-{number}") for number in range(2000)))
    evaluator = {"kcheck.policy.policy_set", "kcheck.cel.eval.evaluator", "kcheck.defaulting.objects"}
    assert evaluator <= loaded(pod, "check", ".", "--isolated")
    modules = loaded(pod, "check", ".", "--isolated")
    assert "kcheck.run.policy_reading" in modules
    assert modules.isdisjoint(evaluator)
    assert modules.isdisjoint({"kcheck.cel.eval.program", "kcheck.workers.processes", "multiprocessing", "pickle"})


def test_files_that_are_not_used_need_no_library(pod: Path) -> None:
    (pod / ".git").mkdir()
    (pod / ".gitignore").write_text("*.tmp\n")
    (pod / "widget_v1.json").write_text('{"type": "object"}')
    (pod / "crd.yaml").write_text("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\n")
    modules = loaded(pod, "check", ".", "--schemas", "widget_v1.json")
    assert "kcheck.schema.crd.definitions" in modules
    assert modules.isdisjoint({"pathspec", "jsonschema"})


def test_what_is_used_is_loaded(pod: Path) -> None:
    (pod / "widget_v1.json").write_text('{"type": "object"}')
    (pod / "widget.yaml").write_text("apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n")
    modules = loaded(pod, "check", "--diff", "widget.yaml", "--schemas", "widget_v1.json")
    assert modules >= {"kcheck.run.fixing", "jsonschema"}


def test_what_the_quick_reader_gives_up_brings_libyaml(pod: Path) -> None:
    (pod / "anchor.yaml").write_text(POD + "  labels: &labels {app: web}\n")
    assert "_ruamel_yaml" in loaded(pod, "check", "anchor.yaml")
