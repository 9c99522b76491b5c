"""Where rendered characters come from, with the real helm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.helm.chart import Chart
from kcheck.helm.marking import CLOSE, NUMBERED, OPEN, TemplatePiece
from kcheck.helm.program import HelmFailed, HelmSettings
from kcheck.helm.rendering import Trace, render_chart, trace_chart
from kcheck.helm.stored import restore_trace, store_trace
from kcheck.helm.tracing import Stacks, TracedText, Untraceable, read_marks, verified
from kcheck.helm.values import ChartValues, TextQuery, ValueTracer
from tests.helm.programs import with_helm

SETTINGS = HelmSettings("shop", "default", "1.36.0", ("apps/v1", "apps/v1/Deployment"))
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"


def chart(files: dict[str, str]) -> Chart:
    return Chart("web", {"Chart.yaml": CHART.encode(), **{name: text.encode() for name, text in files.items()}})


def origins(found: Chart, text: str, traced: TracedText, trace: Trace) -> Iterator[tuple[str, str, str]]:
    """Yield each visible part of a text with the text of its innermost piece and the file of the piece."""
    for start, end, number in traced.segments(0, len(text)):
        stack = trace.stacks.of(number)
        if text[start:end].strip():
            piece = stack[0]
            yield text[start:end], found.source(piece.file).text[piece.start : piece.end], piece.file


def traced_lines(helm: str, found: Chart, name: str) -> list[tuple[str, str, str]]:
    texts = render_chart(helm, found, SETTINGS)
    trace = trace_chart(helm, found, SETTINGS, texts)
    assert not trace.untraced
    return list(origins(found, texts[f"web/templates/{name}"], trace.texts[f"web/templates/{name}"], trace))


@with_helm
def test_text_actions_and_helpers(helm: str) -> None:
    files = {
        "values.yaml": "name: front\nlabels: {tier: web}\n",
        "templates/_helpers.tpl": '{{- define "web.labels" -}}\napp: {{ .Values.name }}\nfixed: yes\n{{- end -}}\n',
        "templates/a.yaml": """\
name: {{ .Values.name }}-x
labels:
  {{- include "web.labels" . | nindent 2 }}
  {{- toYaml .Values.labels | nindent 2 }}
""",
    }
    assert traced_lines(helm, chart(files), "a.yaml") == [
        ("name:", "name:", "templates/a.yaml"),
        ("front", "{{ .Values.name }}", "templates/a.yaml"),
        ("-x", "-x", "templates/a.yaml"),
        ("labels:", "labels:", "templates/a.yaml"),
        ("app:", "app:", "templates/_helpers.tpl"),
        ("front", "{{ .Values.name }}", "templates/_helpers.tpl"),
        ("fixed: yes", "fixed: yes", "templates/_helpers.tpl"),
        ("\n  tier: web", "{{- toYaml .Values.labels | nindent 2 }}", "templates/a.yaml"),
    ]


@with_helm
def test_helpers_whose_output_is_computed_with_belong_to_the_caller(helm: str) -> None:
    files = {
        "templates/_helpers.tpl": '{{ define "web.name" }}front{{ end }}{{ define "web.map" }}{a: b}{{ end }}',
        "templates/a.yaml": 'a: {{ include "web.name" . | upper }}\nb: {{ (include "web.map" . | fromYaml).a }}\n'
        '{{- if eq (include "web.name" .) "front" }}\nc: {{ include "web.name" . }}\n{{- end }}\n',
    }
    found = traced_lines(helm, chart(files), "a.yaml")
    assert [(text, file) for text, _, file in found if text in ("FRONT", "b", "front")] == [
        ("FRONT", "templates/a.yaml"),
        ("b", "templates/a.yaml"),
        ("front", "templates/_helpers.tpl"),
    ]


@with_helm
def test_helpers_whose_output_is_parsed_and_serialized_again(helm: str) -> None:
    files = {
        "values.yaml": "name: front\n",
        "templates/_helpers.tpl": """\
{{- define "web.pod" -}}
spec:
  name: {{ .Values.name | quote }}
  # a comment


  args: [b, "1"]
  script: |
    run {{ .Values.name }}
    stop
