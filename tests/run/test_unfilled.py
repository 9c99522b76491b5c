"""Placeholders in a run: no rule judges them, everything next to them is reported, and the config fills them in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.check.session import Session
from kcheck.check.substitution import Substitution, TooLarge
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source

Check = Callable[..., list[Finding]]

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${APP}
  namespace: <namespace>
  labels: {version: "${VERSION}"}
spec:
  replicas: ${REPLICAS:=2}
  selector:
    matchLabels: {app: "${APP}"}
  template:
    metadata:
      labels: {app: "${APP}"}
    spec:
      serviceAccountName: $ACCOUNT
      nodeSelector: {kubernetes.io/os: $NODE_OS}
      containers:
        - name: ${APP}
          image: us-docker.pkg.dev/PROJECT_ID/shop/web
          imagePullPolicy: ${PULL_POLICY}
          ports:
            - containerPort: ${PORT}
            - containerPort: ${METRICS_PORT}
          env:
            - {name: CLIENT_PASSWORD, value: CLIENT PASSWORD}
          resources:
            limits: {memory: MEMORY_LIMIT}
"""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture
def check(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str], *select: str, judges: bool = False, variables: dict[str, str] | None = None) -> list[Finding]:
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        substitution = Substitution(variables) if variables is not None else None
        rules = choose(registry, select)
        session = Session(registry, rules, [Store(load("1.36"))], judges_placeholders=judges, substitution=substitution)
        return run_pipeline(discover(list(files)), session).findings

    return run


def test_no_rule_judges_a_placeholder(check: Check) -> None:
    findings = check({"web.yaml": DEPLOYMENT}, "spec", "images", "credential-in-env")
    assert [(f.rule, f.message) for f in findings] == []


def test_placeholders_are_judged_on_request(check: Check) -> None:
    rules = {f.rule for f in check({"web.yaml": DEPLOYMENT}, "spec", judges=True)}
    assert rules >= {"invalid-name", "invalid-label", "wrong-type", "unsupported-value", "invalid-quantity"}


def test_what_is_next_to_a_placeholder_is_judged(check: Check) -> None:
    text = DEPLOYMENT.replace(
        "          resources:", "          securityContext: {privileged: true}\n          stdinn: true\n          resources:"
    )
    findings = check({"web.yaml": text}, "privileged-container", "unknown-field")
    assert {(f.rule, f.place.field) for f in findings} == {
        ("privileged-container", "spec.template.spec.containers[0].securityContext.privileged"),
        ("unknown-field", "spec.template.spec.containers[0].stdinn"),
    }


def test_credential_next_to_a_placeholder_is_reported(check: Check) -> None:
    text = DEPLOYMENT.replace("CLIENT PASSWORD", "'--token ghp_16C7e42F292c6912E7710c838347Ae178B4a ${OPTION}'")
    assert [f.rule for f in check({"web.yaml": text}, "credential-in-env")] == ["credential-in-env"]


def test_missing_fields_of_a_container_with_placeholders_are_reported(check: Check) -> None:
    text = DEPLOYMENT.partition("          resources:")[0]
    assert [f.rule for f in check({"web.yaml": text}, "missing-memory-limit")] == ["missing-memory-limit"]


def test_help_is_not_built_from_a_placeholder(check: Check) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: <service-name>}\n"
    (finding,) = check({"a.yaml": text}, "invalid-name", judges=True)
    assert finding.help == "replace the placeholder with a value"


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: LABEL}}
spec:
  containers:
    - name: web
      image: registry.example.com/web:1
      envFrom: [{configMapRef: {name: REFERENCE}}]
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: LABEL}\n  ports: [{port: 80}]\n"


@pytest.mark.parametrize(
    ("reference", "name", "missing"),
    [("web-config", "web-conf", True), ("'${APP}-config'", "web-config", False), ("web-config", "'${APP}-config'", False),
     ("web-config", "'${APP}-settings'", True)],
)  # fmt: skip
def test_references(check: Check, reference: str, name: str, missing: bool) -> None:
    text = f"{POD.replace('REFERENCE', reference)}---\n{CONFIG.replace('NAME', name)}"
    assert bool(check({"a.yaml": text}, "missing-config-map")) is missing


@pytest.mark.parametrize(
    ("selected", "label", "found"), [("web", "wep", True), ("'${APP}'", "web", False), ("web", "'${APP}'", False), ("web", "<app>", False)]
)
def test_selectors(check: Check, selected: str, label: str, found: bool) -> None:
    text = f"{SERVICE.replace('LABEL', selected)}---\n{POD.replace('LABEL', label)}"
    assert bool(check({"a.yaml": text}, "service-without-pods")) is found


def test_namespace_with_a_placeholder_may_be_any(check: Check) -> None:
    config = CONFIG.replace("name: NAME", "name: web-config, namespace: '${NS}'")
    pod = POD.replace("REFERENCE", "web-config").replace("name: web,", "name: web, namespace: shop,")
    assert check({"a.yaml": f"{pod}---\n{config}"}, "missing-config-map") == []


def test_labels_with_placeholders_are_not_compared(check: Check) -> None:
    text = DEPLOYMENT.replace('matchLabels: {app: "${APP}"}', "matchLabels: {app: web}")
    assert check({"web.yaml": text}, "selector-mismatch") == []


def test_expression_as_key_means_unknown_entries(check: Check) -> None:
    text = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nstatus:\n  (numberReady == desiredNumberScheduled): true\n"
    assert [f.place.field for f in check({"a.yaml": text}, "unknown-field")] == []


