"""URLs as Go's net/url takes them apart."""

import pytest

from kcheck.kube.urls import BadUrl, Url, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com/check", Url("https", None, "example.com", "/check", "", "")),
        ("HTTPS://example.com:8443", Url("https", None, "example.com:8443", "", "", "")),
        ("https://me:secret@example.com/?a=1#top", Url("https", "me:secret", "example.com", "/", "a=1", "top")),
        ("https://@example.com", Url("https", "", "example.com", "", "", "")),
        ("https:///check", Url("https", None, "", "/check", "", "")),
        ("https://[::1]:443/", Url("https", None, "[::1]:443", "/", "", "")),
        ("https://[fe80::1%25en0]/", Url("https", None, "[fe80::1%25en0]", "/", "", "")),
        ("mailto:joe", Url("mailto", None, "", "", "", "")),
        ("//example.com/a", Url("", None, "example.com", "/a", "", "")),
        ("///a", Url("", None, "", "///a", "", "")),
        ("a/b:c", Url("", None, "", "a/b:c", "", "")),
        ("", Url("", None, "", "", "", "")),
    ],
)
def test_a_url_has_parts(text: str, expected: Url) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        ":", "://example.com", "a:b/c".replace("a", "1"), "https://example.com:port", "https://a b/", "https://a:1:2/", "https://[::1", "https://x[::1]/",
        "https://[1.2.3.4]/", "https://me\n@example.com", "https://m{e@example.com", "https://example.com/%zz", "https://example.com/#%z",
        "https://ex%41mple.com", "a\x7fb",
    ],
)  # fmt: skip
def test_what_go_does_not_parse_is_no_url(text: str) -> None:
    with pytest.raises(BadUrl):
        parse(text)
