"""Values that no template reads, that templates read but values.yaml lacks, and misspelt ones."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Program, program
from tests.helm.programs import needs_helm
from tests.run.test_charts import CHART, findings, write

__all__ = ["program"]

RULES = "unused-chart-value,misspelled-chart-value,undeclared-chart-value,undefined-chart-template"
pytestmark = needs_helm


def reported(program: Program, values: str, template: str, **files: str) -> list[tuple[str, str, int, str, str]]:
    named = dict(files)
    write({"Chart.yaml": CHART, "values.yaml": values, "templates/a.yaml": template, **named})
    found = findings(program, ".", "--select", RULES)
    return [(each["rule"], each["file"], each["range"]["start"]["line"], each["message"], each["help"]) for each in found]


def test_unused_values(program: Program) -> None:
    values = "a: 1\nb: {c: 1, d: {e: 1}}\nglobal: {x: 1}\nwhole: {x: 1}\nx-anchor: &x {}\nrange: [1]\nindexed: {one-two: 1}\n"
    template = (
        "x: {{ .Values.b.c }}\ny: {{ toYaml .Values.whole }}\n{{ range $v := $.Values.range }}{{ end }}\n"
        'z: {{ index .Values "indexed" "one-two" }}\n{{/* .Values.a */}}\n'
    )
    assert reported(program, values, template) == [
        ("unused-chart-value", "values.yaml", 1, 'no template reads the value "a"', "remove it, or use it in a template"),
        ("unused-chart-value", "values.yaml", 2, 'no template reads the value "b.d"', "remove it, or use it in a template"),
    ]


def test_a_template_that_uses_all_values_reads_each_of_them(program: Program) -> None:
    assert not reported(program, "a: 1\n", "{{ toYaml .Values }}\n")


def test_values_in_values_and_files_are_read(program: Program) -> None:
    values = "a: '{{ .Values.b }}'\nb: 1\nc: 1\n"
    template = 'x: {{ tpl .Values.a . }}\ny: {{ tpl (.Files.Get "files/c.txt") . }}\n'
    assert not reported(program, values, template, **{"files/c.txt": "{{ .Values.c }}"})


def test_undeclared_values(program: Program) -> None:
    values = "# commented: 1\nimage: {repository: web}\nempty: {}\n"
    template = "x: {{ .Values.commented }}{{ .Values.image.repository }}{{ .Values.image.tag }}{{ .Values.empty.any }}{{ .Values.name }}\n"
    lacks = "values.yaml does not contain the value"
    help = "add it to values.yaml with its default, also if it is empty"
    assert reported(program, values, template) == [
        ("undeclared-chart-value", "templates/a.yaml", 1, f'{lacks} "image.tag"', help),
        ("undeclared-chart-value", "templates/a.yaml", 1, f'{lacks} "name"', help),
    ]


def test_misspelt_values(program: Program) -> None:
    values = "image: {repository: web, tag: a}\nport: 80\nlabels: {}\n"
    template = "x: {{ .Values.image.repositry }}{{ .Values.image.tag }}{{ .Values.port }}\n{{ toYaml .Values.labels }}\n"
    extra = "image: {tga: b}\nprot: 81\nlabels: {anything: c}\nother: 1\n"
    assert reported(program, values, template, **{"ci/x-values.yaml": extra}) == [
        ("misspelled-chart-value", "ci/x-values.yaml", 1, 'unknown value "image.tga"', 'did you mean "image.tag"?'),
        ("misspelled-chart-value", "ci/x-values.yaml", 2, 'unknown value "prot"', 'did you mean "port"?'),
        ("unused-chart-value", "ci/x-values.yaml", 4, 'no template reads the value "other"', "remove it, or use it in a template"),
        ("misspelled-chart-value", "templates/a.yaml", 1, 'unknown value "image.repositry"', 'did you mean "image.repository"?'),
        ("unused-chart-value", "values.yaml", 1, 'no template reads the value "image.repository"', "remove it, or use it in a template"),
    ]


def test_undefined_templates(program: Program) -> None:
    template = '{{ if .Values.x }}{{ include "web.lables" . }}{{ end }}{{ define "web.labels" }}{{ end }}{{ include "web.labels" . }}\n'
    assert reported(program, "x: false\n", template) == [
        ("undefined-chart-template", "templates/a.yaml", 1, 'no template is named "web.lables"', 'did you mean "web.labels"?')
    ]


def test_values_of_sub_charts_are_their_own(program: Program) -> None:
    dependency = CHART + "dependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]\n"
    sub = {"charts/sub/Chart.yaml": CHART.replace("web", "sub"), "charts/sub/templates/a.yaml": "x: {{ .Values.deep }}\n"}
    write({"Chart.yaml": dependency, "values.yaml": "sub: {enabled: true, deep: 1, other: 2}\n", **sub})
    assert not findings(program, ".", "--select", RULES)
    assert Path("charts/sub/Chart.yaml").exists()


def test_values_that_sub_charts_have_by_default_are_not_undeclared(program: Program) -> None:
    dependencies = (
        "dependencies: [{name: store, alias: db, version: 1.0.0, repository: https://example.com}, {name: web, version: 1.0.0}]\n"
    )
    sub = {"charts/web/Chart.yaml": CHART, "charts/web/values.yaml": "port: 80\n", "charts/web/templates/b.yaml": "x: {{ .Values.port }}\n"}
    values = "db: {enabled: true}\nweb: {name: a}\n"
    template = "x: {{ .Values.db.port }}{{ .Values.web.port }}{{ .Values.db.auth.user }}\n"
    files = {
        "Chart.yaml": CHART.replace("name: web", "name: shop") + dependencies,
        "values.yaml": values,
        "templates/a.yaml": template,
        **sub,
    }
    write(files)
    assert [each["rule"] for each in findings(program, ".", "--select", RULES)] == []


def test_a_value_that_is_read_several_times_is_undeclared_once(program: Program) -> None:
    template = "x: {{ .Values.account.name }}{{ .Values.account.create }}\ny: {{ .Values.account }}\n"
    assert [place[2:4] for place in reported(program, "a: 1\n", template + "{{ .Values.a }}\n")] == [
        (1, 'values.yaml does not contain the value "account"')
    ]


def test_values_that_make_the_chart_fail_are_not_undeclared(program: Program) -> None:
    template = '{{ if .Values.old }}{{ fail "use a" }}{{ end }}{{ .Values.a }}\n'
    assert not reported(program, "a: 1\n", template)


def test_helpers_that_nothing_calls_read_nothing(program: Program) -> None:
    account = '{{ define "web.account" }}{{ .Values.account.name }}{{ end }}'
    helpers = {"templates/_helpers.tpl": account + '{{ define "web.used" }}{{ .Values.b }}{{ end }}'}
    found = reported(program, "a: 1\n", '{{ .Values.a }}{{ include "web.used" . }}\n', **helpers)
    assert [place[3] for place in found] == ['values.yaml does not contain the value "b"']
    # The name of a helper may be computed.
    assert len(reported(program, "a: 1\n", '{{ .Values.a }}{{ include (print "web." .Values.a) . }}\n', **helpers)) == 2


def test_values_of_a_chart_of_helpers_may_be_for_others(program: Program) -> None:
    write({"Chart.yaml": CHART, "values.yaml": "a: 1\nb: 2\n", "templates/_helpers.tpl": '{{ define "x" }}{{ .Values.a }}{{ end }}'})
    assert not findings(program, ".", "--select", RULES)


def test_misspelt_values_of_a_template_that_passes_all_values_on(program: Program) -> None:
    template = "{{ $values := .Values }}x: {{ $values.port }}{{ .Values.replicas }}\n"
    found = reported(program, "port: 80\nreplicas: 1\n", template, **{"ci/a-values.yaml": "replicsa: 2\nother: 3\n"})
    assert [(place[0], place[1], place[4]) for place in found] == [
        ("misspelled-chart-value", "ci/a-values.yaml", 'did you mean "replicas"?')
    ]
    # All keys of the values are processed.
    template += "{{ range $key, $value := .Values }}{{ $key }}{{ end }}\n"
    assert not reported(program, "port: 80\nreplicas: 1\n", template)


def test_a_helper_that_gets_the_values_under_their_name_reads_its_own(program: Program) -> None:
    template = '{{ include "x" (dict "Values" .Values) }}{{ if hasKey .Values "b" }}{{ end }}{{ define "x" }}{{ .Values.a }}{{ end }}\n'
    assert [place[3] for place in reported(program, "a: 1\nb: 2\nc: 3\n", template)] == ['no template reads the value "c"']