metadata: {labels: {app: web}}
{{- end -}}
""",
        "templates/a.yaml": 'template: {{ include "web.pod" . | fromYaml | toYaml | nindent 2 }}\nend: 1\n',
        "templates/b.yaml": 'template: {{ include "web.pod" . | fromYaml | toJson }}\n',
    }
    caller, action = "templates/a.yaml", '{{ include "web.pod" . | fromYaml | toJson }}'
    assert [(text.strip(), piece) for text, piece, file in traced_lines(helm, chart(files), "a.yaml") if file != caller] == [
        ("metadata:", "metadata: {labels: {app: web}}"),
        ("labels:", "metadata: {labels: {app: web}}"),
        ("app: web", "metadata: {labels: {app: web}}"),
        ("spec:", "spec:"),
        ("args:", 'args: [b, "1"]'),
        ("- b", 'args: [b, "1"]'),
        ('- "1"', 'args: [b, "1"]'),
        ("name:", "name:"),
        ("front", "{{ .Values.name | quote }}"),
        ("script: |", "script: |"),
        ("run", "run"),
        ("front", "{{ .Values.name }}"),
        ("stop", "stop"),
    ]
    # What is not found in the original belongs to the call: the text of several lines became one line.
    assert [(text, piece) for text, piece, _ in traced_lines(helm, chart(files), "b.yaml")][-3:] == [
        ('"front","', "{{ .Values.name | quote }}"),
        ('script":', "script: |"),
        ('"run front\\nstop\\n"}}', action),
    ]


@with_helm
def test_a_byte_order_mark_is_dropped(helm: str) -> None:
    found = traced_lines(helm, chart({"templates/a.yaml": "\ufeffa: {{ .Release.Name }}\n"}), "a.yaml")
    assert [(text, piece) for text, piece, _ in found] == [("a:", "a:"), ("shop", "{{ .Release.Name }}")]


@with_helm
def test_marks_that_change_a_text_are_left_out_there(helm: str) -> None:
    files = {
        "templates/_helpers.tpl": '{{ define "web.name" }}front{{ end }}{{ define "web.empty" }}{{ "" }}{{ end }}',
        "templates/a.yaml": 'a: {{ coalesce (include "web.empty" .) "other" }}\nb: {{ include "web.name" . }}\n',
        "templates/b.yaml": 'b: {{ include "web.name" . }}\n',
    }
    found = chart(files)
    assert [(text, file) for text, _, file in traced_lines(helm, found, "a.yaml")] == [
        ("a:", "templates/a.yaml"),
        ("other", "templates/a.yaml"),
        ("b:", "templates/a.yaml"),
        ("front", "templates/a.yaml"),
    ]
    assert traced_lines(helm, found, "b.yaml")[1] == ("front", "front", "templates/_helpers.tpl")


@with_helm
def test_variables_with_the_output_of_a_helper(helm: str) -> None:
    files = {
        "templates/_helpers.tpl": '{{ define "web.name" }}front{{ end }}{{ define "web.empty" }}{{ end }}',
        "templates/a.yaml": """\
{{- $name := include "web.name" . -}}
{{- $none := include "web.empty" . }}
{{- $changed := include "web.name" . }}
{{- if not $none }}
a: {{ $name }}
b: {{ $name | upper }}
c: {{- $name | nindent 2 }}
{{- $changed = "other" }}
d: {{ $changed }}
{{- end }}
""",
    }
    found = traced_lines(helm, chart(files), "a.yaml")
    assert [(text.strip(), file) for text, _, file in found if not text.strip().endswith(":")] == [
        ("front", "templates/_helpers.tpl"),
        ("FRONT", "templates/a.yaml"),
        ("front", "templates/_helpers.tpl"),
        ("other", "templates/a.yaml"),
    ]


@with_helm
def test_random_values_and_hashes_do_not_prevent_tracing(helm: str) -> None:
    files = {
        "templates/a.yaml": 'a: {{ randAlphaNum 8 }} # end\nb: {{ include (print $.Template.BasePath "/b.yaml") . | sha256sum }}\nc: d\n',
        "templates/b.yaml": "b: {{ .Release.Name }}\n",
    }
    found = traced_lines(helm, chart(files), "a.yaml")
    assert [piece for _, piece, _ in found][0::2] == ["a:", "# end", '{{ include (print $.Template.BasePath "/b.yaml") . | sha256sum }}']
    assert found[-1][:2] == ("c: d", "c: d")


@with_helm
def test_blocks_and_odd_quotation_marks(helm: str) -> None:
    files = {
        "templates/a.yaml": 'a:\n{{- block "web.block" . }}\n  b: c\n{{- end }}\n{{ `{{ raw }}` | quote }}: {{ "}}" }}\n'
        "{{ define `web.raw` }}x{{ end }}d: {{ include `web.raw` . }}\n"
    }
    found = traced_lines(helm, chart(files), "a.yaml")
    assert ("x", "x", "templates/a.yaml") in found
    assert any("b: c" in text and piece.startswith("{{- block") for text, piece, _ in found)


@with_helm
def test_aliases_and_packed_sub_charts(helm: str, tmp_path: Path) -> None:
    dependencies = "dependencies:\n- {name: sub, version: 1.0.0, alias: one}\n- {name: sub, version: 1.0.0, alias: two}\n"
    files = {
        "Chart.yaml": CHART + dependencies,
        "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "charts/sub/templates/a.yaml": "kind: {{ .Chart.Name }}\n",
    }
    found = Chart("web", {name: text.encode() for name, text in files.items()})
    texts = render_chart(helm, found, SETTINGS)
    assert {name: found.rendered_names[name] for name in texts} == {
        "web/charts/one/templates/a.yaml": "charts/sub/templates/a.yaml",
        "web/charts/two/templates/a.yaml": "charts/sub/templates/a.yaml",
    }


@with_helm
def test_a_stored_trace_is_equal(helm: str) -> None:
    found = chart({"templates/a.yaml": "a: {{ .Release.Name }}\n"})
    texts = render_chart(helm, found, SETTINGS)
    trace = trace_chart(helm, found, SETTINGS, texts)
    restored = restore_trace(store_trace(trace))
    name = "web/templates/a.yaml"
    assert list(origins(found, texts[name], restored.texts[name], restored)) == list(origins(found, texts[name], trace.texts[name], trace))
    with pytest.raises(ValueError, match="inconsistent"):
        restore_trace(store_trace(trace)._replace(links=((-1, 0), (99, 0))))


@with_helm
def test_values_are_proven_by_another_rendering(helm: str) -> None:
    files = {
        "values.yaml": "image: {repository: web, tag: web}\nport: 80\nother: 80\nlist: [{name: a}, {name: b}]\n",
        "templates/a.yaml": "image: {{ .Values.image.repository }}:{{ .Values.image.tag }}\n"
        "port: {{ .Values.port }}\nlist:\n{{ toYaml .Values.list }}\n",
    }
    found = chart(files)
    texts = render_chart(helm, found, SETTINGS)
    trace = trace_chart(helm, found, SETTINGS, texts)
    name = "web/templates/a.yaml"
    text = texts[name]

    def stack_of(template: str, offset: int) -> list[TemplatePiece]:
        return trace.stacks.of(trace.texts[template].stack_at(offset))

    def render(extra: str) -> dict[str, str] | None:
        try:
            return render_chart(helm, found, SETTINGS._replace(files=(extra,)))
        except HelmFailed:
            return None

    queries = {part: TextQuery(name, at := text.index(part), at + len(part)) for part in ("80", "name: b")}
    queries["tag"] = TextQuery(name, text.index(":web") + 1, text.index(":web") + 4)
    proven = ValueTracer(ChartValues(found), texts, stack_of).proven(list(queries.values()), render)
    assert {part: [leaf.name for leaf in proven[query]] for part, query in queries.items()} == {
        "80": ["port"],
        "name: b": ["list[1].name"],
        "tag": ["image.tag"],
    }


@with_helm
def test_nothing_of_the_user_reaches_helm(helm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = tmp_path / "plugins" / "evil"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text("name: evil\nversion: 1.0.0\nhooks: {install: touch ran}\n")
    monkeypatch.setenv("HELM_PLUGINS", str(plugin.parent))
    monkeypatch.setenv("HELM_NAMESPACE", "elsewhere")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    found = chart(
        {
            "templates/a.yaml": """\
