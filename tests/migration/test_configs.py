"""Configs of other tools as drafts and as text; the text is read back by the reader of our own config."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from kcheck.config.config import Config
from kcheck.config.file import read
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.migration.input import Intake, Unrecognised
from kcheck.migration.tools import PEERS
from kcheck.migration.writing import config_text
from kcheck.text.source import Source


def taken(intake: Intake, text: str, name: str = "config.yaml", tool: str = "") -> list[str]:
    """Takes in a config; the notes."""
    intake.file(Source(name, dedent(text)), tool)
    return [str(note) for note in intake.draft.settled()]


def written(intake: Intake, folder: Path) -> Config:
    """The draft as a config file, read by our own reader, which must say what the draft says."""
    path = folder / ".kcheck.yaml"
    path.write_text(config_text(intake.draft))
    config = read(path, intake.draft.counterparts.registry)
    assert {id: s for id, s in config.settings.items() if id in intake.draft.settings()} == intake.draft.settings()
    return config


def test_kube_linter_runs_its_defaults_unasked(intake: Intake, tmp_path: Path) -> None:
    taken(intake, "checks:\n  exclude: [latest-tag, no-read-only-root-fs]\n")
    settings = written(intake, tmp_path).settings
    assert settings["missing-run-as-non-root"].on is True
    assert settings["latest-tag"].on is False
    # Off by default here as well, so there is nothing to say.
    assert "writable-root-filesystem" not in settings
    # On by default in both.
    assert "service-without-pods" not in settings
    # To be asked for there, off here.
    assert "default-namespace" not in settings


def test_checks_have_the_parameters_that_they_had(intake: Intake, tmp_path: Path) -> None:
    taken(intake, "checks:\n  addAllBuiltIn: true\n")
    settings = written(intake, tmp_path).settings
    assert settings["too-few-replicas"].options == {"minimum": 3, "stateful_sets": True}
    assert settings["hpa-min-replicas"].options == {"minimum": 3}
    assert settings["default-namespace"].options == {"unset": True}
    # It merely informs by itself; there it failed the run.
    assert settings["default-namespace"].severity == WARNING


def test_nothing_but_what_is_named(intake: Intake, tmp_path: Path) -> None:
    taken(intake, "checks:\n  doNotAutoAddDefaults: true\n  include: [latest-tag, docker-sock]\n")
    text = config_text(intake.draft)
    assert text.splitlines()[1:] == [
        "rules:",
        "  practice: off  # only the rules below were enabled",
        "  latest-tag: on  # kube-linter: latest-tag",
        "  runtime-socket: on  # kube-linter: docker-sock",
    ]
    settings = written(intake, tmp_path).settings
    assert settings["host-network"].on is False
    assert "wrong-type" not in settings


def test_everything_beats_nothing_as_kube_linter_says(intake: Intake) -> None:
    taken(intake, "checks: {doNotAutoAddDefaults: true, addAllBuiltIn: true}\n")
    assert not any(intake.draft.exclusive)


def test_a_rule_that_another_check_wants_stays_on(intake: Intake) -> None:
    notes = taken(intake, "checks: {exclude: [privileged-container]}\n")
    assert intake.draft.settings()["privileged-driver"].on is True
    assert any("privileged-driver stays on" in note for note in notes)


def test_paths(intake: Intake, tmp_path: Path) -> None:
    notes = taken(intake, "checks:\n  ignorePaths: [vendor/**, ./deploy, /tmp/*.yaml, ../other, ~/here]\n")
    assert written(intake, tmp_path).exclude == ("/deploy", "vendor/**")
    assert sum("exclude only matches files" in note for note in notes) == 3


def test_custom_checks(intake: Intake, tmp_path: Path) -> None:
    notes = taken(
        intake,
        """\
        checks:
          doNotAutoAddDefaults: true
          exclude: [not-run]
        customChecks:
          - {name: release, template: required-label, params: {key: company.io/release}}
          - {name: team, template: required-label, params: {key: team, value: "a|b"}}
          - {name: contact, template: missing-required-annotation, params: {key: "^mail$"}}
          - {name: five, template: minimum-replicas, params: {MinReplicas: 5}}
          - {name: seven, template: minimum-replicas, params: {minReplicas: 7}}
          - {name: limit, template: cpu-requirements, params: {requirementsType: limit, lowerBoundMillis: 0, upperBoundMillis: 0}}
          - {name: exposed, template: forbidden-service-types, params: {forbiddenServiceTypes: [LoadBalancer]}}
          - {name: token, template: env-var, params: {name: APP_TOKEN}}
          - {name: no-secrets, template: disallowed-api-obj, params: {kind: Secret}}
          - {name: quiet, template: privileged, remediation: do not, scope: {objectKinds: [DeploymentLike]}}
          - {name: not-run, template: host-ipc}
        """,
    )
    settings = {id: s for id, s in written(intake, tmp_path).settings.items() if s.on}
    assert settings.keys() == {
        "missing-recommended-labels",
        "too-few-replicas",
        "missing-cpu-limit",
        "load-balancer-service",
        "privileged-container",
        "privileged-driver",
    }
    assert settings["missing-recommended-labels"].options == {"labels": ("company.io/release", "team")}
    assert settings["too-few-replicas"].options == {"minimum": 5}
    assert [n.partition(": ")[2] for n in notes] == [
        "kube-linter custom check team: value: a|b: no equivalent in missing-recommended-labels",
        "kube-linter custom check contact (template missing-required-annotation): kcheck has no such rule; write it as a plug-in",
        "too-few-replicas minimum is already 5, so 7 is ignored: a rule has one value for all files",
        "kube-linter custom check token (template env-var): kcheck has no such rule; write it as a plug-in",
        "kube-linter custom check no-secrets (template disallowed-api-obj): kcheck has no such rule; write it as a plug-in",
        "kube-linter custom check quiet: scope: not supported; privileged-container, privileged-driver apply to all kinds",
    ]


def test_unknown_settings_are_reported_with_their_line(intake: Intake) -> None:
    notes = taken(
        intake,
        """\
        checks:
          include:
            - no-such-check
          exclude: [never-was]
          newKey: 1
        """,
        ".kube-linter.yaml",
        "kube-linter",
    )
    assert ".kube-linter.yaml:3: kube-linter no-such-check: kcheck has no such rule" in notes
    assert ".kube-linter.yaml:4: kube-linter never-was: unknown check, so no rule is switched off" in notes
    assert ".kube-linter.yaml:5: kube-linter newKey: kcheck has no such setting" in notes


def test_polaris_has_severities(intake: Intake, tmp_path: Path) -> None:
    notes = taken(
        intake,
        """\
        checks:
          tagNotSpecified: danger
          hostIPCSet: danger
          livenessProbeMissing: warning
          sensitiveContainerEnvVar: ignore
          cpuLimitsMissing: ignore
          ours: warning
          hostPIDSet: severe
        customChecks:
          ours: {successMessage: well}
        mutations: [pullPolicyNotAlways]
        exemptions:
          - namespace: kube-system
            controllerNames: [dns]
            rules: [hostNetworkSet]
        """,
    )
    settings = written(intake, tmp_path).settings
    assert settings["latest-tag"].severity == ERROR
    assert settings["host-ipc"].severity == ERROR
    assert settings["missing-liveness-probe"].severity == WARNING
    assert settings["credential-in-env"].on is False
    assert settings.keys() == {"latest-tag", "host-ipc", "missing-liveness-probe", "credential-in-env"}
    assert [note.split(": ", 1)[0] for note in notes] == ["config.yaml:8", "config.yaml:10", "config.yaml:11"]
    assert [str(e) for e in intake.exemptions] == ["exemption of namespace kube-system; controllers dns from hostNetworkSet"]


def test_polaris_without_checks_adds_to_its_own(intake: Intake) -> None:
    taken(intake, "exemptions: []\n")
    assert intake.draft.settings()["latest-tag"].severity == ERROR


def test_kube_score_by_its_command_line(intake: Intake, tmp_path: Path) -> None:
    flags = "--ignore-test=pod-networkpolicy,deployment-replicas --ignore-test nope --enable-optional-test container-seccomp-profile"
    more = "--kubernetes-version v1.30 --ignore-container-cpu-limit --min-replicas-hpa 4 -o ci --new-flag k8s/web.yaml"
    intake.command_line(["score", *flags.split(), *more.split()], "the command line")
    config = written(intake, tmp_path)
    assert config.kubernetes == ("1.30",)
    assert config.settings["hpa-min-replicas"].options == {"minimum": 4}
    assert config.settings["missing-seccomp"].on is True
    assert config.settings["missing-memory-limit"].on is True
    assert config.settings.keys().isdisjoint({"missing-cpu-limit", "too-few-replicas", "missing-network-policy"})
    reported = [note.message for note in intake.draft.settled()]
    assert "kube-score --new-flag: unknown flag" in reported
    assert "kube-score nope: unknown check, so no rule is switched off" in reported


@pytest.mark.parametrize(
    "text",
    [
        "kube-score score --ignore-test service-type k8s/*.yaml\n",
        "--ignore-test service-type\n",
        "--ignore-test\n service-type\n",
        "--ignore-test service-type\n'not closed\n",
        "#!/bin/sh\nset -e\nhelm template . | kube-score score --ignore-test service-type - | tee out # done\n",
        "docker run -v $PWD:/p zegl/kube-score:latest score \\\n  --ignore-test service-type \\\n  /p/a.yaml; echo done\n",
        "jobs:\n  lint:\n    steps:\n      - run: ./bin/kube-score score --ignore-test service-type a.yaml && true\n",
    ],
)
def test_kube_score_in_a_script(intake: Intake, text: str) -> None:
    taken(intake, text, "lint")
    assert intake.draft.origins == [("lint", "kube-score")]
    assert "node-port-service" in intake.draft.refused
    assert "node-port-service" not in intake.draft.settings()


def test_an_old_version_is_reported(intake: Intake) -> None:
    intake.command_line(["--kubernetes-version", "v1.18"], "the command line")
    assert intake.draft.kubernetes == ""
    assert any("1.18" in note.message for note in intake.draft.settled())


def test_checkov_runs_all_it_has(intake: Intake, tmp_path: Path) -> None:
    notes = taken(
        intake,
        """\
        framework: [kubernetes, helm]
        skip-check:
          - CKV_K8S_14
          - CKV_AWS_18
        soft-fail-on: CKV_K8S_43
        skip-path: [vendor, a/b, "test.*"]
        soft-fail: true
        quiet: true
        """,
    )
    config = written(intake, tmp_path)
    assert config.settings["latest-tag"].on is False
    assert config.settings["unpinned-image"].severity == INFO
    assert config.settings["missing-liveness-probe"].severity == WARNING
    assert config.settings["default-namespace"].options == {"unset": True}
    assert config.exclude == ("**/a/b", "vendor")
    assert [n.split(": ")[1].split()[1] for n in notes if ": checkov " in n] == ["CKV_AWS_18", "skip-path", "soft-fail"]


def test_checkov_with_a_list_runs_that(intake: Intake) -> None:
    taken(intake, "check: CKV_K8S_14,CKV_K8S_2*\nskip-check: [CKV_K8S_21]\n")
    assert intake.draft.exclusive == [True]
    assert {"latest-tag", "missing-run-as-non-root", "runtime-socket"} <= intake.draft.settings().keys()
    assert "default-namespace" not in intake.draft.settings()


def test_checkov_for_something_else(intake: Intake) -> None:
    notes = taken(intake, "framework: [terraform]\nskip-check: [CKV_K8S_14]\n")
    assert intake.draft.settings() == {}
    assert notes == ["config.yaml:1: checkov framework: terraform does not include Kubernetes, so nothing is migrated"]


def test_two_configs_make_one(intake: Intake, tmp_path: Path) -> None:
    taken(intake, "checks: {doNotAutoAddDefaults: true, include: [latest-tag]}\n", "a.yaml")
    taken(intake, "checks: {tagNotSpecified: danger, livenessProbeMissing: warning}\n", "b.yaml")
    assert config_text(intake.draft) == (
        "# Migrated from a.yaml (kube-linter) by kcheck migrate.\n"
        "# Migrated from b.yaml (polaris) by kcheck migrate.\n"
        "rules:\n"
        "  latest-tag: error  # kube-linter: latest-tag; polaris: tagNotSpecified\n"
        "  missing-liveness-probe: warning  # polaris: livenessProbeMissing\n"
    )
    written(intake, tmp_path)


@pytest.mark.parametrize("tool", sorted(PEERS))
def test_all_that_a_tool_has_makes_a_config(tool: str, intake: Intake, tmp_path: Path) -> None:
    texts = {
        "kube-linter": "checks: {addAllBuiltIn: true}\n",
        "kube-score": "kube-score score --all-default-optional\n",
        "polaris": "checks:\n" + "".join(f"  {check}: warning\n" for check in sorted(PEERS["polaris"].checks)),
        "checkov": "quiet: true\n",
    }
    taken(intake, texts[tool], tool=tool)
    config = written(intake, tmp_path)
    counterparts = intake.draft.counterparts
    on = {rule.id for rule in counterparts.registry.rules.values() if rule.default} | {id for id, s in config.settings.items() if s.on}
    assert counterparts.of_all(tool, PEERS[tool].checks) <= on


@pytest.mark.parametrize("text", ["", "just words\n", "a: 1\n", "- 1\n", "checks: 3\n", "image: {tag: x}\nreplicas: 1\n"])
def test_files_that_are_not_configs(intake: Intake, text: str) -> None:
    with pytest.raises(Unrecognised):
        taken(intake, text, "values.yaml")


def test_a_name_helps_where_the_content_says_nothing(intake: Intake) -> None:
    taken(intake, "# all as it comes\n", "sub/.kube-linter.yaml")
    assert intake.draft.origins == [("sub/.kube-linter.yaml", "kube-linter")]


def test_broken_yaml(intake: Intake) -> None:
    with pytest.raises(Unrecognised, match=r"\.kube-linter\.yaml:2"):
        taken(intake, "checks:\n  include: [\n", ".kube-linter.yaml")


@pytest.mark.parametrize(
    "text", ["checks: []", "checks: {include: 3}", "customChecks: [1, {name: x}, {name: y, params: [1]}]", "checks: {exclude: [[1]]}"]
)
def test_odd_values_of_kube_linter(intake: Intake, tmp_path: Path, text: str) -> None:
    taken(intake, text, tool="kube-linter")
    written(intake, tmp_path)


@pytest.mark.parametrize("text", ["checks: []", "checks: {a: [1]}", "exemptions: {a: b}", "exemptions: [1, {rules: 3}]", "customChecks: 3"])
def test_odd_values_of_polaris_too(intake: Intake, tmp_path: Path, text: str) -> None:
    taken(intake, text, tool="polaris")
    written(intake, tmp_path)
