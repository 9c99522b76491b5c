"""The sources of the documentation site, and the links of the README on PyPI. `.ci/run` builds the site in strict mode."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kcheck.finding.report import DOCS_URL, Report
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "tools/build_site.py",
        "--sources-only",
        "--output",
        str(folder),
        "--repository",
        "https://git.example/kcheck/",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "sources"


def page_of(sources: Path, url: str) -> Path:
    """Return the source of the page or file at a URL of the site."""
    path = url.removeprefix(f"{DOCS_URL}/").partition("#")[0]
    if path and not path.endswith("/"):
        return sources / path
    page = sources / f"{path.rstrip('/')}.md"
    return page if page.is_file() and path else sources / path / "index.md"


def test_there_is_a_page_for_each_rule_group_and_preset(sources: Path) -> None:
    registry = Registry.load()
    built_in = [id for id in registry.rules if "/" not in id]
    assert len(built_in) > 400
    assert not [id for id in built_in if not page_of(sources, Report().url_of(id)).is_file()]
    assert not [name for name in registry.groups if not (sources / "groups" / f"{name}.md").is_file()]
    assert not [name for name in PRESETS if not (sources / "presets" / f"{name}.md").is_file()]


def test_the_page_of_a_rule_links_to_its_groups_and_presets(sources: Path) -> None:
    page = (sources / "rules" / "latest-tag.md").read_text(encoding="utf-8")
    assert "Container image uses the latest tag or none" in page
    assert "[images](../groups/images.md)" in page
    assert "[default](../presets/default.md)" in page
    assert "`kube-linter/latest-tag`" in page
    assert '```yaml title="Options"\ntags: [main]' in page


def test_navigation_has_all_documents(sources: Path) -> None:
    config = json.loads((sources.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    entries = [entry for section in config["nav"] for members in section.values() for entry in members]
    pages = [entry if isinstance(entry, str) else next(iter(entry.values())) for entry in entries]
    assert len(pages) == len(set(pages))
    documents = {path.relative_to(sources).as_posix() for path in sources.rglob("*.md")}
    assert {page for page in documents if not page.startswith(("rules/", "groups/"))} <= set(pages)
    assert pages[:2] == ["index.md", "five-minutes.md"]


def test_links_to_documents_and_other_files_are_translated(sources: Path) -> None:
    overview = (sources / "overview.md").read_text(encoding="utf-8")
    assert "](config.md)" in overview
    assert "](contributing.md)" in overview
    assert "](schemas/output.schema.json)" in overview
    architecture = (sources / "output.md").read_text(encoding="utf-8")
    assert "](schemas/output.schema.json)" in architecture
    plugin = (sources / "examples" / "plugin.md").read_text(encoding="utf-8")
    assert "](https://git.example/kcheck/blob/main/examples/plugin/acme_kcheck/owners.py)" in plugin


def test_rule_ids_in_documents_are_links(sources: Path) -> None:
    assert "[`missing-schema`](../rules/missing-schema.md)" in (sources / "migrate" / "kubeconform.md").read_text(encoding="utf-8")


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a id="x"></a><a href="b.html#y">1</a><a href="c.html">2</a><a href="#x">3</a><img src="d.png">', encoding="utf-8"
    )
    (tmp_path / "b.html").write_text("<h1 id=z>", encoding="utf-8")
    code = "import sys; from pathlib import Path; from build_site import broken_links; print(*broken_links(Path(sys.argv[1])), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT / "tools", capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a.html: b.html#y: no such anchor", "a.html: c.html does not exist", "a.html: d.png does not exist"]


def test_links_of_the_readme_on_pypi_lead_to_the_site(sources: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 20
    assert not [link for link in links if not link.startswith("https://")]
    assert not [link for link in links if link.startswith(DOCS_URL) and not page_of(sources, link).is_file()]
    assert not [url for url in project["project"]["urls"].values() if not page_of(sources, f"{url.rstrip('/')}/").is_file()]
