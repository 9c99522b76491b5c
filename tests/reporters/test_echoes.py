"""What the API server reports under several fields is shown once to people, and completely to programs."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TextIO

import pytest

from kcheck.finding.report import Report
from kcheck.reporters import concise, github, text
from kcheck.testing import check_text

HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {minReplicas: 0, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999}]}\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: 'a:1', resources: {limits: {example.com/gpu: 500m}}}]}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: 'a:1'}]}}}
"""


WRITERS: dict[str, Callable[[Report, TextIO], None]] = {"text": text.write, "concise": concise.write, "github": github.write}


@pytest.mark.parametrize("manifest", [HPA, SERVICE, POD, DEPLOYMENT])
@pytest.mark.parametrize("format", ["text", "concise", "github"])
def test_a_cause_is_shown_once(manifest: str, format: str) -> None:
    report = Report(check_text(manifest, ["spec"]), files=1, documents=1)
    assert len(report.findings) == 2
    assert len({finding.place.field for finding in report.findings}) == 2
    out = io.StringIO()
    WRITERS[format](report, out)
    assert out.getvalue().count("error") == (2 if format == "text" else 1), out.getvalue()


def test_an_echo_alone_is_shown() -> None:
    """The other rule may be disabled."""
    report = Report(check_text(DEPLOYMENT, ["selector-mismatch"]))
    assert len(report.without_echoes().findings) == 1
