"""`kcheck rules`, `kcheck explain`, `kcheck completion`."""

import json

import pytest

from tests.cli.conftest import Program


def test_rules_are_grouped_by_area(program: Program) -> None:
    found = program("rules", "--select", "invalid-port-number,naked-pod")
    assert found.code == 0
    areas = [(area, rows) for area, *rows in (block.splitlines() for block in found.out.split("\n\n"))][:2]
    assert [area for area, _ in areas] == ["Objects and YAML (spec)", "Workloads (practice)"]
    assert [row.split()[:4] for _, rows in areas for row in rows] == [
        ["invalid-port-number", "error", "spec", "on"],
        ["naked-pod", "warning", "practice", "off"],
    ]
    assert found.out.splitlines()[-1].startswith("2 rules: 1 on by default, 0 fixable.")


@pytest.mark.parametrize(
    ("pattern", "id"),
    [
        ("readOnlyRootFilesystem", "writable-root-filesystem"),
        ("read only root", "writable-root-filesystem"),
        ("CKV_K8S_16", "privileged-container"),
        ("maxUnavailable", "pdb-without-limit"),
        ("containerPort", "invalid-port-number"),
        ("LATEST", "latest-tag"),
    ],
)
def test_rules_are_found_by_what_they_are_about(program: Program, pattern: str, id: str) -> None:
    found = json.loads(program("rules", pattern, "--format", "json").out)
    assert id in {rule["id"] for rule in found}
    assert len(found) < 100


def test_no_rule_matches(program: Program) -> None:
    found = program("rules", "no-such-word")
    assert found.code == 2
    assert "no-such-word" in found.err


@pytest.mark.parametrize("name", ["CKV_K8S_14", "checkov/CKV_K8S_14", "kube-linter/latest-tag"])
def test_explain_knows_the_checks_of_other_tools(program: Program, name: str) -> None:
    assert program("explain", name).out.startswith("# latest-tag\n")


def test_explain_lists_several_replacements(program: Program) -> None:
    text = program("explain", "kube-linter/liveness-port").out
    assert text.startswith("# kube-linter/liveness-port\n")
    assert {"undeclared-probe-port", "unknown-probe-port-name"} <= set(text.split())


def test_rules_as_data(program: Program) -> None:
    rules = {r["id"]: r for r in json.loads(program("rules", "--format", "json").out)}
    assert rules["latest-tag"]["options"][0]["type"] == "a list of strings"
    assert "core/v1 ContainerPort" in rules["invalid-port-number"]["types"]
    assert rules["invalid-port-number"]["page"].endswith("/objects/pages/invalid-port-number.md")


def test_rules_like_those_of_another_tool(program: Program) -> None:
    found = program("rules", "--like", "kube-linter")
    assert found.code == 0
    head, *rows = found.out.splitlines()
    assert head.split() == ["check", "rule", "default", "title"]
    assert ["kube-linter/latest-tag", "latest-tag", "on"] in [row.split()[:3] for row in rows]
    # A check for which several rules stand is named in the first row alone.
    first = next(number for number, row in enumerate(rows) if row.startswith("kube-linter/liveness-port "))
    assert rows[first + 1].split()[:2] == ["unknown-probe-port-name", "on"]


def test_rules_like_one_check_as_data(program: Program) -> None:
    data = json.loads(program("rules", "--like", "checkov/CKV_K8S_14", "--format", "json").out)
    assert data == [{"check": "checkov/CKV_K8S_14", "rules": ["latest-tag"]}]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kubelinter", '--like: unknown tool "kubelinter"; did you mean "kube-linter"?'),
        ("kube-linter/latest-tags", '--like: unknown check "kube-linter/latest-tags"; did you mean "kube-linter/latest-tag"?'),
        ("checkov/CKV_K8S_1", '--like: unknown check "checkov/CKV_K8S_1"; see kcheck rules --like checkov'),
        ("kube-linter/x", '--like: unknown check "kube-linter/x"; see kcheck rules --like kube-linter'),
        ("grep", '--like: unknown tool "grep"; use one of checkov, '),
    ],
)
def test_rules_like_an_unknown_tool(program: Program, name: str, message: str) -> None:
    found = program("rules", "--like", name)
    assert found.code == 2
    assert message in " ".join(found.err.split())


def test_explain_prints_data_and_page(program: Program) -> None:
    text = program("explain", "invalid-port-number").out
    assert text.startswith("# invalid-port-number\n\nPort number is not between 1 and 65535\n")
    assert "severity       error\n" in text
    assert "#                        ^^^^^ containerPort 99999 is out of range (1-65535)\n" in text
    painted = program("explain", "invalid-port-number", "--color", "always").out
    assert "\x1b[1;33m#                        ^^^^^ containerPort 99999 is out of range (1-65535)\x1b[0m\n" in painted
    assert "```" not in painted


def test_explain_shows_a_group(program: Program) -> None:
    text = program("explain", "gateway-api").out
    assert text.startswith("# gateway-api\n\nGateway API\n")
    assert "  missing-gateway-listener " in text
    assert "invalid-port-number" not in text


def test_groups_are_listed_with_what_they_are_about(program: Program) -> None:
    lines = program("rules", "--groups").out.splitlines()
    assert lines[0].split() == ["group", "rules", "description"]
    assert "Gateway API" in next(line for line in lines if line.startswith("gateway-api "))
    (group,) = [each for each in json.loads(program("rules", "--groups", "--format", "json").out) if each["group"] == "jobs"]
    assert group["description"] == "Jobs and CronJobs"
    assert "job-ttl-seconds-after-finished" in group["rules"]
    few = program("rules", "--groups", "--select", "missing-gateway-listener").out.splitlines()[1:]
    assert [line.split()[0] for line in few] == ["all", "gateway-api", "networking", "practice", "relations"]


def test_explain_lists_options(program: Program) -> None:
    assert "  allow: a list of strings, [] by default\n" in program("explain", "latest-tag").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(program: Program, shell: str) -> None:
    found = program("completion", shell)
    assert found.code == 0
    assert f"_KCHECK_COMPLETE={shell}_complete" in found.out


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("kcheck che", {"check"}),
        ("kcheck explain invalid-port-n", {"invalid-port-name", "invalid-port-number"}),
        ("kcheck check --select spec,invalid-port-n", {"spec,invalid-port-name", "spec,invalid-port-number"}),
        ("kcheck check --ignore practic", {"practice"}),
        ("kcheck check --format conc", {"concise"}),
        ("kcheck rules --like kube-l", {"kube-linter"}),
        ("kcheck rules --like kube-linter/latest", {"kube-linter/latest-tag"}),
    ],
)
def test_completions(program: Program, words: str, completions: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_KCHECK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert {line.partition(",")[2] for line in program().out.splitlines()} == completions
