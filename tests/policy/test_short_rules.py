"""Short rules in CEL: what they apply to, their findings, and the errors in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kcheck
from kcheck.cli.main import kcheck as cli
from kcheck.finding.finding import Finding

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web}
spec:
  replicas: 9
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      initContainers:
        - name: setup
          image: registry.example.com/setup:1.0
      containers:
        - name: web
          image: nginx:1.2
"""
LIMIT = {"id": "limit", "on": "Deployment", "message": "{object.spec.replicas} replicas", "check": "object.spec.replicas <= 5"}


def judge(folder: Path, *rules: dict[str, Any], text: str = DEPLOYMENT, **settings: Any) -> list[Finding]:
    """The findings of short rules for a file."""
    (folder / "k8s").mkdir(exist_ok=True)
    (folder / "k8s" / "object.yaml").write_text(text)
    (folder / "team.kcheck.yaml").write_text(json.dumps({"policies": rules}, indent=1))
    report = kcheck.check(folder / "k8s", **({"config": {}, "policies": folder / "team.kcheck.yaml"} | settings))
    return [each for each in report.findings if each.family == "policy"]


def mistakes(folder: Path, text: str) -> list[str]:
    """The errors in a file with short rules, without its name."""
    (folder / "k8s").mkdir(exist_ok=True)
    (folder / "team.kcheck.yaml").write_text(text)
    with pytest.raises(kcheck.Error) as error:
        kcheck.check(folder / "k8s", config={}, policies=folder / "team.kcheck.yaml")
    return [line.partition("team.kcheck.yaml:")[2] for line in str(error.value).splitlines()]


def test_finding(tmp_path: Path) -> None:
    [found] = judge(tmp_path, LIMIT | {"help": "set at most {2 + 3}", "severity": "warning"})
    assert (found.rule, found.message, found.help, found.severity.word) == ("policy/limit", "9 replicas", "set at most 5", "warning")
    assert (found.place.range[:2], found.place.field) == ((8, 13), "spec.replicas")
    assert found.policy is not None
    assert (found.policy.engine, found.policy.policy, found.policy.expression) == ("rule", "limit", "object.spec.replicas <= 5")
    assert found.related[0].place.file.endswith("team.kcheck.yaml")


@pytest.mark.parametrize(
    ("scope", "number"),
    [
        (None, 1),
        ("Deployment", 1),
        ("apps/v1 Deployment", 1),
        (["Pod", "Deployment"], 1),
        ("StatefulSet", 0),
        ("core/v1 Container", 2),
        ({"types": ["core/v1 PodSpec"]}, 1),
        ({"groups": ["apps"]}, 1),
        ({"groups": ["core"]}, 0),
        ({"labels": {"app": "web"}}, 1),
        ({"labels": "app in (web, api), !legacy"}, 1),
        ({"labels": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}, 0),
        ({"namespaces": ["sh*"]}, 1),
        ({"namespaces": ["!shop"]}, 0),
        ({"namespaces": ["prod", "test"]}, 0),
        ({"kinds": ["Deployment"], "namespaces": ["*", "!shop"]}, 0),
    ],
)
def test_scope(scope: Any, number: int, tmp_path: Path) -> None:
    rule: dict[str, Any] = {"id": "r", "check": 'object.metadata.name == ""'}
    assert len(judge(tmp_path, rule | ({"on": scope} if scope is not None else {}))) == number


def test_type_occurs_wherever_it_is(tmp_path: Path) -> None:
    rule = {"id": "registry", "on": "core/v1 Container", "message": "{self.image}", "check": 'self.image.startsWith("registry.")'}
    [found] = judge(tmp_path, rule)
    assert (found.message, found.place.field) == ("nginx:1.2", "spec.template.spec.containers[0].image")


@pytest.mark.parametrize(
    ("when", "number"), [("object.spec.replicas > 8", 1), ("object.spec.replicas > 9", 0), ("has(object.spec.paused)", 0)]
)
def test_when(when: str, number: int, tmp_path: Path) -> None:
    assert len(judge(tmp_path, LIMIT | {"when": when})) == number


def test_error_in_when_is_reported(tmp_path: Path) -> None:
    [found] = judge(tmp_path, LIMIT | {"when": 'object.metadata.annotations["tier"] == "web"'})
    assert found.policy is not None
    assert found.policy.expression.startswith("object.metadata.annotations")