VALUES = {
    "APP": "web", "VERSION": "1.30", "ACCOUNT": "web", "NODE_OS": "linux", "PULL_POLICY": "always", "PORT": "99999", "METRICS_PORT": "9090",
}  # fmt: skip


def filled_in(text: str) -> str:
    for name, value in VALUES.items():
        text = text.replace(f"${{{name}}}", value).replace(f"${name}\n", f"{value}\n").replace(f"${name}}}", f"{value}}}")
    return text.replace("${REPLICAS:=2}", "2")


def test_substituted_text_is_checked_like_the_result(check: Check) -> None:
    selected = ("spec", "practice")
    direct = check({"web.yaml": filled_in(DEPLOYMENT)}, *selected)
    substituted = check({"web.yaml": DEPLOYMENT}, *selected, variables=VALUES)
    assert {"unsupported-value", "invalid-port-number"} <= {f.rule for f in direct} or len(direct) > 3
    assert [(f.rule, f.message, f.help, f.place.field, f.range.line) for f in substituted] == [
        (f.rule, f.message, f.help, f.place.field, f.range.line) for f in direct
    ]


def test_findings_point_to_the_placeholder(check: Check) -> None:
    findings = check({"web.yaml": DEPLOYMENT}, "unsupported-value", variables=VALUES)
    (finding,) = [f for f in findings if f.rule == "unsupported-value"]
    line = DEPLOYMENT.splitlines()[finding.range.line - 1]
    assert line[finding.range.column - 1 : finding.range.end_column - 1] == "${PULL_POLICY}"
    assert finding.fix is None


@pytest.mark.parametrize(
    ("text", "variables", "value"),
    [
        ("a: ${A}", {"A": "1"}, 1),
        ("a: '${A}'", {"A": "1"}, "1"),
        ("a: $A", {"A": "x"}, "x"),
        ("a: x${A}y", {"A": ""}, "xy"),
        ("a: ${A:=1}", {}, 1),
        ("a: ${A:-1}", {"A": ""}, 1),
        ("a: ${A-1}", {"A": ""}, None),
        ("a: ${A=1}", {"A": "2"}, 2),
        ("a: ${A}", {}, "${A}"),
        ("a: $AB", {"A": "1"}, "$AB"),
        ("a: $${A}", {"A": "1"}, "$${A}"),
        ("a: ${A:1:2}", {"A": "1"}, "${A:1:2}"),
        ("a: ${A}", {"A": "{b: [1, 2]}"}, {"b": [1, 2]}),
        ("a: ${A} # kustomize.toolkit.fluxcd.io/substitute: disabled", {"A": "1"}, "${A}"),
    ],
)
def test_forms_of_variables(text: str, variables: dict[str, str], value: object) -> None:
    (document,) = Substitution(variables).parse(Source("a.yaml", text))
    assert document.root["a"].plain() == value


def test_positions_are_those_of_the_original_text() -> None:
    text = "${K}: {x: '${A}', z: [${B}, 1]}\nlong: ${LONG}\n---\nlast: a${A}b  # ${A}\n"
    source = Source("a.yaml", text)
    documents = Substitution({"K": "key", "A": "", "B": "[1, 2, 3, 4]", "LONG": "x" * 100}).parse(source)
    shown = {}

    def visit(path: str, node: object) -> None:
        for name, child in node.entries or enumerate(node):  # type: ignore[attr-defined]
            shown[f"{path}{name}"] = text[child.start : child.end]
            visit(f"{path}{name}.", child)

    for document in documents:
        assert document.source is source
        visit("", document.root)
    assert shown == {
        "key": "{x: '${A}', z: [${B}, 1]}", "key.x": "'${A}'", "key.z": "[${B}, 1]", "key.z.0": "${B}", "key.z.0.0": "${B}",
        "key.z.0.1": "${B}", "key.z.0.2": "${B}", "key.z.0.3": "${B}", "key.z.1": "1", "long": "${LONG}", "last": "a${A}b",
    }  # fmt: skip
    assert [text[document.start : document.end] for document in documents] == [text[: text.index("---")], text[text.index("---") :]]
    assert documents[0].root["key"].key_span == (0, 4)


def test_syntax_error_after_a_variable_is_located() -> None:
    text = "a: ${A}\nb: [1\n"
    (document,) = Substitution({"A": "x" * 50}).parse(Source("a.yaml", text))
    assert document.fault is not None
    assert 0 <= document.fault.start <= document.fault.end <= len(text)


def test_texts_that_grow_too_much_are_refused() -> None:
    with pytest.raises(TooLarge):
        Substitution({"A": "x" * 100_000}).parse(Source("a.yaml", "a: $A\n" * 1000))


def test_values_of_variables_that_are_credentials_are_not_quoted(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  restartPolicy: ${API_TOKEN}\n  serviceAccountName: x-${API_TOKEN}\n"
    Path("a.yaml").write_text(f"{pod}  containers: [{{name: web, image: 'nginx:1.29', imagePullPolicy: '${{POLICY}}'}}]\n")
    substitution = Substitution({"API_TOKEN": "S3cr3t+Token/en99", "POLICY": "Sometimes"})
    rules = choose(registry, ["all"], [], {})
    found = run_pipeline(
        discover(["."]), Session(registry, rules, [Store(load("1.37"))], complete=True, substitution=substitution)
    ).findings
    texts = [f"{each.message} {each.help}" for each in found]
    assert any('restartPolicy "***" is not supported' in text for text in texts)
    assert any('ServiceAccount "x-***"' in text for text in texts)
    assert any('"Sometimes"' in text for text in texts)
    assert not [text for text in texts if "s3cr3t" in text.lower()]
