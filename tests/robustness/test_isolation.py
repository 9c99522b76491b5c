"""Nothing of a manifest is executed or fetched: kcheck opens no connection, starts no program, and writes where it is reported to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.seeds import manifests

WATCH = """\
import os, sys

FORBIDDEN = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostby", "socket.send", "urllib.", "http.", "smtplib.", "ftplib.",
    "subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "webbrowser.", "ctypes.dlopen",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.link", "os.symlink", "shutil.",
)
ALLOWED = sys.argv.pop(1)

def watch(event, arguments):
    if event == "open":
        path, _, flags = arguments
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if writes and path != os.devnull and not (ALLOWED and ALLOWED in str(path)):
            os.write(2, f"FORBIDDEN open {path!r}\\n".encode())
            os._exit(99)
    elif event.startswith(FORBIDDEN) and not (ALLOWED and ALLOWED in str(arguments)):
        os.write(2, f"FORBIDDEN {event} {arguments!r}\\n".encode())
        os._exit(99)

sys.dont_write_bytecode = True
sys.addaudithook(watch)
from kcheck.cli.main import main
main()
"""
URLS = "http://127.0.0.1:9/x"
TEMPTING = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a, annotations: {{link: "{URLS}"}}}}
spec:
  containers:
  - {{name: c, image: "127.0.0.1:9/x:1", command: [sh, -c, "touch /tmp/owned"], env: [{{name: A, value: "{URLS}"}}]}}
---
!!python/object/apply:os.system ["touch /tmp/owned"]
---
a: !!python/name:os.system
b: !include /etc/passwd
c: $(touch /tmp/owned)
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: ["{URLS}", "https://github.com/a/b//c?ref=d", ../../etc]
---
apiVersion: example.com/v1
kind: Thing
metadata: {{name: a}}
spec: {{a: 1, b: "{URLS}"}}
"""
KUSTOMIZATION = f"""\
resources: ["{URLS}", "https://127.0.0.1:9/a/b//c?ref=d"]
generators: [exec.yaml]
helmCharts: [{{name: a, repo: "{URLS}", valuesFile: values.yaml}}]
configMapGenerator: [{{name: a, files: ["key=/etc/hostname"]}}]
"""
SCHEMA = {
    "$schema": "https://127.0.0.1:9/schema",
    "$id": URLS,
    "properties": {"spec": {"properties": {"a": {"$ref": f"{URLS}/other"}, "b": {"format": "uri"}}}},
}
COMMANDS = [
    ["check", "--jobs", "1", "."],
    ["check", "--jobs", "2", "--select", "all", "."],
    ["check", "--schemas", "schemas", "."],
    ["check", "--format", "sarif", "."],
    ["check", "--format", "html", "."],
    ["check", "--format", "rdjson", "."],
    ["check", "--diff", "--unsafe-fixes", "--select", "all", "."],
    ["graph", "--format", "html", "."],
    ["graph", "."],
    ["migrate", "peers"],
    ["rules"],
    ["explain", "latest-tag"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("input")
    (folder / "tempting.yaml").write_text(TEMPTING)
    for number, text in enumerate(manifests()):
        (folder / f"{number}.yaml").write_text(text)
    (folder / "kustomization.yaml").write_text(KUSTOMIZATION)
    (folder / "schemas").mkdir()
    (folder / "schemas" / "thing_v1.json").write_text(json.dumps(SCHEMA))
    (folder / "peers").mkdir()
    (folder / "peers" / "a.yaml").write_text("checks: {include: [latest-tag]}\n")
    return folder


def watched(folder: Path, command: list[str], allowed: str = "", cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KCHECK_NO_CACHE": "0" if cache else "1", **({"KCHECK_CACHE_DIR": str(cache)} if cache else {})}
    arguments = [sys.executable, "-c", WATCH, allowed, *command]
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_run_fetched_or_written(folder: Path, command: list[str]) -> None:
    before = sorted(folder.rglob("*"))
    reported = watched(folder, command)
    assert "FORBIDDEN" not in reported.stderr, reported.stderr
    assert reported.returncode in (0, 1, 2)
    assert "Traceback" not in reported.stderr
    assert sorted(folder.rglob("*")) == before
    assert not Path("/tmp/owned").exists()


def test_a_schema_that_leads_to_the_network_is_reported(folder: Path) -> None:
    reported = watched(folder, ["check", "--schemas", "schemas", "--format", "json", "tempting.yaml"])
    failed = [f["message"] for f in json.loads(reported.stdout)["findings"] if f["rule"] == "internal-error"]
    assert any(URLS in message for message in failed)
    assert reported.returncode == 2


def test_only_the_report_and_the_cache_are_written(folder: Path, tmp_path: Path) -> None:
    reported = watched(folder, ["check", "--output", str(tmp_path / "report"), "."], str(tmp_path), tmp_path / "cache")
    assert "FORBIDDEN" not in reported.stderr
    assert (tmp_path / "report").exists()
    assert list((tmp_path / "cache").iterdir())


def test_the_watch_sees(folder: Path, tmp_path: Path) -> None:
    reported = watched(folder, ["check", "--output", str(tmp_path / "report"), "."])
    assert reported.returncode == 99
    assert "FORBIDDEN open" in reported.stderr