def test_missing_field_fails_with_the_message_of_the_rule(tmp_path: Path) -> None:
    rule = {"id": "team", "message": "label team is missing", "check": 'object.metadata.labels["team"] != ""'}
    [found] = judge(tmp_path, rule)
    assert (found.message, found.place.field) == ("label team is missing", "metadata.labels[team]")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"title": "the label team is set"}, "violates the rule: the label team is set"),
        ({}, 'the check object.metadata.labels["team"] != "" fails'),
    ],
)
def test_message_of_a_rule_without_message(rule: dict[str, str], expected: str, tmp_path: Path) -> None:
    [found] = judge(tmp_path, {"id": "team", "check": 'object.metadata.labels["team"] != ""'} | rule)
    assert found.message == expected


def test_position_of_at(tmp_path: Path) -> None:
    [found] = judge(tmp_path, LIMIT | {"at": 'object.spec.template.spec.containers.filter(c, c.name == "web")[0].image'})
    assert found.place.range.line == 20


def test_secret_values_are_masked(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n"
    rule = {"id": "s", "on": "Secret", "message": "{self.data.password} {object.data}", "check": 'object.data.password == "eA=="'}
    [found] = judge(tmp_path, rule, text=secret)
    assert found.message == '*** {"password": "***"}'
    assert "hunter2" not in str(found)


def test_errors_do_not_quote_secret_values(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n"
    [found] = judge(tmp_path, {"id": "s", "on": "Secret", "check": "int(object.data.password) > 3"}, text=secret)
    assert "the expression resulted in an error" in found.message
    assert "aHVudGVy" not in found.message


UNIQUE = {
    "id": "unique-hosts", "on": "Ingress", "message": "another Ingress serves a host of {self.metadata.name}",
    "check": "self.spec.rules.all(r, !objects.Ingress.exists(i, i.metadata.name != self.metadata.name && "
    "i.spec.rules.exists(other, other.host == r.host)))",
}  # fmt: skip
INGRESS = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {rules: [{host: HOST}]}\n"


def test_rules_about_several_objects(tmp_path: Path) -> None:
    texts = [INGRESS.replace("NAME", name).replace("HOST", host) for name, host in [("a", "x.org"), ("b", "y.org"), ("c", "x.org")]]
    found = judge(tmp_path, UNIQUE, text="---\n".join(texts))
    assert [each.message for each in found] == [f"another Ingress serves a host of {name}" for name in ("a", "c")]
    assert found[0].place.field == "spec.rules[0].host"


def test_secret_values_of_other_objects_are_masked(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n---\n"
    rule = {"id": "s", "on": "ConfigMap", "message": "{objects.Secret}", "check": "size(objects.Secret) == 0"}
    [found] = judge(tmp_path, rule, text=f"{text}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n")
    assert "password" in found.message
    assert "hunter2" not in found.message


def test_other_objects_are_typed(tmp_path: Path) -> None:
    [kind] = mistakes(tmp_path, RULE.replace("{on}", "Service").replace("{check}", "size(objects.Ingres) == 0"))
    assert kind.endswith('objects has no kind "Ingres"; did you mean "objects.Ingress"?')
    [field] = mistakes(tmp_path, RULE.replace("{on}", "Service").replace("{check}", "objects.Ingress.all(i, i.spc != null)"))
    assert 'no field "spc"; did you mean "spec"?' in field


def test_user_is_unknown(tmp_path: Path) -> None:
    assert not judge(tmp_path, LIMIT | {"check": 'request.userInfo.username == "admin"'})
    report = kcheck.check(tmp_path / "k8s", config={}, policies=tmp_path / "team.kcheck.yaml", select=["all"])
    assert "undecided-policy" in {each.rule for each in report.findings}


def test_old_object(tmp_path: Path) -> None:
    rule = {"id": "fixed", "on": "Deployment", "when": "oldObject != null", "check": "object.spec.replicas == oldObject.spec.replicas"}
    assert not judge(tmp_path, rule)
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "object.yaml").write_text(DEPLOYMENT.replace("replicas: 9", "replicas: 3"))
    assert len(judge(tmp_path, rule, before=tmp_path / "before")) == 1


def test_rules_in_the_config(tmp_path: Path) -> None:
    (tmp_path / "o.yaml").write_text(DEPLOYMENT)
    for policies in ([LIMIT], {"rules": [LIMIT]}):
        (tmp_path / ".kcheck.yaml").write_text(json.dumps({"policies": policies}, indent=1))
        report = kcheck.check(tmp_path / "o.yaml", config=tmp_path / ".kcheck.yaml")
        assert [each.rule for each in report.findings if each.family == "policy"] == ["policy/limit"]
        assert report.policies == ("policy/limit",)


def test_kcheck_config_names_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".kcheck.yaml").write_text(json.dumps({"policies": [LIMIT]}, indent=1))
    output = CliRunner().invoke(cli, ["config"]).output
    assert "policies" in output
    assert "short rules in .kcheck.yaml" in output


def test_selection_and_suppression(tmp_path: Path) -> None:
    assert not judge(tmp_path, LIMIT, ignore="policy/limit")
    assert not judge(tmp_path, LIMIT, config={"rules": {"policy/limit": "off"}})
    assert judge(tmp_path, LIMIT, config={"rules": {"policy/limit": "info"}})[0].severity.word == "info"
    assert not judge(tmp_path, LIMIT, text=DEPLOYMENT.replace("replicas: 9", "replicas: 9 # kcheck: ignore[policy/limit] sale"))


def fixed(folder: Path, *arguments: str) -> str:
    text = folder / "k8s" / "object.yaml"
    options = ["--isolated", "--no-cache", "--policies", str(folder / "team.kcheck.yaml"), "--select", "policy"]
    CliRunner().invoke(cli, ["fix", str(text), *options, *arguments])
    return text.read_text()


def test_fix(tmp_path: Path) -> None:
    fix = {"set": {"object.spec.replicas": 5, 'object.metadata.labels["team.example.com/name"]': "'a-' + object.metadata.name"}}
    judge(tmp_path, LIMIT | {"fix": fix})
    assert fixed(tmp_path) == DEPLOYMENT
    text = fixed(tmp_path, "--unsafe")
    assert "replicas: 5" in text
    assert "team.example.com/name: a-web" in text


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        ({"set": {"self.securityContext.runAsNonRoot": True}}, "securityContext:\n            runAsNonRoot: true"),
        ({"add": {"self.args": '"--safe"'}}, "--safe"),
        ({"set": {"self.image": '"registry.example.com/" + self.image'}}, "image: registry.example.com/nginx:1.2"),
    ],
)
def test_fix_of_values_of_a_type(fix: dict[str, Any], expected: str, tmp_path: Path) -> None:
    judge(tmp_path, {"id": "r", "on": "core/v1 Container", "check": 'self.name != "web"', "fix": fix | {"safe": True}})
    assert expected in fixed(tmp_path)


