"""Where policies come from, and how findings of policies are selected, suppressed and reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kcheck
from kcheck.cli.main import kcheck as cli
from kcheck.finding.finding import Finding
from tests.policy.texts_of_policies import binding, config_map, judge, policy, write

POLICIES = [policy("false", name="one"), binding(name="one", policy="one"), policy("false", name="two"), binding(name="two", policy="two")]


def ids(found: list[Finding]) -> list[str]:
    return sorted(each.rule for each in found)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["policy/one", "policy/two"]),
        ({"preset": "minimal"}, ["policy/one", "policy/two"]),
        ({"select": "policy"}, ["policy/one", "policy/two"]),
        ({"select": "policy/one"}, ["policy/one"]),
        ({"select": "spec"}, []),
        ({"ignore": "policy"}, []),
        ({"ignore": "policy/one"}, ["policy/two"]),
        ({"config": {"rules": {"policy/one": "off"}}}, ["policy/two"]),
        ({"config": {"rules": {"policy": "off", "policy/one": "on"}}}, ["policy/one"]),
        ({"config": {"policies": {"from-input": False}}}, []),
    ],
)
def test_selection(settings: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    assert ids(judge(tmp_path, config_map(), policies=POLICIES, **settings)) == expected


def test_severity_of_the_config(tmp_path: Path) -> None:
    found = judge(tmp_path, config_map(), policies=POLICIES, config={"rules": {"policy/one": "info"}})
    assert {each.rule: each.severity.word for each in found} == {"policy/one": "info", "policy/two": "error"}


def test_policies_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "k8s").mkdir()
    write(tmp_path / "policies", policies=POLICIES)
    (tmp_path / "k8s" / "c.json").write_text(json.dumps(config_map()))
    assert not [each for each in kcheck.check(tmp_path / "k8s", config={}).findings if each.family == "policy"]
    found = kcheck.check(tmp_path / "k8s", config={}, policies=tmp_path / "policies").findings
    assert ids([each for each in found if each.family == "policy"]) == ["policy/one", "policy/two"]


def test_path_without_policies_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(config_map()))
    with pytest.raises(kcheck.Error, match="contains no policy"):
        kcheck.check(tmp_path, config={}, policies=tmp_path / "c.json")


@pytest.mark.parametrize("folder", ["tests", "examples", "testdata"])
def test_policies_of_tests_and_examples_are_not_enforced(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    write(tmp_path / folder, policies=POLICIES)
    (tmp_path / "c.json").write_text(json.dumps(config_map()))
    assert not [each for each in kcheck.check(tmp_path, config={}).findings if each.family == "policy"]


@pytest.mark.parametrize("name", ["policy/one", "policy"])
def test_ignore_comment(name: str, tmp_path: Path) -> None:
    write(tmp_path, policies=POLICIES[:2])
    (tmp_path / "c.yaml").write_text(
        f"# kcheck: ignore[{name}] accepted\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: shop\n"
    )
    report = kcheck.check(tmp_path, config={})
    assert not report.findings
    assert report.suppressed == 1


@pytest.mark.parametrize(
    ("name", "settings", "unused"),
    [
        ("policy/two", {}, True),
        ("policy/one", {}, False),
        ("policy/unknown", {}, False),
        ("policy/two", {"ignore": "policy/two"}, False),
        ("policy/two", {"config": {"policies": {"from-input": False}}}, False),
        ("policy/old", {}, False),
    ],
)
def test_unused_ignores(name: str, settings: dict[str, Any], unused: bool, tmp_path: Path) -> None:
    passing = [policy("true", name="two"), binding(name="two", policy="two")]
    passing += [policy("oldObject == null", name="old"), binding(name="old", policy="old")]
    ignored = config_map(annotations={"kcheck.dev/ignore": f"{name}; accepted"})
    write(tmp_path, ignored, policies=[*POLICIES[:2], *passing])
    found = kcheck.check(tmp_path, **({"config": {}} | settings)).findings
    assert [each.message for each in found if each.rule == "unused-ignore"] == ([f'"{name}" has no findings here'] if unused else [])


def test_ignore_annotation(tmp_path: Path) -> None:
    ignored = config_map(annotations={"kcheck.dev/ignore": "policy/one; accepted"})
    assert ids(judge(tmp_path, ignored, policies=POLICIES)) == ["policy/two"]


def test_cache_and_processes(tmp_path: Path) -> None:
    folder, cache = tmp_path / "input", tmp_path / "cache"
    folder.mkdir()
    objects = [config_map({"text": "x" * 9000}, f"c{number}") for number in range(80)]
    write(folder, *objects, policies=POLICIES)
    alone = kcheck.check(folder, config={})
    for _ in range(2):
        assert kcheck.check(folder, config={}, jobs=2, cache=cache).findings == alone.findings
    assert len([each for each in alone.findings if each.family == "policy"]) == 160
    write(folder, policies=POLICIES[:2])
    found = kcheck.check(folder, config={}, cache=cache).findings
    assert {each.rule for each in found if each.family == "policy"} == {"policy/one"}


def run(*arguments: str) -> str:
    return CliRunner().invoke(cli, ["check", "--no-cache", "--isolated", *arguments]).output


def test_shards(tmp_path: Path) -> None:
    write(tmp_path, config_map(), config_map(name="d"), policies=POLICIES)
    for number in (1, 2):
        run("--shard", f"{number}/2", "--output", str(tmp_path / f"{number}.shard"), str(tmp_path))
    shards = [str(tmp_path / f"{number}.shard") for number in (1, 2)]
    merged = json.loads(CliRunner().invoke(cli, ["merge", "--format", "json", *shards]).output)
    assert [each["rule"] for each in merged["findings"] if each["family"] == "policy"] == ["policy/one", "policy/two"] * 2
    assert merged["summary"]["policies"] == 2


@pytest.mark.parametrize(
    "format", ["text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown", "rdjson", "teamcity", "html", "checkstyle"]
)
def test_formats(format: str, tmp_path: Path) -> None:
    write(tmp_path, config_map(), policies=POLICIES[:2])
    output = run("--format", format, str(tmp_path))
    if "unknown format" in output or "Usage:" in output:
        pytest.skip("no such format")
    assert "policy/one" in output
    assert "Traceback" not in output


def test_json_and_sarif_carry_the_evidence(tmp_path: Path) -> None:
    write(tmp_path, config_map(), policies=POLICIES[:2])
    evidence = {"engine": "vap", "name": "one", "binding": "one", "param": "", "expression": "false", "variables": {}}
    [finding] = json.loads(run("--format", "json", str(tmp_path)))["findings"]
    assert finding["policy"] == evidence
    [result] = json.loads(run("--format", "sarif", str(tmp_path)))["runs"][0]["results"]
    assert result["properties"]["policy"] == evidence


def test_summary_names_the_policies(tmp_path: Path) -> None:
    write(tmp_path, config_map(), policies=POLICIES)
    assert "2 policies are enforced (policies: {from-input: false} in the config ignores those in the input)." in run(str(tmp_path))


def test_summary_names_from_input_only_for_policies_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "k8s").mkdir()
    write(tmp_path, policies=POLICIES)
    write(tmp_path / "k8s", config_map(), policies=[policy("true", name="three"), binding(name="three", policy="three")])
    own = ("--policies", str(tmp_path / "policies.yaml"))
    assert "2 policies are enforced.\n" in run(*own, str(tmp_path / "k8s" / "object-0.yaml"))
    assert "2 policies are enforced.\n" in run(*own, str(tmp_path / "policies.yaml"))
    assert "3 policies are enforced (policies: {from-input: false}" in run(*own, str(tmp_path / "k8s"))


def test_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, config_map(), policies=POLICIES)
    assert CliRunner().invoke(cli, ["baseline", "create", "."]).exit_code == 0
    output = CliRunner().invoke(cli, ["check", "--no-cache", "."]).output
    assert "2 findings in the baseline" in output


PATCH = """
resources: [../base]
patches:
  - target: {kind: ValidatingAdmissionPolicy}
    patch: '[{op: replace, path: /spec/validations/0/expression, value: "object.data.a == \\"LETTER\\""}]'
