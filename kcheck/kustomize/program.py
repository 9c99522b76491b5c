"""Runs `kustomize` or `kubectl kustomize`, which must be installed, without access to the network.

A wrapper in a temporary folder lists the kustomization and asks for annotations with the origin of each object, so the repository is not
changed. The caller must not pass kustomizations with remote entries: kustomize would try to download them until the time limit.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kcheck.text.pattern import pattern

ORIGIN = "config.kubernetes.io/origin"
"""The annotation of an object with the file that it comes from."""

_SECONDS = 60.0
_MAX_BYTES = 64 * 1024 * 1024
# kubectl of some vendors logs the error.
_LOG_PREFIX = pattern(r"(?i)^error: |^E\d{4} \S+ +\d+ [\w.]+:\d+\] .*?err=[\"<]? *")
_MAX_ERRORS = 64 * 1024
_MAX_MESSAGE = 300
# Nothing listens on this port: requests fail at once.
_NO_PROXY = "http://127.0.0.1:9"
_OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), _NO_PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_TERMINAL_PROMPT": "0",
}


class RenderingFailed(Exception):
    """A kustomization could not be built; the message explains why."""


class KustomizeOutput(NamedTuple):
    """The output for a kustomization. Paths in it are relative to `folder`."""

    text: str
    folder: str


def find_program() -> tuple[str, ...]:
    """Return the command that builds a folder: kustomize or kubectl from PATH; empty if neither is installed."""
    for name, arguments in (("kustomize", ("build",)), ("kubectl", ("kustomize",))):
        path = shutil.which(name)
        # A relative entry of PATH may lead into the repository that is checked.
        if path is not None and os.path.isabs(path):
            return path, *arguments
    return ()


def render(command: Sequence[str], folder: str, seconds: float = _SECONDS) -> KustomizeOutput:
    """Return the objects of the kustomization in a folder as YAML. Raises RenderingFailed."""
    with tempfile.TemporaryDirectory(prefix="kcheck-", ignore_cleanup_errors=True) as temporary:
        wrapper = os.path.realpath(temporary)
        try:
            resource = os.path.relpath(os.path.realpath(folder), wrapper).replace(os.sep, "/")
        except ValueError:
            raise RenderingFailed("it is on another drive than the temporary folder") from None
        content = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "buildMetadata": ["originAnnotations"],
            "resources": [resource],
        }
        # JSON is YAML.
        Path(wrapper, "kustomization.yaml").write_text(json.dumps(content), encoding="utf-8")
        output, errors = Path(wrapper, "output"), Path(wrapper, "errors")
        with output.open("wb") as out, errors.open("wb") as err:
            status = _run([*command, wrapper], out.fileno(), err.fileno(), seconds)
        if status is None:
            raise RenderingFailed(f"{os.path.basename(command[0])} was stopped after {seconds:g} seconds")
        if status != 0:
            message = errors.read_bytes()[:_MAX_ERRORS].decode("utf-8", "replace")
            raise RenderingFailed(_message(message, os.path.realpath(folder), resource))
        if output.stat().st_size > _MAX_BYTES:
            raise RenderingFailed(f"its output is larger than {_MAX_BYTES >> 20} MiB")
        return KustomizeOutput(output.read_text(encoding="utf-8", errors="replace"), wrapper)


def _run(command: list[str], output: int, errors: int, seconds: float) -> int | None:
    """Run a command and return its exit status, None if it took too long."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env={**os.environ, **_OFFLINE}, start_new_session=True
        )
    except OSError as error:
        raise RenderingFailed(f"{command[0]} cannot be started: {error.strerror or error}") from None
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            # It may have started git.
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            process.wait()


def _message(errors: str, folder: str, resource: str) -> str:
    """Return the message of kustomize without what it says about the wrapper, with relative paths. `resource`: the entry of the wrapper."""
    lines = [line.strip() for line in errors.splitlines() if line.strip() and not line.startswith("#")]
    text = _LOG_PREFIX.sub("", " ".join(lines)).rstrip(" >")
    for start in (f"accumulating resources from '{resource}': ", f"recursed accumulation of path '{folder}': "):
        _, _, inner = text.partition(start)
        text = inner or text
    text = text.replace(f"{folder}/", "").replace(f"{os.path.realpath(os.getcwd())}/", "")
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