def test_fix_that_removes_a_field(tmp_path: Path) -> None:
    judge(tmp_path, LIMIT | {"fix": {"remove": ["self.spec.replicas"], "safe": True}})
    assert "replicas" not in fixed(tmp_path)


RULE = "policies:\n  - id: r\n    on: {on}\n    check: {check}\n"


@pytest.mark.parametrize(
    ("on", "check", "expected"),
    [
        ("Pod", "object.spec.hostNetwrok", '4:23: v1 Pod has no field "spec.hostNetwrok"; did you mean "spec.hostNetwork"?'),
        ("core/v1 Container", "self.imge == ''", '4:16: core/v1 Container has no field "imge"; did you mean "image"?'),
        ("Pod", "objct.spec.hostNetwork", '4:12: unknown name "objct"; did you mean "object"?'),
        ("Pod", "object.spec.nodeName.startWith('a')", '4:33: unknown function "startWith"; did you mean "startsWith"?'),
        ("Pod", "object.spec.nodeName", "4:12: check must be true or false, but its type is string"),
        ("Pod", "object.spec.restartPolicy == 'always'", '4:38: spec.restartPolicy never equals "always"; compare it with "Always"'),
        ("Deployment", "object.spec.replicas == '1'", '4:33: "==" cannot compare int with string; write numbers without quotes'),
        ("Pod", "self.spec.restartPolicy == 'always'", '4:36: spec.restartPolicy never equals "always"; compare it with "Always"'),
        ("core/v1 Container", "self.imagePullPolicy == 'always'", '4:33: imagePullPolicy never equals "always"; compare it with "Always"'),
        ("Deploymnt", "true", '3:9: unknown kind "Deploymnt"; did you mean "Deployment"?'),
        ("apps/v1beta1 Deployment", "object.x", '3:9: no kind "Deployment" in apps/v1beta1; use apps/v1'),
        ("{types: [core/v1 Contaner]}", "true", '3:9: unknown API type "core/v1 Contaner"; did you mean "core/v1 Container"?'),
        ("{labels: 'a in ('}", "object.metadata.name == ''", "3:18: labels must be a selector"),
        ("Pod", "object.kind == 'Pod'", "4:12: this check never fails"),
        ("[Pod, Deployment]", "object.spec.replicas > 1", '4:23: v1 Pod has no field "spec.replicas"'),
        ("Pod", "object.spec.(x", "4:24: syntax error"),
    ],
)  # fmt: skip
def test_mistakes(on: str, check: str, expected: str, tmp_path: Path) -> None:
    found = mistakes(tmp_path, RULE.replace("{on}", on).replace("{check}", check))
    assert found[0].startswith(expected), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("policies:\n  - check: 'true'\n", "2:5: id is missing"),
        ("policies:\n  - id: r\n", "2:5: check is missing"),
        ("policies:\n  - id: Bad Id\n    check: 'false'\n", "2:9: id must consist of lowercase letters"),
        ("policies:\n  - id: r\n    check: 'false'\n    chek: 1\n", '4:5: unknown key "chek"; did you mean "check"?'),
        ("policies:\n  - id: r\n    check: 'false'\n    severity: fatal\n", "4:15: severity must be error, warning or info"),
        ("policies:\n  - id: r\n    check: 'false'\n    message: 'a {object.x'\n", "4:14: message has a { without }"),
        ("policies:\n  - id: r\n    on: Pod\n    check: 'false'\n    message: 'a {self.spc}'\n", '5:22: v1 Pod has no field "spc"'),
        ("policies:\n  - id: r\n    check: 'false'\n  - id: r\n    check: 'false'\n", '4:9: id "r" is used before'),
        ("policies:\n  - id: r\n    on: Pod\n    check: 'false'\n    fix: {set: {size(object.spec): 1}}\n", "5:"),
        ("policies:\n  - id: r\n    on: Pod\n    check: |\n      true &&\n      object.spec.nme\n", '6:18: v1 Pod has no field "spec.nme"'),
    ],
)  # fmt: skip
def test_mistakes_of_the_file(text: str, expected: str, tmp_path: Path) -> None:
    found = mistakes(tmp_path, text)
    assert found[0].startswith(expected), found


