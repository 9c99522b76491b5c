"""`kcheck fix`, `kcheck check --fix` and `--diff`."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import pytest

from kcheck.cli.main import main
from kcheck.run.fixing import Fixing
from kcheck.schema.builtin.definitions import newest
from tests.cli.conftest import Program

OLD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  serviceAccount: web # ours
  containers:
    - name: web
      image: "k8s.gcr.io/pause:3.9"
"""
NEW = OLD.replace("serviceAccount:", "serviceAccountName:").replace("k8s.gcr.io", "registry.k8s.io")
SAFE = ("--isolated", "--select", "deprecated-registry,deprecated-service-account-field")
UNSAFE = ("--isolated", "--select", "wrong-resource-unit")
MEMORY = OLD + "      resources: {limits: {memory: 512}}\n"


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    path = tmp_path / "pod.yaml"
    path.write_text(OLD)
    return path


def test_a_file_is_fixed_and_what_is_left_reported(program: Program, pod: Path) -> None:
    done = program("check", "--fix", *SAFE, "pod.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"No findings in 1 file (1 document, 1 deployment unit) for Kubernetes {newest()}.\nFixed 2 findings in 1 file.\n"
    assert pod.read_text() == NEW


def test_fixed_once_there_is_nothing_to_fix(program: Program, pod: Path) -> None:
    pod.write_text(NEW)
    before = pod.stat()
    assert program("check", "--fix", *SAFE, "pod.yaml").out.endswith("No fixes applied.\n")
    assert (pod.stat().st_mtime_ns, pod.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    done = program("check", "--diff", *SAFE, "pod.yaml")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_the_next_item_takes_the_place_of_a_removed_one(program: Program, pod: Path) -> None:
    """Both findings have the same message, and after the first fix the second has the field path of the first."""
    families = '["IPv4", "128Gi", "IPv4", "IPv4"]'
    pod.write_text(f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{ports: [{{port: 80}}], ipFamilies: {families}}}\n")
    program("fix", "--unsafe", str(pod))
    assert 'ipFamilies: ["IPv4", "128Gi"]' in pod.read_text()


def test_an_entry_with_a_repeated_key_is_not_removed(program: Program, pod: Path) -> None:
    """The earlier entry would apply instead."""
    review = "apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: a, resourceAttributes: {verb: get}}\nmetadata:\n"
    pod.write_text(f"{review}  annotations: {{a: b}}\n  annotations: {{c: d}}\n  name: a\n")
    program("fix", "--unsafe", str(pod))
    assert pod.read_text() == f"{review}  annotations: {{a: b}}\n  annotations: {{c: d}}\n"


def test_both_parts_of_a_divided_document_are_fixed(program: Program, pod: Path) -> None:
    """The second part has the index of the first one while both are one document."""
    part = "apiVersion: v1\nkind: Pod\nmetadata:\n  {}: a\nspec:\n  containers:\n  - name: a\n    image: a:1\n"
    pod.write_text(part.format("nname") * 2)
    program("fix", "--unsafe", str(pod))
    assert pod.read_text() == f"{part}---\n{part}".replace("{}", "name")


def test_what_is_left_decides_the_status(program: Program, pod: Path) -> None:
    pod.write_text(OLD + "      ports: [{containerPort: 99999}]\n")
    done = program("check", "--fix", *SAFE, "--select", "invalid-port-number", "pod.yaml")
    assert done.code == 1
    assert "invalid-port-number" in done.out
    assert "Fixed 2 findings in 1 file." in done.out


def test_a_diff_changes_nothing_and_patch_can_read_it(program: Program, pod: Path) -> None:
    done = program("check", "--diff", *SAFE, "pod.yaml")
    assert (done.code, done.err) == (1, "Would fix 2 findings in 1 file.\n")
    assert "-  serviceAccount: web # ours\n+  serviceAccountName: web # ours\n" in done.out
    assert pod.read_text() == OLD
    if shutil.which("patch") is not None:
        subprocess.run(["patch", "-p1"], input=done.out, text=True, check=True, timeout=300, cwd=pod.parent, capture_output=True)
        assert pod.read_text() == NEW


def test_a_diff_wins_over_a_fix(program: Program, pod: Path) -> None:
    assert program("check", "--fix", "--diff", *SAFE, "pod.yaml").code == 1
    assert pod.read_text() == OLD


def test_a_terminal_obeys_nothing_in_a_diff(program: Program, pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod.write_text(OLD.replace("# ours", "# \u202e"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = program("check", "--diff", *SAFE, "pod.yaml").out
    assert "# \\u202e" in out
    assert "\u202e" not in out


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark_stay(program: Program, pod: Path, mark: bytes) -> None:
    pod.write_bytes(mark + OLD.replace("\n", "\r\n").encode())
    assert program("check", "--fix", *SAFE, "pod.yaml").code == 0
    assert pod.read_bytes() == mark + NEW.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_the_encoding_stays(program: Program, pod: Path, encoding: str) -> None:
    pod.write_bytes((OLD + "# é\n").encode(encoding))
    assert program("check", "--fix", *SAFE, "pod.yaml").code == 0
    assert pod.read_bytes() == (NEW + "# é\n").encode(encoding)


def test_the_mode_stays(program: Program, pod: Path) -> None:
    pod.chmod(0o640)
    program("check", "--fix", *SAFE, "pod.yaml")
    assert stat.S_IMODE(pod.stat().st_mode) == 0o640


def test_a_link_stays_and_its_target_is_fixed(program: Program, pod: Path) -> None:
    (pod.parent / "link.yaml").symlink_to("pod.yaml")
    assert program("check", "--fix", *SAFE, "link.yaml").code == 0
    assert (pod.parent / "link.yaml").is_symlink()
    assert pod.read_text() == NEW


def test_an_ignored_finding_is_not_fixed(program: Program, pod: Path) -> None:
    text = OLD.replace("# ours", "# kcheck: ignore[deprecated-service-account-field] ours")
    pod.write_text(text)
    program("check", "--fix", *SAFE, "pod.yaml")
    assert pod.read_text() == text.replace("k8s.gcr.io", "registry.k8s.io")


def test_findings_that_are_not_shown_are_not_fixed(program: Program, pod: Path) -> None:
    program("check", "--fix", *SAFE, "--severity", "warning", "pod.yaml")
    assert pod.read_text() == OLD.replace("k8s.gcr.io", "registry.k8s.io")


def test_unsafe_fixes_must_be_asked_for(program: Program, pod: Path) -> None:
    pod.write_text(MEMORY)
    done = program("check", "--fix", *UNSAFE, "pod.yaml")
    assert (done.code, pod.read_text()) == (1, MEMORY)
    assert done.out.endswith("No fixes applied. 1 more finding can be fixed with --unsafe-fixes.\n")
    done = program("check", "--fix", "--unsafe-fixes", *UNSAFE, "pod.yaml")
    assert (done.code, pod.read_text()) == (0, MEMORY.replace("512", "512Mi"))


def test_other_formats_have_the_closing_line_beside_them(program: Program, pod: Path) -> None:
    done = program("check", "--fix", *SAFE, "--format", "concise", "pod.yaml")
    assert (done.out, done.err) == ("", "Fixed 2 findings in 1 file.\n")
    pod.write_text(OLD)
    done = program("check", "--fix", *SAFE, "--quiet", "pod.yaml")
    assert (done.out, done.err) == ("", "")


def test_a_file_that_somebody_else_writes_is_left_alone(program: Program, pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pod.parent / "other.yaml").write_text(OLD)
    run = Fixing.fix_all

    def interrupted(self: Fixing, check: object) -> object:
        report = run(self, check)  # type: ignore[arg-type]
        pod.write_text(OLD + "# more\n")
        return report

    monkeypatch.setattr(Fixing, "fix_all", interrupted)
    done = program("check", "--fix", *SAFE, ".")
    assert done.code == 2
    assert done.err == "kcheck: not fixed: pod.yaml has changed since it was checked\n"
    assert pod.read_text() == OLD + "# more\n"
    assert (pod.parent / "other.yaml").read_text() == NEW
    assert "pod.yaml:5:3" in done.out
    assert done.out.endswith("Fixed 2 findings in 1 file.\n")
    assert sorted(p.name for p in pod.parent.iterdir()) == ["other.yaml", "pod.yaml"]


def test_a_read_only_file_is_reported_and_the_rest_is_fixed(program: Program, pod: Path) -> None:
    (pod.parent / "other.yaml").write_text(OLD)
    pod.chmod(0o444)
    done = program("check", "--fix", *SAFE, ".")
    assert (done.code, done.err) == (2, "kcheck: not fixed: pod.yaml is read-only\n")
    assert (pod.read_text(), (pod.parent / "other.yaml").read_text()) == (OLD, NEW)


def test_a_folder_that_cannot_be_written_is_reported(program: Program, pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(os, "replace", refuse)
    done = program("check", "--fix", "--no-cache", *SAFE, "pod.yaml")
    assert (done.code, done.err) == (2, "kcheck: not fixed: pod.yaml cannot be written: Permission denied\n")
    assert [p.name for p in pod.parent.iterdir()] == ["pod.yaml"]
    assert pod.read_text() == OLD


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fix", "-"), "standard input and pipes"),
        (("--diff", "-"), "standard input and pipes"),
        (("--fix", "--shard", "1/2", "--output", "x", "pod.yaml"), "--shard"),
        (("--unsafe-fixes", "pod.yaml"), "--unsafe-fixes requires"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(program: Program, pod: Path, arguments: tuple[str, ...], said: str) -> None:
    done = program("check", *SAFE, *arguments, stdin=OLD.encode())
    assert done.code == 2
    assert said in done.err
    assert pod.read_text() == OLD


def test_a_definition_is_fixed_before_its_objects_are_judged_again(program: Program, pod: Path) -> None:
    """Several files, relations between them, and another round."""
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: wbe}, ports: [{port: 80}]}\n"
    (pod.parent / "service.yaml").write_text(service)
    done = program("check", "--fix", "--unsafe-fixes", "--isolated", "--select", "service-without-pods", ".")
    assert (done.code, (pod.parent / "service.yaml").read_text()) == (0, service.replace("wbe", "web"))


def test_nothing_is_shown_as_fine_that_was_not_checked(program: Program, pod: Path) -> None:
    pod.write_bytes(b"\xff\xfe\xff")
    done = program("check", "--diff", *SAFE, "pod.yaml")
    assert done.code == 2
    assert done.err.startswith("kcheck: pod.yaml:1: ")


def test_the_command_fixes_files_and_lists_them(program: Program, pod: Path) -> None:
    done = program("fix", *SAFE, "pod.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == "pod.yaml: deprecated-registry, deprecated-service-account-field\nFixed 2 findings in 1 file.\n"
    assert pod.read_text() == NEW
    assert program("fix", *SAFE, "pod.yaml").out == "No fixes applied.\n"


def test_the_command_succeeds_whatever_findings_remain(program: Program, pod: Path) -> None:
    pod.write_text(OLD + "      ports: [{containerPort: 99999}]\n")
    assert program("fix", *SAFE, "--select", "invalid-port-number", "--quiet", "pod.yaml").code == 0
    pod.write_text("a: [\n")
    assert program("fix", "--isolated", "pod.yaml").code == 0


def test_the_command_needs_a_flag_for_unsafe_fixes(program: Program, pod: Path) -> None:
    pod.write_text(MEMORY)
    done = program("fix", *UNSAFE, "pod.yaml")
    assert done.out == "No fixes applied. 1 more finding can be fixed with --unsafe.\n"
    done = program("fix", *UNSAFE, "--unsafe", "--diff", "pod.yaml")
    assert (done.code, "+      resources: {limits: {memory: 512Mi}}" in done.out) == (1, True)
    assert pod.read_text() == MEMORY
    program("fix", *UNSAFE, "--unsafe", "pod.yaml")
    assert pod.read_text() == MEMORY.replace("512", "512Mi")


def test_questions_need_a_terminal(program: Program, pod: Path) -> None:
    done = program("fix", "--ask", *SAFE, "pod.yaml", stdin=b"y\n")
    assert (done.code, "--ask requires a terminal" in done.err) == (2, True)
    assert pod.read_text() == OLD


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("answers", "fixed"),
    [
        ("y\nn\n", OLD.replace("serviceAccount:", "serviceAccountName:")),
        ("n\n?\ny\n", OLD.replace("k8s.gcr.io", "registry.k8s.io")),
        ("a\n", NEW),
        ("y\nq\n", OLD.replace("serviceAccount:", "serviceAccountName:")),
        ("q\n", OLD),
        ("\x04", OLD),
    ],
)
def test_questions_on_a_terminal(program: Program, pod: Path, answers: str, fixed: str) -> None:
    import pty

    process, terminal = pty.fork()
    if process == 0:
        # The child process. Its file descriptors are the terminal.
        try:
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            sys.argv = ["kcheck", "fix", "--ask", *SAFE, "pod.yaml"]
            main()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(int(end.code or 0))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(70)
    os.write(terminal, answers.encode())
    shown = b""
    with suppress(OSError):
        while part := os.read(terminal, 4096):
            shown += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, shown
    assert b"fix: rename serviceAccount to serviceAccountName" in shown
    assert b"+  serviceAccountName: web # ours" in shown
    assert pod.read_text() == fixed


def test_an_inserted_separator_has_the_line_ending_of_the_file(program: Program, pod: Path) -> None:
    first, second = (f"apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {{name: {name}}}\r\n".encode() for name in "ab")
    pod.write_bytes(first + second)
    program("fix", "--isolated", "--select", "duplicate-key", "pod.yaml")
    assert pod.read_bytes() == first + b"---\r\n" + second


def test_aliases_and_generated_files_are_not_fixed(program: Program, pod: Path) -> None:
    both = OLD.replace("image: ", "image: &image ") + "    - name: next\n      image: *image\n"
    for text in (both, f"# Code generated by make. DO NOT EDIT.\n{OLD}", f"---\n# Source: web/templates/pod.yaml\n{OLD}"):
        pod.write_text(text)
        program("fix", "--unsafe", "--isolated", "--select", "deprecated-registry", "pod.yaml")
        assert pod.read_text() == text


def test_entries_of_a_map_in_the_place_of_a_list_are_no_duplicates(program: Program, tmp_path: Path) -> None:
    hook = "{name: a.example.com, sideEffects: None, admissionReviewVersions: {a: 1, b: 2}, clientConfig: {url: 'https://a'}}"
    kind = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\n"
    (tmp_path / "a.yaml").write_text(f"{kind}metadata: {{name: a}}\nwebhooks: [{hook}]\n")
    assert "duplicate" not in program("check", "a.yaml", "--format", "concise").out
