"""The commands of `kcheck policy`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

import kcheck
from kcheck.cli.main import kcheck as cli
from tests.cli.conftest import Program, program
from tests.policy.texts_of_policies import DEPLOYMENTS, PODS, binding, config_map, policy, write

__all__ = ["program"]

RULES = """\
policies:
  - id: replica-limit
    title: at most 5 replicas
    message: "{object.spec.replicas} replicas"
    on: Deployment
    check: object.spec.replicas <= 5
    fix: {set: {object.spec.replicas: 5}}
    examples:
      pass:
        - spec: {replicas: 5}
      fail:
        - spec: {replicas: 6}
        - object: {spec: {replicas: 7}}
          message: 7 replicas
          at: spec.replicas
  - id: registry
    on: core/v1 Container
    check: self.image.startsWith("registry.example.com/")
    examples:
      pass: [{image: registry.example.com/web}]
      fail: [{image: nginx}]
"""
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"replicas": 9, "selector": {"matchLabels": {"a": "b"}},
             "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}},
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "team.kcheck.yaml").write_text(RULES)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["policy", *arguments])


def test_examples(tmp_path: Path) -> None:
    assert run("test", ".").output == "5 cases of 2 policies, 0 failures.\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("replicas: 5}\n      fail", "replicas: 6}\n      fail", "10:28: policy/replica-limit: this example must pass, but fails"),
        ("- spec: {replicas: 6}", "- spec: {replicas: 2}", "12:11: policy/replica-limit: this example must fail, but passes"),
        ("message: 7 replicas", "message: 8 replicas", '14:20: policy/replica-limit: the message is "7 replicas"'),
        ("at: spec.replicas", "at: spec.paused", "15:15: policy/replica-limit: the field is spec.replicas"),
        ("- spec: {replicas: 6}", "- {kind: Pod}", "12:11: policy/replica-limit: the rule does not apply to this example"),
        ("{set: {object.spec.replicas: 5}}", "{set: {object.spec.replicas: 9}}", "the fix does not solve the problem of this example"),
        ("image: registry.example.com/web", "image: web", "20:22: policy/registry: this example must pass"),
    ],
)  # fmt: skip
def test_failing_examples(before: str, after: str, expected: str, tmp_path: Path) -> None:
    assert before in RULES
    (tmp_path / "team.kcheck.yaml").write_text(RULES.replace(before, after))
    result = run("test", ".")
    assert expected in result.output
    assert " | " in result.output
    assert "^" in result.output
    assert result.exit_code == 1


def test_mistakes_are_shown_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "team.kcheck.yaml").write_text(RULES.replace("object.spec.replicas <= 5", "object.spec.replcas <= 5"))
    with pytest.raises(Exception, match="Deployment has no field") as error:
        CliRunner().invoke(cli, ["policy", "test", "."], standalone_mode=False, catch_exceptions=False)
    assert "    check: object.spec.replcas <= 5\n" in str(error.value)


TEST = """\
policies: [team.kcheck.yaml, policies.yaml]
tests:
  - name: too many
    object: object-0.yaml
    expect:
      replica-limit: {result: fail, message: "9 replicas", at: spec.replicas, severity: error}
      p: fail
  - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
    expect: {replica-limit: excluded, p: excluded}
