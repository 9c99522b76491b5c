"""`kcheck check` of charts: rendered with the real helm, with findings at the lines of templates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kcheck.helm.errors import NEEDS_VALUES, HelmError, read_error
from tests.cli.conftest import Program, program
from tests.helm.programs import PROGRAMS, needs_helm, with_helm

__all__ = ["program"]

ROOT = Path(__file__).parent.parent.parent
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
spec:
  containers:
    - name: web
      image: web:1.0
      ports:
        - containerPort: {{ .Values.port }}
"""


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def findings(program: Program, *arguments: str, helm: str = PROGRAMS[0] if PROGRAMS else "") -> list[dict[str, Any]]:
    outcome = program("check", "--isolated", "--helm", helm, "--format", "json", *arguments)
    found: list[dict[str, Any]] = json.loads(outcome.out)["findings"]
    return found


def places(found: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    return [(each["rule"], each["file"], each["range"]["start"]["line"], each["range"]["start"]["column"]) for each in found]


@with_helm
def test_a_finding_has_its_place_in_the_template_and_in_the_values(program: Program, helm: str) -> None:
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 99999\n", "web/templates/pod.yaml": POD})
    found = findings(program, ".", "--select", "invalid-port-number", helm=helm)
    assert places(found) == [("invalid-port-number", "web/templates/pod.yaml", 10, 26)]
    assert found[0]["range"]["end"] == {"line": 10, "column": 44}
    assert [(each["message"], each["file"], each["range"]["start"]["line"]) for each in found[0]["related"]] == [
        ("rendered as: - containerPort: 99999", "web/templates/pod.yaml", 10),
        ('value of "port"', "web/values.yaml", 1),
    ]
    assert found[0]["fix"] is None
    assert found[0]["object"]["unit"] == {"kind": "chart", "path": "web"}


SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    checksum/secret: {{ "a" | sha256sum }}
    checksum/credentials: {{ "b" | sha1sum }}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: example.com/web:1.0
          env:
            - {name: PASSWORD_CMD, value: cat /run/password}
            - {name: TOKEN_FILE, value: /run/token}
            - {name: ETCD_AUTH_TOKEN, value: "jwt,pub-key=/certs/a.pem,priv-key=/certs/b.pem,sign-method=RS256"}
            - {name: ETCD_INITIAL_CLUSTER_TOKEN, value: etcd-cluster}
            - {name: WEBHOOK_SECRET, value: {{ .Release.Name }}-webhook}
            - {name: UNKNOWN_SECRET, value: some-other}
"""
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}-webhook'}\nstringData: {key: x}\n"
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  image-pull-secret: image-pull-secret
  webhook-secret: {{ .Release.Name }}-webhook
  other-secret: some-other
"""


@with_helm
def test_names_of_secrets_and_checksums_are_no_credentials(program: Program, helm: str) -> None:
    write({"Chart.yaml": CHART, "templates/a.yaml": SERVER, "templates/b.yaml": SECRET, "templates/c.yaml": CONFIG})
    found = findings(program, ".", "--select", "credential-in-env,credential-in-config-map,credential-in-annotation", helm=helm)
    assert [(each["file"], each["range"]["start"]["line"]) for each in found] == [("templates/a.yaml", 23), ("templates/c.yaml", 7)]


@with_helm
def test_a_line_whose_value_the_user_must_set_is_not_judged(program: Program, helm: str) -> None:
    name = POD.replace("{{ .Release.Name }}", "mirror-{{ .Values.cluster }}").replace("{{ .Values.port }}", "99999")
    write({"Chart.yaml": CHART, "values.yaml": "cluster: ''\n", "templates/pod.yaml": name})
    shown = program("check", "--isolated", "--helm", helm, "--select", "invalid-name,invalid-port-number", "--verbose").out
    assert "invalid-name" not in shown
    assert "invalid-port-number" in shown
    assert "templates/pod.yaml: lines whose values the chart leaves empty were not checked" in shown
    write({"ci/bad-values.yaml": "cluster: A-\n"})
    assert [each["rule"] for each in findings(program, "--select", "invalid-name", helm=helm)] == ["invalid-name"]


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec: {source: {path: web, helm: {releaseName: %s, values: %s}}}
"""


@with_helm
@pytest.mark.parametrize("name", ["--output-dir=out", "--post-renderer=./run.sh", '"a\\0"', "'--'"])
def test_a_name_of_the_input_is_no_option_of_helm(program: Program, helm: str, name: str) -> None:
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 80\n", "web/templates/pod.yaml": POD, "run.sh": "#!/bin/sh\ntouch out\n"})
    os.chmod("run.sh", 0o755)
    write({"app.yaml": APPLICATION % (name, '"a: 1"')})
    found = findings(program, ".", "--select", "failed-chart-render,internal-error", helm=helm)
    assert [each["rule"] for each in found] == ["failed-chart-render"]
    assert not Path("out").exists()


@with_helm
def test_values_of_an_application_may_contain_any_character(program: Program, helm: str) -> None:
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 80\n", "web/templates/pod.yaml": POD})
    write({"app.json": json.dumps({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web"}, "spec": {
        "source": {"path": "web", "helm": {"values": "a: \ud800"}}}})})  # fmt: skip
    assert [each["rule"] for each in findings(program, ".", "--select", "internal-error", helm=helm)] == []


@with_helm
def test_text_is_exact_to_the_column(program: Program, helm: str) -> None:
    write({"Chart.yaml": CHART, "templates/pod.yaml": POD.replace("{{ .Values.port }}", "99999 {{- /* fixed */}}")})
    assert places(findings(program, "--select", "invalid-port-number", helm=helm)) == [
        ("invalid-port-number", "templates/pod.yaml", 10, 26)
    ]


@with_helm
def test_a_helper_of_a_library_is_not_the_place(program: Program, helm: str) -> None:
    write(
        {
            "web/Chart.yaml": CHART + "dependencies: [{name: common, version: 1.0.0, repository: file://../common}]\n",
            "web/templates/_helpers.tpl": '{{ define "web.port" }}{{ include "common.port" . }}{{ end }}',
            "web/templates/pod.yaml": POD.replace(".Values.port", 'include "web.port" .'),
            "common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 1.0.0\ntype: library\n",
            "common/templates/_port.tpl": '{{ define "common.port" }}99999{{ end }}',
        }
    )
    found = findings(program, ".", "--select", "invalid-port-number", helm=helm)
    assert places(found) == [("invalid-port-number", "web/templates/_helpers.tpl", 1, 24)]
    assert [(each["message"], each["file"]) for each in found[0]["related"]] == [
        ("rendered as: - containerPort: 99999", "web/templates/_helpers.tpl"),
        ("printed by this helper", "common/templates/_port.tpl"),
        ("called here", "web/templates/pod.yaml"),
    ]


@with_helm
def test_ignore_comments(program: Program, helm: str) -> None:
    pod = POD.replace("{{ .Values.port }}", "99999")
    comments = {
        "action": pod.replace("99999", "99999 {{/* kcheck: ignore[invalid-port-number] it is a test */}}"),
        "line": pod.replace("        - container", "        {{- /* kcheck: ignore[invalid-port-number] */}}\n        - container"),
        "blank": pod.replace("        - container", "        {{/* kcheck: ignore[invalid-port-number] */ -}}\n        - container"),
        "yaml": pod.replace("99999", "99999 # kcheck: ignore[invalid-port-number]"),
        "annotation": pod.replace("  name: {{", "  annotations: {kcheck.dev/ignore: invalid-port-number}\n  name: {{"),
        "unused": POD.replace("{{ .Values.port }}", "80 {{/* kcheck: ignore[invalid-port-number] */}}"),
    }
    write({"web/Chart.yaml": CHART, **{f"web/templates/{name}.yaml": text for name, text in comments.items()}})
    found = findings(program, ".", "--select", "invalid-port-number,unused-ignore", helm=helm)
    assert places(found) == [("unused-ignore", "web/templates/unused.yaml", 10, 29)]


@with_helm
def test_equal_findings_of_several_sets_of_values_name_the_sets(program: Program, helm: str) -> None:
    second = POD.replace("containerPort: {{ .Values.port }}", "containerPort: 99999")
    write(
        {
            "web/Chart.yaml": CHART,
            "web/values.yaml": "port: 99999\nsecond: false\n",
            "web/templates/pod.yaml": POD,
            "web/templates/second.yaml": f"{{{{ if .Values.second }}}}\n{second}{{{{ end }}}}\n",
            "web/ci/a-values.yaml": "second: true\n",
            "web/ci/b-values.yaml": "second: true\nport: 80\n",
        }
    )
    found = findings(program, ".", "--select", "invalid-port-number", helm=helm)
    assert [(each["file"], each["message"]) for each in found] == [
        ("web/templates/pod.yaml", "containerPort 99999 is out of range (1-65535) (with values.yaml, ci/a-values.yaml)"),
        ("web/templates/second.yaml", "containerPort 99999 is out of range (1-65535) (with ci/a-values.yaml, ci/b-values.yaml)"),
    ]


@with_helm
def test_the_config_selects_sets_of_values(program: Program, helm: str) -> None:
    write(
        {
            "web/Chart.yaml": CHART,
            "web/values.yaml": "port: 1\nname: a\n",
            "web/ci/a-values.yaml": "port: 99999\n",
            "web/prod.yaml": "port: 77777\n",
            "web/templates/pod.yaml": POD.replace(".Release.Name }}", ".Values.name }}-{{ .Release.Name }}-{{ .Release.Namespace }}"),
            ".kcheck.yaml": "charts:\n  web/: {values: [[ci/a-values.yaml, prod.yaml]], set: [name=b], release: shop, namespace: prod}\n",
        }
    )
    outcome = program("check", ".", "--helm", helm, "--select", "invalid-port-number", "--format", "json")
    found = json.loads(outcome.out)["findings"]
    assert [(each["message"], each["object"]["name"]) for each in found] == [
        ("containerPort 77777 is out of range (1-65535)", "b-shop-prod")
    ]
    assert found[0]["related"][-1]["file"] == "web/prod.yaml"


@with_helm
def test_versions_of_kubernetes_are_those_of_the_run(program: Program, helm: str) -> None:
    pdb = 'apiVersion: {{ if .Capabilities.APIVersions.Has "policy/v1/PodDisruptionBudget" }}policy/v1{{ else }}policy/v1beta1{{ end }}\n'
    pdb += "kind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}\n"
    crd = """\
{{ if .Capabilities.APIVersions.Has "example.com/v1" }}
apiVersion: example.com/v1
kind: Widget
metadata: {name: web}
spek: {}
{{ end }}
"""
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names:
    kind: Widget
    plural: widgets
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
"""
    write({"web/Chart.yaml": CHART, "web/templates/pdb.yaml": pdb, "web/templates/widget.yaml": crd})
    assert not findings(program, "web", "--select", "spec", helm=helm)
    assert not findings(program, "web", "--select", "spec", "--kubernetes", "1.25-1.37", helm=helm)
    write({"crd.yaml": definition})
    assert places(findings(program, ".", "--select", "unknown-field", helm=helm)) == [("unknown-field", "web/templates/widget.yaml", 5, 1)]


@with_helm
def test_a_chart_that_cannot_be_rendered(program: Program, helm: str) -> None:
    write(
        {
            "value/Chart.yaml": CHART,
            "value/templates/pod.yaml": 'a: b\nname: {{ required "set a name" .Values.name }}\n',
            "syntax/Chart.yaml": CHART,
            "syntax/templates/pod.yaml": "a: b\nname: {{ if }}\n",
            "missing/Chart.yaml": CHART + "dependencies:\n- {name: redis, version: 1.0.0, repository: https://example.com}\n",
            "schema/Chart.yaml": CHART,
            "schema/templates/a.yaml": "",
            "schema/values.yaml": "port:\n  http: eighty\n",
            "schema/values.schema.json": '{"properties": {"port": {"properties": {"http": {"type": "integer"}}}}}',
            "test/testdata/broken/Chart.yaml": CHART,
            "test/testdata/broken/templates/pod.yaml": "{{ fail }}\n",
        }
    )
    found = findings(program, ".", "--select", "failed-chart-render", helm=helm)
    assert [place[1:3] for place in places(found)] == [
        ("missing/Chart.yaml", 5),
        ("schema/values.yaml", 2),
        ("syntax/templates/pod.yaml", 2),
        ("value/templates/pod.yaml", 2),
    ]
    messages = {each["file"].partition("/")[0]: (each["message"], each["help"]) for each in found}
    assert messages["missing"] == ("helm cannot render the chart: dependencies are missing in charts/: redis", "run helm dependency build")
    assert messages["value"][0] == "helm cannot render the chart: set a name"
    assert messages["schema"][0].startswith("helm cannot render the chart: port.http: ")
    assert messages["syntax"][0] == "helm cannot render the chart: missing value for if"


@with_helm
def test_a_chart_that_needs_values_is_rendered_with_those_of_its_tests(program: Program, helm: str) -> None:
    pod = POD.replace("name: {{ .Release.Name }}", 'name: {{ required "set a name" .Values.name }}').replace("{{ .Values.port }}", "99999")
    write({"web/Chart.yaml": CHART, "web/templates/pod.yaml": pod, "web/ci/a-values.yaml": "name: a\n"})
    found = findings(program, ".", helm=helm)
    assert places(found) == [("invalid-port-number", "web/templates/pod.yaml", 10, 26)]


@with_helm
def test_practices_in_values_of_tests_are_not_reported(program: Program, helm: str) -> None:
    pod = POD.replace("web:1.0", "web:{{ .Values.tag }}").replace("{{ .Values.port }}", "80")
    write(
        {"web/Chart.yaml": CHART, "web/values.yaml": "tag: '1'\n", "web/templates/pod.yaml": pod, "web/ci/a-values.yaml": "tag: latest\n"}
    )
    assert not findings(program, ".", "--select", "latest-tag", helm=helm)


@with_helm
def test_practices_in_lists_that_tests_set_and_resources_that_users_set_are_not_reported(program: Program, helm: str) -> None:
    policy = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Egress]
  {{- with .Values.rules }}
  egress:
    {{- toYaml . | nindent 4 }}
  {{- end }}
