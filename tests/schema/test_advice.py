"""Help and fixes for values of the wrong type and for unknown fields."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from kcheck.text.edit import apply_edits

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: a:1\n"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tools.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Tool, plural: tools}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {commit: {type: string}}}}}}
---
"""


def advice(text: str, rule: str = "wrong-type") -> list[str]:
    return [finding.help for finding in check_text(text, [rule])]


def fixed(text: str) -> str:
    (finding,) = check_text(text, ["wrong-type"])
    assert finding.fix is not None
    return apply_edits(text, finding.fix.edits)


@pytest.mark.parametrize("port", ["!!str 80", "!!str &x 80", "&x !!str 80"])
def test_a_tag_would_still_apply_after_a_fix(port: str) -> None:
    (finding,) = check_text(f"{POD}    ports: [{{containerPort: {port}}}]\n", ["wrong-type"])
    assert finding.fix is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    env:\n      A: 'x y'\n      B:\n      C: yes\n", "    env:\n      - {name: A, value: 'x y'}\n      - {name: B, value: \"\"}\n"
         "      - {name: C, value: \"yes\"}\n"),
        ("    env: {A: b}\n", "    env: [{name: A, value: b}]\n"),
        ("    env: A=b\n", "    env: [{name: A, value: b}]\n"),
        ("    envFrom:\n      configMapRef: {name: x}\n", "    envFrom:\n      - configMapRef: {name: x}\n"),
        ("    envFrom: {configMapRef: {name: x}}\n", "    envFrom: [{configMapRef: {name: x}}]\n"),
        ("    ports: 8080\n", "    ports: [{containerPort: 8080}]\n"),
        ("    ports: ['80:8080']\n", "    ports: [{containerPort: 8080}]\n"),
        ("    command: sh -c 'x'\n", "    command: [\"sh -c 'x'\"]\n"),
        ("    command: nginx -g\n", '    command: ["nginx", "-g"]\n'),
        ("    args: 010\n", '    args: ["010"]\n'),
        ("  imagePullSecrets: regcred\n", "  imagePullSecrets: [{name: regcred}]\n"),
        ("  terminationGracePeriodSeconds: 2m\n", "  terminationGracePeriodSeconds: 120\n"),
        ("  hostNetwork: 'yes'\n", "  hostNetwork: true\n"),
        ("  nodeSelector: a=b\n", "  nodeSelector: {a: b}\n"),
        ("  volumes: [{name: a, secret: b}]\n", "  volumes: [{name: a, secret: {secretName: b}}]\n"),
        ("  initContainers:\n    b:\n      image: b:1\n", "  initContainers:\n    - name: b\n      image: b:1\n"),
    ],
)  # fmt: skip
def test_the_fix_is_what_the_value_means(before: str, after: str) -> None:
    assert fixed(POD + before) == POD + after


@pytest.mark.parametrize("written", ["0123456", "1e10", "010", "1_000", "0x1F", "yes", "1.10"])
def test_the_text_of_the_file_is_quoted(written: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, labels: {{sha: {written}}}}}\n"
    assert fixed(text) == text.replace(written, f'"{written}"')
    custom = f"{CRD}apiVersion: example.com/v1\nkind: Tool\nmetadata: {{name: a}}\nspec: {{commit: {written}}}\n"
    assert fixed(custom) == custom.replace(written, f'"{written}"')


def test_json_stays_json() -> None:
    spec = '{"containers": [], "imagePullSecrets": "x", "hostIPC": "yes"}'
    text = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}}, "spec": {spec}}}'
    finding, other = check_text(text, ["wrong-type"])
    assert finding.fix is None
    assert "[{name" not in finding.help
    assert other.help == "use true"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("  ports: [{containerPort: 80}]\n", "move it to spec.containers[0] (line 6)"),
        ("    runAsUser: 1\n", "move it to spec.containers[0].securityContext"),
        ("    securityContext: {fsGroup: 1}\n", "move it to spec.securityContext"),
        ("  labels: {a: b}\n", "move it to metadata (line 3)"),
        ("    lifecycle: {preStop: {command: [a]}}\n", "move it to spec.containers[0].lifecycle.preStop.exec"),
        ("    resources: {memory: 1Gi}\n", "move it to limits or requests"),
        ("  volumes: [{name: a, secret: {name: b}}]\n", "use secretName"),
        ("    imagePullpolicy: Always\n", 'did you mean "imagePullPolicy"?'),
        ("  unheard: of\n", "remove it, or move it to the level where it belongs"),
    ],
)
def test_the_place_of_a_field(fields: str, expected: str) -> None:
    assert advice(POD + fields, "unknown-field") == [expected]


def test_a_field_of_several_containers() -> None:
    text = f"{POD}  - name: b\n    image: b:1\n  env: [{{name: A}}]\n"
    assert advice(text, "unknown-field") == ["move it to an item of spec.containers"]


def test_a_field_beside_its_like() -> None:
    text = f"{POD}    securityContext: {{privileged: true}}\n  capabilities: {{drop: [ALL]}}\n"
    assert advice(text, "unknown-field") == ["move it to spec.containers[0].securityContext (line 8)"]


def test_what_follows_from_an_unknown_field_is_not_reported() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  container: [{name: a, image: 'a:1'}]\n"
    assert [finding.rule for finding in check_text(text, ["spec"])] == ["unknown-field"]
    ingress = (
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec:\n  rules:\n  - http:\n      paths:\n"
        "      - {path: /, pathType: Prefix, backend: {serviceName: web, servicePort: http}}\n"
    )
    (finding,) = check_text(ingress, ["spec"])
    assert finding.help == "use service: {name: web, port: {name: http}}"


def test_a_misplaced_field_that_its_place_has_already_is_removed() -> None:
    template = (
        "  template:\n    strategy: {type: Recreate}\n    metadata: {labels: {app: a}}\n    spec: {containers: [{name: a, image: a}]}\n"
    )
    start = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {app: a}}\n"
    (found,) = check_text(f"{start}  strategy: {{type: Recreate}}\n{template}", ["unknown-field"])
    assert found.help == "remove it, because spec (line 5) has it already"
    (found,) = check_text(f"{start}  strategy: {{type: RollingUpdate}}\n{template}", ["unknown-field"])
    assert found.help == "merge it into spec (line 5)"


def test_a_workload_of_an_older_version_needs_a_selector() -> None:
    start = "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
    template = '  template:\n    metadata: {labels: {app: a, "on": "yes"}}\n    spec: {containers: [{name: a, image: a}]}\n'
    added = 'spec.selector: {matchLabels: {app: a, "on": "yes"}}'
    assert advice(start + template, "removed-api") == [f"use apiVersion: apps/v1, and add {added}"]
    assert advice(f"{start}  selector: {{matchLabels: {{app: a}}}}\n{template}", "removed-api") == ["use apiVersion: apps/v1"]
