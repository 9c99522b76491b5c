"""`kcheck migrate`, from a config of another tool to a run with ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Program

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations:
    ignore-check.kube-linter.io/run-as-non-root: it binds port 80
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: nginx:latest
"""
LINTER = "checks:\n  include: [minimum-three-replicas, sorted-keys]\n  exclude: [latest-tag, no-anti-affinity]\n"


def rules_of(outcome: Outcome) -> set[str]:
    return {finding["rule"] for finding in json.loads(outcome.out)["findings"]}


def put(**files: str) -> None:
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text)


def test_a_config_is_printed_and_nothing_is_lost(program: Program) -> None:
    put(lint_yaml=LINTER)
    done = program("migrate", "lint.yaml")
    assert done.code == 0
    assert done.out.startswith("# Migrated from lint.yaml (kube-linter) by kcheck migrate.\nrules:\n")
    assert "  latest-tag: off  # kube-linter: latest-tag\n" in done.out
    assert not Path(".kcheck.yaml").exists()


def test_the_whole_way(program: Program) -> None:
    put(lint_yaml=LINTER, web_yaml=DEPLOYMENT)
    before = rules_of(program("check", "--format", "json", "web.yaml"))
    assert "latest-tag" in before
    assert program("migrate", "lint.yaml", "--output", ".kcheck.yaml").code == 0
    after = rules_of(program("check", "--format", "json", "web.yaml"))
    # Off there; on there; there with three replicas, here unasked with two.
    assert "latest-tag" not in after
    assert "no-anti-affinity" not in after
    assert {"missing-run-as-non-root", "writable-root-filesystem", "missing-cpu-request", "too-few-replicas"} <= after

    shown = program("migrate", "web.yaml")
    assert '+    kcheck.dev/ignore: "missing-run-as-non-root; it binds port 80"\n' in shown.out
    assert shown.out.startswith("--- a/web.yaml\n+++ b/web.yaml\n")
    assert Path("web.yaml").read_text() == DEPLOYMENT
    assert program("migrate", "web.yaml", "--write") == (0, "", "")
    assert rules_of(program("check", "--format", "json", "web.yaml")) == after - {"missing-run-as-non-root"}
    assert program("migrate", "web.yaml") == (0, "", "")


@pytest.mark.parametrize(
    ("name", "config", "rules"),
    [
        (".checkov.yaml", "skip-check: [CKV_K8S_14]\n", {"missing-liveness-probe", "unpinned-image", "default-service-account-token"}),
        ("polaris.yaml", "checks: {priorityClassNotSet: danger, tagNotSpecified: ignore}\n", {"missing-priority-class-name"}),
        ("score.sh", "kube-score score --ignore-test container-image-tag x.yaml\n", {"low-user-id", "missing-ephemeral-storage"}),
    ],
)
def test_each_tool(program: Program, name: str, config: str, rules: set[str]) -> None:
    put(web_yaml=DEPLOYMENT)
    Path(name).write_text(config)
    assert rules.isdisjoint(rules_of(program("check", "--format", "json", "web.yaml")))
    assert program("migrate", name, "--output", ".kcheck.yaml").code == 0
    found = rules_of(program("check", "--format", "json", "web.yaml"))
    assert rules <= found
    assert "latest-tag" not in found


def test_kube_score_flags_behind_dashes(program: Program) -> None:
    done = program("migrate", "--from", "kube-score", "--", "score", "--ignore-test", "container-image-tag")
    assert done.code == 0
    assert "latest-tag: off  # kube-score: container-image-tag" in done.out


def test_standard_input(program: Program) -> None:
    done = program("migrate", "-", stdin=LINTER.encode())
    assert done.code == 0
    assert "too-few-replicas" in done.out
    assert program("migrate", "-", stdin=DEPLOYMENT.encode()).code == 2


def test_no_file_is_overwritten_unasked(program: Program) -> None:
    put(lint_yaml=LINTER)
    Path(".kcheck.yaml").write_text("# mine\n")
    done = program("migrate", "lint.yaml", "--output", ".kcheck.yaml")
    assert done.code == 2
    assert "already exists" in done.err
    assert Path(".kcheck.yaml").read_text() == "# mine\n"
    assert program("migrate", "lint.yaml", "--output", ".kcheck.yaml", "--force").code == 0
    assert "too-few-replicas" in Path(".kcheck.yaml").read_text()


def test_exemptions_go_to_the_objects(program: Program) -> None:
    put(
        p_yaml="checks: {tagNotSpecified: danger}\nexemptions:\n- {namespace: shop, rules: [tagNotSpecified]}\n- {namespace: far}\n",
        web_yaml=DEPLOYMENT.replace("  annotations:\n    ignore-check.kube-linter.io/run-as-non-root: it binds port 80\n", ""),
    )
    alone = program("migrate", "p.yaml")
    assert "p.yaml:3: polaris exemption of namespace shop from tagNotSpecified" in alone.err
    assert program("migrate", "p.yaml", "web.yaml").code == 2
    done = program("migrate", "p.yaml", "web.yaml", "--write")
    assert done.code == 0
    assert 'metadata:\n  annotations:\n    kcheck.dev/ignore: "latest-tag; exempt in polaris"\n  name: web' in Path("web.yaml").read_text()
    assert "namespace shop" not in done.err
    assert "p.yaml:4: polaris exemption of namespace far from all checks" in done.err


def test_a_folder_is_looked_through(program: Program) -> None:
    put(web_yaml=DEPLOYMENT, values_yaml="replicas: 3\n", lint_yaml=LINTER)
    done = program("migrate", ".", "--output", "new.yaml", "--write")
    assert done.code == 0
    assert "too-few-replicas" in Path("new.yaml").read_text()
    assert "kcheck.dev/ignore" in Path("web.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.yaml"], "no such file"),
        (["values.yaml"], "neither a manifest nor a config"),
        (["web.yaml", "--output", "x"], "none of the files is a config"),
        (["lint.yaml", "--from", "kube-score"], "no call of kube-score score found"),
        (["lint.yaml", "--output", "none/x.yaml"], "does not exist"),
        (["lint.yaml", "--from", "tslint"], "tslint"),
    ],
)
def test_what_makes_no_sense(program: Program, arguments: list[str], words: str) -> None:
    put(web_yaml=DEPLOYMENT, values_yaml="a: 1\n", lint_yaml=LINTER)
    done = program("migrate", *arguments)
    assert done.code == 2
    assert words in done.err


def test_bytes_of_a_file_stay(program: Program) -> None:
    Path("web.yaml").write_bytes(b"\xef\xbb\xbf" + DEPLOYMENT.replace("\n", "\r\n").encode())
    assert program("migrate", "web.yaml", "--write").code == 0
    data = Path("web.yaml").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfapiVersion")
    assert data.count(b"\r\n") == data.count(b"\n") == DEPLOYMENT.count("\n")
