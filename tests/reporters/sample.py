"""A report with one of everything, made by hand."""

from __future__ import annotations

import io
from collections import Counter

from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Related
from kcheck.finding.report import Report, RuleNote, SkippedFile
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters import PLAIN, Style, find_reporter
from kcheck.reporters.plugin import BUILT_IN
from kcheck.text.edit import Edit
from kcheck.text.source import Source

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: two
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: wob}
    spec:
      containers:
      - name: web
        image: nginx:latest
        args: [
          "--title=웹 서버", "--verbose"
        ]
"""

WEB = ObjectId("apps/v1", "Deployment", "shop", "web")
PAGE = """\
# latest-tag

A tag can be *moved*: tomorrow's pods
run another image than today's.

- not a paragraph
"""


def place(source: Source, text: str, field: str = "", object: ObjectId = WEB, document: int = 0) -> Location:
    """The position of a text that occurs once in the source."""
    assert source.text.count(text) == 1, text
    start = source.text.index(text)
    range = source.range(start, start + len(text))
    return Location(source.path, document, range, field, object, source.line(range.start.line)[:400], start)


def line_place(line: str, first: int, last: int, file: str = "a.yaml", number: int = 7) -> Location:
    """A place on a line of its own: columns from `first` up to `last`, counted from 1."""
    range = Source(file, "\n" * (number - 1) + line).range(number - 1 + first - 1, number - 1 + last - 1)
    return Location(file, 0, range, "", ObjectId(), line[:400], number - 1 + first - 1)


def finding(at: Location, message: str = "is wrong", rule: str = "some-rule") -> Finding:
    return Finding(rule, WARNING, "reliability", message, at, help="set it to b")


def sample_report() -> Report:
    """Five findings in two files, with all that findings may have."""
    source = Source("shop/deploy.yaml", DEPLOYMENT)
    image = place(source, "nginx:latest", "spec.template.spec.containers[0].image")
    start = image.start + len("nginx:")
    selector = place(source, "app: web}", "spec.selector.matchLabels[app]")
    label = place(source, "  app: web\n", "metadata.labels")
    unread = Location("shop/ü [1], 100%.yaml", 0, source.range(0, 0), "", ObjectId(), "", 0)
    findings = [
        Finding(
            "field-type",
            ERROR,
            "spec",
            'replicas "two" is not an integer',
            place(source, "two", "spec.replicas"),
            reason="TypeInvalid",
            help="set it to 2",
            fix=Fix("replace two with 2", (Edit(source.text.index("two"), source.text.index("two") + 3, "2"),), safe=False),
        ),
        Finding(
            "selector-mismatch",
            ERROR,
            "spec",
            "template labels of Deployment web do not match selector app=web",
            place(source, "labels: {app: wob}", "spec.template.metadata.labels"),
            reason="Invalid",
            help="add app: web to spec.template.metadata.labels",
            related=(Related(selector, "the selector"), Related(label, "the labels of the object")),
        ),
        Finding(
            "latest-tag",
            WARNING,
            "reliability",
            "image nginx:latest can change at any time",
            image,
            help="pin a version",
            fix=Fix("remove the tag", (Edit(start - 1, start + 6, ""),)),
            url="https://kcheck.example/rules/floating-tag",
        ),
        Finding(
            "acme/flow-list",
            INFO,
            "style",
            "flow list spans several lines",
            place(source, DEPLOYMENT[DEPLOYMENT.index("[\n") : DEPLOYMENT.index("]\n") + 1], "spec.template.spec.containers[0].args"),
        ),
        Finding("unreadable-file", ERROR, "syntax", "cannot be read: permission denied", unread),
    ]
    notes = [
        RuleNote("field-type", "a value of another type than its field", ERROR, "spec", "", ""),
        RuleNote("selector-mismatch", "a selector that its own template does not match", ERROR, "spec", "# One\n\nOnly `this`.\n", ""),
        RuleNote("latest-tag", "an image whose tag can move", WARNING, "reliability", PAGE, "https://kcheck.example/rules/floating-tag"),
        RuleNote("unreadable-file", "a file that cannot be read", ERROR, "syntax", "", "about:blank"),
        RuleNote("never-broken", "a rule without findings", INFO, "style", "", ""),
    ]
    return Report(
        findings=findings,
        files=12,
        documents=28,
        units=7,
        without_schema=Counter({"example.com/v1 Widget": 2}),
        passed=[SkippedFile("values.yaml", "no Kubernetes object"), SkippedFile("vendor/", "ignored by .gitignore: vendor/")],
        limited=[SkippedFile("testdata/a.yaml", "test-fixture: its folder contains test data")],
        kubernetes="1.34",
        suppressed=4,
        rules={n.id: n for n in notes},
    )


def shown(report: Report, format: str = "text", style: Style = PLAIN) -> str:
    out = io.StringIO()
    find_reporter(format, BUILT_IN).load()(report, out, style)
    return out.getvalue()
