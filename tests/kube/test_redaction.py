"""Secret values in bare text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube import credential_patterns, credentials
from kcheck.kube.credential_names import hinted_lines
from kcheck.redaction import redact

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("image https://bob:pw@registry/x", "image https://bob:***@registry/x"),
        ("a://u:p@ss/word@db:1/x b://u:q@c", "a://u:***@db:1/x b://u:***@c"),
        ("https://token@git.example.com ssh://git@git.example.com", "https://***@git.example.com ssh://git@git.example.com"),
        ("http://web:8080/a@b", "http://web:8080/a@b"),
        ("postgres://u:$(PASSWORD)@db", "postgres://u:$(PASSWORD)@db"),
        ("DB_PASSWORD=hunter2 and x=y", "DB_PASSWORD=*** and x=y"),
        ('{"password": "hunter2"}', '{"password": "***"}'),
        (f"see {TOKEN}", "see ***"),
        ("set password: take it from a Secret", "set password: take it from a Secret"),
    ],
)
def test_messages(text: str, shown: str) -> None:
    assert redact.message(text) == shown


def test_lines_keep_their_length() -> None:
    assert redact.line(f"  a: {TOKEN} # x") == f"  a: {'*' * 40} # x"
    assert redact.line("nothing here to be covered") == "nothing here to be covered"
    assert redact.cover("abcdef", -3, 2) == "**cdef"
    assert redact.cover("abcdef", 4, 99) == "abcd**"
    assert redact.cover("abcdef", 9, 12) == "abcdef"


@pytest.mark.parametrize("line", ["image: nginx", "- name: DB_PASSWORD", "labels: {app: web}", "secretName: web", "key: tls.crt"])
def test_most_lines_depend_on_no_other(line: str) -> None:
    assert redact.is_plain(line)


@pytest.mark.parametrize("line", ["value: hunter2", "hunter2", "- hunter2", "password: |", "{name: a, value: b}", "a: eyJhIjoiYiJ9"])
def test_some_do(line: str) -> None:
    assert not redact.is_plain(line)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  password: hunter6: x", "  password: ******** *"), ("metadata: {name: a}", "metadata: ****** **"),
        ("  name: a", "  name: a"), ("  aGVsbG8=", "  ********"), ("# a comment", "# a comment"),
    ],
)  # fmt: skip
def test_unread_lines_of_secrets(line: str, shown: str) -> None:
    assert redact.unread_line(line, secret=True) == shown


def test_unread_lines_of_others() -> None:
    assert redact.unread_line("  password: hunter6: x", secret=False) == "  password: ******** *"
    assert redact.unread_line("  image: a: x", secret=False) == "  image: a: x"
    assert redact.unread_line("  url: https://u:hunter6@x: y", secret=False) == "  url: https://u:*******@x: y"


@given(st.text(alphabet="abK-=\"' :;.\\1é\n", max_size=24))
def test_the_fast_checks_exclude_no_credential(text: str) -> None:
    if re.search(credential_patterns._ARGUMENT, text):
        assert "=" in text or re.search(credential_patterns._FLAG, text)
    if redact._PAIR.search(text):
        assert ":" in text
        assert text.count('"') + text.count("'") > 2
    assigned = re.compile(r"""([A-Za-z][\w.\-]*)=\\?(["']?)([^\s"'`;&|()\\,\]}]+)""")
    assert [match.regs[1:] for match in redact._ASSIGNED.finditer(text)] == [match.regs[1:] for match in assigned.finditer(text)]
    assert "=" in text or not assigned.search(text)


_NAMES = ("name", "namespace", "secretName", "serviceAccountName")
_KEYS = (*_NAMES, "port", "number", "containerPort", "targetPort", "replicas", "runAsUser", "app", "host")
_VALUES = st.from_regex(r"[a-z0-9._-]{1,19}|[A-Z0-9_]{1,19}", fullmatch=True) | st.sampled_from(("hunter2", "-password", "login", "mysql"))


@given(st.tuples(st.sampled_from(_KEYS), _VALUES) | st.tuples(st.just("key"), _VALUES.map(lambda value: value[:15])))
def test_harmless_lines_need_no_search(field: tuple[str, str]) -> None:
    line = f"  - {field[0]}: {field[1]}"
    assert redact.is_harmless(line)
    assert redact.is_plain(line)
    assert redact.line(line) == line


@given(
    st.sampled_from(_NAMES),
    st.from_regex(r"[a-z0-9.-]{20,80}", fullmatch=True)
    | st.sampled_from(("mysql-root-password-of-s3", "api-key-5f2c9a8b1e7d3f60", "3" * 40)),
)
def test_long_names_need_no_search(key: str, value: str) -> None:
    line = f"  {key}: {value}"
    assert redact.is_harmless(line) is not credentials.may_hold(line)
    assert redact.is_plain(line)
    assert redact.is_harmless(line) <= (redact.line(line) == line)


def test_a_name_with_the_form_of_a_token_is_searched() -> None:
    token = "glpat-x7k2m9q4w8e1r5t3y6u0"
    assert not redact.is_harmless(f"  name: {token}")
    assert redact.line(f"  name: {token}") == "  name: " + "*" * len(token)


@pytest.mark.parametrize(
    "line", ["  value: hunter2", "  name: hunter2 # pass", f"  name: {TOKEN}", "  {name: a, password: b}", "  password: b"]
)
def test_other_lines_are_searched(line: str) -> None:
    assert not redact.is_harmless(line)


def test_only_lines_with_a_part_of_a_name_are_searched_for_settings() -> None:
    text = "name: web\nDB_PASSWORD=hunter2\nport: 80\nwebhook: x\n"
    assert [text[start:end] for start, end in hinted_lines(text)] == ["DB_PASSWORD=hunter2", "webhook: x"]
    assert hinted_lines("a") == [(0, 1)]
    assert hinted_lines("İ\npassword: x") == [(0, 13)]
