"""Reading files within limits, and telling what they are before they are parsed."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from kcheck.discovery.discover import Target, UnreadablePath
from kcheck.discovery.load import HELM_TEMPLATE, HELM_VALUES, Folders, kind_of_file, load_file
from kcheck.text.source import Source

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(path: str, text: str = "a: 1\n") -> str:
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text)
    return path


def text_of(result: Source | UnreadablePath) -> str:
    assert isinstance(result, Source), result
    return result.text


def trouble_of(data: bytes) -> tuple[str, int]:
    Path("a.yaml").write_bytes(data)
    result = load_file(Target("a.yaml", False))
    assert isinstance(result, UnreadablePath), result
    assert result.file == "a.yaml"
    return result.message, result.line


class TestLoad:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (b"", ""),
            (b"a: 1\r\n", "a: 1\r\n"),
            (b"\xef\xbb\xbfa: \xc3\xa9\n", "a: é\n"),
            ("a: é\n".encode("utf-16"), "a: é\n"),
            ("a: é\n".encode("utf-16-le"), "a: é\n"),
            ("a: é\n".encode("utf-32"), "a: é\n"),
        ],
    )
    def test_text(self, tree: Path, data: bytes, text: str) -> None:
        Path("a.yaml").write_bytes(data)
        result = load_file(Target("a.yaml", False))
        assert text_of(result) == text
        assert isinstance(result, Source)
        assert result.path == "a.yaml"

    def test_bytes_that_are_not_text_have_their_line(self, tree: Path) -> None:
        assert trouble_of(b"a: 1\nb: caf\xe9\n") == ("not text: byte 0xe9 is not valid UTF-8", 2)

    def test_a_nul_has_its_line(self, tree: Path) -> None:
        assert trouble_of(b"a: 1\nb: 2\nc: \0\n") == ("not text: it contains NUL characters", 3)
        assert trouble_of(b"\0\0\0\0") == ("not text: it contains NUL characters", 1)

    @pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\0\0\xff", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"P\0\0\0\0\xd8"])
    def test_binary_data(self, tree: Path, data: bytes) -> None:
        assert trouble_of(data)[0] in ("binary data, not text", "not text: it contains NUL characters")

    def test_a_file_over_the_limit_is_not_read(self, tree: Path) -> None:
        plant("a.yaml", "a" * 1001)
        assert load_file(Target("a.yaml", False), limit=1000) == UnreadablePath(
            "a.yaml", "1,001 bytes exceed the limit of 1,000 bytes: not read"
        )
        assert text_of(load_file(Target("a.yaml", False), limit=1001)) == "a" * 1001

    def test_a_sparse_giant_costs_nothing(self, tree: Path) -> None:
        with open("a.yaml", "wb") as file:
            file.truncate(1 << 40)
        assert isinstance(load_file(Target("a.yaml", False)), UnreadablePath)

    def test_a_file_that_grows_under_the_reader_is_still_limited(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant("a.yaml", "a" * 2000)
        honest = os.stat

        def early(path: str) -> os.stat_result:
            values = list(honest(path))
            values[6] = 10
            return os.stat_result(values)

        monkeypatch.setattr(os, "stat", early)
        assert load_file(Target("a.yaml", False), limit=1000) == UnreadablePath(
            "a.yaml", "exceeds the limit of 1,000 bytes: not read completely"
        )

    def test_a_file_that_is_gone(self, tree: Path) -> None:
        assert load_file(Target("a.yaml", False)) == UnreadablePath("a.yaml", "cannot be read: No such file or directory")

    def test_a_folder_and_a_pipe_are_not_opened(self, tree: Path) -> None:
        os.mkdir("a.yaml")
        os.mkfifo("b.yaml")
        assert load_file(Target("a.yaml", False)) == UnreadablePath("a.yaml", "a folder, not a regular file: not opened")
        assert load_file(Target("b.yaml", False)) == UnreadablePath("b.yaml", "a pipe, not a regular file: not opened")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, tree: Path) -> None:
        plant("a.yaml")
        os.chmod("a.yaml", 0)
        assert load_file(Target("a.yaml", False)) == UnreadablePath("a.yaml", "cannot be read: Permission denied")

    def test_denied_permission_is_described(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant("a.yaml")

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", refuse)
        assert load_file(Target("a.yaml", False)) == UnreadablePath("a.yaml", "cannot be read: Permission denied")

    def test_standard_input_is_read_from_the_stream(self) -> None:
        target = Target("deploy.yaml", True, stdin=True)
        result = load_file(target, stdin=io.BytesIO(b"a: 1\n"))
        assert isinstance(result, Source)
        assert (result.path, result.text) == ("deploy.yaml", "a: 1\n")
        assert load_file(target, 3, io.BytesIO(b"a: 1\n")) == UnreadablePath(
            "deploy.yaml", "exceeds the limit of 3 bytes: not read completely"
        )
        assert text_of(load_file(target, 5, io.BytesIO(b"a: 1\n"))) == "a: 1\n"
        assert load_file(target) == UnreadablePath("deploy.yaml", "standard input is closed")

    @pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
    def test_a_shell_substitution_is_read_to_its_end(self) -> None:
        reader, writer = os.pipe()
        os.write(writer, b"a: 1\n")
        os.close(writer)
        try:
            assert text_of(load_file(Target(f"/dev/fd/{reader}", True))) == "a: 1\n"
        finally:
            os.close(reader)


class TestKindOfFile:
    @pytest.mark.parametrize(
        "path",
        [
            "kustomization.yaml", "k8s/kustomization.yml", "docker-compose.yml", "docker-compose.prod.yaml", "compose.yaml",
            ".gitlab-ci.yml", ".pre-commit-config.yaml", "mkdocs.yml", "package.json", "tsconfig.build.json", "package-lock.json",
            ".kcheck.yaml", "skaffold.yaml", "helmfile.yaml", ".yamllint.yaml", ".golangci.yml", "Taskfile.yml", "Chart.yaml",
            ".github/workflows/ci.yml", ".github/dependabot.yml", "sub/.circleci/config.yml",
        ],
    )  # fmt: skip
    def test_files_of_tools(self, tree: Path, path: str) -> None:
        assert kind_of_file(plant(path))

    @pytest.mark.parametrize(
        "path", ["compose.yaml", "kustomization.yaml", "mkdocs.yml", ".github/workflows/deploy.yaml", "ct.yaml", "Chart.yaml"]
    )
    @pytest.mark.parametrize("text", [OBJECT, '{"apiVersion": "v1",\n  "kind": "Pod"}', "# comment\n---\n'kind': Pod\n'apiVersion': v1\n"])
    def test_an_object_is_checked_whatever_its_name(self, tree: Path, path: str, text: str) -> None:
        assert kind_of_file(plant(path, text)) is None

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"),
            ("skaffold.yaml", "apiVersion: skaffold/v4beta6\nkind: Config\n"),
            ("compose.yaml", "configs:\n  a:\n    content: |\n      apiVersion: v1\n      kind: Pod\n"),
        ],
    )
    def test_files_of_tools_that_look_like_objects(self, tree: Path, path: str, text: str) -> None:
        assert kind_of_file(plant(path, text))

    def test_a_flux_kustomization_is_an_object(self, tree: Path) -> None:
        assert kind_of_file(plant("kustomization.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n")) is None

    def test_a_chart(self, tree: Path) -> None:
        plant("shop/Chart.yaml", "apiVersion: v2\nname: shop\n")
        for path in ("shop/templates/deployment.yaml", "shop/templates/web/service.yaml", "shop/templates/tests/pod.yaml"):
            assert kind_of_file(plant(path, OBJECT)) == HELM_TEMPLATE
        for path in (
            "shop/values.yaml",
            "shop/values-prod.yaml",
            "shop/prod.values.yaml",
            "shop/ci/test-values.yaml",
            "shop/values.schema.json",
        ):
            assert kind_of_file(plant(path)) == HELM_VALUES
        for path in ("shop/crds/a.yaml", "shop/files/templates.yaml", "shop/evaluesx.yaml"):
            assert kind_of_file(plant(path, OBJECT)) is None

    def test_a_chart_is_known_from_inside(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant("shop/Chart.yaml")
        plant("shop/templates/sub/a.yaml", OBJECT)
        monkeypatch.chdir("shop/templates")
        assert kind_of_file("sub/a.yaml") == HELM_TEMPLATE
        monkeypatch.chdir("sub")
        assert kind_of_file("a.yaml") == HELM_TEMPLATE

    def test_names_without_a_chart_mean_nothing(self, tree: Path) -> None:
        for path in ("templates/a.yaml", "k8s/templates/deployment.yaml", "values.yaml", "values-prod.yaml", "ci/a-values.yaml"):
            assert kind_of_file(plant(path, OBJECT)) is None

    def test_each_folder_is_examined_once(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant("shop/Chart.yaml")
        paths = [plant(f"shop/templates/{i}.yaml") for i in range(5)] + [plant(f"shop/values-{i}.yaml") for i in range(5)]
        looks: list[str] = []
        honest = os.path.isfile

        def isfile(path: str) -> bool:
            looks.append(path)
            return honest(path)

        monkeypatch.setattr(os.path, "isfile", isfile)
        folders = Folders()
        assert all(kind_of_file(path, folders) for path in paths)
        assert len([look for look in looks if look.endswith("shop/Chart.yaml")]) == 1

    def test_what_cannot_be_read_is_left_to_the_loader(self, tree: Path) -> None:
        os.mkfifo("compose.yaml")
        assert kind_of_file("compose.yaml") is None
        assert kind_of_file("mkdocs.yml") is None
