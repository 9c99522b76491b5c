"""The text of a template: actions, calls, faults."""

from __future__ import annotations

import pytest

from kcheck.helm.template import Template, calls, reparsed_call


def code(text: str) -> list[tuple[str, str]]:
    return [(action.keyword, action.code.strip()) for action in Template(text).actions]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: {{ .Values.a }}\n", [("", ".Values.a")]),
        ('{{ "}}" }}{{ `}}` }}', [("", '"}}"'), ("", "`}}`")]),
        ("{{ '\"' }}{{ .a }}", [("", "'\"'"), ("", ".a")]),
        ('{{ "a\\"}}" }}', [("", '"a\\"}}"')]),
        ("{{/* a }} b */}}{{- /* c */ -}}", [("comment", "/* a }} b */"), ("comment", "/* c */")]),
        ("{{- if .a }}{{ else if .b }}{{ end -}}", [("if", "if .a"), ("else", "else if .b"), ("end", "end")]),
        ("{{ $a := 1 }}{{ $a = 2 }}{{ $a }}", [("assignment", "$a := 1"), ("assignment", "$a = 2"), ("", "$a")]),
        ("{{ iffy }}{{ .if }}", [("", "iffy"), ("", ".if")]),
        ("{{-3}}", [("", "-3")]),
    ],
)
def test_actions_are_read_as_in_go(text: str, found: list[tuple[str, str]]) -> None:
    assert code(text) == found
    assert not Template(text).faults


def test_trim_markers_need_whitespace() -> None:
    actions = Template("{{- .a -}}{{-3}}{{ .b- }}{{ .c }}").actions
    assert [(action.trims_left, action.trims_right) for action in actions] == [(True, True), (False, False), (False, False), (False, False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ .a", "the action is not closed: }} is missing, or a quotation mark in it"),
        ('{{ "a }}', "the action is not closed: }} is missing, or a quotation mark in it"),
        ("{{/* a }}", "the comment is not closed: a comment ends with */}} or */ -}}"),
        ("{{ if .a }}", "{{ if }} is not closed by {{ end }}"),
        ("{{ end }}", "{{ end }} closes nothing"),
        ('{{ define "a" }}{{ else }}{{ end }}', "{{ else }} is outside of if, with and range"),
    ],
)
def test_faults_are_found_without_rendering(text: str, message: str) -> None:
    assert [fault.message for fault in Template(text).faults] == [message]


def test_what_a_template_defines_contains_its_actions() -> None:
    template = Template('{{ .a }}{{ define "x" }}{{ if .b }}{{ .c }}{{ end }}{{ end }}{{ .d }}')
    assert [(action.code.strip(), action.define) for action in template.actions if action.prints] == [(".a", ""), (".c", "x"), (".d", "")]
    assert list(template.defines) == ["x"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('{{ include "x" . }}', True),
        ('{{ template "x" . }}', True),
        ('{{ include "x" . | nindent 4 }}', True),
        ('{{ include "x" . | indent 4 | quote }}', True),
        ('{{ default (include "x" .) .Values.name }}', True),
        ('{{ .Values.name | default (include "x" .) }}', True),
        ('{{ printf "%s-web" (include "x" .) }}', True),
        ('{{ printf "%d/%s" 1 (include "x" .) }}', True),
        ('{{ (include "x" .) }}', True),
        ('{{ include "x" . | trim | nindent 4 }}', True),
        ('{{ include "x" . | indent 8 | trimPrefix (repeat 7 " ") }}', True),
        ('{{ include "x" . | trimSuffix "\\n" }}', True),
        ('{{ tpl (include "x" .) . }}', True),
        ('{{ ternary (include "x" .) "other" .Values.on }}', True),
        ('{{ required "a name" (include "x" .) }}', True),
        ('{{ include "x" . | required "a name" }}', True),
        ('{{ include "x" . | trimPrefix "a" }}', False),
        ('{{ include "x" . | replace "a" "b" }}', False),
        ('{{ printf "%5s" (include "x" .) }}', False),
        ('{{ ternary 1 2 (include "x" .) }}', False),
        ('{{ include "x" . | trunc 63 }}', False),
        ('{{ include "x" . | fromYaml }}', False),
        ('{{ default .Values.name (include "x" .) }}', False),
        ('{{ printf "%q" (include "x" .) }}', False),
        ('{{ if include "x" . }}{{ end }}', False),
        ('{{ $name := include "x" . }}', True),
        ('{{ include "y" (dict "name" (include "x" .)) }}', False),
    ],
)
def test_output_of_helpers_that_is_printed_as_it_is(text: str, printed: bool) -> None:
    found = [call for action in Template(text).actions for call in calls(action) if call.name == "x"]
    assert [call.is_printed for call in found] == [printed]
    assert [text[call.start : call.end] for call in found] == ['"x"']


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ('include "x" . | fromYaml | toYaml', 'include "x" .'),
        ('include "x" (dict "a" .b) | fromYaml | toYaml | nindent 4', 'include "x" (dict "a" .b)'),
        ('toYaml (fromYaml (include "x" .)) | indent 2', 'include "x" .'),
        ('(include "x" . | trim | fromYamlArray) | toJson', 'include "x" .'),
        ('include "x" . | fromYaml | toJson | fromJson | toYaml', 'include "x" .'),
        ('include "x" . | fromYaml', ""),
        ('include "x" . | toYaml', ""),
        ('include "x" . | fromYaml | merge .Values.a | toYaml', ""),
        ('omit (include "x" . | fromYaml) "a" | toYaml', ""),
        ('(include "x" . | fromYaml).a | toYaml', ""),
        ("include (print .name) . | fromYaml | toYaml", ""),
        ('$a := include "x" . | fromYaml | toYaml', ""),
    ],
)
def test_output_of_helpers_that_is_parsed_and_serialized_again(code: str, call: str) -> None:
    found = reparsed_call(Template(f"{{{{- {code} -}}}}").actions[0])
    assert (found is not None) == bool(call)
    if found is not None:
        assert f" {code}"[found.start : found.end] == call
        assert f" {code}"[: found.name_end].endswith('"x')


@pytest.mark.parametrize(
    "code", ["(" * 3000 + 'include "x" .' + ")" * 3000, 'include "x" .' + ' | required "a"' * 3000, '| required "include"']
)
def test_actions_that_no_person_writes(code: str) -> None:
    for end in ("", " | fromYaml | toYaml"):
        (action,) = Template(f"{{{{ {code}{end} }}}}").actions
        assert not any(each.is_printed for each in calls(action))
        assert reparsed_call(action) is None


def test_a_comment_calls_nothing() -> None:
    assert not [call for action in Template('{{/* include "x" . */}}').actions for call in calls(action)]
