"""Several formats in one run, standard input in place of a file, rendered input, and groups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BAD_POD, POD, Program

RULE = ("--select", "invalid-port-number")
FIRST, SECOND = BAD_POD, BAD_POD.replace("name: web\nspec", "name: api\nspec")


def test_several_formats(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    done = program("check", "bad.yaml", *RULE, "--format", "sarif=out.sarif", "--format", "concise", "--format", "html=out.html")
    assert done.code == 1
    assert done.out.startswith("bad.yaml:10:26: error[invalid-port-number]")
    assert len(json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]) == 1
    # The graph needs the facts of all objects.
    assert '"id": "Pod/web"' in (tmp_path / "out.html").read_text()
    for name in ("out.sarif", "out.html"):
        alone = program("check", "bad.yaml", *RULE, "--format", name[4:])
        assert alone.out == (tmp_path / name).read_text()


def test_formats_with_files_only_print_nothing(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    assert program("check", "bad.yaml", *RULE, "--format", "json=a.json", "--format", "junit=b.xml") == (1, "", "")
    done = program("check", "bad.yaml", *RULE, "--format", "json=a.json", "--format", "concise", "--output", "c.txt")
    assert done == (1, "", "")
    assert (tmp_path / "c.txt").read_text().startswith("bad.yaml:10:26")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "json", "--format", "sarif"), "two formats are written to standard output"),
        (("--format", "json=a", "--format", "sarif=./a"), "two formats are written to ./a"),
        (("--format", "json=a", "--output", "b"), "--output needs a --format without =FILE"),
        (("--format", "json="), "json= names no file; use json=FILE"),
        (("--format", "json=missing/a"), '--format: folder "missing" does not exist'),
        (("--format", "jsn=a"), 'unknown format "jsn"; did you mean "json"?'),
    ],
)
def test_formats_that_cannot_be_written(program: Program, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    done = program("check", "bad.yaml", *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.yaml"]


@pytest.mark.parametrize("arguments", [("-", "."), (".", "-"), ("k8s/web.yaml", "-"), ("-", "./k8s/web.yaml", "k8s"), ("-",)])
@pytest.mark.parametrize("absolute", [False, True])
def test_standard_input_takes_the_place_of_a_file(program: Program, tmp_path: Path, arguments: tuple[str, ...], absolute: bool) -> None:
    """An editor checks the content of its buffer with the rest of the repository."""
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s/web.yaml").write_text(BAD_POD)
    (tmp_path / "k8s/link.yaml").symlink_to("web.yaml")
    name = str(tmp_path / "k8s/web.yaml") if absolute else "./k8s/web.yaml"
    arguments = (*arguments, "--stdin-filename", name, "--format", "json", *RULE)
    fixed = json.loads(program("check", *arguments, stdin=POD.encode()).out)
    assert (fixed["files"], fixed["findings"]) == (1, [])
    (found,) = json.loads(program("check", *arguments, stdin=f"# new\n{BAD_POD}".encode()).out)["findings"]
    assert found["range"]["start"]["line"] == 11
    assert found["file"].endswith("k8s/web.yaml")


def test_relations_use_standard_input(program: Program, tmp_path: Path) -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
    labelled = POD.replace("  name: web\nspec", "  name: web\n  labels: {app: web}\nspec")
    (tmp_path / "service.yaml").write_text(service)
    (tmp_path / "pod.yaml").write_text(labelled)
    check = ("check", ".", "-", "--stdin-filename", "pod.yaml", "--complete", "--select", "service-without-pods", "--format", "concise")
    assert program(*check, stdin=labelled.encode()).out == ""
    assert "service-without-pods" in program(*check, stdin=labelled.replace("app: web", "app: api").encode()).out


def test_html_shows_the_lines_of_standard_input(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(POD)
    arguments = ("check", "-", "--stdin-filename", "bad.yaml", *RULE, "--format", "html")
    assert "      ports: # unsaved" in program(*arguments, stdin=BAD_POD.replace("ports:", "ports: # unsaved").encode()).out


def rendered(program: Program, tmp_path: Path, *options: str) -> str:
    """The report about the output of helm template for two objects, of which one comes from a file."""
    chart = tmp_path / "charts/shop-chart"
    (chart / "templates").mkdir(parents=True, exist_ok=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: shop # the name of the folder differs\nversion: 1.0.0\n")
    (chart / "templates/web.yaml").write_text(FIRST.replace("99999", "{{ .Values.port }}"))
    text = f"---\n# Source: shop/templates/web.yaml\n{FIRST}---\n# Source: shop/templates/gone.yaml\n{SECOND}"
    return program("check", "-", *RULE, *options, stdin=text.encode()).out


WEB = "charts/shop-chart/templates/web.yaml"
MESSAGE = "containerPort 99999 is out of range (1-65535)"


def test_rendered_input_names_template_and_object(program: Program, tmp_path: Path) -> None:
    text = rendered(program, tmp_path)
    assert f"{WEB} (rendered line 12): error[invalid-port-number]: {MESSAGE}\n" in text
    assert "<stdin>:24:26: error[invalid-port-number]" in text
    assert "in: Pod web" in text
    assert "in: Pod api" in text
    assert rendered(program, tmp_path, "--format", "concise").splitlines() == [
        f"{WEB}: error[invalid-port-number]: Pod web: {MESSAGE} (rendered line 12)",
        f"<stdin>:24:26: error[invalid-port-number]: Pod api: {MESSAGE}",
    ]
    assert rendered(program, tmp_path, "--format", "github").splitlines() == [
        f"::error file={WEB},title=invalid-port-number::Pod web: {MESSAGE} (rendered line 12)",
        f"::error title=invalid-port-number::Pod api: {MESSAGE} (rendered line 24)",
    ]


def test_rendered_input_claims_no_lines_of_templates(program: Program, tmp_path: Path) -> None:
    first, second = json.loads(rendered(program, tmp_path, "--format", "json"))["findings"]
    assert (first["file"], first["template"], second["template"]) == ("<stdin>", WEB, "")
    first, second = json.loads(rendered(program, tmp_path, "--format", "sarif"))["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": WEB, "uriBaseId": "%SRCROOT%"}}
    assert second["locations"][0]["physicalLocation"]["region"]["startLine"] == 24
    first, _ = json.loads(rendered(program, tmp_path, "--format", "rdjson"))["diagnostics"]
    assert first["location"] == {"path": WEB}
    first, _ = json.loads(rendered(program, tmp_path, "--format", "gitlab"))
    assert first["location"] == {"path": WEB, "lines": {"begin": 1}}
    assert f'<file name="{WEB}">\n  <error severity=' in rendered(program, tmp_path, "--format", "checkstyle")
    assert f"sourcepath={WEB};code=" in rendered(program, tmp_path, "--format", "azure")
    assert f"file='{WEB}' SEVERITY=" in rendered(program, tmp_path, "--format", "teamcity")
    assert f'<testsuite name="{WEB}" tests="1"' in rendered(program, tmp_path, "--format", "junit")
    assert f"| `{WEB}`<br>Pod web |" in rendered(program, tmp_path, "--format", "markdown")


def test_input_with_a_name_is_not_mapped(program: Program, tmp_path: Path) -> None:
    text = rendered(program, tmp_path, "--stdin-filename", "all.yaml", "--format", "concise")
    assert text.startswith("all.yaml:12:26: ")


def test_groups(program: Program, tmp_path: Path) -> None:
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s/a.yaml").write_text(f"{FIRST}---\n{SECOND}")
    for number in range(6):
        (tmp_path / f"k8s/b{number}.yaml").write_text(FIRST.replace("name: web\nspec", f"name: w{number}\nspec"))
    by_file = program("check", "k8s", *RULE, "--group-by", "file").out
    assert by_file.startswith(
        f"k8s/a.yaml: 2 errors\n  Pod web\n    10:26 error[invalid-port-number]: {MESSAGE}\n"
        f"  Pod api\n    21:26 error[invalid-port-number]: {MESSAGE}\n\nk8s/b0.yaml: 1 error\n"
    )
    by_object = program("check", "k8s", *RULE, "--group-by", "object").out
    assert f"\nPod api in k8s/a.yaml: 1 error\n  21:26 error[invalid-port-number]: {MESSAGE}\n" in by_object
    by_rule = program("check", "k8s", *RULE, "--group-by", "rule").out
    assert by_rule.startswith(
        "error[invalid-port-number]: Port number is not between 1 and 65535\n  8 findings in 7 files\n"
        f"  k8s/a.yaml:10:26: Pod web: {MESSAGE}\n"
    )
    assert "  and 3 more (--show-all shows them)\n\nFound 8 errors" in by_rule
    assert "more (" not in program("check", "k8s", *RULE, "--group-by", "rule", "--show-all").out
    assert program("check", "k8s", *RULE, "--group-by", "files").code == 2


def test_merging_reads_no_files(program: Program, tmp_path: Path) -> None:
    """A shard may come from another machine, and name any file of this one."""
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    assert program("check", "bad.yaml", *RULE, "--shard", "1/1", "--output", "shard").code == 0
    merged = program("merge", "shard", "--format", "html").out
    assert "containerPort: " in merged
    assert "      ports:" not in merged
    assert "      ports:" in program("check", "bad.yaml", *RULE, "--format", "html").out
