"""What `kcheck check` checks, shows and returns."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BAD_POD, POD, Program


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(POD)
    (tmp_path / "bad.yaml").write_text(BAD_POD)


def test_exit_status_says_whether_something_was_found(program: Program) -> None:
    assert program("check", "good.yaml", "--select", "invalid-port-number").code == 0
    found = program("check", "bad.yaml", "--select", "invalid-port-number")
    assert found.code == 1
    assert "bad.yaml:10:26: error[invalid-port-number]: containerPort 99999 is out of range" in found.out
    assert "         - containerPort: 99999\n" in found.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--select", "naked-pod"], 1),
        (["--select", "naked-pod", "--fail-on", "error"], 0),
        (["--select", "naked-pod", "--severity", "error", "--fail-on", "info"], 0),
        (["--select", "invalid-port-number", "--fail-on", "error"], 1),
        (["--select", "invalid-port-number,naked-pod", "--ignore", "invalid-port-number", "--fail-on", "error"], 0),
        (["--select", "spec"], 1),
        (["--select", "spec", "--ignore", "spec"], 0),
    ],
)
def test_thresholds_and_selection(program: Program, arguments: list[str], code: int) -> None:
    assert program("check", "bad.yaml", *arguments).code == code


def test_severity_hides_what_is_below_it(program: Program) -> None:
    shown = program("check", "bad.yaml", "--select", "invalid-port-number,naked-pod", "--severity", "error", "--format", "concise").out
    assert shown.count("\n") == 1
    assert "invalid-port-number" in shown


def test_json_goes_to_a_file_whole(program: Program, tmp_path: Path) -> None:
    assert program("check", "bad.yaml", "--select", "invalid-port-number", "--format", "json", "--output", "report.json") == (1, "", "")
    assert [f["rule"] for f in json.loads((tmp_path / "report.json").read_text())["findings"]] == ["invalid-port-number"]


def test_sarif_has_the_help_of_the_rule(program: Program) -> None:
    report = json.loads(program("check", "bad.yaml", "--select", "invalid-port-number", "--format", "sarif").out)
    rules = report["runs"][0]["tool"]["driver"]["rules"]
    (rule,) = (rule for rule in rules if rule["id"] == "invalid-port-number")
    assert "Reports port numbers outside of 1-65535." in rule["help"]["markdown"]


def test_statistics_name_the_rules(program: Program) -> None:
    assert (
        "invalid-port-number  1  error         Port number is not between 1 and 65535"
        in program("check", ".", "--select", "invalid-port-number", "--statistics").out
    )


def test_standard_input_has_a_name(program: Program) -> None:
    found = program("check", "-", "--stdin-filename", "deploy/web.yaml", "--select", "invalid-port-number", stdin=BAD_POD.encode())
    assert found.code == 1
    assert found.out.startswith("deploy/web.yaml:10:26: error")
    assert program("check", "-", "--select", "invalid-port-number", stdin=BAD_POD.encode()).out.startswith("<stdin>:10:26")


def test_a_range_of_versions_must_hold_on_each(program: Program, tmp_path: Path) -> None:
    (tmp_path / "budget.yaml").write_text(POLICY)
    check = ("check", "budget.yaml", "--select", "unknown-kind", "--kubernetes")
    assert program(*check, "1.30-1.36").code == 0
    found = program(*check, "1.29-1.31")
    assert found.code == 1
    assert "is available since Kubernetes 1.30" in found.out


def test_definitions_come_from_the_command_line(program: Program, tmp_path: Path) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "widget.yaml").write_text(CRD)
    (tmp_path / "widget.yaml").write_text(WIDGET)
    assert "not validated: Widget" in program("check", "widget.yaml", "--select", "spec").out
    found = program("check", "widget.yaml", "--select", "spec", "--schemas", "crds", "--format", "concise")
    assert "unknown-field" in found.out
    assert "colour" not in found.out


def test_excluded_files_are_skipped(program: Program) -> None:
    assert program("check", ".", "--select", "invalid-port-number", "--exclude", "bad.*").code == 0
    passed = program("check", ".", "--select", "invalid-port-number", "--exclude", "bad.*", "--verbose").out
    assert "bad.yaml: excluded" in passed


class TestAsFound:
    """A hook names all YAML of a commit."""

    @pytest.fixture(autouse=True)
    def others(self, tmp_path: Path) -> None:
        (tmp_path / "compose.yaml").write_text("services:\n  web: {image: nginx}\n")
        (tmp_path / "list.json").write_text("[1, 2]\n")

    def test_files_without_objects_are_skipped(self, program: Program) -> None:
        names = ("good.yaml", "compose.yaml", "list.json")
        assert program("check", *names, "--select", "spec").code == 1
        assert program("check", *names, "--select", "spec", "--as-found").code == 0

    def test_what_is_one_is_checked(self, program: Program) -> None:
        assert program("check", "bad.yaml", "compose.yaml", "--select", "spec", "--as-found").code == 1

    def test_what_the_config_excludes_stays_out(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / ".kcheck.yaml").write_text("exclude: [bad.yaml]\n")
        assert program("check", "bad.yaml", "--select", "invalid-port-number").code == 1
        assert program("check", "bad.yaml", "--select", "invalid-port-number", "--as-found").code == 0


class TestConfig:
    def test_it_holds_and_the_command_line_beats_it(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / ".kcheck.yaml").write_text('kubernetes: "1.29"\nfail-on: error\nrules:\n  all: off\n  naked-pod: info\n')
        found = program("check", "bad.yaml", "--format", "json")
        report = json.loads(found.out)
        assert (found.code, report["kubernetes"]) == (0, "1.29")
        assert [(f["rule"], f["severity"]) for f in report["findings"]] == [("naked-pod", "info")]
        found = program("check", "bad.yaml", "--format", "json", "--fail-on", "info", "--kubernetes", "1.30")
        assert (found.code, json.loads(found.out)["kubernetes"]) == (1, "1.30")
        assert "invalid-port-number" in program("check", "bad.yaml", "--isolated").out

    def test_another_file_can_be_given(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / ".kcheck.yaml").write_text("rules: {all: off}\n")
        (tmp_path / "strict.yaml").write_text("rules: {naked-pod: error}\n")
        assert program("check", "good.yaml").code == 0
        assert "error[naked-pod]" in program("check", "good.yaml", "--config", "strict.yaml").out

    def test_overrides_hold_for_their_files(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / "copied").mkdir()
        (tmp_path / "copied" / "web.yaml").write_text(BAD_POD)
        (tmp_path / ".kcheck.yaml").write_text(OVERRIDES)
        report = json.loads(program("check", ".", "--format", "json").out)
        found = {(f["file"], f["rule"], f["severity"]) for f in report["findings"]}
        assert ("copied/web.yaml", "invalid-port-number", "info") in found
        assert ("bad.yaml", "invalid-port-number", "error") in found
        assert {file for file, rule, _ in found if rule == "naked-pod"} == {"bad.yaml", "good.yaml"}

    def test_mistakes_are_reported_with_their_location(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / ".kcheck.yaml").write_text("rules:\n  naked-pood: off\nfail-onn: error\n")
        found = program("check", "good.yaml")
        assert found.code == 2
        assert not found.out
        assert '.kcheck.yaml:2:3: unknown rule or group "naked-pood"; did you mean "naked-pod"?' in found.err
        assert ".kcheck.yaml:3:1: unknown key" in found.err


OVERRIDES = """\
rules: {all: off, invalid-port-number: on, naked-pod: on}
overrides:
  - files: [copied/]
    rules: {invalid-port-number: info, naked-pod: off}
