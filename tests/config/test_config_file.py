"""The config file: discovery, parsing and errors."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kcheck.config.config import Config
from kcheck.config.file import read
from kcheck.config.mistake import BadConfig
from kcheck.config.search import find
from kcheck.finding.severity import ERROR, INFO
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Setting
from kcheck.schema.builtin.definitions import available
from tests.conftest import examples

KEYS = (
    "extends, kubernetes, schemas, complete, provided, pods, placeholders, substitute, rules, overrides, roles, charts, "
    "include, exclude, baseline, fail-on, plugins, policies, docs-url"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(text: str, registry: Registry) -> Config:
    path = Path(".kcheck.yaml")
    path.write_bytes(text.encode())
    return read(path, registry)


def mistakes(text: str, registry: Registry) -> list[str]:
    """What is wrong with a config, as "line:column: message"."""
    with pytest.raises(BadConfig) as caught:
        config(text, registry)
    assert all(m.file == ".kcheck.yaml" for m in caught.value.mistakes)
    return [str(m).removeprefix(".kcheck.yaml:") for m in caught.value.mistakes]


class TestFind:
    def test_the_nearest_upwards_wins(self, folder: Path) -> None:
        deep = folder / "a/b/c"
        deep.mkdir(parents=True)
        (folder / ".git").mkdir()
        (folder / ".kcheck.yaml").touch()
        assert find(deep) == folder / ".kcheck.yaml"
        (folder / "a/.kcheck.yaml").touch()
        assert find(deep) == folder / "a/.kcheck.yaml"
        assert find(folder) == folder / ".kcheck.yaml"

    @pytest.mark.parametrize("is_file", [False, True], ids=["repository", "worktree"])
    def test_it_does_not_leave_the_repository(self, folder: Path, is_file: bool) -> None:
        deep = folder / "outer/repository/k8s"
        deep.mkdir(parents=True)
        (folder / "outer/.kcheck.yaml").touch()
        git = folder / "outer/repository/.git"
        git.touch() if is_file else git.mkdir()
        assert find(deep) is None
        (folder / "outer/repository/.kcheck.yaml").touch()
        assert find(deep) == folder / "outer/repository/.kcheck.yaml"

    def test_without_a_repository_it_goes_all_the_way_up(self, folder: Path) -> None:
        deep = folder / "a/b"
        deep.mkdir(parents=True)
        (folder / ".kcheck.yaml").touch()
        assert find(deep) == folder / ".kcheck.yaml"
        os.chdir(deep)
        assert find(Path(".")) == folder / ".kcheck.yaml"

    def test_a_folder_of_that_name_is_not_a_config(self, folder: Path) -> None:
        (folder / ".git").mkdir()
        (folder / ".kcheck.yaml").mkdir()
        assert find(folder) is None


class TestRead:
    @pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n", "rules:\noverrides:\nexclude:\nschemas:\n", "\ufeff"])
    def test_an_empty_one_says_nothing(self, text: str, registry: Registry, folder: Path) -> None:
        assert config(text, registry)._replace(origins={}) == Config(file=Path(".kcheck.yaml"), folder=folder.resolve())

    def test_every_key(self, registry: Registry, folder: Path) -> None:
        (folder / "crds").mkdir()
        read = config(
            'kubernetes: "1.33-1.35"\nschemas: [crds]\ncomplete: true\nfail-on: error\nexclude: [vendor/, "**/testdata/**"]\n'
            "rules: {latest-tag: off}\noverrides:\n- files: [legacy/**]\n  rules: {latest-tag: on}\n",
            registry,
        )
        assert read.kubernetes == ("1.33", "1.34", "1.35")
        assert read.schemas == (Path("crds"),)
        assert read.complete
        assert read.fail_on is ERROR
        assert read.exclude == ("vendor/", "**/testdata/**")
        assert read.settings == {"latest-tag": Setting(False)}
        assert [each[:2] for each in read.overrides] == [(("legacy/**",), {"latest-tag": Setting(True)})]
        assert pickle.loads(pickle.dumps(read)) == read

    def test_schemas_are_relative_to_the_file(self, registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "project/crds").mkdir(parents=True)
        (folder / "project/.kcheck.yaml").write_text("schemas: crds\n")
        (folder / "elsewhere").mkdir()
        monkeypatch.chdir(folder / "elsewhere")
        assert read(folder / "project/.kcheck.yaml", registry).schemas == (folder / "project/crds",)

    @pytest.mark.parametrize(
        ("written", "versions"),
        [
            ("1.36", ("1.36",)),
            ("1.30", ("1.30",)),
            ('"1.30"', ("1.30",)),
            ("v1.36.2", ("1.36",)),
            ("1.35.1-gke.100", ("1.35",)),
            ("1.30-1.32", ("1.30", "1.31", "1.32")),
            ("'1.35 - v1.36.1'", ("1.35", "1.36")),
            ("1.36-1.36", ("1.36",)),
            (f"{available()[0]}-{available()[-1]}", available()),
        ],
    )
    def test_versions(self, written: str, versions: tuple[str, ...], registry: Registry) -> None:
        assert config(f"kubernetes: {written}\n", registry).kubernetes == versions

    def test_crlf_and_utf16(self, registry: Registry, folder: Path) -> None:
        text = "rules:\r\n  latest-tag: off\r\n"
        assert config(text, registry).settings == {"latest-tag": Setting(False)}
        Path("wide.yaml").write_bytes(text.encode("utf-16"))
        assert read(Path("wide.yaml"), registry).settings == {"latest-tag": Setting(False)}


class TestRules:
    @pytest.mark.parametrize(
        ("said", "setting"),
        [
            ("off", Setting(False)),
            ("on", Setting(True)),
            ('"off"', Setting(False)),
            ("true", Setting(True)),
            ("info", Setting(True, INFO)),
            ("error", Setting(True, ERROR)),
            ("{}", Setting(True)),
            ("{severity: error}", Setting(True, ERROR)),
            ("{allow: [a, b]}", Setting(True, None, {"allow": ("a", "b")})),
            ("{severity: info, allow: a}", Setting(True, INFO, {"allow": ("a",)})),
        ],
    )
    def test_what_can_be_said_of_a_rule(self, said: str, setting: Setting, registry: Registry) -> None:
        assert config(f"rules: {{latest-tag: {said}}}\n", registry).settings == {"latest-tag": setting}

    def test_hyphens_of_options_and_ids_of_plugins(self, registry: Registry) -> None:
        read = config("rules:\n  missing-schema: {ignore-groups: [argoproj.io]}\n  acme/owner: {ratio: 1, strict: yes}\n", registry)
        assert read.settings["missing-schema"].options == {"ignore_groups": ("argoproj.io",)}
        assert read.settings["acme/owner"].options == {"ratio": 1.0, "strict": True}

    def test_a_group_is_its_rules(self, registry: Registry) -> None:
        assert config("rules: {security: error}\n", registry).settings == {
            "latest-tag": Setting(True, ERROR),
            "host-network": Setting(True, ERROR),
        }

    def test_narrow_beats_wide_in_any_order(self, registry: Registry) -> None:
        one = config("rules: {latest-tag: on, security: off, practice: info, all: off}\n", registry).settings
        two = config("rules: {all: off, practice: info, security: off, latest-tag: on}\n", registry).settings
        assert one == two
        assert one["latest-tag"] == Setting(True, INFO)
        assert one["host-network"] == Setting(False, INFO)
        assert one["missing-probe"] == Setting(False, INFO)
        assert one["wrong-type"] == Setting(False)
        assert "internal-error" not in one

    def test_a_severity_of_a_family_switches_nothing_on(self, registry: Registry) -> None:
        assert config("rules: {practice: error}\n", registry).settings["redundant-default"] == Setting(None, ERROR)
        assert config("rules: {all: {severity: error}}\n", registry).settings["redundant-default"] == Setting(None, ERROR)
        assert config("rules: {style: error}\n", registry).settings["redundant-default"] == Setting(True, ERROR)

    def test_a_family_means_its_usual_rules_and_all_means_all(self, registry: Registry) -> None:
        assert "redundant-default" not in config("rules: {practice: on}\n", registry).settings
        assert config("rules: {all: on}\n", registry).settings["redundant-default"] == Setting(True)
        assert config("rules: {practice: off}\n", registry).settings["redundant-default"] == Setting(False)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("rule: {}\n", ['1:1: unknown key "rule"; did you mean "rules"?']),
        ("complete: true\nfail_on: error\n", ['2:1: unknown key "fail_on"; did you mean "fail-on"?']),
        (
            "zebra: 1\n",
            [
                '1:1: unknown key "zebra"; use one of extends, kubernetes, schemas, complete, provided, pods, placeholders, substitute, '
                "rules, overrides and 9 more"
            ],
        ),
        ("rules:\n  latest-tags: off\n", ['2:3: unknown rule or group "latest-tags"; did you mean "latest-tag"?']),
        ("rules:\n  securty: off\n", ['2:3: unknown rule or group "securty"; did you mean "security"?']),
        ("rules:\n  other/thing: off\n", ['2:3: unknown rule "other/thing"; check that its plug-in is installed']),
        ("rules:\n  xyzzy: off\n", ['2:3: unknown rule or group "xyzzy"; see kcheck rules and kcheck rules --groups']),
        ("rules:\n  name-pattern-mismatch: {pattern: '(?=a)b'}\n", ["2:36: pattern is not a valid regular expression: unknown group (?=a"]),
        ("rules:\n  latest-tag: warn\n", ['2:15: latest-tag must be off, on, info, warning, error or a map of options, not "warn"']),
        ("rules:\n  latest-tag:\n", ["2:3: latest-tag must be off, on, info, warning, error or a map of options, not an empty value"]),
        ("rules:\n  latest-tag: 2\n", ["2:15: latest-tag must be off, on, info, warning, error or a map of options, not 2"]),
        ("rules:\n  latest-tag: {severity: Error}\n", ['2:26: severity must be info, warning or error, not "Error"']),
        ("rules:\n  latest-tag: {severity: }\n", ["2:16: severity must be info, warning or error, not an empty value"]),
        ("rules:\n  latest-tag: {alow: a}\n", ['2:16: unknown option "alow" of rule latest-tag; did you mean "allow"?']),
        (
            "rules:\n  missing-probe: {min_replicas: 2}\n",
            ['2:19: unknown option "min_replicas" of rule missing-probe; did you mean "min-replicas"?'],
        ),
        ("rules:\n  host-network: {ports: 2}\n", ['2:18: unknown option "ports" of rule host-network; use severity']),
        ("rules:\n  missing-probe: {min-replicas: two}\n", ["2:33: min-replicas must be an integer, not 'two'"]),
        ("rules:\n  latest-tag: {allow: [a, 1]}\n", ["2:23: allow must be a list of strings, not ['a', 1]"]),
        ("rules:\n  acme/owner: {strict: maybe}\n", ["2:24: strict must be true or false, not 'maybe'"]),
        ("rules:\n  security: {allow: a}\n", ['2:14: group security has no option "allow", only severity; set options on single rules']),
        ("rules:\n  internal-error: off\n", ["2:3: internal-error is always on and always an error; remove this line"]),
        ("rules: [latest-tag]\n", ["1:8: rules must be a map from rules and groups to settings, not a list"]),
        ("complete: 1\n", ["1:11: complete must be true or false, not 1"]),
        ("complete:\n", ["1:1: complete must be true or false, not an empty value"]),
        ("fail-on: never\n", ['1:10: fail-on must be info, warning or error, not "never"']),
        ("docs-url: docs.example.com\n", ['1:11: docs-url must begin with https:// or http://, not "docs.example.com"']),
        ("docs-url: 3\n", ["1:11: docs-url must begin with https:// or http://, not 3"]),
        ("fail-on: ERROR\n", ['1:10: fail-on must be info, warning or error, not "ERROR"']),
        ("fail-on:\n", ["1:1: fail-on must be info, warning or error, not an empty value"]),
        (
            "exclude: [a, 1, '']\n",
            [
                "1:14: exclude must be a list of strings, but contains 1",
                "1:17: exclude must be a list of strings, but contains an empty value",
            ],
        ),
        ("exclude: {a: b}\n", ["1:10: exclude must be a list of strings, not a map"]),
        ("exclude: ../a\n", ['1:10: "../a" leaves the folder of this file; globs match files in this folder and below']),
        ("schemas: [gone]\n", ["1:11: no such file or folder: gone"]),
        ("kubernetes: latest\n", ['1:13: unknown Kubernetes version "latest"; use 1.25 to 1.37, or a range']),
        ("kubernetes: 1.99\n", ['1:13: unknown Kubernetes version "1.99"; use 1.25 to 1.37, or a range']),
        (
            "kubernetes: 1.30-1.99\n",
            ['1:13: unknown Kubernetes version "1.99" in "1.30-1.99"; use 1.25 to 1.37, or a range'],
        ),
        ("kubernetes: 1.36-1.30\n", ['1:13: range "1.36-1.30" begins with the newer version; use "1.30-1.36"']),
        ("kubernetes: true\n", ['1:13: kubernetes must be a version such as "1.36" or a range such as "1.30-1.37", not true']),
        ("kubernetes: [1.30]\n", ['1:13: kubernetes must be a version such as "1.36" or a range such as "1.30-1.37", not a list']),
        ("overrides: {files: a}\n", ["1:12: overrides must be a list of maps with files and settings, not a map"]),
        ("overrides: [a]\n", ['1:13: an override must be a map with files and settings, not "a"']),
        ("overrides:\n- rules: {}\n", ["2:3: files is required in an override; add a list of globs"]),
        (
            "overrides:\n- files: []\n  rules: {}\n",
            ["2:10: files is empty, so the override applies to no file; add globs or remove the override"],
        ),
        ("overrides:\n- files: [a]\n", ["2:3: the override changes nothing; add rules, kubernetes, complete or provided"]),
        (
            "overrides:\n- {files: a, rules: {}, exclude-rules: [b]}\n",
            [
                '2:25: unknown key "exclude-rules"; use one of files, rules, kubernetes, complete, provided',
            ],
        ),
        (
            "overrides:\n- files: [a]\n  rules: {latest-tags: off}\n",
            ['3:11: unknown rule or group "latest-tags"; did you mean "latest-tag"?'],
        ),
        ("complete: true\ncomplete: false\n", ['2:1: duplicate key "complete" (first defined on line 1); remove one']),
        ("rules:\n  security: off\n  security: on\n", ['3:3: duplicate key "security" (first defined on line 2); remove one']),
        ("complete: true\n---\ncomplete: true\n", ["3:1: the config must be a single document; remove '---' and everything after it"]),
        ("complete: true\n...\nrules: {}\n", ["3:1: content after the end of the document is ignored; remove it"]),
        (
            "- complete\n",
            [f"1:1: the config must be a map with the keys {KEYS}, not a list"],
        ),
        ("complete: {a: 1\n", ['1:15: unclosed "{" or missing ","; add "}" or ","']),
        ("rules:\n\tsecurity: off\n", ["2:1: tab in the indentation; indent with spaces"]),
    ],
)
def test_a_mistake_is_reported_with_its_location(text: str, reported: list[str], registry: Registry) -> None:
    assert mistakes(text, registry) == reported


def test_all_mistakes_are_reported_at_once_in_order(registry: Registry) -> None:
    text = (
        "fail-on: often\nrule: {}\nrules:\n  latest-tags: off\n  missing-probe: {min-replicas: two, sevrity: info}\n"
        "overrides:\n- files: 3\n  rules: {secruity: off}\nfail-on: error\n"
    )
    places = [reported.split(": ")[0] for reported in mistakes(text, registry)]
    assert places == ["2:1", "4:3", "5:33", "5:38", "7:10", "8:11", "9:1"]


def test_a_file_that_cannot_be_read(registry: Registry, folder: Path) -> None:
    with pytest.raises(BadConfig, match=r"^gone.yaml:1:1: cannot be read: No such file or directory$"):
        read(Path("gone.yaml"), registry)
    Path("bytes.yaml").write_bytes(b"complete: true\nrules: \xff\n")
    with pytest.raises(BadConfig, match=r"^bytes.yaml:2:1: not a text file: byte 0xff is not valid UTF-8$"):
        read(Path("bytes.yaml"), registry)


_KEYS = ["rules", "overrides", "files", "kubernetes", "exclude", "severity", "latest-tag", "security", "allow"]
_WORDS = st.sampled_from([*_KEYS, "off", "error", "1.30", "x", "..", "null", "''"])
_VALUES = st.recursive(_WORDS, lambda each: st.lists(each, max_size=3) | st.dictionaries(_WORDS, each, max_size=3), max_leaves=12)


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value)


@given(_VALUES)
@examples(300, HealthCheck.function_scoped_fixture)
def test_anything_is_either_read_or_refused_with_places(registry: Registry, value: object) -> None:
    try:
        config(_flow(value), registry)
    except BadConfig as error:
        reported = error.mistakes
    else:
        return
    assert reported
    assert all(m.line >= 1 and m.column >= 1 and m.message for m in reported)


def test_variables_of_the_config_and_of_files(registry: Registry) -> None:
    Path("one.env").write_text("# comment\nA=1\nexport B = 'two words'\nC=\"x\" \nD=a b # comment\nE=\n")
    Path("two.env").write_text("A=2\r\n")
    read_config = config("substitute:\n  env-file: [one.env, two.env]\n  values: {C: 1.30, F: yes, G: text}\n", registry)
    assert read_config.variables == {"A": "2", "B": "two words", "C": "1.30", "D": "a b", "E": "", "F": "yes", "G": "text"}
    assert config("complete: true\n", registry).variables == {}


def test_mistakes_in_files_of_variables(registry: Registry, folder: Path) -> None:
    Path("bad.env").write_text("A\n")
    outside = folder.parent / "outside.env"
    outside.write_text("A=1\n")
    os.symlink(outside, "link.env")
    text = "substitute:\n  env-file: [bad.env, link.env, ../outside.env, none.env, .]\n"
    assert mistakes(text, registry) == [
        "2:14: line 1 of bad.env is not NAME=value",
        '2:23: "link.env" is not in the folder of this file',
        '2:33: "../outside.env" is not in the folder of this file',
        "2:49: none.env cannot be read: No such file or directory",
        "2:59: . is not a file of at most 1,048,576 bytes",
    ]


@pytest.mark.parametrize(("text", "judges"), [("placeholders: check\n", True), ("placeholders: skip\n", False), ("{}\n", None)])
def test_placeholders(text: str, judges: bool | None, registry: Registry) -> None:
    assert config(text, registry).judges_placeholders is judges