def test_custom_resources_are_typed_by_their_schema_if_it_is_known(tmp_path: Path) -> None:
    text = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"
    [found] = judge(tmp_path, {"id": "w", "on": "example.com/v1 Widget", "check": "object.spec.size < 3"}, text=text)
    assert found.place.field == "spec.size"


def test_files_with_rules_are_no_manifests(tmp_path: Path) -> None:
    judge(tmp_path, LIMIT)
    assert not [each for each in kcheck.check(tmp_path, config={}).findings if each.place.file.endswith(".kcheck.yaml")]


def test_cache_and_processes(tmp_path: Path) -> None:
    judge(tmp_path, LIMIT)
    for number in range(40):
        (tmp_path / "k8s" / f"{number}.yaml").write_text(DEPLOYMENT.replace("name: web", f"name: web{number}") + "#" * 9000)
    settings: dict[str, Any] = {"config": {}, "policies": tmp_path / "team.kcheck.yaml"}
    alone = kcheck.check(tmp_path / "k8s", **settings)
    for _ in range(2):
        assert kcheck.check(tmp_path / "k8s", jobs=2, cache=tmp_path / "cache", **settings).findings == alone.findings
    assert len([each for each in alone.findings if each.family == "policy"]) == 41


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("on: Deployment\ncheck: spec.replicas <= 5", '4:12: unknown name "spec"; did you mean "object.spec"?'),
        ("on: core/v1 Container\ncheck: image != ''", '4:12: unknown name "image"; did you mean "self.image"?'),
        ("on: Deployment\ncheck: object.spec.replicas > 1 and object.spec.replicas < 5", '4:37: syntax error: write && instead of "and"'),
        ("on: Deployment\ncheck: object.spec.replicas = 3", '4:33: syntax error: write == instead of "="'),
        ("on: Deployment\ncheck: object.spec.replicas === 3", '4:35: syntax error: write == instead of "==="'),
        ("on: Pod\ncheck: not object.spec.hostNetwork", '4:16: syntax error: write ! instead of "not"'),
        ("on: Pod\ncheck: if object.spec.hostNetwork then false", "4:12: CEL has no if; write CONDITION ? VALUE : OTHER"),
        ("on: Pod\ncheck: object.spec.containers.all(c => c.name == 'a')", '4:41: syntax error: write , instead of "=>"'),
        ("on: Pod\ncheck: object.spec.containers.any(c, c.name == 'a')", '4:35: unknown function "any"; did you mean "exists"?'),
        ("on: Pod\ncheck: len(object.spec.containers) == 1", '4:12: unknown function "len"; did you mean "size"?'),
        ("on: Pod\ncheck: object.metadata.name.match('^a')", '4:33: unknown function "match"; did you mean "matches"?'),
        ("on: Pod\ncheck: \"'a' in object.metadata.name\"", '4:17: "in" needs a list or map'),
        ("on: Pod\ncheck: has(object.metadata.labels['team'])", "4:38: has() needs a field such as has(object.metadata.labels)"),
        ("on: Pod\ncheck: object.metadata.labels.team != null", '4:40: "!=" cannot compare string with null; test whether'),
        (
            "on: Pod\ncheck: object.metadata.labels.app.kubernetes.io/name != ''",
            "4:38: a string has no fields; write a key that contains dots",
        ),
        (
            "on: Deployment\ncheck: object.spec.containers.all(c, has(c.image))",
            '4:23: apps/v1 Deployment has no field "spec.containers"; it has spec.template.spec.containers',
        ),
        ("on: Deployment\ncheck: object.spec.name == 'a'", 'Deployment has no field "spec.name"; it has metadata.name'),
        (
            "on: Deployment\ncheck: object.spec.template.spec.containers.all(c, c.spec == '')",
            'Deployment has no field "spec.template.spec.containers[].spec"; it has spec',
        ),
        (
            "on: Deployment\ncheck: object.spec.nme == '' || objects.Service.all(s, s.spec.nme == '')",
            '4:23: apps/v1 Deployment has no field "spec.nme"',
        ),
        ("on: core/v1 Container\ncheck: object.metadata.nam == ''", 'an object has no field "metadata.nam"'),
        ("on: Pod\ncheck: object.metadata.labels == null", '"==" cannot compare map(string, string) with null'),
        ("on: Pod\ncheck: object.metadata.labels.app-name == 'a'", 'unknown name "name"; write a key that contains a dash in brackets'),
        ("on: Pod\ncheck: object.metadata.name =~ 'a'", 'write VALUE.matches(REGEX) instead of "=~"'),
        ("on: Pod\ncheck: object.metadata.name not in ['a']", 'write !(VALUE in LIST) instead of "not in"'),
        ("on: Pod\ncheck: object.spec.priority <> 3", 'write != instead of "<>"'),
        ("on: Pod\ncheck: object.spec.hostPID => true", 'write !A || B instead of "A => B"'),
        ("on: Pod\ncheck: object.metadata.name == `a`", 'write quotes instead of "`"'),
        ("on: Pod\ncheck: object.spec.hostPID orange", "found 'orange', expected the end"),
        ("on: Pod\ncheck: params.limit > 3", 'unknown name "params"; only admission policies have it'),
        ("on: Pod\ncheck: other.limit > 3", '4:12: unknown name "other"'),
        ("on: Pod\ncheck: object.metadata.name.replace('a') == ''", "CEL has no string.replace(string)"),
        ("on: Pod\ncheck: 'object.spec.priority ? true : false'", '"? :" cannot be applied to int, bool, bool'),
        ("on: Pod\ncheck: object.spec.containers.image == 'a'", "a list has no fields; read an item"),
        ("on: Pod\ncheck: object.?spec.priority == 3", "write orValue(DEFAULT) after an optional field"),
        (
            "on: core/v1 Container\ncheck: self.resources.limits.cpu < 3",
            "convert the string with int(), or write quantity(A).compareTo(quantity(B)) < 0 for quantities such as 500m",
        ),
        (
            "on: core/v1 Container\ncheck: self.resources.limits.memory <= '2Gi'",
            '4:41: resources.limits.memory is a quantity, which "<=" compares as a text',
        ),
        ("on: apps/v1/Deployment\ncheck: object.spec.paused", '3:9: unknown kind "apps/v1/Deployment"; did you mean "apps/v1 Deployment"?'),
        ("on: core/v1 Containers\ncheck: self.image != ''", '3:9: unknown kind "Containers"; did you mean "core/v1 Container"?'),
        ("on: Certificate\ncheck: object.spec.a", "such as example.com/v1 Certificate"),
        ("kinds: [Pod]\ncheck: object.spec.hostPID", '3:5: unknown key "kinds"; did you mean "on"?'),
        ("on: Pod\nexpression: object.spec.hostPID", '4:5: unknown key "expression"; did you mean "check"?'),
        ("on: Pod\ncheck: object.spec.hostPID\nmessage: 'is {{ object.spec.hostPID }}'", "has doubled braces, which show the text itself"),
        ("on: Deployment\ncheck: object.spec.replicas < 5\nfix: {set: {spec.replicas: 5}}", 'did you mean "object.spec"?'),
    ],
)
def test_mistakes_of_newcomers(rule: str, expected: str, tmp_path: Path) -> None:
    lines = "\n".join(f"    {line}" for line in rule.split("\n"))
    found = mistakes(tmp_path, f"policies:\n  - id: a\n{lines}\n")
    assert len(found) == 1
    assert expected in found[0]


