"""The JSON Schema for editors says what the reader says, and the documentation's examples are right by both."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kcheck.config.file import read
from kcheck.config.mistake import BadConfig
from kcheck.rule.registry import Registry
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas/config.schema.json").read_text(encoding="utf-8"))

GOOD = """\

{}
rules:
overrides: []
kubernetes: 1.30
kubernetes: "1.30 - 1.37"
kubernetes: v1.36.1
complete: no
fail-on: info
docs-url: https://docs.example.com/kcheck/
placeholders: check
substitute:
substitute: {values: {APP: web, N: 3, ON: true, EMPTY: }}
substitute: {env-file: [], values: }
exclude: vendor/
exclude: ['a..b/*']
schemas: [.]
extends: recommended
extends: [strict]
rules: {all: off}
rules: {security: 'on'}
rules: {latest-tag: {}}
rules: {latest-tag: {severity: info, allow: [a]}}
rules: {missing-probe: {min-replicas: 2}}
rules: {acme/owner: {ratio: 0.5}}
overrides: [{files: a, rules: {latest-tag: error}}]
overrides: [{files: [a, b/**], rules: }]
overrides: [{files: [a], kubernetes: 1.30, complete: true, provided: []}]
plugins:
pods:
pods: [{kind: A, group: b.c, path: spec.template}]
pods: [{kind: A, path: ["spec.tasks[*].template", spec.x.*], lasts: false}]
""".splitlines()
BAD = """\
[]
text
rule: {}
rules: []
extends: pedantic
extends: []
extends: [default, pedantic]
extends: package:9
rules: {latest-tag: }
rules: {latest-tag: warn}
rules: {latest-tag: 1}
rules: {latest-tag: [a]}
pods: {}
pods: [A]
pods: [{kind: A}]
pods: [{kind: A, path: a..b}]
pods: [{kind: A, path: a, lasts: maybe}]
pods: [{kind: A, path: a, version: v1}]
rules: {latest-tag: {severity: high}}
rules: {latest-tag: {allow: {a: b}}}
rules: {latest-tag: {allow: [1]}}
kubernetes: latest
kubernetes: true
kubernetes: [1.30]
kubernetes:
kubernetes: 1.30..1.37
complete: 1
complete:
fail-on: never
placeholders: maybe
placeholders:
substitute: [a]
substitute: {value: {A: b}}
substitute: {values: [A]}
substitute: {values: {A-B: c}}
substitute: {values: {A: {b: c}}}
substitute: {env-file: {a: b}}
substitute: {env-file: [1]}
fail-on: Error
docs-url: docs.example.com
docs-url: https://a b
docs-url:
fail-on:
exclude: 1
exclude: [1]
exclude: ['']
exclude: {a: b}
exclude: ../a
exclude: [a/../b]
schemas: [[a]]
overrides: {files: a, rules: {}}
overrides: [a]
overrides: [{files: a}]
overrides: [{files: a, complete: maybe}]
overrides: [{files: a, kubernetes: new}]
overrides: [{files: a, provided: {}}]
overrides: [{rules: {}}]
plugins: {a: b}
plugins: [1]
overrides: [{files: [], rules: {}}]
overrides: [{files: , rules: {}}]
overrides: [{files: [../a], rules: {}}]
overrides: [{files: a, rules: {}, exclude: b}]
""".splitlines()
ONLY_THE_READER_KNOWS = """\
kubernetes: 1.99
kubernetes: 1.37-1.30
rules: {floating-tags: off}
rules: {latest-tag: {alow: a}}
rules: {missing-probe: {min-replicas: x}}
rules: {internal-error: off}
rules: {security: {allow: a}}
schemas: gone
extends: ./gone.yaml
extends: [strict, default]
extends: package:not-installed-here
overrides: [{files: a, provided: gone}]
plugins: [./gone.py]
plugins: [./LONG.py]
{complete: yes, complete: no}
""".replace("LONG", "x" * 300).splitlines()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def schema_accepts(text: str) -> bool:
    documents = parse(Source("config", text))
    value = documents[0].root.plain() if documents else None
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(value))


def reader_accepts(text: str, registry: Registry) -> bool:
    Path("config").write_text(text)
    try:
        read(Path("config"), registry)
    except BadConfig:
        return False
    return True


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", GOOD)
def test_both_accept(text: str, registry: Registry) -> None:
    assert reader_accepts(text, registry)
    assert schema_accepts(text)


@pytest.mark.parametrize("text", BAD)
def test_both_refuse(text: str, registry: Registry) -> None:
    assert not reader_accepts(text, registry)
    assert not schema_accepts(text)


@pytest.mark.parametrize("text", ONLY_THE_READER_KNOWS)
def test_the_reader_alone_refuses(text: str, registry: Registry) -> None:
    assert not reader_accepts(text, registry)
    assert schema_accepts(text)


def test_every_key_is_described() -> None:
    rules = SCHEMA["$defs"]["rules"]
    for name, entry in SCHEMA["properties"].items():
        assert (rules if name == "rules" else entry)["description"]
