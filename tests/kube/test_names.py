"""Facts about names, each as the API server has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube import names
from kcheck.text.complaint import concise, help_of

ACCEPTED = {
    names.dns_label: ["a", "0", "my-name", "123-abc", "a--b", "a" * 63],
    names.dns_subdomain: ["a", "a.b", "example.com", "1.2", "a" * 253, ".".join(["a" * 70, "b"])],
    names.dns1035_label: ["a", "v1", "a-1"],
    names.wildcard_subdomain: ["*.a", "*.bar.com", "*.foo.bar.com"],
    names.dns_search: ["a_b", "_tcp.example.com", "a.b"],
    names.fully_qualified: ["a.b.c", "example.webhook.io"],
    names.domain_name: ["a.b", "a.b.", "x" * 63 + ".io"],
    names.qualified_name: ["a", "A_b.c-1", "a/b", "example.com/MyName", "a" * 63, "x" * 253 + "/" + "y" * 63],
    names.prefixed_name: ["example.com/gpu"],
    names.domain_path: ["a/b", "a.b/C/d%20?".replace("?", ""), "example.com/ingress-controller"],
    names.path_segment: ["", "system:admin", "A B", "...", "ü"],
    names.env_name: ["A", "1", "a b", "a.b-c", "~", " "],
    names.env_name_strict: ["A", "_", ".a", "-", "a.b-c"],
    names.port_name: ["http", "a", "80a", "a-1", "a" * 15],
    names.c_identifier: ["a", "_", "A9"],
    names.cel_identifier: ["a", "in_", "_x"],
    names.config_key: ["a", ".a", "_", "-", "A.b-c_d", "a" * 253, "a..b", "..."[:1] + "x"],
    names.finalizer: ["kubernetes", "a/b"],
    names.standard_finalizer: ["kubernetes", "orphan", "foregroundDeletion", "a/b"],
    names.http_header: ["X-Header-Name", "1", "-"],
    names.decimal_integer: ["0", "7", "-1", "10"],
}
REFUSED = {
    names.dns_label: ["", "A", "-a", "a-", "a.b", "a_b", "ä", "a\n", "a" * 64, " a"],
    names.dns_subdomain: ["", "a..b", ".a", "a.", "a.-b", "A", "a_b", "a" * 254, "a\n"],
    names.dns1035_label: ["", "1a", "-a", "a-", "A"],
    names.wildcard_subdomain: ["*", "*.", "*.*.bar.com", "*.foo.*.com", "*bar.com", "f*.bar.com", "a.b", "*." + "a" * 252],
    names.dns_search: ["", "__a", "a_", "a."],
    names.fully_qualified: ["", "a", "a.b", "a.b.C", "a.b.c."],
    names.domain_name: ["", "a", "a.", "x" * 64 + ".io"],
    names.qualified_name: ["", "/", "a/", "/a", "a/b/c", "A.b/c", "-a", "a-", "a b", "a" * 64, "x" * 254 + "/y", "a\n", "ä"],
    names.prefixed_name: ["gpu", ""],
    names.domain_path: ["", "a", "/a", "a/", "A/b", "a/b c"],
    names.path_segment: [".", "..", "a/b", "50%"],
    names.env_name: ["", "A=B", "Ü", "a\nb", "\x7f"],
    names.env_name_strict: ["", "1a", "a b", ".", "..", "..a", "A=B"],
    names.port_name: ["", "80", "Http", "-a", "a-", "a--b", "a_b", "a" * 16, "ä"],
    names.c_identifier: ["", "1a", "a-b", "id "],
    names.cel_identifier: ["", "in", "true", ".x"],
    names.config_key: ["", ".", "..", "..a", "...", "a b", "a/b", "a" * 254, "ä"],
    names.finalizer: ["", "a b", "a/b/c", "A/b"],
    names.standard_finalizer: ["mine", ""],
    names.http_header: ["", "a_b", "a b", "a:b"],
    names.decimal_integer: ["", "-", "-0", "007", "+1", "1 ", "1.0"],
}
RULES = sorted(ACCEPTED, key=lambda rule: rule.__name__)


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in ACCEPTED.items() for text in texts])
def test_accepts(rule: names.Rule, text: str) -> None:
    assert rule(text) == ""


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in REFUSED.items() for text in texts])
def test_refuses_with_one_line(rule: names.Rule, text: str) -> None:
    message = rule(text)
    assert message
    assert "\n" not in message


@given(st.sampled_from(RULES), st.text(max_size=80))
def test_any_text_has_an_answer_of_one_line(rule: names.Rule, text: str) -> None:
    assert "\n" not in rule(text)


@given(st.sampled_from([names.dns_label, names.dns_subdomain, names.qualified_name, names.config_key]), st.text(max_size=80))
def test_what_the_help_suggests_is_accepted(rule: names.Rule, text: str) -> None:
    help = help_of(rule(text))
    if help.startswith('did you mean "'):
        assert rule(help.removeprefix('did you mean "').removesuffix('"?')) == ""


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("My_App", "my-app"), ("webServer", "web-server"), ("a.b", "a-b"), ("-a-", "a"), ("a b", "a-b"), (" a", "a")],
)
def test_a_label_is_repaired(text: str, remedy: str) -> None:
    assert concise(names.dns_label(text)).endswith(f'; did you mean "{remedy}"?')


def test_messages_name_the_character_and_the_length() -> None:
    assert concise(names.dns_subdomain("a_b")) == (
        '"a_b" is not a valid DNS subdomain: "_" is not allowed (only a-z, 0-9, "-" and "."); did you mean "a-b"?'
    )
    assert names.dns_label("ä" * 64).endswith(': "ä" is not allowed (only a-z, 0-9 and "-")')
    assert concise(names.dns_label("a" * 64)) == "DNS label has 64 bytes, but at most 63 are allowed; shorten it to 63 bytes or less"


def test_a_prefix_may_end_with_a_dash() -> None:
    assert names.generate_name(names.dns_label, "web-") == ""
    # The server replaces the last two characters, so the text before the dash is not checked.
    assert names.generate_name(names.dns_label, "we_-") == ""
    assert names.generate_name(names.dns_label, "web_") != ""
    assert names.generate_name(names.dns_label, "-") != ""
    assert names.generate_name(names.path_segment, ".") == ""
    assert names.generate_name(names.path_segment, "a/") != ""


def test_a_generated_name_is_cut_before_its_random_end() -> None:
    assert len(names.generated("a" * 100)) == 63
    assert names.dns_label(names.generated("we_-")) != ""
