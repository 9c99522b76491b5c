"""Shards of a run make the report that the run itself makes, and what is no shard of it makes none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from kcheck.check.file import Outcome
from kcheck.check.session_spec import SessionSpec
from kcheck.codec.encoding import decode, encode
from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.run import file_stage
from kcheck.shards.files import Head
from kcheck.shards.selection import Share
from kcheck.text.span import Range
from tests.cli.conftest import Program, program
from tests.run.test_parallel import MANY, POD, THING

__all__ = ["program"]

ROOT = Path(__file__).parent.parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "manifests"
REPOSITORIES = ("argoproj+argo-rollouts", "kedacore+keda", "stefanprodan+podinfo", "metallb+metallb", "kubernetes-sigs+kustomize")
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {app: nothing}, ports: [{port: 80, targetPort: www}]}\n"
BINDING = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: nothing}}
  template:
    metadata: {labels: {app: nothing}}
    spec: {containers: [{name: c, image: "b:1", ports: [{containerPort: 80, name: web}]}]}
"""
INPUT = {**MANY, "service.yaml": SERVICE, "deployment.yaml": BINDING, "Chart.yaml": "name: x\n", "binary.yaml": "\0"}

OF_NO_RULE = Outcome([Finding("no-such-rule", Severity.ERROR, "spec", "m", Location("f", 0, Range(1, 1, 1, 1), "", ObjectId(), "", 0))])

Shards = Callable[..., list[str]]


@pytest.fixture
def shards(program: Program, tmp_path: Path) -> Shards:
    """Writes the shards of a run over these arguments."""

    def write(of: int, *arguments: str) -> list[str]:
        paths = [f"{tmp_path}/shard-{of}-{number}.shard" for number in range(1, of + 1)]
        for number, path in enumerate(paths, 1):
            done = program("check", "--shard", f"{number}/{of}", "--output", path, "--quiet", *arguments)
            assert (done.code, done.out, done.err) == (0, "", "")
        return paths

    return write


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "input"
    folder.mkdir()
    for name, text in INPUT.items():
        (folder / name).write_text(text)
    return folder


# More shards than files, too.
@pytest.mark.parametrize("numbers", [(1, 2, 3, len(INPUT) + 1), pytest.param((5, 60), marks=pytest.mark.slow)])
def test_the_report_is_that_of_one_machine(files: Path, program: Program, shards: Shards, numbers: tuple[int, ...]) -> None:
    styles = ("--format", "json"), ("--format", "sarif"), ("--verbose",), ("--statistics", "--severity", "warning")
    whole = {style: program("check", "--isolated", *style, "input") for style in styles}
    assert {each.code for each in whole.values()} == {1}
    for of in numbers:
        paths = shards(of, "--isolated", "input")
        for style in styles:
            assert program("merge", *style, *reversed(paths)) == whole[style], f"{of} shards, {style}"