"""
    scaler = """\
{{- if .Values.scaled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
{{- end }}
"""
    rules = "rules: [{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{port: 5432}]}]\n"
    server = SERVER.partition("          env:")[0] + "          resources: {}\n"
    files = {"Chart.yaml": CHART, "templates/a.yaml": server, "templates/b.yaml": policy, "templates/c.yaml": scaler}
    selected = (".", "--select", "network-policy-blocks-dns,hpa-without-requests")
    write({**files, "values.yaml": "scaled: false\nrules: []\n", "ci/a-values.yaml": f"scaled: true\n{rules}"})
    assert not findings(program, *selected, helm=helm)
    write({"values.yaml": f"scaled: true\n{rules}"})
    assert {each["rule"] for each in findings(program, *selected, helm=helm)} == {"network-policy-blocks-dns", "hpa-without-requests"}


@needs_helm
def test_a_template_on_the_command_line(program: Program) -> None:
    pod = POD.replace("{{ .Values.port }}", "99999")
    write({"web/Chart.yaml": CHART, "web/templates/a.yaml": pod, "web/templates/b.yaml": pod})
    assert places(findings(program, "web/templates/b.yaml", "--select", "invalid-port-number")) == [
        ("invalid-port-number", "web/templates/b.yaml", 10, 26)
    ]


@needs_helm
def test_a_packed_chart(program: Program) -> None:
    write({"web/Chart.yaml": CHART, "web/templates/a.yaml": POD.replace("{{ .Values.port }}", "99999")})
    with tarfile.open("web.tgz", "w:gz") as archive:
        archive.add("web")
    found = findings(program, "web.tgz", "--select", "invalid-port-number")
    assert places(found) == [("invalid-port-number", "web.tgz/templates/a.yaml", 10, 26)]


@needs_helm
def test_a_packed_sub_chart_is_reported_at_its_dependency(program: Program) -> None:
    write({"redis/Chart.yaml": CHART.replace("web", "redis"), "redis/templates/a.yaml": POD.replace("{{ .Values.port }}", "99999")})
    os.makedirs("web/charts")
    with tarfile.open("web/charts/redis-1.0.0.tgz", "w:gz") as archive:
        archive.add("redis")
    shutil.rmtree("redis")
    write({"web/Chart.yaml": CHART + "dependencies:\n  - name: redis\n    version: 1.0.0\n    repository: https://example.com\n"})
    assert places(findings(program, ".", "--select", "invalid-port-number")) == [("invalid-port-number", "web/Chart.yaml", 5, 11)]


@needs_helm
def test_sub_charts_and_vendored_charts_are_not_rendered_alone(program: Program) -> None:
    pod = POD.replace("{{ .Values.port }}", '{{ required "a port" .Values.port }}')
    write(
        {
            "web/Chart.yaml": CHART,
            "web/values.yaml": "sub: {port: 99999}\n",
            "web/charts/sub/Chart.yaml": CHART.replace("web", "sub"),
            "web/charts/sub/templates/a.yaml": pod,
            "vendor/other/Chart.yaml": CHART,
            "vendor/other/templates/a.yaml": pod,
        }
    )
    found = findings(program, ".", "--select", "invalid-port-number,failed-chart-render")
    assert places(found) == [("invalid-port-number", "web/charts/sub/templates/a.yaml", 10, 26)]
    assert found[0]["related"][-1]["file"] == "web/values.yaml"


@needs_helm
def test_relations_are_those_of_a_rendering(program: Program) -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: {{ .Values.app }}}\n  ports: [{port: 80}]\n"
    pod = POD.replace("name: {{ .Release.Name }}", "name: web\n  labels: {app: web}").replace("{{ .Values.port }}", "80")
    write(
        {
            "web/Chart.yaml": CHART,
            "web/values.yaml": "app: web\n",
            "web/templates/pod.yaml": pod,
            "web/templates/service.yaml": service,
            "web/ci/wrong-values.yaml": "app: wob\n",
        }
    )
    found = findings(program, ".", "--select", "service-without-pods")
    assert [(each["file"], each["range"]["start"]["line"]) for each in found] == [("web/templates/service.yaml", 5)]
    assert found[0]["message"].endswith("(with ci/wrong-values.yaml)")


@needs_helm
def test_messages_name_lines_of_templates(program: Program) -> None:
    pod = POD.replace("spec:", "{{- if true }}\nspec:\n  hostNetwork: false\n  hostNetwork: true\n{{- end }}\nother:").replace(
        "{{ .Values.port }}", "80"
    )
    write({"web/Chart.yaml": CHART, "web/templates/pod.yaml": "{{/* a\ncomment */}}\n" + pod})
    found = findings(program, ".", "--select", "duplicate-key")
    assert [(each["message"], each["range"]["start"]["line"]) for each in found] == [
        ('duplicate key "hostNetwork" (first defined on line 9)', 10)
    ]


@needs_helm
def test_a_cached_chart_starts_no_process(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 99999\n", "web/templates/pod.yaml": POD})
    first = findings(program, "web")
    runs = tmp_path / "helm"
    runs.write_text("#!/bin/sh\nexit 1\n")
    runs.chmod(0o755)
    assert places(first) == [("invalid-port-number", "web/templates/pod.yaml", 10, 26)]

    def refuse(*arguments: object, **settings: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", refuse)
    assert findings(program, "web") == first


@needs_helm
def test_renderings_of_other_code_are_not_used(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    started = []
    start = subprocess.Popen

    def popen(*arguments: Any, **settings: Any) -> Any:
        started.append(arguments)
        return start(*arguments, **settings)

    monkeypatch.setattr("subprocess.Popen", popen)
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 80\n", "web/templates/pod.yaml": POD})
    numbers = []
    for code in (b"old", b"old", b"new"):
        monkeypatch.setattr("kcheck.run.rendering_cache.code_state", lambda code=code: code)
        findings(program, "web")
        numbers.append(len(started))
    assert numbers[0] == numbers[1] < numbers[2]


@needs_helm
def test_values_that_were_not_proven_in_time_are_searched_again(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 99999\n", "web/templates/pod.yaml": POD})
    with monkeypatch.context() as patch:
        patch.setattr("kcheck.run.rendering_cache.MAX_SECONDS", 0.0)
        assert "value of" not in json.dumps(findings(program, "web"))
    assert "value of" in json.dumps(findings(program, "web"))


@needs_helm
def test_the_cache_holds_no_secret(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: {{ .Values.a }}}\n"
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 99999\na: k7Jx2mQ9vB4t\n"})
    write({"web/templates/pod.yaml": POD, "web/templates/secret.yaml": secret})
    first = findings(program, "web")
    assert findings(program, "web") == first
    stored = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert b"web/templates/pod.yaml" in stored
    assert b"k7Jx2mQ9vB4t" not in stored


@needs_helm
def test_random_values_do_not_move_findings(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    random = "metadata:\n  annotations:\n    a: {{ randAlpha (int (randInt 1 40)) }}\n    password: k7Jx2mQ9vB4t\n"
    write({"web/Chart.yaml": CHART, "web/values.yaml": "port: 99999\n", "web/templates/pod.yaml": POD.replace("metadata:\n", random)})
    for _ in range(4):
        assert places(findings(program, "web", "--select", "invalid-port-number")) == [
            ("invalid-port-number", "web/templates/pod.yaml", 13, 26)
        ]


def test_without_helm_one_finding_says_what_was_not_checked(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    write({"charts/web/Chart.yaml": CHART, "charts/web/templates/pod.yaml": POD})
    outcome = program("check", "--isolated", "--format", "json", ".")
    found = json.loads(outcome.out)["findings"]
    assert [(each["rule"], each["file"], each["message"], each["help"]) for each in found] == [
        ("unrendered-chart", "charts/web/Chart.yaml", 'chart "web" was not checked: helm is not installed', "install helm, or use --helm")
    ]
    assert outcome.code == 0
    assert program("check", "--isolated", "charts/web").code == 2


def test_a_program_that_does_not_exist_is_a_usage_error(program: Program) -> None:
    outcome = program("check", "--helm", "nothing", ".")
    assert outcome.code == 2
    assert "--helm: nothing is not a program" in outcome.err


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            'template: web/templates/a.yaml:3:4: executing "web/templates/a.yaml" at <include "x" .>: error calling include: '
            'template: web/templates/_h.tpl:7:9: executing "x" at <.Values.a.b>: nil pointer evaluating interface {}.b',
            HelmError("nil pointer evaluating interface {}.b", template="web/templates/_h.tpl", line=7, column=10),
        ),
        (
            "execution error at (web/templates/NOTES.txt:2:3): [ERROR] 'mode' must be set",
            HelmError("[ERROR] 'mode' must be set", NEEDS_VALUES, "web/templates/NOTES.txt", 2, 4),
        ),
        (
            "parse error at (web/templates/a.yaml:12): unclosed action",
            HelmError("unclosed action", template="web/templates/a.yaml", line=12),
        ),
        (
            "values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '': validation failed\n"
            "  - at '/crds': additional properties 'on' not allowed\n  - at '/a/b~1c': got string, want number\n",
            HelmError(
                "crds: additional properties 'on' not allowed; a.b/c: got string, want number (values.schema.json)",
                file="values.yaml",
                pointer=("crds",),
                subject="web",
            ),
        ),
        (
            "chart requires kubeVersion: >=1.40 which is incompatible with Kubernetes v1.37.0",
            HelmError("kubeVersion >=1.40 excludes Kubernetes v1.37.0", file="Chart.yaml", subject="kubeVersion"),
        ),
    ],
)
def test_errors_of_helm(message: str, error: HelmError) -> None:
    assert read_error(message) == error


@needs_helm
def test_links_out_of_the_repository_are_not_read(program: Program, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-secret.txt"
    outside.write_text("containerPort: 99999\n")
    pod = POD.replace("- containerPort: {{ .Values.port }}", '- {{ .Files.Get "secret.txt" | default "containerPort: 80" | trim }}')
    write({".git/HEAD": "", "web/Chart.yaml": CHART, "web/templates/pod.yaml": pod})
    os.symlink(outside, "web/secret.txt")
    assert not findings(program, ".", "--select", "invalid-port-number")
    Path("secret.txt").write_text(outside.read_text())
    os.remove("web/secret.txt")
    os.symlink("../secret.txt", "web/secret.txt")
    assert places(findings(program, ".", "--select", "invalid-port-number")) == [("invalid-port-number", "web/templates/pod.yaml", 10, 11)]


@needs_helm
def test_off_skips_charts(program: Program) -> None:
    write({"web/Chart.yaml": CHART, "web/templates/pod.yaml": POD})
    assert not findings(program, ".", helm="off")


@needs_helm
def test_releases_of_argo_cd_and_flux_use_their_values(program: Program) -> None:
    application = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec:
  destination: {namespace: prod}
  source:
    path: charts/web
    repoURL: https://example.com/repo.git
    helm:
      valueFiles: [prod.yaml]
      valuesObject:
        port: 99999
"""
    release = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: front, namespace: flux}
spec:
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: repo}}}
  values: {port: 88888}
