"""Files that are made to hang, crash or fool who reads them. See docs/robustness.md."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.robustness.conftest import Program, run

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"
TYPO = POD.replace("image:", "imagePullpolicy: Always, image:")
BOMB = (
    POD
    + "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n" for before, after in zip("abcdefgh", "bcdefghi", strict=True))
)
SYNTAX = {
    "alias bomb": BOMB,
    "merge bomb": POD + "a: &a {x: 1}\n" + "".join(f"k{i}: &k{i} {{<<: [{', '.join(['*a'] * 50)}]}}\n" for i in range(3000)),
    "an alias that contains itself": POD + "a: &a [*a]\n",
    "flow maps 10,000 deep": "{a: " * 10_000,
    "flow lists 10,000 deep": "[" * 10_000 + "]" * 10_000,
    "JSON 10,000 deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "block maps 2,000 deep": "".join(f"{' ' * i}a:\n" for i in range(2000)),
    "dashes on one line": "- " * 100_000 + "a\n",
    "brackets that never close": POD + "x: " + "[a, " * 100_000,
    "a quote that never closes": "a: '" + "x\n" * 300_000,
    "colons": POD + "x: " + "a: " * 100_000,
    "a document over 3 MiB": "# a\n" * 1_000_000 + POD,
    "a template": "{{ a }}" * 100_000,
    "tabs for indentation": "a:\n" + "\t" * 200_000 + "b: 1\n",
    "a directive": "%" * 200_000,
}
READABLE = {
    "a million lines": POD + "x:\n" + "- a\n" * 700_000,
    "a million separators": POD + "---\n" * 1_000_000,
    "a line of 2 MB": POD + 'x: "' + "x" * 2_000_000 + '"\n',
    "a plain scalar on 100,000 lines": POD + "x: a\n" + "  b\n" * 100_000,
    "half a million backslashes": POD + 'x: "' + "\\\\" * 500_000 + '"\n',
    "blank lines in a block": POD + "x: |\n" + "\n" * 300_000 + "  a\n",
    "100,000 keys": POD + "x:\n" + "".join(f"  k{i}: v\n" for i in range(100_000)),
    "a number of 5,000 digits": POD + "x: " + "1" * 5000 + "\n",
    "an exponent without end": POD + "x: 1e999999999\ny: 0x" + "f" * 100_000 + "\nz: 0" + "7" * 100_000 + "\n",
    "a quantity of 5,000 digits": POD.replace("image", f"resources: {{limits: {{cpu: {'1' * 5000}, memory: '{'1' * 5000}'}}}}, image"),
    "a port of 5,000 digits": POD.replace("image", f"ports: [{{containerPort: {'1' * 5000}}}], image"),
    "half a surrogate in JSON": '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\\ud800"}, "spec": {}}',
    "lone carriage returns": POD.replace("\n", "\r"),
    "10,000 repeated keys": POD + "x: 1\n" * 10_000,
}
UNREADABLE = {
    "binary data": bytes(range(256)) * 1000,
    "NUL": POD.encode() + b"x: a\0b\n",
    "no UTF-8": POD.encode() + b"x: \xff\xfe\n",
    "a surrogate in UTF-8": POD.encode() + b"x: \xed\xa0\x80\n",
    "half of UTF-16": b"\xff\xfea",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(1000),
}


@pytest.mark.parametrize("text", SYNTAX.values(), ids=SYNTAX)
def test_what_cannot_be_read_is_a_finding_and_the_next_file_goes_on(text: str, check: Program) -> None:
    reported = check({"a.yaml": text, "b.yaml": TYPO}, "a.yaml", "b.yaml")
    assert reported.code == 1
    assert {(f["rule"], f["file"]) for f in reported.report["findings"]} >= {("invalid-yaml", "a.yaml"), ("unknown-field", "b.yaml")}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_what_is_odd_is_read(text: str, check: Program) -> None:
    reported = check({"a.yaml": text}, "a.yaml")
    assert reported.code in (0, 1)
    assert reported.rules.isdisjoint({"internal-error", "unreadable-file"})


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_binary_files_never_pass(data: bytes, check: Program) -> None:
    reported = check({"a.yaml": data, "b.yaml": TYPO})
    assert reported.code == 1
    assert {(f["rule"], f["file"]) for f in reported.report["findings"]} >= {("unreadable-file", "a.yaml"), ("unknown-field", "b.yaml")}
    assert check({}, "a.yaml").code == 2


def test_a_file_of_100_megabytes_is_not_read(check: Program, tmp_path: Path) -> None:
    with open(tmp_path / "large.yaml", "wb") as file:
        file.truncate(100 * 1024 * 1024)
    reported = check({"b.yaml": TYPO})
    assert reported.code == 1
    assert {"unreadable-file", "unknown-field"} <= reported.rules


def test_a_file_of_many_documents_is_read_within_its_limit(check: Program) -> None:
    text = f"---\n{POD}" * 60_000
    reported = check({"a.yaml": text}, "--select", "unknown-field", "a.yaml")
    assert reported.report["documents"] == 60_000
    assert check({}, "--max-file-size", "1Mi", "a.yaml").rules == {"unreadable-file"}


def test_links_in_a_circle_are_walked_once(check: Program, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
    (tmp_path / "nowhere.yaml").symlink_to(tmp_path / "gone")
    reported = check({"sub/b.yaml": TYPO})
    assert [f["file"] for f in reported.report["findings"] if f["rule"] == "unknown-field"] == ["sub/b.yaml"]
    assert "unreadable-file" in reported.rules


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_are_not_waited_for(check: Program, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    reported = check({"b.yaml": TYPO})
    assert "unknown-field" in reported.rules
    assert check({}, "pipe.yaml").code == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read all")
def test_what_may_not_be_read_never_passes(check: Program, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(POD)
    (tmp_path / "b.yaml").chmod(0)
    assert check({}, "b.yaml").code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow fewer names")
def test_names_may_be_anything(check: Program, tmp_path: Path) -> None:
    for name in (b"a b.yaml", b"a\nb.yaml", b"\xff\xfe.yaml", b"-x.yaml", b"\x1b[31m.yaml", "\u202e.yaml".encode()):
        (tmp_path / os.fsdecode(name)).write_text(TYPO)
    reported = check()
    assert reported.code == 1
    assert len({f["file"] for f in reported.report["findings"]}) == 6
    for form in ("text", "concise", "github", "sarif"):
        shown = run(tmp_path, "check", "--isolated", "--format", form, ".")
        assert shown.code == 1
        assert b"\x1b" not in shown.out


def test_escape_sequences_do_not_reach_the_terminal(check: Program, tmp_path: Path) -> None:
    hostile = "\\x1b]0;owned\\x07\\x1b[2J"
    text = POD.replace("name: a", f'name: "{hostile}", labels: {{"{hostile}": "{hostile}\\u009b2J\\u202e"}}') + f'"{hostile}": 1\n'
    check({"a.yaml": text})
    for form in ("text", "concise", "github"):
        shown = run(tmp_path, "check", "--isolated", "--color", "never", "--format", form, ".")
        assert shown.code == 1
        assert not {0x1B, 0x07} & set(shown.out)
        assert "\u009b" not in shown.out.decode()
        assert "\u202e" not in shown.out.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported(check: Program) -> None:
    with open("/dev/full", "wb") as full:
        reported = check({"a.yaml": TYPO}, stdout=full)
    assert reported.code == 2
    assert "No space left" in reported.err
    assert check({}, "--output", "/dev/full", ".").code == 2


_OBJECT = "{apiVersion: v1, kind: Pod, metadata: {name: a%d}, spec: {containers: [{name: c, image: nginx}]}}"
THOUSANDS = {
    "ignore comments in a list": ("- " + _OBJECT + "  # kcheck: ignore[latest-tag]\n", "apiVersion: v1\nkind: List\nitems:\n"),
    "ignore comments in documents": ("---\n" + _OBJECT + "  # kcheck: ignore[latest-tag]\n", ""),
    "misspelt ignores in a list": ("- " + _OBJECT + "  # kchek: ignore[latest-tag]\n", "apiVersion: v1\nkind: List\nitems:\n"),
    "repeated keys in a list": ("- " + _OBJECT[:-1] + ", kind: Pod}\n", "apiVersion: v1\nkind: List\nitems:\n"),
    "annotations in a list": (
        "- " + _OBJECT.replace("{name: a", "{annotations: {kcheck.dev/ignore: latest-tag}, name: a") + "\n",
        "apiVersion: v1\nkind: List\nitems:\n",
    ),
    "equal ports": ("    - {containerPort: 80}  # %d\n", POD[: POD.index("spec:")] + "spec:\n  containers:\n  - name: c\n    ports:\n"),
}


@pytest.mark.parametrize(("line", "head"), THOUSANDS.values(), ids=THOUSANDS)
def test_what_is_there_thousands_of_times_takes_its_time(line: str, head: str, check: Program) -> None:
    """Twice as much takes about twice as long; what grows with the square would take four times as long, and a minute here."""
    text = head + "".join(line % number for number in range(4000))
    reported = check(
        {"a.yaml": text}, "--select", "latest-tag,unused-ignore,unknown-ignore,duplicate-key,duplicate-container-port", "a.yaml"
    )
    assert reported.code in (0, 1)
    assert "internal-error" not in reported.rules
    assert reported.seconds < 30
