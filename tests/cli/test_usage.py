"""What is wrong with the command line is said, with what was probably meant, and ends with 2."""

from pathlib import Path

import pytest

from tests.cli.conftest import POD, Program


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek", "good.yaml"], 'unknown command "chek"; did you mean "check"?'),
        (["good.yaml"], "e.g. kcheck check good.yaml"),
        (["check", "nowhere.yaml"], "no such file or folder: nowhere.yaml"),
        (["check", "*.json"], "no file matches *.json"),
        (["check", "good.yaml", "--select", "prot-number"], '--select: unknown rule or group "prot-number"; see kcheck rules'),
        (
            ["check", "good.yaml", "--ignore", "invalid-port-number,praktice"],
            '--ignore: unknown rule or group "praktice"; did you mean "practice"?',
        ),
        (["check", "good.yaml", "--select", "acme/owner"], "check that its plug-in is installed"),
        (["check", "good.yaml", "--format", "jsno"], '--format: unknown format "jsno"; did you mean "json"?'),
        (["check", "good.yaml", "--kubernetes", "1.99"], "--kubernetes"),
        (["check", "good.yaml", "--kubernetes", "1.36-1.30"], "begins with the newer version"),
        (["check", "good.yaml", "--max-file-size", "1MB"], "--max-file-size"),
        (["check", "good.yaml", "--max-file-size", "0"], "0 is not greater than 0"),
        (["check", "good.yaml", "--output", "missing/report.json"], '--output: folder "missing" does not exist'),
        (["check", "good.yaml", "--config", "good.yaml", "--isolated"], "cannot be combined"),
        (["check", "good.yaml", "--schemas", "good.yaml"], "good.yaml has no CRD"),
        (["check", "good.yaml", "--schemas", "https://example.com/crds.yaml"], "is a URL; download the file first"),
        (["check", "good.yaml", "--fail-on", "fatal"], "'fatal' is not one of 'info', 'warning', 'error'"),
        (["explain", "prot-number"], 'unknown rule or group "prot-number"; see kcheck rules'),
        (["rules", "--groups", "--like", "polaris"], "cannot be combined"),
        (["rules", "--select", "practise"], 'did you mean "practice"?'),
    ],
)
def test_usage_errors(program: Program, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "good.yaml").write_text(POD)
    found = program(*arguments)
    assert said in found.err
    assert (found.code, found.out) == (2, "")


def test_version_and_help(program: Program) -> None:
    version = program("--version")
    assert version.code == 0
    assert version.out.startswith("kcheck 0.")
    assert "completion" in program("--help").out
    assert "--as-found" in program("check", "-h").out