"""
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: owners
"""
WIDGET = """\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
spec:
  colour: red
  size: 3
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                colour: {type: string}
"""


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ((), False),
        (("--placeholders", "check"), True),
        (("--select", "spec"), True),
        (("--select", "spec", "--placeholders", "skip"), False),
        (("--select", "spec,images"), False),
    ],
)
def test_placeholders_are_checked_on_request_and_with_the_rules_of_spec(flags: tuple[str, ...], found: bool, program: Program) -> None:
    Path("pod.yaml").write_text(POD.replace("8080", "${PORT}"))
    assert ("containerPort: expected an integer" in program("check", "pod.yaml", *flags).out) is found


def test_placeholders_of_the_config(program: Program) -> None:
    Path("pod.yaml").write_text(POD.replace("8080", "${PORT}"))
    Path(".kcheck.yaml").write_text("placeholders: skip\n")
    assert program("check", "pod.yaml", "--select", "spec").code == 0
    Path(".kcheck.yaml").write_text("placeholders: check\n")
    assert program("check", "pod.yaml", "--select", "wrong-type").code == 1


def test_substitute_of_the_config(program: Program) -> None:
    Path("pod.yaml").write_text(POD.replace("8080", "${PORT}"))
    Path(".kcheck.yaml").write_text("substitute:\n  values: {PORT: 99999}\n")
    done = program("check", "pod.yaml", "--format", "concise", "--select", "spec")
    assert done.out.startswith("pod.yaml:10:26: error[invalid-port-number]: containerPort 99999 is out of range (1-65535)")
    Path(".kcheck.yaml").write_text("substitute:\n  values: {PORT: 8080}\n")
    assert program("check", "pod.yaml", "--select", "spec").code == 0
