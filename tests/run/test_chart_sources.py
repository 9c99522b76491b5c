"""The template files that rendered text names: found by the name of the chart, never outside of the folder, never guessed."""

from pathlib import Path

import pytest

from kcheck.discovery.chart_sources import rendered_text


@pytest.fixture(autouse=True)
def _charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, name in (
        ("charts/shop", "shop"),
        ("charts/shop/charts/redis", "redis"),
        ("one", "twice"),
        ("two", "twice"),
        (".git", "hidden"),
    ):
        templates = tmp_path / folder / "templates"
        templates.mkdir(parents=True)
        (templates / "a.yaml").write_text("a")
        (tmp_path / folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: '{name}'\n")
    (tmp_path / "two/templates/b.yaml").write_text("b")
    (tmp_path / "outside.yaml").write_text("outside")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("shop/templates/a.yaml", "charts/shop/templates/a.yaml"),
        ("shop/charts/redis/templates/a.yaml", "charts/shop/charts/redis/templates/a.yaml"),
        ("shop/templates/b.yaml", ""),
        ("redis/templates/a.yaml", ""),
        ("twice/templates/a.yaml", ""),
        ("twice/templates/b.yaml", "two/templates/b.yaml"),
        ("hidden/templates/a.yaml", ""),
        ("shop/../../outside.yaml", ""),
        ("shop//outside.yaml", ""),
        ("/outside.yaml", ""),
        ("shop", ""),
        ("other/templates/a.yaml", ""),
    ],
)
def test_template_files(source: str, file: str) -> None:
    assert rendered_text(f"---\n# Source: {source}\nkind: Pod\n").template(3) == file


def test_a_chart_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("charts/shop")
    assert rendered_text("# Source: shop/templates/a.yaml\n").template(1) == "templates/a.yaml"


def test_lines_belong_to_the_document_of_the_comment() -> None:
    text = (
        "first\n---\r\n# Source: shop/templates/a.yaml  \r\nkind: Pod\n--- # next\nkind: Pod\ntext: |\n  # Source: shop/templates/a.yaml\n"
    )
    found = rendered_text(text)
    assert [found.template(line) for line in range(1, 9)] == ["", "", *["charts/shop/templates/a.yaml"] * 2, *[""] * 4]
