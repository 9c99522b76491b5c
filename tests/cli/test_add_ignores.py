"""`kcheck baseline create --add-ignores`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kcheck.discovery.discover import Target
from kcheck.discovery.load import load_file
from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.cli.conftest import BAD_POD, Program

ADD = ("baseline", "create", "--add-ignores")


def values(path: Path) -> list[object]:
    source = load_file(Target(str(path), True))
    assert isinstance(source, Source)
    return [each.root.plain() for each in parse(source)]


def add(program: Program, path: Path, text: str, *flags: str) -> str:
    """Adds comments to a file, checks that its values are the same and that it has no findings left, and returns its text."""
    path.write_bytes(text.encode())
    before = values(path)
    done = program(*ADD, *flags)
    assert (done.code, done.err) == (0, ""), done
    assert values(path) == before
    done = program("check", ".", *flags)
    assert done.out.startswith("No findings"), done.out
    return path.read_bytes().decode()


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    return tmp_path / "pod.yaml"


def test_a_comment_is_added_to_the_line_of_the_finding(program: Program, pod: Path) -> None:
    text = add(program, pod, BAD_POD.replace("nginx:1.29.1", "nginx"))
    expected = BAD_POD.replace("nginx:1.29.1", "nginx  # kcheck: ignore[latest-tag]").replace(
        "99999", "99999  # kcheck: ignore[invalid-port-number]"
    )
    assert text == expected


def test_the_reason_follows(program: Program, pod: Path) -> None:
    pod.write_text(BAD_POD)
    assert program(*ADD, "--reason", "not checked before").out == "Added ignore comments for 1 finding in 1 file.\n"
    assert "99999  # kcheck: ignore[invalid-port-number] not checked before\n" in pod.read_text()
    assert program(*ADD, "--reason", "two\nlines").code == 2


def test_a_second_run_changes_nothing(program: Program, pod: Path) -> None:
    text = add(program, pod, BAD_POD)
    done = program(*ADD)
    assert (done.code, done.out) == (0, "No ignore comments added.\n")
    assert pod.read_text() == text


def test_a_line_with_several_rules_gets_one_comment(program: Program, pod: Path) -> None:
    text = add(program, pod, BAD_POD.replace("- containerPort: 99999", "- {containerPort: 99999, hostPort: 99999, protocl: TCP}"))
    assert "protocl: TCP}  # kcheck: ignore[" in text
    assert text.count("#") == 1
    assert "invalid-port-number" in text
    assert "unknown-field" in text


def test_rules_are_added_to_an_existing_comment(program: Program, pod: Path) -> None:
    text = add(program, pod, BAD_POD.replace("99999", "99999  # kcheck: ignore[unused-ignore, host-port] for tests"))
    assert "# kcheck: ignore[unused-ignore, host-port, invalid-port-number] for tests\n" in text


def test_it_follows_other_comments_and_keeps_line_endings(program: Program, pod: Path) -> None:
    text = add(program, pod, BAD_POD.replace("99999", "99999 # the port").replace("\n", "\r\n"))
    assert "99999 # the port  # kcheck: ignore[invalid-port-number]\r\n" in text
    assert text.count("\n") == text.count("\r\n")


def test_a_text_of_several_lines_gets_it_on_the_line_before(program: Program, pod: Path) -> None:
    """The end of the first line belongs to the text."""
    bad = BAD_POD.replace("      ports:\n        - containerPort: 99999\n", '      imagePullPolicy: "Some\n        times"\n')
    text = add(program, pod, bad)
    assert '      # kcheck: ignore[unsupported-value]\n      imagePullPolicy: "Some\n' in text


def test_a_flow_map_of_several_lines_gets_comments_inside(program: Program, pod: Path) -> None:
    bad = BAD_POD.replace("        - containerPort: 99999\n", "        - {\n            containerPort: 99999,\n            name: http}\n")
    assert "containerPort: 99999,  # kcheck: ignore[invalid-port-number]\n" in add(program, pod, bad)


def test_block_scalars_are_not_damaged(program: Program, pod: Path) -> None:
    bad = BAD_POD.replace("      ports:", "      commnd:\n        - |\n          run # this\n            --now\n      ports:")
    assert "      commnd:  # kcheck: ignore[unknown-field]\n        - |\n" in add(program, pod, bad)


def test_lists_and_many_documents(program: Program, pod: Path) -> None:
    items = "".join("    " + line + "\n" for line in BAD_POD.splitlines())
    bad = f"apiVersion: v1\nkind: List\nitems:\n  -\n{items}---\n{BAD_POD.replace('web', 'api')}---\n{BAD_POD.replace('web', 'db')}"
    assert add(program, pod, bad).count("ignore[") == 3


def test_json_is_left_as_it_is(program: Program, tmp_path: Path) -> None:
    text = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "nginx"}]}}'
    for name in ("pod.json", "pod.yaml"):
        (tmp_path / name).write_text(text.replace('"a"', f'"{name[-4:]}"'))
    done = program(*ADD)
    assert done.code == 1
    assert done.err.count("no ignore comment possible: pod.") == 2
    assert "JSON has no comments" in done.err
    assert all("#" not in (tmp_path / name).read_text() for name in ("pod.json", "pod.yaml"))


def test_what_was_not_checked_cannot_be_ignored(program: Program, pod: Path) -> None:
    pod.write_text("kind: Pod\nmetadata: {\n")
    done = program(*ADD)
    assert done.code == 1
    assert "no ignore comment possible: pod.yaml:" in done.err


def test_findings_about_ignore_comments_get_none(program: Program, pod: Path) -> None:
    text = BAD_POD.replace("99999", "8080  # kcheck: ignore[host-port]")
    pod.write_text(text)
    done = program(*ADD)
    assert (done.code, pod.read_text()) == (1, text)
    assert "unused-ignore" in done.err


def test_a_finding_that_repeated_the_suppressed_one_is_suppressed_too(program: Program, pod: Path) -> None:
    """A selector that does not match is not reported as long as it is missing."""
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'nginx:1.29.1'}]
"""
    assert program("check", ".").code == 0
    assert "spec:  # kcheck: ignore[missing-required-field]" in add(program, pod, text)


def test_read_only_files_are_reported(program: Program, pod: Path) -> None:
    pod.write_text(BAD_POD)
    pod.chmod(0o444)
    done = program(*ADD)
    assert done.code == 2
    assert "pod.yaml is read-only" in done.err
    assert pod.read_text() == BAD_POD


def test_findings_of_a_kind_without_a_schema_are_all_suppressed(program: Program, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\n")
    assert program("check", ".", "--select", "missing-schema", "--fail-on", "info").code == 1
    assert program(*ADD, "--select", "missing-schema").out == "Added ignore comments for 2 findings in 2 files.\n"
    assert program("check", ".", "--select", "missing-schema", "--fail-on", "info").code == 0


def test_permissions_are_kept(program: Program, pod: Path) -> None:
    pod.write_text(BAD_POD)
    pod.chmod(0o640)
    program(*ADD)
    assert os.stat(pod).st_mode & 0o777 == 0o640
