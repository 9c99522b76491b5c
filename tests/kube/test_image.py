"""Image references."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.image import BadImage, Image, parse

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nginx", Image("docker.io", "library/nginx")),
        ("nginx:1.27", Image("docker.io", "library/nginx", "1.27")),
        ("a/b", Image("docker.io", "a/b")),
        ("docker.io/nginx", Image("docker.io", "library/nginx")),
        ("index.docker.io/a/b", Image("docker.io", "a/b")),
        ("localhost/a", Image("localhost", "a")),
        ("registry:5000/a/b:tag@" + DIGEST, Image("registry:5000", "a/b", "tag", DIGEST)),
        ("ghcr.io/acme/app@" + DIGEST, Image("ghcr.io", "acme/app", "", DIGEST)),
        ("REGISTRY/a", Image("REGISTRY", "a")),
        ("[fd00::1]:5000/a", Image("[fd00::1]:5000", "a")),
        ("a__b/c-d---e.f", Image("docker.io", "a__b/c-d---e.f")),
        ("foo_bar.baz/img", Image("", "foo_bar.baz/img")),
        ("a:" + "t" * 128, Image("docker.io", "library/a", "t" * 128)),
    ],
)
def test_parse(text: str, expected: Image) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " nginx",
        "nginx ",
        "Nginx",
        "acme/Nginx",
        "nginx:",
        "nginx:-a",
        "nginx:a:b",
        "nginx@",
        "nginx@sha256:abc",
        "nginx@md5:" + "0" * 32,
        "nginx@" + DIGEST.upper(),
        "a//b",
        "/a",
        "a/",
        "a..b",
        "a___b",
        "-a",
        "host:port/a",
        "-host.io/a",
        "https://host/a",
        "a b",
        "0" * 64,
        "a:" + "t" * 129,
        "x" * 256,
    ],
)
def test_no_image(text: str) -> None:
    with pytest.raises(BadImage) as caught:
        parse(text)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "latest", "policy"),
    [
        ("a", True, "Always"),
        ("a:latest", True, "Always"),
        ("a:1", False, "IfNotPresent"),
        ("a@" + DIGEST, False, "IfNotPresent"),
        # A digest fixes the content, yet the defaulting of the server looks at the tag.
        ("a:latest@" + DIGEST, False, "Always"),
    ],
)
def test_latest(text: str, latest: bool, policy: str) -> None:
    image = parse(text)
    assert image.is_latest is latest
    assert image.pull_policy == policy


def test_written_out() -> None:
    assert str(parse("nginx")) == "docker.io/library/nginx:latest"
    assert str(parse("a@" + DIGEST)) == "docker.io/library/a@" + DIGEST
    assert parse("quay.io/a/b:1").repository == "quay.io/a/b"


def test_an_upper_case_name_is_repaired() -> None:
    with pytest.raises(BadImage, match=r'did you mean "docker.io/acme/app"\?$'):
        parse("docker.io/acme/App")


@given(st.text(max_size=25))
def test_any_text_is_an_image_or_a_bad_one(text: str) -> None:
    with suppress(BadImage):
        parse(text)


@given(st.text(alphabet="aB1._-/:@[]", max_size=25))
def test_what_parses_parses_again_to_the_same(text: str) -> None:
    try:
        image = parse(text)
    except BadImage:
        return
    if image.domain:
        assert parse(f"{image.repository}{':' + image.tag if image.tag else ''}") == image


def test_a_name_that_begins_with_the_default_domain() -> None:
    with pytest.raises(BadImage, match=r'repository name "docker.ioA" must be lowercase'):
        parse("docker.ioA")