"""


def test_test_files(tmp_path: Path) -> None:
    write(tmp_path, DEPLOYMENT, policies=[policy("object.spec.replicas < 3", rules=[DEPLOYMENTS])])
    (tmp_path / "a.kcheck-test.yaml").write_text(TEST)
    result = run("test", ".")
    assert result.output == "9 cases of 3 policies, 0 failures.\n", result.output
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("p: fail\n", "p: pass\n", "7:10: expected pass, but the result for Deployment"),
        ('"9 replicas"', '"8 replicas"', '6:46: expected message "8 replicas", but it is "9 replicas"'),
        ("p: excluded", "p: fail", "is excluded: matchConstraints: resourceRules: none for CREATE of configmaps in v1"),
        ("replica-limit: excluded", "replica-limt: excluded", 'no policy "replica-limt"; did you mean "replica-limit"?'),
        ("p: fail\n", "p: fails\n", '"fails" is not a result; did you mean "fail"?'),
        ("policies.yaml]", "polices.yaml]", "1:30: polices.yaml: no such file or folder"),
        ("object: object-0.yaml\n", "obj: 1\n", 'unknown key "obj"'),
    ],
)
def test_failing_tests(before: str, after: str, expected: str, tmp_path: Path) -> None:
    write(tmp_path, DEPLOYMENT, policies=[policy("object.spec.replicas < 3", rules=[DEPLOYMENTS])])
    (tmp_path / "a.kcheck-test.yaml").write_text(TEST.replace(before, after))
    result = run("test", ".")
    assert expected in result.output, result.output
    assert result.exit_code == 1


def test_update(tmp_path: Path) -> None:
    write(tmp_path, DEPLOYMENT, policies=[policy("object.spec.replicas < 3", rules=[DEPLOYMENTS])])
    test = tmp_path / "a.kcheck-test.yaml"
    test.write_text(TEST.replace("p: fail\n", "p: pass\n").replace('"9 replicas"', '"8 replicas"'))
    assert run("test", ".", "--update").exit_code == 0
    assert test.read_text() == TEST
    test.write_text("policies: [team.kcheck.yaml]\ntests:\n  - object: object-0.yaml\n")
    assert run("test", ".", "--update").exit_code == 0
    assert "replica-limit: fail" in test.read_text()


def test_policies_without_tests_are_named(tmp_path: Path) -> None:
    write(tmp_path, policies=[policy("true", name="untested")])
    assert "Without tests: policy/untested" in run("test", ".").output


def test_parameters_and_namespaces_of_a_test(tmp_path: Path) -> None:
    limit = policy("object.spec.replicas <= int(params.data.max)", rules=[DEPLOYMENTS], paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    bound = binding(paramRef={"name": "limit", "namespace": "shop", "parameterNotFoundAction": "Deny"})
    write(tmp_path, DEPLOYMENT, policies=[limit, bound])
    (tmp_path / "params.json").write_text(json.dumps(config_map({"max": "3"}, "limit")))
    (tmp_path / "a.kcheck-test.yaml").write_text(
        "policies: [policies.yaml]\nobjects: [params.json]\ntests:\n  - object: object-0.yaml\n    expect: {p: fail}\n"
    )
    assert run("test", "a.kcheck-test.yaml").exit_code == 0
    (tmp_path / "params.json").write_text(json.dumps(config_map({"max": "9"}, "limit")))
    assert run("test", "a.kcheck-test.yaml").exit_code == 1


def test_list(tmp_path: Path) -> None:
    write(tmp_path, policies=[policy({"expression": "true", "message": "a vap"}), binding("Warn")])
    rows = json.loads(run("list", ".", "--format", "json").output)["policies"]
    assert [(row["id"], row["engine"], row["severity"], row["title"]) for row in rows] == [
        ("policy/p", "vap", "warning", "a vap"),
        ("policy/registry", "rule", "error", 'the check self.image.startsWith("registry.example.com/") fails'),
        ("policy/replica-limit", "rule", "error", "at most 5 replicas"),
    ]
    assert "3 policies." in run("list", ".").output


def test_explain() -> None:
    output = run("explain", "replica-limit", ".").output
    assert output.startswith("policy/replica-limit (error): at most 5 replicas\n\nteam.kcheck.yaml:2\n\n- id: replica-limit\n  title:")
    assert "registry" not in output


def test_new(tmp_path: Path) -> None:
    assert run("new", "team-label", "--on", "Service").exit_code == 0
    assert run("test", "team-label.kcheck.yaml").output == "2 cases of 1 policy, 0 failures.\n"
    assert run("new", "team-label").exit_code != 0


def test_which(tmp_path: Path) -> None:
    write(tmp_path, DEPLOYMENT, policies=[policy("true"), binding()])
    arguments = ("--policies", "team.kcheck.yaml", "--isolated")
    for named in (("Deployment/web",), ("Deployment/shop/web", "."), ("object-0.yaml",)):
        output = run("which", *named, *arguments).output
        assert "Deployment shop/web (object-0.yaml:1)" in output
        assert "policy/replica-limit  fails: 9 replicas (spec.replicas)" in output
        assert "policy/registry       not judged: on: core/v1 Container" in output
    assert (
        "policy/p              not judged: matchConstraints: resourceRules: none for CREATE"
        in run("which", "Deployment/web", *arguments).output
    )
    assert run("which", "Deployment/other", *arguments).exit_code != 0


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"match": {"objectSelector": {"matchLabels": {"x": "y"}}}}, "matchConstraints: objectSelector: x=y"),
        ({"match": {"namespaceSelector": {"matchLabels": {"x": "y"}}}}, "matchConstraints: namespaceSelector: x=y"),
        ({"match": {"excludeResourceRules": [DEPLOYMENTS]}}, "matchConstraints: excludeResourceRules"),
        (
            {"matchConditions": [{"name": "big", "expression": "object.spec.replicas > 10"}]},
            "matchConditions big: object.spec.replicas > 10",
        ),
    ],
)
def test_clauses_that_exclude(spec: dict[str, Any], expected: str, tmp_path: Path) -> None:
    write(tmp_path, DEPLOYMENT, policies=[policy("false", rules=[DEPLOYMENTS], **spec), binding()])
    assert f"policy/p  not judged: {expected}" in run("which", "Deployment/web", ".", "--isolated").output


def test_coverage(tmp_path: Path) -> None:
    (tmp_path / "k8s").mkdir()
    ignored = DEPLOYMENT | {"metadata": {"name": "web", "annotations": {"kcheck.dev/ignore": "policy/replica-limit; sale"}}}
    policies = [
        policy("true", name="never"),
        binding(policy="never"),
        policy("true", name="ok", rules=[DEPLOYMENTS]),
        binding(name="c", policy="ok"),
    ]
    write(tmp_path / "k8s", ignored, policies=policies)
    rows = json.loads(run("coverage", "k8s", "--policies", "team.kcheck.yaml", "--isolated", "--format", "json").output)["policies"]
    assert {row["id"]: row["remark"] for row in rows} == {
        "policy/never": "never matched", "policy/ok": "never failed", "policy/registry": "never matched",
        "policy/replica-limit": "fails only for suppressed objects",
    }  # fmt: skip


RULE_FOR_CLUSTER = """\
policies:
  - id: limit
    message: "{self.metadata.name} has {self.spec.replicas} replicas"
    severity: warning
    on: {kinds: [Deployment, StatefulSet], labels: {tier: web}, namespaces: [shop, "!test"]}
    when: self.spec.replicas > 1
    check: self.spec.replicas <= 5