"""


def kustomize(folder: Path, **overlays: str) -> list[Finding]:
    """Check a base with a policy that demands "a", and overlays that demand another letter."""
    (folder / "base").mkdir(exist_ok=True)
    write(folder / "base", config_map({"a": "a"}), policies=[policy("object.data.a == 'a'"), binding()])
    (folder / "base" / "kustomization.yaml").write_text("resources: [object-0.yaml, policies.yaml]\n")
    for name, letter in overlays.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "kustomization.yaml").write_text(PATCH.replace("LETTER", letter))
    return [each for each in kcheck.check(folder, config={}).findings if each.family == "policy"]


def test_objects_of_kustomizations_are_judged(tmp_path: Path) -> None:
    kustomize(tmp_path)
    (tmp_path / "base" / "object-0.yaml").write_text(json.dumps(config_map({"a": "b"})))
    assert ids([each for each in kcheck.check(tmp_path, config={}).findings if each.family == "policy"]) == ["policy/p"]


def test_policies_that_a_kustomization_patches(tmp_path: Path) -> None:
    (found,) = kustomize(tmp_path, prod="b")
    assert found.policy is not None
    assert (found.policy.expression, found.related[0].place.file) == ('object.data.a == "b"', f"{tmp_path}/base/policies.yaml")
    assert not kustomize(tmp_path, prod="a")


def test_policies_that_kustomizations_patch_differently(tmp_path: Path) -> None:
    assert not kustomize(tmp_path, prod="b", test="c")
    line = f"{tmp_path}/prod and {tmp_path}/test build it differently"
    assert line in CliRunner().invoke(cli, ["check", str(tmp_path), "--isolated"]).output.replace("\n", " ")


def test_policies_that_a_kustomization_in_the_current_folder_patches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kustomize(tmp_path)
    (tmp_path / "kustomization.yaml").write_text(PATCH.replace("LETTER", "b").replace("../base", "base"))
    monkeypatch.chdir(tmp_path)
    (found,) = (each for each in kcheck.check(".", config={}).findings if each.family == "policy")
    assert found.policy is not None
    assert found.policy.expression == 'object.data.a == "b"'
    kustomize(tmp_path, other="c")
    assert "because . and other build it differently" in CliRunner().invoke(cli, ["check", "--isolated"]).output.replace("\n", " ")


def test_policies_judge_what_a_kustomization_builds(tmp_path: Path) -> None:
    kustomize(tmp_path)
    (tmp_path / "prod").mkdir()
    patch = "[{op: replace, path: /data/a, value: b}]"
    text = f"resources: [../base]\npatches:\n  - target: {{kind: ConfigMap}}\n    patch: '{patch}'\n"
    (tmp_path / "prod" / "kustomization.yaml").write_text(text)
    (found,) = (each for each in kcheck.check(tmp_path, config={}).findings if each.family == "policy")
    assert found.file == f"{tmp_path}/prod/kustomization.yaml"


def test_provided_objects(tmp_path: Path) -> None:
    limit = policy(
        "object.data.a == params.data.a", paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        match={"namespaceSelector": {"matchLabels": {"env": "prod"}}},
    )  # fmt: skip
    bound = binding(paramRef={"name": "limit", "namespace": "shop", "parameterNotFoundAction": "Deny"})
    objects = tmp_path / "objects"
    objects.mkdir()
    subject = config_map({"a": "b"}) | {"metadata": {"name": "c", "namespace": "shop"}}
    write(objects, subject, policies=[limit, bound])
    cluster = tmp_path / "cluster.json"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "prod"}}}
    param = config_map({"a": "b"}) | {"metadata": {"name": "limit", "namespace": "shop"}}

    def found(a: str) -> list[str]:
        param["data"] = {"a": a}
        cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [namespace, param]}))
        return ids([each for each in kcheck.check(objects, config={}, provided=cluster).findings if each.family == "policy"])

    assert found("b") == []
    assert found("c") == ["policy/p"]