FOLDERS = [ROOT / "examples", *(pytest.param(CORPUS / name, marks=pytest.mark.slow) for name in REPOSITORIES)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_real_manifests(program: Program, shards: Shards, folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("needs the corpus beside the checkout")
    # Shards do not render charts.
    whole = program("check", "--isolated", "--format", "json", "--select", "all", "--helm", "off", str(folder))
    for of in (1, 2, 3, 5):
        assert program("merge", "--format", "json", *shards(of, "--isolated", "--select", "all", "--helm", "off", str(folder))) == whole


def test_what_does_not_fit_into_memory_is_read_again(
    files: Path, program: Program, shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    whole = program("check", "--isolated", "--format", "json", "input")
    monkeypatch.setattr(file_stage, "MAX_KEPT_CHARS", 300)
    monkeypatch.setattr(file_stage, "_PORTION_CHARS", 500)
    assert program("check", "--isolated", "--format", "json", "input") == whole
    assert program("merge", "--format", "json", *shards(3, "--isolated", "input")) == whole


def test_the_config_goes_with_the_shards(files: Path, program: Program, shards: Shards, tmp_path: Path) -> None:
    (files / "sub").mkdir()
    (files / "sub" / "pod.yaml").write_text(MANY["typo.yaml"])
    (tmp_path / ".kcheck.yaml").write_text(
        "complete: true\nfail-on: error\nkubernetes: 1.30-1.31\nrules: {latest-tag: {severity: error}}\n"
        "overrides: [{files: [input/sub/**], rules: {unknown-field: off}}]\n"
    )
    whole = program("check", "--format", "json", "input")
    paths = shards(3, "input")
    (tmp_path / ".kcheck.yaml").unlink()
    assert program("merge", "--format", "json", *paths) == whole
    assert "unknown-field" not in {f["rule"] for f in json.loads(whole.out)["findings"] if f["file"] == "input/sub/pod.yaml"}


def test_fail_on_of_the_config_holds_unless_the_flag_says_otherwise(files: Path, program: Program, shards: Shards, tmp_path: Path) -> None:
    for path in files.iterdir():
        path.unlink()
    (files / "a.yaml").write_text(THING)
    (tmp_path / ".kcheck.yaml").write_text("fail-on: info\nrules: {missing-schema: on}\n")
    paths = shards(2, "input")
    assert program("merge", *paths).code == 1
    assert program("merge", "--fail-on", "error", *paths).code == 0


def test_an_output_file(files: Path, program: Program, shards: Shards, tmp_path: Path) -> None:
    whole = program("check", "--isolated", "--format", "sarif", "input")
    done = program("merge", "--format", "sarif", "--output", "report.sarif", *shards(2, "--isolated", "input"))
    assert (done.code, done.out) == (1, "")
    assert (tmp_path / "report.sarif").read_text() == whole.out


def refused(program: Program, *paths: str) -> str:
    done = program("merge", *paths)
    assert (done.code, done.out) == (2, "")
    return done.err


def test_all_shards_must_be_there_once(files: Path, program: Program, shards: Shards) -> None:
    first, second, third, fourth = shards(4, "--isolated", "input")
    assert "2 of 4 shards are missing: 2/4, 4/4" in refused(program, first, third)
    assert f"shard 2/4 was passed twice: {second} and {second}" in refused(program, first, second, second, third, fourth)
    assert f"shard 1/4 was passed twice: {first} and {first}" in refused(program, first, first)


def test_shards_of_other_runs_are_refused(files: Path, program: Program, shards: Shards, tmp_path: Path) -> None:
    second = shards(2, "--isolated", "input")[1]
    kept = (tmp_path / "kept").with_suffix(".shard")
    os.rename(second, kept)

    def reported(*arguments: str, of: int = 2) -> str:
        other = shards(of, "--isolated", *arguments)
        message = refused(program, other[0], str(kept))
        assert message.startswith(f"kcheck: {kept} and {other[0]} are not from the same run: ")
        return message

    assert "the rules or their options differ" in reported("--ignore", "latest-tag", "input")
    assert "the rules or their options differ" in reported("--kubernetes", "1.30", "input")
    assert "the additional schemas differ" in reported("--schemas", "input/z-crd.yaml", "input")
    assert "one is of 2 shards, the other of 3" in reported("input", of=3)
    (files / "a.yaml").write_text(POD)
    assert "the input files differ" in reported("input")


def rewritten(path: str, change: Callable[[list[bytes]], None]) -> None:
    """A shard changed by somebody who knows how to make a check sum."""
    lines = Path(path).read_bytes().split(b"\n")[:-2]
    change(lines)
    body = b"".join(line + b"\n" for line in lines)
    Path(path).write_bytes(body + json.dumps({"digest": blake2b(body, digest_size=16).hexdigest()}).encode() + b"\n")


def test_another_kcheck_is_refused(files: Path, program: Program, shards: Shards) -> None:
    (path,) = shards(1, "--isolated", "input")
    whole = Path(path).read_bytes()

    def change(old: bytes, new: bytes) -> Callable[[list[bytes]], None]:
        def apply(lines: list[bytes]) -> None:
            assert old in lines[0]
            lines[0] = lines[0].replace(old, new, 1)

        return apply

    rewritten(path, change(b'"kcheck": "', b'"kcheck": "9.'))
    assert "was created with kcheck 9." in refused(program, path)
    Path(path).write_bytes(whole)
    rewritten(path, change(b'"kcheck-shard": 2', b'"kcheck-shard": 1'))
    assert "was created with kcheck" in refused(program, path)
    Path(path).write_bytes(whole)
    program_digest = decode(json.loads(whole.split(b"\n")[0])["head"], Head).spec.program
    rewritten(path, change(program_digest.encode(), b"0" * len(program_digest)))
    assert "created with different code of kcheck or its plug-ins" in refused(program, path)


def test_settings_that_no_kcheck_writes_are_refused(files: Path, program: Program, shards: Shards) -> None:
    (path,) = shards(1, "--isolated", "input")
    whole = Path(path).read_bytes()

    def refused_with(change: Callable[[SessionSpec], SessionSpec]) -> str:
        def apply(lines: list[bytes]) -> None:
            line = json.loads(lines[0])
            head: Head = decode(line["head"], Head)
            line["head"] = encode(head._replace(spec=change(head.spec)), Head)
            lines[0] = json.dumps(line).encode()

        Path(path).write_bytes(whole)
        rewritten(path, apply)
        return refused(program, path)

    def set_options(terms: SessionSpec, options: str) -> SessionSpec:
        (rules,) = terms.rules
        first = next(iter(rules))
        return terms._replace(rules=({**rules, first: rules[first]._replace(options=options)},))

    for options in ("1.5", "[]", '{"no-such": 1}', "nonsense"):
        assert "created with a different version of rule" in refused_with(lambda terms, options=options: set_options(terms, options))
    for number in (99, -1):
        assert "rule set that does not exist" in refused_with(lambda terms, number=number: terms._replace(files={"input/a.yaml": number}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-30],
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"error", b"arror", 1),
        lambda data: data + b"x\n",
    ],
)
def test_damage_is_reported(files: Path, program: Program, shards: Shards, damage: Callable[[bytes], bytes]) -> None:
    first, second = shards(2, "--isolated", "input")
    Path(second).write_bytes(damage(Path(second).read_bytes()))
    assert f"{second} is damaged" in refused(program, first, second)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'[0,"a.yaml",["__reduce__"],[]]', "is damaged"),
        (b'[0,"a.yaml",[],[2,1]]', "is damaged"),
        (b'[0,"a.yaml",[],[1,9999999999]]', "is damaged"),
        (b'[0,"a.yaml",[],[1,1e3]]', "is damaged"),
        (json.dumps([0, "a.yaml", *encode(OF_NO_RULE, Outcome)]).encode(), "unknown rule no-such-rule"),
        (b"[" * 100_000, "is damaged"),
        (b'[0,"a.yaml",' + b"9" * 5000 + b"]", "is damaged"),
        (b'{"0": 1}', "is damaged"),
        (b'["0", 1, [], [0]]', "has no number"),
        (b'[99,"a.yaml",[],[0]]', "is in no shard or in two"),
        (b'[1,"a.yaml",[],[0]]', "is in no shard or in two"),
    ],
)
def test_a_hostile_shard_is_refused(files: Path, program: Program, shards: Shards, line: bytes, message: str) -> None:
    (path,) = shards(1, "--isolated", "input")

    def change(lines: list[bytes]) -> None:
        lines[1] = line

    rewritten(path, change)
    assert message in refused(program, path)


