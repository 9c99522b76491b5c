"""ValidatingAdmissionPolicies: the verdicts are those of a real API server for the same policies and objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kcheck
from tests.policy.texts_of_policies import CONFIG_MAPS, DEPLOYMENTS, PODS, binding, config_map, judge, policy, write

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "prod"}}}


def messages(folder: Path, *objects: dict[str, Any], policies: list[dict[str, Any]], **settings: Any) -> list[str]:
    return [each.message for each in judge(folder, *objects, policies=policies, **settings)]


def test_denial(tmp_path: Path) -> None:
    found = judge(tmp_path, config_map({"a": "2"}), config_map({"a": "1"}), policies=[policy('object.data.a == "1"'), binding()])
    assert [(each.rule, each.severity.word, each.family, Path(each.file).name) for each in found] == [
        ("policy/p", "error", "policy", "object-0.yaml")
    ]
    [finding] = found
    assert finding.place.field == "data[a]"
    assert finding.policy is not None
    assert finding.policy._replace(variables=()) == ("vap", "p", "b", "", 'object.data.a == "1"', ())
    assert finding.related[0].place.field == "spec.validations[0].expression"


def test_policy_without_binding_is_not_enforced(tmp_path: Path) -> None:
    assert not judge(tmp_path, config_map(), policies=[policy("false")])


@pytest.mark.parametrize(
    ("actions", "severity"), [(["Deny"], "error"), (["Warn"], "warning"), (["Audit"], "info"), (["Deny", "Audit"], "error")]
)
def test_actions(actions: list[str], severity: str, tmp_path: Path) -> None:
    [finding] = judge(tmp_path, config_map(), policies=[policy("false"), binding(*actions)])
    assert finding.severity.word == severity


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ({"expression": "1 ==  2"}, "failed expression: 1 == 2"),
        ({"expression": "false", "message": "static"}, "static"),
        ({"expression": "false", "message": "static", "messageExpression": "'name ' + object.metadata.name"}, "name c"),
        ({"expression": "false", "message": "static", "messageExpression": "'x' + object.metadata.missing"}, "static"),
        ({"expression": "false", "message": "static", "messageExpression": "' '"}, "static"),
        ({"expression": "false", "messageExpression": "'two\\nlines'"}, "failed expression: false"),
        ({"expression": "object.data.a == '1'"}, "expression 'object.data.a == '1'' resulted in error: no such key: data"),
    ],
)
def test_messages(validation: dict[str, str], message: str, tmp_path: Path) -> None:
    assert messages(tmp_path, config_map(), policies=[policy(validation), binding()]) == [message]


def test_failure_policy_ignore_forgives_errors_only(tmp_path: Path) -> None:
    policies = [policy("object.data.a == '1'", "false", failurePolicy="Ignore"), binding()]
    assert messages(tmp_path, config_map(), policies=policies) == ["failed expression: false"]


def test_error_of_an_audit_annotation_denies_whatever_the_actions(tmp_path: Path) -> None:
    annotations = [{"key": "k", "valueExpression": "string(object.data.a)"}]
    [finding] = judge(tmp_path, config_map(), policies=[policy("true", auditAnnotations=annotations), binding("Audit")])
    assert finding.severity.word == "error"


@pytest.mark.parametrize(
    ("rule", "denied"),
    [
        (CONFIG_MAPS, True),
        (CONFIG_MAPS | {"operations": ["*"]}, True),
        (CONFIG_MAPS | {"operations": ["UPDATE"]}, False),
        (CONFIG_MAPS | {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}, True),
        (CONFIG_MAPS | {"resources": ["*/*"]}, True),
        (CONFIG_MAPS | {"resources": ["configmaps/*"]}, True),
        (CONFIG_MAPS | {"resources": ["configmaps/status"]}, False),
        (CONFIG_MAPS | {"resources": ["secrets"]}, False),
        (CONFIG_MAPS | {"scope": "Namespaced"}, True),
        (CONFIG_MAPS | {"scope": "Cluster"}, False),
        (CONFIG_MAPS | {"resourceNames": ["c"]}, True),
        (CONFIG_MAPS | {"resourceNames": ["d"]}, False),
    ],
)
def test_resource_rules(rule: dict[str, Any], denied: bool, tmp_path: Path) -> None:
    assert bool(judge(tmp_path, config_map(), policies=[policy("false", rules=[rule]), binding()])) is denied


def test_exclude_resource_rules(tmp_path: Path) -> None:
    match = {"excludeResourceRules": [CONFIG_MAPS | {"resourceNames": ["c"]}]}
    found = judge(tmp_path, config_map(), config_map(name="d"), policies=[policy("false", match=match), binding()])
    assert [each.object.name for each in found] == ["d"]


@pytest.mark.parametrize(
    ("match", "denied"),
    [
        ({"objectSelector": {"matchLabels": {"app": "a"}}}, True),
        ({"objectSelector": {"matchLabels": {"app": "b"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"env": "prod"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"env": "test"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}, True),
        ({"namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}}, False),
    ],
)
@pytest.mark.parametrize("of_binding", [False, True])
def test_selectors(match: dict[str, Any], denied: bool, of_binding: bool, tmp_path: Path) -> None:
    policies = [policy("false"), binding(matchResources=match)] if of_binding else [policy("false", match=match), binding()]
    found = judge(tmp_path, config_map(labels={"app": "a"}), NAMESPACE, policies=policies)
    assert bool(found) is denied


def test_equivalent_versions_are_converted(tmp_path: Path) -> None:
    scaler = {
        "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h", "namespace": "shop"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 9,
                 "targetCPUUtilizationPercentage": 50},
    }  # fmt: skip
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["horizontalpodautoscalers"]}
    expression = "object.apiVersion == 'autoscaling/v2' && object.spec.metrics[0].resource.target.averageUtilization > 60"
    exact = policy(expression, rules=[rule], match={"matchPolicy": "Exact"})
    assert judge(tmp_path, scaler, policies=[policy(expression, rules=[rule]), binding()])
    assert not judge(tmp_path, scaler, policies=[exact, binding()])


def test_match_conditions(tmp_path: Path) -> None:
    def conditions(*expressions: str) -> dict[str, Any]:
        return {"matchConditions": [{"name": f"c{n}", "expression": each} for n, each in enumerate(expressions)]}

    def denied(*expressions: str, **spec: Any) -> bool:
        return bool(judge(tmp_path, config_map(), policies=[policy("false", **conditions(*expressions), **spec), binding()]))

    assert denied("true")
    assert not denied("object.data.a == ''", "false")
    assert denied("object.data.a == ''")
    assert not denied("object.data.a == ''", failurePolicy="Ignore")


def test_variables_are_lazy_and_shown(tmp_path: Path) -> None:
    variables = [{"name": "broken", "expression": "object.data.missing"}, {"name": "a", "expression": "object.data.a"}]
    policies = [policy("variables.a == '1'", variables=variables), binding()]
    [finding] = judge(tmp_path, config_map({"a": "2"}), policies=policies)
    assert finding.policy is not None
    assert finding.policy.variables == (("a", '"2"'),)


LIMIT = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ({"name": "limit", "namespace": "policies", "parameterNotFoundAction": "Deny"}, ["failed expression: params.data.max == '2'"]),
        ({"name": "none", "namespace": "policies", "parameterNotFoundAction": "Allow"}, []),
        (
            {"name": "none", "namespace": "policies", "parameterNotFoundAction": "Deny"},
            ["failed to configure binding: no params found for policy binding with Deny parameterNotFoundAction"],
        ),
        (
            {"selector": {"matchLabels": {"is": "limit"}}, "namespace": "policies", "parameterNotFoundAction": "Deny"},
            ["failed expression: params.data.max == '2'"],
        ),
    ],
)
def test_params(reference: dict[str, Any], found: list[str], tmp_path: Path) -> None:
    limit = config_map({"max": "1"}, "limit", namespace="policies", labels={"is": "limit"})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    policies = [policy("params.data.max == '2'", rules=[PODS], **LIMIT), binding(paramRef=reference)]
    assert messages(tmp_path, pod, limit, policies=policies) == found


def test_defaults_are_set(tmp_path: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
                 "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}},
    }  # fmt: skip
    expressions = ["object.spec.replicas == 1", "object.spec.template.spec.containers.all(c, c.imagePullPolicy == 'IfNotPresent')"]
    assert not judge(tmp_path, deployment, policies=[policy(*expressions, rules=[DEPLOYMENTS]), binding()])


def test_empty_lists_are_kept(tmp_path: Path) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": []}
    rule = {"apiGroups": ["rbac.authorization.k8s.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["roles"]}
    assert not judge(tmp_path, role, policies=[policy("object.rules.size() == 0", rules=[rule]), binding()])


def test_request_and_namespace(tmp_path: Path) -> None:
    expressions = [
        "request.operation == 'CREATE' && request.name == 'c' && request.namespace == 'shop'", "request.kind.kind == 'ConfigMap'",
        "request.resource.resource == 'configmaps'", "!request.dryRun", "oldObject == null", "!has(request.subResource)",
        "namespaceObject.metadata.labels['env'] == 'prod'",
    ]  # fmt: skip
    assert not messages(tmp_path, config_map(), NAMESPACE, policies=[policy(*expressions), binding()])


def test_change_of_an_object(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    rules = [CONFIG_MAPS | {"operations": ["UPDATE"]}]
    policies = [policy("object.data.a == oldObject.data.a", rules=rules), binding()]
    write(before, config_map({"a": "1"}), config_map({"a": "1"}, "d"), policies=policies)
    found = judge(after, config_map({"a": "2"}), config_map({"a": "1"}, "d"), policies=policies, before=[before])
    assert [each.object.name for each in found] == ["c"]


@pytest.mark.parametrize(
    "expression",
    [
        "request.userInfo.username == 'bot'",
        "authorizer.group('').resource('pods').check('get').allowed()",
        "request.userInfo.groups.exists(g, g == 'x')",
    ],
)
def test_unknown_user_is_undecided_once(expression: str, tmp_path: Path) -> None:
    write(tmp_path, config_map(), config_map(name="d"), policies=[policy(expression), binding()])
    report = kcheck.check(tmp_path, config={})
    found = [each for each in report.findings if each.family == "policy" or each.rule == "undecided-policy"]
    assert [(each.rule, Path(each.file).name) for each in found] == [("undecided-policy", "policies.yaml")]


def test_user_of_the_config(tmp_path: Path) -> None:
    policies = [policy("request.userInfo.username != 'bot' && !('ci' in request.userInfo.groups)"), binding()]
    config = {"policies": {"user": {"username": "bot", "groups": ["ci"]}}}
    assert judge(tmp_path, config_map(), policies=policies, config=config)


@pytest.mark.parametrize(
    ("expression", "groups", "expected"),
    [
        ("authorizer.group('').resource('pods').namespace('a').check('get').allowed()", ["system:masters"], []),
        ("!authorizer.requestResource.check('get').allowed()", ["system:masters"], ["policy/p"]),
        ("authorizer.path('/healthz').check('get').reason() == ''", ["system:masters"], []),
        ("authorizer.path('/healthz').check('get').errored()", ["system:masters"], ["policy/p"]),
        ("authorizer.serviceAccount('a', 'b').path('/').check('get').allowed()", ["system:masters"], ["undecided-policy"]),
        ("authorizer.requestResource.check('get').allowed()", ["ci"], ["undecided-policy"]),
    ],
)
def test_authorizer(expression: str, groups: list[str], expected: list[str], tmp_path: Path) -> None:
    config = {"policies": {"user": {"username": "bot", "groups": groups}}}
    write(tmp_path, config_map(), policies=[policy(expression), binding()])
    found = kcheck.check(tmp_path, config=config).findings
    assert [each.rule for each in found if each.family == "policy" or each.rule == "undecided-policy"] == expected


def test_other_operand_decides_in_spite_of_unknown_user(tmp_path: Path) -> None:
    policies = [policy("request.userInfo.username == 'bot' && object.metadata.name != 'c'"), binding()]
    assert judge(tmp_path, config_map(), policies=policies)


def test_cost_limit(tmp_path: Path) -> None:
    data = {f"k{n}": "x" * 100 for n in range(60)}
    expression = "object.data.all(a, object.data.all(b, object.data.all(c, object.data[a] + object.data[b] != object.data[c])))"
    [message] = messages(tmp_path, config_map(data), policies=[policy(expression), binding()])
    assert message.endswith("operation cancelled: actual cost limit exceeded")


def test_policies_do_not_judge_policies(tmp_path: Path) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    found = judge(tmp_path, config_map(), policies=[policy("false", rules=[rule]), binding()])
    assert [each.object.kind for each in found] == ["ConfigMap"]


def test_custom_resources_are_pruned_and_defaulted(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}, "default": {}}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }  # fmt: skip
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"], "scope": "Cluster"}
    assert messages(tmp_path, widget, definition, policies=[policy("object.spec.size == 4", rules=[rule]), binding()]) == [
        "failed expression: object.spec.size == 4"
    ]


def test_secret_values_are_not_shown(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2isgood"}}
    validation = {"expression": "variables.v == ''", "messageExpression": "'wrong: ' + object.data.password + variables.v"}
    variables = [{"name": "v", "expression": "object.data.password"}]
    write(tmp_path, secret, policies=[policy(validation, rules=[CONFIG_MAPS | {"resources": ["secrets"]}], variables=variables), binding()])
    report = kcheck.check(tmp_path, config={})
    [finding] = [each for each in report.findings if each.family == "policy"]
    assert finding.message == "wrong: ******"
    assert finding.place.field == "stringData[password]"
    assert "hunter2" not in repr(report.findings)
    assert "aHVudGVy" not in repr(report.findings)


SHARED = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "policies" / "open.jsonl"


@pytest.mark.skipif(not SHARED.is_file(), reason="no recorded verdicts next to the checkout")
def test_recorded_verdicts(tmp_path: Path) -> None:
    """A part of the recorded verdicts; benchmarks/policies.py compares all of them."""
    wrong = []
    for number, line in enumerate(SHARED.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        if number % 12 or row["policy_verdict"]["verdict"] == "rejected" or row["category"] in ("authorizer", "request"):
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "policies.yaml").write_text(f"{row['policies']}\n---\n{row['setup'] or ''}")
        for at, each in enumerate(row["objects"]):
            (folder / f"object-{at}.yaml").write_text(each["manifest"])
        found = kcheck.check(folder, config={}, kubernetes="1.36").findings
        denied = {Path(each.file).name for each in found if each.family == "policy" and each.severity.word == "error"}
        for at, each in enumerate(row["objects"]):
            if each.get("operation") != "UPDATE" and (each["verdict"] == "denied") != (f"object-{at}.yaml" in denied):
                wrong.append((row["id"], at, each["verdict"]))
    assert not wrong
