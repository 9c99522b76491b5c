"""Placeholders by shape and by field."""

from __future__ import annotations

import time

import pytest

from kcheck.kube import placeholders
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse


def root(text: str) -> Node:
    return parse(Source("manifest.yaml", text))[0].root


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("metadata: {name: '${APP}'}", ["${APP}"]),
        ("metadata:\n  name: ${APP:=web}-config", ["${APP:=web}"]),
        ("metadata: {namespace: $NS}", ["$NS"]),
        ("metadata: {name: '{{ app }}'}", ["{{ app }}"]),
        ("metadata: {name: $(app-name)}", ["$(app-name)"]),
        ("metadata: {name: <app>-web}", ["<app>"]),
        ("host: registry.<your domain>", ["<your domain>"]),
        ("token: <path:secret/data/app#token>", ["<path:secret/data/app#token>"]),
        ("metadata: {name: '@@APP@@'}", ["@@APP@@"]),
        ("metadata: {name: __APP__}", ["__APP__"]),
        ("metadata: {name: '%APP%'}", ["%APP%"]),
        ("metadata: {name: web-((STAGE))}", ["((STAGE))"]),
        ("metadata: {name: ($app)}", ["($app)"]),
        ("metadata: {name: \"(join('-', [$namespace, 'web']))\"}", ["(join('-', [$namespace, 'web']))"]),
        ("spec: {names: '( contains(@, join(1)) )'}", ["( contains(@, join(1)) )"]),
        ("status: {(length(items)): 1}", ["(length(items))"]),
        ("spec: {replicas: '${REPLICAS}'}", ["${REPLICAS}"]),
        ("spec: {image: gcr.io/PROJECT_ID/web}", ["PROJECT_ID"]),
        ("spec: {image: IMAGE}", ["IMAGE"]),
        ("configMapKeyRef: {name: shop-config-ENV}", ["ENV"]),
        ("env: [{name: ENV, value: test}]", []),
        ("spec: {image: 'registry.example.com/{team}/web:1'}", ["{team}"]),
        ("spec: {secretName: your-secret}", ["your-secret"]),
        ("spec: {secretName: change-me}", ["change-me"]),
        ("spec: {replicas: REPLICA_COUNT}", ["REPLICA_COUNT"]),
        ("webhooks: [{clientConfig: {caBundle: CRT}}]", ["CRT"]),
        ("webhooks: [{clientConfig: {caBundle: Cg==}}]", []),
        ("spec: {completions: NUM_NODES, replicas: REPLICAS}", ["NUM_NODES", "REPLICAS"]),
        ("ports: [{port: PORT, targetPort: APP_PORT}]", ["PORT", "APP_PORT"]),
        ("limits: {cpu: CPU_LIMIT}", ["CPU_LIMIT"]),
        ("kind: Secret\ndata: {token: [BASE64_TOKEN]}", ["[BASE64_TOKEN]"]),
        ("kind: Secret\ndata: {token: '${TOKEN}'}", ["${TOKEN}"]),
        ("data: {region: <region>}", ["<region>"]),
        ("spec: {template: {spec: {schedulerName: 'a-${B}'}}}", ["${B}"]),
        ("matchExpressions: [{key: a, operator: In, values: ['a-${B}']}]", ["${B}"]),
        # Not placeholders.
        ("args: ['--node=$(NODE_NAME)', 'echo $HOME', 'curl ${URL}/x']", []),
        ("env: [{name: LOG_LEVEL, value: level-$(NODE)}]", []),
        ("params: [{name: HEAP_OPTS, value: 1}]", []),
        ("text: '{{ .Status }}'", []),
        ("spec: {values: {host: 'web.{{ .Release.Namespace }}'}}", []),
        ("schedule: CRON_TZ=UTC 0 3 * * *", []),
        ("subPathExpr: $(POD_NAME)", []),
        ("add: [NET_ADMIN, SYS_ADMIN]", []),
        ("labels: {app: PROJECT_ID}", []),
        ("ports: [{targetPort: HTTP}]", []),
        ("annotations: {summary: 'Pod {{ $labels.pod }} is down', snippet: 'proxy_set_header Host $host;'}", []),
        ('expr: rate(http_requests_total{code="500"}[5m]) > 1', []),
        ("data: {run.sh: 'echo $HOME <in >out', tmpl: '{{ .Name }}'}", []),
        ("text: |\n  echo $HOME\n  cat <file>\n", []),
        ("image: minio/minio:RELEASE.2024-01-31T20-20-33Z", []),
        ("pattern: '(?P<name>a|b$)'", []),
        ("path: (foo|bar)", []),
        ("$patch: delete", []),
        ("name: manage-your-data", []),
        ("url: https://example.com/a%20b%2Fc", []),
    ],
)
def test_shape_and_field(text: str, found: list[str]) -> None:
    assert [each for _, each in placeholders.below(root(text))] == found


@pytest.mark.parametrize(
    ("template", "name", "result"),
    [
        ("${APP}-config", "web-config", True),
        ("${APP}-config", "web-secret", False),
        ("<app>", "web", True),
        ("web-APP_NAME-x", "web-a-x", True),
        ("web", "web", False),
        ("a.${B}", "a-b", False),
    ],
)
def test_name_that_may_become_another(template: str, name: str, result: bool) -> None:
    assert placeholders.may_become(template, name) is result


@pytest.mark.parametrize(
    ("message", "result"),
    [
        ('"${APP}" is not a valid name', True),
        ("template labels do not match selector app=${APP}", True),
        ('Deployment "${APP}" has no memory limit', False),
        ('container "<name>" runs as root', False),
        ("use apiVersion: <group>/<version>", False),
        ('unknown field "$patch" in Deployment', False),
    ],
)
def test_quoted_placeholder(message: str, result: bool) -> None:
    assert placeholders.is_quoted(message) is result


@pytest.mark.parametrize("value", ["OPENID CLIENT SECRET", "CHANGEME", "<token>", "$TOKEN", "{{ token }}", "nvapi-NVKEY", "your-password"])
def test_unfilled_credential(value: str) -> None:
    assert placeholders.is_unfilled_credential(value)


@pytest.mark.parametrize("value", ["hunter2", "t0p$ecreT", "fake_password", "admin", "aGVsbG8="])
def test_credential(value: str) -> None:
    assert not placeholders.is_unfilled_credential(value)


@pytest.mark.parametrize("text", ["{{", "{%", "<%", "${", "$(", "<a", "(a`", "($a ", "@@a", "[A ", "__A", "A_A-", "%a", "((a", "insert-"])
def test_repetitions_take_linear_time(text: str) -> None:
    start = time.process_time()
    for search in (placeholders.in_name, placeholders.is_unfilled_credential, placeholders.is_quoted):
        search(text * 20_000)
    assert time.process_time() - start < 4


def test_a_name_of_many_placeholders_is_compared_in_linear_time() -> None:
    template, name = "${A}a" * 60 + "b", "a" * 5_000
    assert not placeholders.may_become(template, name)
    assert placeholders.may_become(template, name + "b")