"""


def test_converted_rules_judge_alike(tmp_path: Path) -> None:
    (tmp_path / "team.kcheck.yaml").write_text(RULE_FOR_CLUSTER)
    result = run("convert", ".")
    assert result.exit_code == 0, result.output
    (tmp_path / "k8s").mkdir()
    for number, (replicas, namespace, tier) in enumerate([(9, "shop", "web"), (4, "shop", "web"), (9, "test", "web"), (9, "shop", "db")]):
        metadata = {"name": f"w{number}", "namespace": namespace, "labels": {"tier": tier}}
        value = DEPLOYMENT | {"metadata": metadata, "spec": DEPLOYMENT["spec"] | {"replicas": replicas}}
        (tmp_path / "k8s" / f"{number}.json").write_text(json.dumps(value, indent=1))
    (tmp_path / "vap.yaml").write_text(result.output)

    def found(policies: str) -> list[tuple[str, str, str, str]]:
        report = kcheck.check(tmp_path / "k8s", config={}, policies=tmp_path / policies, select="policy")
        return [
            (each.place.file, each.message, each.severity.word, each.place.field) for each in report.findings if each.family == "policy"
        ]

    assert len(found("team.kcheck.yaml")) == 1
    assert found("vap.yaml") == found("team.kcheck.yaml")


@pytest.mark.parametrize(
    ("on", "number"),
    [
        ({"kinds": ["Deployment", "ClusterRole", "Namespace"], "namespaces": ["shop"]}, 2),
        ({"namespaces": ["shop"]}, 2),
        ({"kinds": ["Deployment", "ClusterRole"], "namespaces": ["shop", "kube-*"]}, 2),
        ({"kinds": ["Deployment", "ClusterRole"], "namespaces": ["!kube-*"]}, 2),
        ({"kinds": ["Deployment", "ClusterRole"], "namespaces": ["!shop"]}, 2),
        ("v1 *", 1),
        (["apps/v1 *", "Namespace"], 3),
        ({"kinds": ["*", "Namespace"], "groups": ["apps"]}, 2),
        ({"types": ["core/v1 Container"], "namespaces": ["!shop"]}, 1),
    ],
    ids=str,
)
def test_scopes_of_converted_rules(on: Any, number: int, tmp_path: Path) -> None:
    """The converted policy judges the same objects, also those without a namespace. Comments in expressions hide nothing."""
    rule = {"id": "a", "on": on, "when": "true // value\n// each", "check": "self == self && false // item", "title": "t"}
    (tmp_path / "team.kcheck.yaml").write_text(json.dumps({"policies": [rule]}))
    (tmp_path / "vap.yaml").write_text(run("convert", "team.kcheck.yaml").output)
    names = [("apps/v1", "Deployment", "web", "shop"), ("apps/v1", "Deployment", "dns", "kube-system"), ("v1", "Namespace", "shop", "")]
    objects: list[dict[str, Any]] = [
        {"apiVersion": version, "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}
        for version, kind, name, namespace in [*names, ("rbac.authorization.k8s.io/v1", "ClusterRole", "view", "")]
    ]
    for each in objects[:2]:
        each["spec"] = {"template": {"spec": {"containers": [{"name": "a"}]}}}
    (tmp_path / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found = [
        sorted((each.place.object.kind, each.place.object.name, each.message) for each in report.findings if each.rule == "policy/a")
        for policies in ("team.kcheck.yaml", "vap.yaml")
        for report in [kcheck.check(tmp_path / "objects.json", config={}, policies=tmp_path / policies)]
    ]
    assert len(found[0]) == number
    assert found[1] == found[0]


@pytest.mark.parametrize(
    ("on", "check", "reason"),
    [
        ("core/v1 EnvVar", "self.name != 'A'", "they occur in lists of lists"),
        ("apiextensions/v1 JSONSchemaProps", "has(self.type)", "they may contain themselves"),
        ("Service", "size(podsOf(object)) > 0", "it reads other objects of the input"),
        ("Service", "size(objects.Pod) > 0", "it reads other objects of the input"),
    ],
)
def test_reasons_of_rules_that_are_not_converted(on: str, check: str, reason: str, tmp_path: Path) -> None:
    rules = [{"id": "a", "on": on, "check": check}, {"id": "other", "on": "Deployment", "check": "object.spec.replicas <= 5"}]
    (tmp_path / "team.kcheck.yaml").write_text(json.dumps({"policies": rules}))
    result = run("convert", "team.kcheck.yaml")
    assert result.exit_code == 1
    # The others are converted.
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(result.stdout)][:1] == ["other"]
    assert "kcheck: policy/a is not converted: " in result.output
    assert reason in result.output


def test_rules_about_types_become_policies_about_kinds(tmp_path: Path) -> None:
    rule = {
        "id": "registry", "on": {"types": ["core/v1 Container"], "kinds": ["Pod", "Deployment"]}, "when": "self.name != 'value'",
        "check": "self.image.startsWith('registry.example.com/')", "message": "image {self.image} of {object.metadata.name}",
    }  # fmt: skip
    (tmp_path / "team.kcheck.yaml").write_text(json.dumps({"policies": [rule]}))
    converted = tmp_path / "converted.yaml"
    converted.write_text(run("convert", "team.kcheck.yaml").output)
    pods = {
        "good": [{"name": "a", "image": "registry.example.com/a"}], "named": [{"name": "value", "image": "nginx:1"}],
        "bad": [{"name": "a", "image": "registry.example.com/a"}, {"name": "b", "image": "nginx:2"}],
    }  # fmt: skip
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}
        for name, containers in pods.items()
    ]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"initContainers": pods["bad"], "containers": pods["good"]}}
    workload = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    objects += [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": workload},
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "other"}, "spec": workload},
    ]
    (tmp_path / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found = [
        [(each.place.object.name, each.message) for each in kcheck.check(tmp_path / "objects.json", config={}, policies=policies).findings
         if each.rule == "policy/registry"]
        for policies in ("team.kcheck.yaml", "converted.yaml")
    ]  # fmt: skip
    assert sorted(found[0]) == sorted(found[1]) == [("bad", "image nginx:2 of bad"), ("web", "image nginx:2 of web")]


def test_bundle(tmp_path: Path) -> None:
    (tmp_path / "team.kcheck.yaml").write_text(RULE_FOR_CLUSTER)
    (tmp_path / "b.kcheck.yaml").write_text("bundle: {name: platform, version: 1.2.0, authors: [a, b], docs: https://example.com}\n")
    write(tmp_path, policies=[policy("true"), binding()])
    output = run("bundle", ".").output
    assert output.startswith("# platform 1.2.0\n---\n")
    assert output.count('app.kubernetes.io/version: "1.2.0"') == 4
    assert output.count("kcheck.dev/authors") == 4


MUTATING = """
policies: [m.yaml]
tests:
  - object: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: "i:1"}]}}
    expect: {profile: changed, judge: pass}
    mutated: {spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}, hostNetwork: null, containers: [{name: c}]}}
  - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: m}}
    expect: {profile: excluded}
    mutated: {metadata: {name: m, labels: null}}