def test_fixes_in_lists_and_custom_resources(tmp_path: Path) -> None:
    """`set`, `add` and `remove` with CEL values, `at`, and kinds of definitions."""
    rules = [
        {
            "id": "size", "on": "example.com/v1 Widget", "check": "self.spec.size <= int(self.metadata.labels.max)", "at": "self.spec.size",
            "message": "{self.spec.size} is above {self.metadata.labels.max}",
            "fix": {"set": {"self.spec.size": "int(self.metadata.labels.max)"}},
        },
        {
            "id": "drop", "on": "core/v1 Container", "title": "drops ALL",
            "check": "self.?securityContext.?capabilities.?drop.orValue([]).exists(c, c == 'ALL')",
            "fix": {"add": {"self.securityContext.capabilities.drop": "'ALL'"}},
        },
        {"id": "node", "on": "core/v1 PodSpec", "check": "!has(self.nodeName)", "fix": {"remove": ["self.nodeName"]}},
    ]  # fmt: skip
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"max": "20"}}, "spec": {"size": 50}}
    containers = [{"name": "a", "image": "a:1", "securityContext": {"capabilities": {"drop": ["NET_RAW"]}}}, {"name": "b", "image": "b:1"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": containers}}
    (tmp_path / "list.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [widget, pod]}, indent=1))
    (tmp_path / "team.kcheck.yaml").write_text(json.dumps({"policies": rules}))
    found = kcheck.check(tmp_path / "list.json", config={}, policies=tmp_path / "team.kcheck.yaml").findings
    assert sorted((each.rule, each.place.field) for each in found if each.family == "policy") == [
        ("policy/drop", "spec.containers[0].securityContext.capabilities.drop"),
        ("policy/drop", "spec.containers[1].securityContext.capabilities.drop"),
        ("policy/node", "spec.nodeName"),
        ("policy/size", "spec.size"),
    ]
    arguments = ["fix", str(tmp_path / "list.json"), "--policies", str(tmp_path / "team.kcheck.yaml"), "--isolated", "--unsafe"]
    CliRunner().invoke(cli, [*arguments, "--select", "policy/size,policy/drop,policy/node"])
    fixed_widget, fixed_pod = json.loads((tmp_path / "list.json").read_text())["items"]
    assert fixed_widget["spec"] == {"size": 20}
    assert "nodeName" not in fixed_pod["spec"]
    drops = [each["securityContext"]["capabilities"]["drop"] for each in fixed_pod["spec"]["containers"]]
    assert drops == [["NET_RAW", "ALL"], ["ALL"]]
