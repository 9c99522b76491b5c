"""`kcheck diff`: changed objects with fields, verdicts and consequences, without secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcheck.check.time_limit import OutOfBudget
from tests.cli.conftest import Program
from tests.cli.test_hook import CONFIG_MAP, DEPLOYMENT, SERVICE
from tests.cli.test_since import CHANGED, CLAIM, IMMUTABLE, Repository
from tests.git import ignore_git_settings

SECRET = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\nstringData:\n  token: hunter2-{0}\n  note: {0}\n"


@pytest.fixture
def repository(program: Program, monkeypatch: pytest.MonkeyPatch) -> Repository:
    ignore_git_settings(monkeypatch)
    return Repository(program)


def test_refused_changes_come_first(repository: Repository) -> None:
    other = CONFIG_MAP.replace("web-config", "other")
    repository.commit({"a.yaml": other, "config.yaml": IMMUTABLE, "web.yaml": DEPLOYMENT, "claim.yaml": CLAIM})
    web = DEPLOYMENT.replace("1.29.1", "1.29.2")
    repository.write({"a.yaml": other.replace("info", "debug"), "config.yaml": CHANGED, "web.yaml": web, "claim.yaml": None})
    repository.write({"service.yaml": SERVICE})
    done = repository.program("diff", "--since", "HEAD")
    assert done.code == 1
    heads = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert heads == [
        "refused ConfigMap web-config config.yaml:4",
        "removed PersistentVolumeClaim data HEAD:claim.yaml:4",
        "changed Deployment web web.yaml:4",
        "added   Service web service.yaml:4",
        "changed ConfigMap other a.yaml:4",
        "3 objects changed, 1 object added and 1 object removed since HEAD. Kubernetes 1.37 refuses 1 of them.",
    ]
    assert "  data[LEVEL]: info -> debug\n" in done.out
    assert '  info[pod-restart]: image of container "web" changes, which replaces all Pods\n' in done.out
    assert repository.program("diff", "--since", "HEAD", "--exit-zero").code == 0


def test_json_and_markdown(repository: Repository) -> None:
    repository.commit({"config.yaml": IMMUTABLE})
    repository.write({"config.yaml": CHANGED})
    report = json.loads(repository.program("diff", "--since", "HEAD", "--format", "json").out)
    assert report["summary"] == {"refused": 1, "changed": 1, "added": 0, "removed": 0}
    (found,) = report["objects"]
    assert (found["status"], found["verdict"], found["before"]["file"]) == ("changed", "refused", "HEAD:config.yaml")
    assert found["fields"] == [{"field": "data[LEVEL]", "old": "info", "new": "debug"}]
    assert [(each["rule"], each["field"]) for each in found["findings"]] == [("immutable-data", "data")]
    repository.program("diff", "--since", "HEAD", "--format", "markdown", "--output", "out.md")
    text = Path("out.md").read_text()
    assert "| **refused** | ConfigMap web-config<br>`config.yaml:4` |" in text
    assert "`data[LEVEL]`: `info` → `debug`" in text


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_secrets_are_masked(repository: Repository, format: str) -> None:
    for word, save in (("first", repository.commit), ("second", repository.write)):
        container = f"args: [--password=hunter2-{word}]\n          envFrom"
        save({"secret.yaml": SECRET.format(word), "web.yaml": DEPLOYMENT.replace("envFrom", container)})
    out = repository.program("diff", "--since", "HEAD", "--format", format).out
    assert "token" in out
    assert "args" in out
    for secret in ("first", "second", "hunter2"):
        assert secret not in out


def test_copies_of_a_secret_in_its_annotations_are_masked(repository: Repository) -> None:
    """Tools such as kapp and Rancher keep the last object that they applied in an annotation."""
    secret = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  annotations:\n    original: \'{{"data":{{"a":"{0}"}}}}\'\n'
    repository.commit({"secret.yaml": secret.format("Zmlyc3Q=")})
    repository.write({"secret.yaml": secret.format("c2Vjb25k")})
    assert "  metadata.annotations[original]: *** -> ***\n" in repository.program("diff", "--since", "HEAD").out


def test_values_are_no_markup(repository: Repository) -> None:
    """The backticks of an empty value would begin code that ends inside of the next value."""
    repository.commit({"config.yaml": CONFIG_MAP.replace("LEVEL: info", "LEVEL: ''")})
    repository.write({"config.yaml": CONFIG_MAP.replace("LEVEL: info", "LEVEL: 'x``<img src=a>'")})
    text = repository.program("diff", "--since", "HEAD", "--format", "markdown").out
    assert '`data[LEVEL]`: `""` → ``` x``<img src=a> ``` |' in text
    assert '  data[LEVEL]: "" -> x' in repository.program("diff", "--since", "HEAD").out


def test_explicit_defaults_and_comments_are_no_changes(repository: Repository) -> None:
    repository.commit({"web.yaml": DEPLOYMENT})
    explicit = "spec:\n  replicas: 1\n  revisionHistoryLimit: 10\n  selector"
    repository.write({"web.yaml": "# The shop\n" + DEPLOYMENT.replace("spec:\n  selector", explicit)})
    done = repository.program("diff", "--since", "HEAD")
    assert (done.code, done.out) == (0, "No objects changed since HEAD.\n")


def test_list_items_are_matched_by_name(repository: Repository) -> None:
    repository.commit({"web.yaml": DEPLOYMENT})
    sidecar = "      containers:\n        - name: proxy\n          image: envoy:1.31.0\n"
    repository.write({"web.yaml": DEPLOYMENT.replace("      containers:\n", sidecar).replace("1.29.1", "1.29.2")})
    report = json.loads(repository.program("diff", "--since", "HEAD", "--format", "json").out)
    fields = [(each["field"], each["old"], each["new"]) for each in report["objects"][0]["fields"]]
    assert ("spec.template.spec.containers[1].image", "nginx:1.29.1", "nginx:1.29.2") in fields
    assert ("spec.template.spec.containers[0]", None) in [(field, old) for field, old, _ in fields]
    assert len(fields) == 2


def test_consequences_for_other_objects_are_listed(repository: Repository) -> None:
    repository.commit({"config.yaml": CONFIG_MAP, "web.yaml": DEPLOYMENT, "service.yaml": SERVICE})
    repository.write({"web.yaml": None})
    done = repository.program("diff", "--since", "HEAD")
    assert "in other objects\n  service.yaml:6: error[service-without-pods]" in done.out
    assert done.code == 0


def test_older_files(repository: Repository) -> None:
    repository.write({"old/config.yaml": IMMUTABLE, "old/claim.yaml": CLAIM, "new/config.yaml": CHANGED})
    done = repository.program("diff", "new", "--before", "old")
    assert done.code == 1
    assert [line.split(" ")[0] for line in done.out.splitlines() if line and not line.startswith(" ")] == ["refused", "removed", "1"]
    assert "removed PersistentVolumeClaim data old/claim.yaml:4" in done.out
    # A cluster also contains objects of others.
    written = "  uid: 8f0e2a9c-7c0f-4a41-8d7c-6f9c1a2b3c4d\n  creationTimestamp: '2026-01-02T03:04:05Z'\n"
    repository.write({"old/claim.yaml": CLAIM.replace("metadata:\n", f"metadata:\n{written}")})
    assert "removed" not in repository.program("diff", "new", "--before", "old").out


def test_objects_without_a_schema_have_no_verdict(repository: Repository) -> None:
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 1\n"
    repository.commit({"widget.yaml": widget})
    repository.write({"widget.yaml": widget.replace("size: 1", "size: 2")})
    report = json.loads(repository.program("diff", "--since", "HEAD", "--format", "json").out)
    assert [(each["verdict"], each["fields"][0]["field"]) for each in report["objects"]] == [("unknown", "spec.size")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((), "--since REV or --before PATH is required"), (("--since", "HEAD", "--before", "."), "--since and --before cannot be combined")],
)
def test_wrong_use_of_diff_is_an_error(repository: Repository, arguments: tuple[str, ...], message: str) -> None:
    done = repository.program("diff", *arguments)
    assert done.code == 2
    assert message in done.err


def test_slow_comparison_is_an_error(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise OutOfBudget("stopped after 30 s of processor time")

    repository.commit({"config.yaml": CONFIG_MAP})
    repository.write({"config.yaml": CONFIG_MAP.replace("info", "debug")})
    monkeypatch.setattr("kcheck.diff.states.changed_fields", stop)
    done = repository.program("diff", "--since", "HEAD")
    assert (done.code, done.out, done.err) == (2, "", "kcheck: config.yaml: stopped after 30 s of processor time\n")