def test_files_that_are_missing_or_too_many_are_reported(files: Path, program: Program, shards: Shards) -> None:
    (path,) = shards(1, "--isolated", "input")
    rewritten(path, lambda lines: lines.pop())
    assert "create all shards again" in refused(program, path)


def test_files_that_are_not_shards(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"version": 1}')
    assert "a.json is not a shard" in refused(program, "a.json")
    assert "b.json cannot be read: No such file" in refused(program, "b.json")
    assert ". cannot be read" in refused(program, ".")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shard", "3/2", "--output", "x"), '"3/2" is not a valid shard'),
        (("--shard", "0/2", "--output", "x"), "is not a valid shard"),
        (("--shard", "2", "--output", "x"), "is not a valid shard"),
        (("--shard", "1/2"), "--shard requires --output"),
        (("--shard", "1/2", "--output", "x", "--format", "json"), "pass them to kcheck merge"),
        (("--shard", "1/2", "--output", "x", "--fail-on", "error"), "pass them to kcheck merge"),
        (("--shard", "1/2", "--output", "x", "-"), "standard input"),
    ],
)
def test_misuse_is_reported(files: Path, program: Program, arguments: tuple[str, ...], message: str) -> None:
    done = program("check", "--isolated", "input", *arguments)
    assert done.code == 2
    assert message in done.err


def test_shares_are_balanced_and_whole() -> None:
    sizes = [1, 900_000, 5, 300_000, 300_000, 300_000, 0, *([10_000] * 90)]
    shares = []
    for number in range(1, 4):
        share = Share(number, 3)
        for at, size in enumerate(sizes):
            share.add_file(f"{at}.yaml", "x" * size)
        shares.append(share.own_files())
    assert sorted(n for share in shares for n in share) == list(range(len(sizes)))
    loads = [sum(sizes[n] for n in share) for share in shares]
    assert max(loads) - min(loads) < 20_000


def test_a_definition_in_one_shard_is_known_in_all(files: Path, program: Program, shards: Shards) -> None:
    report = json.loads(program("merge", "--format", "json", *shards(5, "--isolated", "input")).out)
    assert ("wrong-type", "input/thing.yaml") in {(f["rule"], f["file"]) for f in report["findings"]}
