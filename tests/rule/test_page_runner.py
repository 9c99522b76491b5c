"""The page runner: what it lets pass and what it does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType

import pytest

from kcheck.testing import check, check_text, pages, update_page

RULES = """
    from typing import Annotated
    from kcheck.api import Container, Edit, Fix, Problem, Resource, rule

    @rule("acme/nginx", "an image of nginx", fixable=True)
    def nginx(container: Container, *, may_be: Annotated[tuple[str, ...], "images that may"] = ()):
        image = container["image"]
        if image.text.startswith("nginx") and image.text not in may_be:
            yield Problem(image, f"{image.text} is nginx", fix=Fix("take httpd", (Edit(image.start, image.start + 5, "httpd"),)))
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: web
      image: nginx:1 # why
"""
DRAWN = POD + "#            ^^^^^^^ is nginx\n"
CLEAN = POD.replace("nginx", "haproxy")

Package = Callable[..., ModuleType]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Makes a package with rules and a page."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"acme_{tmp_path.name.rpartition('_')[2]}_{tmp_path.parent.name.rpartition('-')[2]}"

    def make(page: str, rules: str = RULES) -> ModuleType:
        (tmp_path / name / "pages").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text(dedent(rules))
        (tmp_path / name / "pages" / "nginx.md").write_text(page)
        return __import__(name)

    yield make
    sys.modules.pop(name, None)


def page(*blocks: str, heading: str = "acme/nginx") -> str:
    """A page; a block may begin with its role on a line `=options`."""
    text = f"# {heading}\n"
    for block in blocks:
        role, block = block[1:].split("\n", 1) if block.startswith("=") else ("", block)
        text += f"\n```yaml {role}\n{block}```\n"
    return text


def test_a_true_page_passes(package: Package) -> None:
    cases = pages(package(page(DRAWN, "=fixed\n" + CLEAN.replace("haproxy", "httpd"), CLEAN, "=options\nmay-be: ['nginx:1']\n", POD)))
    assert [str(case) for case in cases] == ["acme/nginx", "acme/nginx:3", "acme/nginx:26", "acme/nginx:41"]
    for case in cases:
        check(case)


FIXED = "=fixed\n" + POD.replace("nginx", "httpd")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (page(DRAWN, FIXED, CLEAN, heading="acme/ngnix"), "the heading says acme/ngnix, the rule is acme/nginx"),
        (page(CLEAN), "no example has a finding"),
        (page(DRAWN), "no example is without findings"),
        (page(DRAWN, CLEAN), "the rule is fixable, but no example has a fix"),
        (page(DRAWN, FIXED, POD), "+#            ^^^^^^^ nginx:1 is nginx"),
        (page(DRAWN.replace("is nginx", "is httpd"), FIXED, CLEAN), "-#            ^^^^^^^ is httpd\n"),
        (page(DRAWN.replace("^^^^^^^", "^^^^^^"), FIXED, CLEAN), "-#            ^^^^^^ is nginx\n"),
        (page(DRAWN + "#            ^^^^^^^ is nginx\n", FIXED, CLEAN), "-#            ^^^^^^^ is nginx\n"),
        (page(DRAWN, "=fixed\n" + POD, CLEAN), "+      image: httpd:1"),
        (page("=options\nmaybe: [x]\n", DRAWN, FIXED, CLEAN), "unknown option maybe of rule acme/nginx"),
        (page("=options\nmay-be: 3\n", DRAWN, FIXED, CLEAN), "may_be must be a list of strings, not 3"),
        (page("=options\n- a\n", DRAWN, FIXED, CLEAN), "the options must be a map"),
        (page("=options\nkubernetes: 1.30\n", DRAWN, FIXED, CLEAN), "option kubernetes must be a quoted string, not 1.3"),
        (page(DRAWN, FIXED, CLEAN.replace("image:", "imege:")), 'line 8 of the example: unknown-field: unknown field "imege" in Container'),
        (page(DRAWN, FIXED, CLEAN.replace("kind: Pod", "kind: [Pod")), "line 3 of the example: invalid-yaml"),
        ("# acme/nginx\n<!-- tested: tests/none.py -->\n", "tests/none.py does not exist"),
        ("# acme/nginx\n<!-- tested: nothing.py -->\n", "nothing.py does not mention acme/nginx"),
        ("# acme/nginx\n```yaml\n", "line 2: unterminated block"),
    ],
)
def test_a_false_page_fails(package: Package, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "nothing.py").write_text("")
    reported = []
    for case in pages(package(text), root=tmp_path):
        try:
            check(case)
        except AssertionError as error:
            reported.append(str(error))
    assert said in "\n".join(reported) + "\n"


def test_rules_and_pages_are_one_to_one(package: Package, tmp_path: Path) -> None:
    module = package(page(DRAWN, FIXED, CLEAN, heading="acme/httpd"), RULES.replace("acme/nginx", "acme/httpd"))
    assert [case.fault for case in pages(module)] == [
        f"acme/httpd has no page; add pages/httpd.md in the folder of {module.__name__}",
        f"{tmp_path / module.__name__ / 'pages' / 'nginx.md'}: no rule has this page",
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('container["imagePulPolicy"]', "'imagePulPolicy' of core/v1 Container"),
        ('container.node.at("securityContext", "runAsGod")', "'runAsGod' of core/v1 SecurityContext"),
        ('container["image"]["tag"]', "'tag' of a value of type string"),
        ('container.pod["tolerations"][0]["kee"]', "'kee' of core/v1 Toleration"),
        ('container.resource["spek"]', "'spek' of core/v1 Pod"),
        ('container.resource["metadata"]["labels"]["app"]', ""),
        ('container["env"]', ""),
    ],
)
def test_a_rule_that_asks_for_no_field_fails(package: Package, body: str, said: str) -> None:
    module = package(page(DRAWN, FIXED, CLEAN), RULES + indent(body + "\n", " " * 8))
    whole = pages(module)[0]
    if said:
        with pytest.raises(AssertionError, match="reads fields that no object in the examples can have") as failure:
            check(whole)
        assert said in str(failure.value)
    else:
        check(whole)


def test_a_fix_must_converge(package: Package) -> None:
    module = package(page(DRAWN, "=fixed\n" + POD.replace("nginx", "nginx2"), CLEAN), RULES.replace('"httpd"', '"nginx2"'))
    with pytest.raises(AssertionError, match="left after 10 rounds"):
        check(pages(module)[1])


def test_a_fix_keeps_comments(package: Package) -> None:
    rules = RULES.replace('Edit(image.start, image.start + 5, "httpd")', 'Edit(image.start, image.end + 6, "httpd")')
    module = package(page(DRAWN, "=fixed\n" + POD.replace("nginx:1 # why", "httpd"), CLEAN), rules)
    with pytest.raises(AssertionError, match="the fix loses the comments # why"):
        check(pages(module)[1])


def test_single_texts() -> None:
    bad = POD.replace("# why", "").replace("name: web\nspec", "name: web\n  nmae: web\nspec")
    assert [f.rule for f in check_text(bad, ["unknown-field"])] == ["unknown-field"]
    assert check_text(POD, ["unknown-field"], kubernetes="1.30") == []
    with pytest.raises(ValueError, match="unknown rule or group unknown-feld"):
        check_text(POD, ["unknown-feld"])
    with pytest.raises(ValueError, match="unknown option far of rule unknown-field"):
        check_text(POD, ["unknown-field"], options={"unknown-field": {"far": 1}})


def test_update_rewrites_the_caret_comments_and_nothing_else(package: Package) -> None:
    drawn = POD + "#            ^^^ something else\n#  ^^ more\n"
    text = page(f"=\n{drawn}", f"=\n{CLEAN}") + "\ntext   \n"
    module = package(text)
    whole = pages(module)[0]
    assert whole.path is not None
    assert update_page(whole)
    assert whole.path.read_text() == text.replace(drawn, POD + "#            ^^^^^^^ nginx:1 is nginx\n")
    fresh = pages(module)
    assert not update_page(fresh[0])
    for case in fresh[1:]:
        check(case)


def test_only_some_rules(package: Package) -> None:
    module = package(page(f"=\n{DRAWN}", f"=\n{CLEAN}"))
    assert len(pages(module, only=["acme/nginx"])) == 3
    assert pages(module, only=["acme/other"]) == []


def test_headings_of_a_page_that_has_them_are_checked(package: Package) -> None:
    module = package(page(f"=\n{DRAWN}", f"=\n{CLEAN}") + "\n## What it checks\n\nImages.\n")
    with pytest.raises(AssertionError, match="no section 'Why'; add it"):
        check(pages(module)[0])
