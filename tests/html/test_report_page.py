"""The HTML report: what it contains, and in a browser its filters, source lines, the graph and hostile names."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO
from kcheck.html.report import MAX_FINDINGS, write
from kcheck.kube.location import Location, ObjectId
from kcheck.run.run import run_pipeline
from kcheck.text.span import Range
from tests.conftest import ROOT
from tests.graph.browser import PROGRAM, Browser
from tests.graph.drawn import HOSTILE, IMAGE, SCRIPT
from tests.relations.world import session

in_browser = pytest.mark.skipif(PROGRAM is None, reason="no chromium is installed")
FINDINGS = "[...document.querySelectorAll('.finding')].map(f => f.querySelector('.rule').textContent)"
SHOWN = "Number(document.documentElement.dataset.shown)"


def page_of(report: Report) -> str:
    out = io.StringIO()
    write(report, out)
    return out.getvalue()


def data_of(report: Report) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page_of(report))
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


def checked(folder: Path, text: str, *rules: str) -> Report:
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    return run_pipeline(discover([str(folder)]), session(*rules))


@cache
def example() -> Report:
    return run_pipeline(discover([str(ROOT / "examples/bad")]), session())


def finding(file: str, message: str, line: int = 1) -> Finding:
    place = Location(file, 0, Range(line, 1, line, 2), message, ObjectId("v1", message, message, message), message, 0)
    return Finding("some-rule", ERROR if line % 2 else INFO, "spec", message, place, help=message, url="javascript:alert(1)")


def test_the_page_is_one_file_that_loads_nothing() -> None:
    page = page_of(example())
    assert "default-src 'none'" in page
    # Addresses occur only as the names of XML namespaces and in data.
    markup = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)=|@import|url\(#?[^#]", markup.replace("url(#tip)", ""))


def test_source_lines_have_context_and_no_secrets(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  password: hunter2hunter2\n"
    report = checked(tmp_path, f"{secret}---\ntypo: 웹\nkind:\tPod\nmetadata: {{name: a}}\napiVersion: v1\n", "unknown-field")
    (shown,) = data_of(report)["findings"]
    assert shown["lines"] == [
        [5, f"  password: {'*' * 14}", "", ""],
        [6, "---", "", ""],
        [7, "", "typo", ": 웹"],
        [8, "kind:    Pod", "", ""],
        [9, "metadata: {name: a}", "", ""],
    ]
    assert "hunter2" not in page_of(report)


def test_a_changed_file_is_shown_without_context(tmp_path: Path) -> None:
    report = checked(tmp_path, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\ntypo: 1\n", "unknown-field")
    (tmp_path / "a.yaml").write_text("password: other\n" * 20)
    (shown,) = data_of(report)["findings"]
    assert shown["lines"] == [[4, "", "typo", ": 1"]]


def test_only_links_to_documents_are_links() -> None:
    report = Report([finding("a", "m"), finding("b", "m")._replace(url="https://kcheck.example/rules/r")])
    assert [each["url"] for each in data_of(report)["findings"]] == ["", "https://kcheck.example/rules/r"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Callable[[Report], Browser]]:
    """Opens the page of a report. No page loads something or reports an error."""

    def open_page(report: Report) -> Browser:
        path = tmp_path / "report.html"
        path.write_text(page_of(report), encoding="utf-8")
        browser.open(path)
        return browser

    browser.errors.clear()
    yield open_page
    assert len(browser.requests) == 1
    assert browser.requests[0].startswith("file:")
    assert browser.errors == []


def choose(browser: Browser, field: str, value: str) -> None:
    browser.run(
        f"(f => {{ f.value = {json.dumps(value)}; f.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
        f"(document.querySelector('#choices [name={field}]'))"
    )


@in_browser
def test_findings_and_filters(page: Callable[[Report], Browser]) -> None:
    report = example()
    browser = page(report)
    assert sorted(browser.run(FINDINGS)) == sorted(f.rule for f in report.findings)
    texts = browser.run("document.getElementById('groups').innerText")
    for each in report.findings:
        assert each.message in texts
    errors = [f for f in report.findings if f.severity is ERROR]
    browser.click("#severities [value=warning]")
    assert browser.run(SHOWN) == len(errors)
    choose(browser, "rule", "missing-key")
    assert browser.run(FINDINGS) == ["missing-key"]
    assert browser.run("document.querySelector('.finding mark').textContent") == "LOGLEVEL"
    assert browser.run("document.querySelectorAll('.finding pre div').length") == 5
    assert browser.run("document.getElementById('matching').textContent") == f"1 of {len(report.findings)}"
    choose(browser, "text", "no such text")
    assert browser.run("document.querySelector('.none').textContent") == "No finding matches the filters."
    browser.click("#choices [type=reset]")
    browser.run("new Promise(requestAnimationFrame)")
    assert browser.run(SHOWN) == len(report.findings)
    choose(browser, "group", "object")
    assert "Deployment shop/api · " in browser.run("document.querySelector('.group summary span').textContent")
    choose(browser, "text", "deployment shop/api-canary")
    assert browser.run(SHOWN) == sum(f.object.title == "Deployment shop/api-canary" for f in report.findings)


@in_browser
def test_a_finding_leads_to_the_graph(page: Callable[[Report], Browser]) -> None:
    browser = page(example())
    choose(browser, "rule", "missing-key")
    browser.click(".finding .meta button")
    assert browser.run("getComputedStyle(document.getElementById('findings-view')).display") == "none"
    assert browser.run("document.querySelector('#details h2').textContent") == "api"
    assert browser.run("document.querySelectorAll('.node').length") > 10
    left, top, width, height = browser.boxes("#canvas")[0]
    x, y = browser.centre('.node[data-id="Deployment.apps/shop/api"]')
    assert left < x < left + width
    assert top < y < top + height
    browser.click("#tabs [data-view=findings]")
    assert browser.run(SHOWN) == 1
    # The keys of the graph are letters in the search of the findings.
    browser.click("#choices [name=text]")
    browser.press("/")
    assert browser.run("document.activeElement.name") == "text"


@in_browser
def test_hostile_manifests_are_text(page: Callable[[Report], Browser], tmp_path: Path) -> None:
    report = checked(tmp_path, HOSTILE, "spec")
    hostile = [
        finding(name, f"{name} @GRAPH@ @SCRIPT@ \u2028 \u202e") for name in (SCRIPT, IMAGE, "</style>", "-->", "javascript:alert(1)")
    ]
    report.findings += hostile
    browser = page(report)
    for group in ("file", "rule", "object"):
        choose(browser, "group", group)
        assert browser.run(SHOWN) == len(report.findings)
        assert browser.run("document.title") == "kcheck report"
        assert browser.run("document.querySelectorAll('img, iframe, #groups script, #groups b').length") == 0
        assert browser.run("[...document.querySelectorAll('a')].filter(a => a.protocol !== 'https:').length") == 0
        assert browser.run("document.scripts.length") == 3
    assert SCRIPT in browser.run("document.getElementById('groups').innerText")
    browser.click("#tabs [data-view=graph]")
    assert browser.run("document.querySelectorAll('svg script, img').length") == 0
    assert browser.run("document.title") == "kcheck report"


@in_browser
def test_thousands_of_findings_are_shown_in_parts(page: Callable[[Report], Browser]) -> None:
    browser = page(Report([finding(f"{n % 7}.yaml", f"m{n}", n + 1) for n in range(5000)]))
    assert browser.run(SHOWN) == 200
    browser.run("document.getElementById('more').click()")
    assert browser.run(SHOWN) == 400
    assert browser.run("document.querySelectorAll('.finding').length") == 400
    choose(browser, "text", "m4999")
    assert browser.run(SHOWN) == 1


@pytest.mark.parametrize("most", [200, pytest.param(MAX_FINDINGS, marks=pytest.mark.slow)])
def test_a_page_has_the_most_severe_findings(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.html.report.MAX_FINDINGS", most)
    many = [finding("a.yaml", "m", n + 1) for n in range(2 * most - 10)]
    data = data_of(Report(many))
    assert data["omitted"] == most - 10
    assert len(data["findings"]) == most
    assert sum(each["severity"] == "error" for each in data["findings"]) == most - 5
    assert [each["position"] for each in data["findings"][:3]] == ["a.yaml:1:1", "a.yaml:2:1", "a.yaml:3:1"]


@in_browser
def test_an_empty_report(page: Callable[[Report], Browser]) -> None:
    browser = page(Report())
    assert browser.run("document.querySelector('.none').textContent") == "No findings."
    browser.click("#tabs [data-view=graph]")
    assert browser.run("document.querySelectorAll('.node').length") == 0