"""


def mutating_policies() -> str:
    rules = {"matchConstraints": policy(rules=[PODS])["spec"]["matchConstraints"]}
    profile = "Object.spec.securityContext.seccompProfile{type: 'RuntimeDefault'}"
    change = f"Object{{spec: Object.spec{{securityContext: Object.spec.securityContext{{seccompProfile: {profile}}}}}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": change}}
    mutating = policy(name="profile") | {
        "kind": "MutatingAdmissionPolicy", "spec": rules | {"reinvocationPolicy": "Never", "mutations": [mutation]}
    }  # fmt: skip
    judge = policy("object.spec.securityContext.seccompProfile.type == 'RuntimeDefault'", name="judge", rules=[PODS])
    return yaml.safe_dump_all([mutating, judge])


def test_mutated_objects(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(mutating_policies())
    (tmp_path / "m.kcheck-test.yaml").write_text(MUTATING)
    found = run("test", ".")
    assert (found.exit_code, found.stdout) == (0, "10 cases of 4 policies, 0 failures.\n")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("RuntimeDefault", "Unconfined", 'seccompProfile.type "Unconfined" after the mutation, but it is "RuntimeDefault"'),
        ("hostNetwork: null", "hostNetwork: true", "expected spec.hostNetwork true after the mutation, but it is absent"),
        ("[{name: c}]", "[{name: c, image: null}]", 'expected no spec.containers[0].image after the mutation, but it is "i:1"'),
        ("profile: changed", "profile: pass", 'expected pass, but the result for Pod "p" is changed'),
        ("profile: excluded", "profile: changed", 'expected changed, but the result for ConfigMap "m" is excluded'),
    ],
)  # fmt: skip
def test_differences_of_mutated_objects(before: str, after: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(mutating_policies())
    (tmp_path / "m.kcheck-test.yaml").write_text(MUTATING.replace(before, after))
    found = run("test", ".")
    assert found.exit_code == 1
    assert expected in found.stdout
    assert run("test", ".", "--update").exit_code == (0 if "absent" not in expected else 1)


def test_secrets_are_not_shown_in_differences(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(mutating_policies())
    secret = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: correct-horse}}"
    test = f"policies: [m.yaml]\ntests:\n  - object: {secret}\n    mutated: {{data: {{password: null}}}}\n"
    (tmp_path / "m.kcheck-test.yaml").write_text(test)
    found = run("test", ".")
    assert "expected no data.password" in found.stdout
    assert "Y29ycmVjdC1ob3JzZQ" not in found.stdout


HOSTILE = "\x1b]0;owned\x07"
"""Not a colour: click removes colours from what does not go to a terminal."""


def hostile_files(folder: Path) -> None:
    """Policies and objects whose names and messages contain control characters."""
    name = f"e{HOSTILE}"
    bad = policy({"expression": "object.metadata.name == 'x'", "messageExpression": f"'m{HOSTILE}' + object.metadata.name"}, name=name)
    match = {"namespaceSelector": {"matchLabels": {HOSTILE: HOSTILE}}}
    other = policy({"expression": "true", "message": HOSTILE}, name="other", match=match)
    bindings = [binding(name=name, policy=name), binding(name="other", policy="other")]
    write(folder, config_map(name=f"c{HOSTILE}"), policies=[bad, other, *bindings])


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "."), ("coverage", "."), ("which", "object-0.yaml", "."), ("explain", f"e{HOSTILE}", "."), ("test", "."),
        ("explain", "none", "."), ("convert", "."),
    ],
)  # fmt: skip
def test_control_characters_are_not_sent_to_the_terminal(program: Program, arguments: tuple[str, ...], tmp_path: Path) -> None:
    hostile_files(tmp_path)
    found = program("policy", *arguments)
    assert "Traceback" not in found.err
    assert not {"\x1b", "\x07"} & {*found.out, *found.err}


def test_credentials_are_not_shown(tmp_path: Path) -> None:
    message = {"expression": "false", "messageExpression": "'it is ' + object.data.password"}
    write(tmp_path, config_map({"password": "correct-horse-battery"}), policies=[policy(message), binding()])
    (tmp_path / "a.kcheck-test.yaml").write_text(
        "policies: [policies.yaml]\ntests:\n  - object: object-0.yaml\n    expect: {p: pass}\n    mutated: {data: {password: x}}\n"
    )
    tested = run("test", ".").output
    (tmp_path / "a.kcheck-test.yaml").unlink()
    for output in (tested, run("which", "object-0.yaml", ".").output):
        assert "it is ***" in output
        assert "correct-horse" not in output


def test_inputs_without_objects(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "empty").mkdir()
    write(tmp_path / "p", policies=[policy("true", name="x"), binding(policy="x")])
    (tmp_path / "team.kcheck.yaml").unlink()
    assert run("coverage", "empty", "--policies", "p").output.splitlines()[1].split() == ["policy/x", "0", "0", "0", "never", "matched"]
    assert run("coverage", "empty").exit_code == 2
    (tmp_path / "p" / "binary.yaml").write_bytes(b"\x00\xff\xfe")
    assert run("list", "p").output == "kcheck: p: binary data, not text\n"


def test_standard_input(tmp_path: Path) -> None:
    texts = [policy("false"), binding(), config_map()]
    (tmp_path / "team.kcheck.yaml").unlink()
    input = "\n---\n".join(map(json.dumps, texts))
    found = CliRunner().invoke(cli, ["policy", "coverage", "-"], input=input)
    assert found.output.splitlines()[1].split() == ["policy/p", "1", "1", "1"]
    assert "fails: failed expression: false" in CliRunner().invoke(cli, ["policy", "which", "ConfigMap/c", "-"], input=input).output


@pytest.mark.parametrize("on", ["Deployment", "*", "apps/v1 *", "core/v1 Container", "core/v1 Probe", "cert-manager.io/v1 Certificate"])
def test_created_rules_pass_their_examples(on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert "To enforce it, add policies: [a.kcheck.yaml] to .kcheck.yaml" in run("new", "a", "--on", on).output
    # Without a config, the commands use the rules of the current folder.
    tested = run("test")
    assert tested.exit_code == 0, tested.output
    assert run("list").output.startswith("policy/a")


def test_new_rule_about_an_unknown_kind() -> None:
    assert 'unknown kind "Deploymnt"; did you mean "Deployment"?' in run("new", "a", "--on", "Deploymnt").output
    assert 'did you mean "apps/v1 Deployment"?' in run("new", "a", "--on", "apps/v1/Deployment").output


@pytest.mark.parametrize(
    ("on", "expected"), [("a/b: c Kind", "must be a kind or API type"), ("* *", "must be a kind"), ("foo/v1 *", "no kind in foo/v1")]
)
def test_new_rule_about_no_kind(on: str, expected: str, tmp_path: Path) -> None:
    """What is not a kind would make a file that is not YAML."""
    assert expected in run("new", "a", "--on", on).output
    assert not (tmp_path / "a.kcheck.yaml").exists()


def test_which_suggests_objects(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(json.dumps(DEPLOYMENT))
    output = run("which", "Deployment/wbe", "web.json", "--policies", "team.kcheck.yaml").output
    assert output == 'kcheck: no object "Deployment/wbe"; did you mean "Deployment/web"?\n'
