"""Whole inputs, written short, and what kcheck says of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kcheck.check.document import check_documents
from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


@cache
def registry() -> Registry:
    return Registry.load()


def session(*rules: str, complete: bool = False) -> Session:
    return Session(registry(), choose(registry(), rules), [Store(load(""))], complete)


def check(folder: Path, files: Mapping[str, str], *rules: str, complete: bool = False) -> list[Finding]:
    """The findings of a folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return run_pipeline(discover([str(folder)]), session(*rules, complete=complete)).findings


def lines(folder: Path, findings: list[Finding]) -> list[str]:
    """`file:line text that is marked` of each finding."""
    reported = []
    for finding in findings:
        line, start, _, end = finding.range
        text = Path(finding.file).read_text(encoding="utf-8").split("\n")[line - 1]
        reported.append(f"{Path(finding.file).relative_to(folder)}:{line} {text[start - 1 : end - 1]}")
    return reported


def facts(text: str, path: str = "input.yaml") -> list[Facts]:
    """The facts of the objects of a file."""
    used = session("internal-error")
    return check_documents(parse(Source(path, text)), used, used.rules).facts


def service(name: str = "web", selector: str = "app: web", ports: str = "port: 80", metadata: str = "") -> str:
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: {name}{metadata}}}
spec:
  selector: {{{selector}}}
  ports: [{{{ports}}}]
---
"""


def workload(
    name: str = "web", labels: str = "app: web", *, kind: str = "Deployment", pod: str = "", metadata: str = "", container: str = ""
) -> str:
    """A workload of apps/v1. `pod` and `container`: further fields, in flow style."""
    return f"""\
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}{metadata}}}
spec:
  selector: {{matchLabels: {{{labels}}}}}
  template:
    metadata: {{labels: {{{labels}}}}}
    spec: {{containers: [{{name: c, image: "b:1"{container}}}]{pod}}}
---
"""


def holder(kind: str, name: str, data: str = "a: b", metadata: str = "") -> str:
    """A ConfigMap or Secret."""
    field = "data" if kind == "ConfigMap" else "stringData"
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}{metadata}}}\n{field}: {{{data}}}\n---\n"
