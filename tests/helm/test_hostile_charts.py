"""Charts and settings from a repository that try to make helm or kcheck do something else than render templates."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import time
from pathlib import Path

import pytest

from kcheck.helm.chart import BadChart, Chart, ChartTooLarge, read_chart
from kcheck.helm.program import HelmFailed, HelmSettings
from kcheck.helm.rendering import render_chart
from tests.cli.conftest import Program, program
from tests.helm.programs import with_helm
from tests.run.test_charts import findings, write

__all__ = ["program"]

SETTINGS = HelmSettings("shop", "default", "1.36.0", ("apps/v1", "apps/v1/Deployment"))
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"


def chart(**files: str) -> Chart:
    return Chart("web", {"Chart.yaml": CHART.encode(), **{name: text.encode() for name, text in files.items()}})


@with_helm
def test_a_release_is_not_an_option(helm: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    found = chart(**{"templates/a.yaml": "a: {{ .Values.a }}\n"})
    for release in (f"--set-file=a={tmp_path}/secret", f"--output-dir={tmp_path}/written"):
        with pytest.raises(HelmFailed, match="invalid release name"):
            render_chart(helm, found, SETTINGS._replace(release=release))
    assert not (tmp_path / "written").exists()


@with_helm
def test_characters_that_a_program_cannot_be_given(helm: str) -> None:
    with pytest.raises(HelmFailed, match="characters that a program cannot be given"):
        render_chart(helm, chart(**{"templates/a.yaml": "a: b\n"}), SETTINGS._replace(set=("a=\0",)))


@with_helm
@pytest.mark.parametrize("extra", [b"", b', "x": "\xff"', b', "x": ' + b"1" * 5000])
def test_schemas_refer_to_nothing_outside_of_the_chart(helm: str, tmp_path: Path, extra: bytes) -> None:
    (tmp_path / "schema.json").write_text('{"type": "number"}')
    found = chart(**{"templates/a.yaml": "a: b\n", "values.yaml": "a: b\n"})
    found.files["values.schema.json"] = b'{"properties": {"a": {"$ref": "%s"}}%s}' % ((tmp_path / "schema.json").as_uri().encode(), extra)
    assert render_chart(helm, found, SETTINGS) == {"web/templates/a.yaml": "a: b"}


@with_helm
def test_schemas_may_refer_to_themselves(helm: str) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/a"}},
        "definitions": {"a": {"type": "number"}},
    }
    found = chart(**{"templates/a.yaml": "a: b\n", "values.yaml": "a: b\n", "values.schema.json": json.dumps(schema)})
    with pytest.raises(HelmFailed, match="don't meet the specifications"):
        render_chart(helm, found, SETTINGS)


@pytest.mark.parametrize(
    "files", [{"templates": "a", "templates/a.yaml": "a: b\n"}, {"..": "a"}, {"a/../../b": "a"}, {"a\0b": "c"}, {"a" * 300: "b"}]
)
def test_files_that_cannot_be_written(files: dict[str, str]) -> None:
    with pytest.raises(HelmFailed, match="a copy of the chart cannot be written"):
        render_chart("helm", chart(**files), SETTINGS)


def test_a_copy_of_a_chart_has_no_absolute_paths(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(HelmFailed, match="a copy of the chart cannot be written"):
        render_chart("helm", chart(**{str(tmp_path / "mine"): "a"}), SETTINGS)
    assert (tmp_path / "mine").read_text() == "kept"


@with_helm
def test_thousands_of_api_versions(helm: str) -> None:
    versions = ('a/v1/"B"', "a/v1/C,D", *(f"group{number}.example.com/v1/Kind{number}" for number in range(6000)))
    found = chart(**{"templates/a.yaml": 'a: {{ .Capabilities.APIVersions.Has "group5999.example.com/v1/Kind5999" }}\n'})
    assert render_chart(helm, found, SETTINGS._replace(api_versions=versions)) == {"web/templates/a.yaml": "a: true"}


def packed(*members: tuple[tarfile.TarInfo, bytes], kind: int = tarfile.USTAR_FORMAT) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz", format=kind) as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return output.getvalue()


def member(name: str, **headers: str) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.pax_headers = headers
    return found


def test_a_packed_chart(tmp_path: Path) -> None:
    inner = packed((member("sub/Chart.yaml"), b"name: sub\n"), (member("sub/../../x"), b"x"), (member("/sub/y"), b"y"))
    (tmp_path / "a.tgz").write_bytes(packed((member("web/Chart.yaml"), CHART.encode()), (member("web/charts/sub.tgz"), inner)))
    found = read_chart(str(tmp_path / "a.tgz"))
    assert found.files == {"Chart.yaml": CHART.encode(), "charts/sub/Chart.yaml": b"name: sub\n"}


def test_an_archive_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    # 4 GiB of zeros in a long name of a member, which a reader unpacks to skip it.
    header = member("web/Chart.yaml")
    header.size = 4 << 30
    header.type = tarfile.GNUTYPE_LONGNAME
    block = gzip.compress(bytes(1 << 26), 9)
    (tmp_path / "a.tgz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)) + block * 64)
    before = time.process_time()
    with pytest.raises(ChartTooLarge, match="it is larger than 20000 files or 64 MiB"):
        read_chart(str(tmp_path / "a.tgz"))
    assert time.process_time() - before < 2
    # An archive in a folder counts, too.
    (tmp_path / "web/charts").mkdir(parents=True)
    (tmp_path / "web/Chart.yaml").write_text(CHART)
    (tmp_path / "a.tgz").rename(tmp_path / "web/charts/a.tgz")
    with pytest.raises(ChartTooLarge):
        read_chart(str(tmp_path / "web"))


def test_archives_share_a_budget(tmp_path: Path) -> None:
    part = packed((member("sub/Chart.yaml"), b"name: sub\n"), (member("sub/a"), bytes(10 << 20)))
    (tmp_path / "charts").mkdir()
    (tmp_path / "Chart.yaml").write_text(CHART)
    for number in range(7):
        (tmp_path / f"charts/{number}.tgz").write_bytes(part)
    with pytest.raises(ChartTooLarge):
        read_chart(str(tmp_path))


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40)},
        {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,0", "GNU.sparse.size": "50000000"},
    ],
)
def test_a_sparse_file_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    sparse = (member("web/large", **headers), b"")
    (tmp_path / "a.tgz").write_bytes(packed((member("web/Chart.yaml"), CHART.encode()), sparse, kind=tarfile.PAX_FORMAT))
    with pytest.raises(BadChart, match="large is a sparse file"):
        read_chart(str(tmp_path / "a.tgz"))


@pytest.mark.parametrize("data", [b"", b"no archive", gzip.compress(b"x" * 600), gzip.compress(b"a" * 1000)[:-20], b"\x1f\x8b" * 400])
def test_what_is_not_an_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.tgz").write_bytes(data)
    with pytest.raises(BadChart, match="it is not a packed chart"):
        read_chart(str(tmp_path / "a.tgz"))


def test_links_to_a_parent_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "Chart.yaml").write_text(CHART)
    for name, target in (("b", "."), ("c", ".."), ("d", "../a")):
        os.symlink(target, tmp_path / "a" / name)
    assert read_chart(str(tmp_path)).files == {"Chart.yaml": CHART.encode()}


def test_links_to_other_folders(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text(CHART)
    for depth in range(12):
        (tmp_path / f"f{depth}").mkdir()
        for name in "abc":
            os.symlink(f"../f{depth + 1}", tmp_path / f"f{depth}" / name)
    (tmp_path / "f12").mkdir()
    with pytest.raises(ChartTooLarge):
        read_chart(str(tmp_path))


def test_a_chart_whose_aliases_grow_exponentially() -> None:
    aliases = "dependencies: [{name: x}, {name: x, alias: a}, {name: x, alias: b}, {name: x, alias: c}, {name: x, alias: d}]\n"
    files = {f"{'charts/x/' * depth}Chart.yaml": f"name: x\n{aliases}".encode() for depth in range(8)}
    with pytest.raises(ChartTooLarge, match="it has more than 1000 sub-charts"):
        _ = Chart("x", files).instances
    two = Chart("x", {name: files[name] for name in ("Chart.yaml", "charts/x/Chart.yaml", "charts/x/charts/x/Chart.yaml")})
    assert len(two.instances) == 1 + 5 + 25


def test_many_sub_charts_are_read_in_linear_time() -> None:
    files = {f"charts/c{number}/Chart.yaml": f"name: c{number}".encode() for number in range(900)}
    files |= {f"charts/c{number}/templates/a{part}.yaml": b"a: b" for number in range(900) for part in range(20)}
    found = Chart("x", {"Chart.yaml": b"name: x", **files})
    before = time.process_time()
    assert len(found.rendered_names) == len(found.templates) == 18000
    assert time.process_time() - before < 2


def test_links_between_charts_share_a_budget(program: Program) -> None:
    names = [f"c{number}" for number in range(12)]
    for name in names:
        entries = "".join(f"- {{name: {other}x, repository: 'file://../{other}'}}\n" for other in names if other != name)
        write({f"{name}/Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 1.0.0\ndependencies:\n{entries}"})
        write({f"{name}/templates/a.yaml": "a: b\n"})
    before = time.process_time()
    found = findings(program, "c0", "--select", "failed-chart-render", helm="/bin/false")
    assert [each["message"] for each in found] == ["the chart cannot be read: it is larger than 20000 files or 64 MiB"]
    assert time.process_time() - before < 20