"""
    write(
        {
            ".git/HEAD": "",
            "apps/shop.yaml": application,
            "apps/front.yaml": release,
            "charts/web/Chart.yaml": CHART,
            "charts/web/values.yaml": "port: 80\n",
            "charts/web/prod.yaml": "port: 77777\n",
            "charts/web/templates/pod.yaml": POD,
        }
    )
    found = findings(program, ".", "--select", "invalid-port-number")
    assert [
        (each["message"], each["object"]["name"], each["related"][-1]["file"], each["related"][-1]["range"]["start"]) for each in found
    ] == [
        ("containerPort 88888 is out of range (1-65535) (with HelmRelease front)", "front", "apps/front.yaml", {"line": 6, "column": 18}),
        ("containerPort 99999 is out of range (1-65535) (with Application shop)", "shop", "apps/shop.yaml", {"line": 12, "column": 15}),
    ]


@needs_helm
def test_charts_of_kustomizations_use_their_values(program: Program) -> None:
    kustomization = """\
helmGlobals: {chartHome: ../charts}
namespace: prod
helmCharts:
  - name: web
    releaseName: shop
    valuesFile: values.yaml
    valuesInline: {port: 99999}
"""
    write(
        {
            ".git/HEAD": "",
            "prod/kustomization.yaml": kustomization,
            "prod/values.yaml": "port: 88888\n",
            "charts/web/Chart.yaml": CHART,
            "charts/web/values.yaml": "port: 80\n",
            "charts/web/templates/pod.yaml": POD,
        }
    )
    found = findings(program, ".", "--select", "invalid-port-number")
    assert [(each["message"], each["object"]["name"], each["related"][-1]["file"]) for each in found] == [
        ("containerPort 99999 is out of range (1-65535) (with shop in prod/kustomization.yaml)", "shop", "prod/kustomization.yaml")
    ]
