"""URLs as parsed by Go's net/url."""

import pytest

from kcheck.kube.urls import BadUrl, Url, escaped_path, host_and_port, is_request, parse, query_values, without_user


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com/check", Url("https", None, "example.com", "/check", None, "")),
        ("HTTPS://example.com:8443", Url("https", None, "example.com:8443", "", None, "")),
        ("https://me:secret@example.com/?a=1#top", Url("https", "me:secret", "example.com", "/", "a=1", "top")),
        ("https://@example.com", Url("https", "", "example.com", "", None, "")),
        ("https:///check", Url("https", None, "", "/check", None, "")),
        ("https://[::1]:443/", Url("https", None, "[::1]:443", "/", None, "")),
        ("https://[fe80::1%25en0]/", Url("https", None, "[fe80::1%25en0]", "/", None, "")),
        ("mailto:joe", Url("mailto", None, "", "", None, "", "joe")),
        ("https://example.com?", Url("https", None, "example.com", "", "", "")),
        ("https:*", Url("https", None, "", "", None, "", "*")),
        ("*", Url("", None, "", "*", None, "")),
        ("db://a:1,b:2/x", Url("db", None, "a:1,b:2", "/x", None, "")),
        ("https://[fe80::1%25a%20b]/", Url("https", None, "[fe80::1%25a%20b]", "/", None, "")),
        ("//example.com/a", Url("", None, "example.com", "/a", None, "")),
        ("///a", Url("", None, "", "///a", None, "")),
        ("a/b:c", Url("", None, "", "a/b:c", None, "")),
        ("", Url("", None, "", "", None, "")),
    ],
)
def test_a_url_has_parts(text: str, expected: Url) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        ":", "://example.com", "a:b/c".replace("a", "1"), "https://example.com:port", "https://a b/", "https://a:1:2/", "https://[::1", "https://x[::1]/",
        "https://[1.2.3.4]/", "https://me\n@example.com", "https://m{e@example.com", "https://example.com/%zz", "https://example.com/#%z",
        "https://ex%41mple.com", "a\x7fb", "https://[::1%en0]/", "https://[fe80::1%25]/", "https://[fe80::1%25%c3]/", "https://éx@h/",
    ],
)  # fmt: skip
def test_what_go_does_not_parse_is_not_a_url(text: str) -> None:
    with pytest.raises(BadUrl):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://h/a", True), ("/a", True), ("*", True), ("mailto:joe", True), ("http://]h", True), ("db://:1,b:2", True),
        ("//h:x/", True),
        ("", False), ("a", False), ("?a", False), ("http://h#%zz", False), ("db://[::1%25]", False), ("db://[::1%25a][::1]", False),
    ],
)  # fmt: skip
def test_a_request_is_a_url_or_an_absolute_path(text: str, expected: bool) -> None:
    assert is_request(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://[fe80::1%25en0]:443/", ("fe80::1%en0", "443")), ("https://h:/", ("h", "")), ("https://%C3%A9:1", ("é", "1")),
        ("db://a:1,b:2/x", ("a:1,b", "2")), ("mailto:a:1", ("", "")),
    ],
)  # fmt: skip
def test_host_and_port(text: str, expected: tuple[str, str]) -> None:
    assert host_and_port(parse(text)) == expected


def test_paths_and_queries_are_decoded_and_encoded() -> None:
    assert escaped_path(parse("/a%2fb[c]")) == "/a%2fb[c]"
    assert escaped_path(parse("/a%2fb^é")) == "/a/b%5E%C3%A9"
    assert query_values(parse("/?a=1&b+c=%41&a&d;e=2&f=%z&&=3")) == {"a": ["1", ""], "b c": ["A"], "": ["3"]}


def test_users_are_removed_from_invalid_urls_too() -> None:
    assert without_user("https://me:s3cret@{{ host }}/a@b") == "https://{{ host }}/a@b"
    assert without_user("git@host:a/b") == "git@host:a/b"