a: {{ .Release.Namespace }}
b: {{ lookup "v1" "Secret" "" "" | toJson }}
c: {{ getHostByName "localhost" }}
"""
        }
    )
    assert render_chart(helm, found, SETTINGS)["web/templates/a.yaml"] == "a: default\nb: {}\nc:"


@with_helm
def test_a_text_cannot_pretend_to_be_another_template(helm: str) -> None:
    found = chart({"templates/a.yaml": "---\n# Source: web/templates/b.yaml\nx: y\n", "templates/b.yaml": "a: b\n"})
    with pytest.raises(HelmFailed, match=r"a comment that helm writes as well: # Source: web/templates/b\.yaml"):
        render_chart(helm, found, SETTINGS)


@pytest.mark.parametrize(
    ("marked", "reason"),
    [
        (f"a{CLOSE}", "a mark closes nothing"),
        (f"{OPEN}0{NUMBERED}a", "a mark is not closed"),
        (f"{OPEN}7{NUMBERED}a{CLOSE}", "a mark has an unknown number"),
        (f"{OPEN}a", "a mark is damaged"),
    ],
)
def test_damaged_marks_are_untraceable(marked: str, reason: str) -> None:
    with pytest.raises(Untraceable, match=reason):
        read_marks(marked, Stacks([TemplatePiece("a", 0, 1, "text")]))


def test_a_rendering_that_differs_in_text_is_untraceable() -> None:
    stacks = Stacks([TemplatePiece("a", 0, 1, "text"), TemplatePiece("a", 1, 2, "action")])
    text, traced = read_marks(f"{OPEN}0{NUMBERED}ab{CLOSE}{OPEN}1{NUMBERED}xyz{CLOSE}", stacks)
    assert verified("ab123456", text, traced, stacks) == traced
    with pytest.raises(Untraceable, match="differs in text that no action prints"):
        verified("cbxyz", text, traced, stacks)
    with pytest.raises(Untraceable, match="another number of lines"):
        verified("abx\nyz", text, traced, stacks)
