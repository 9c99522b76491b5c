"""Runs `helm template`, which must be installed, without access to the network, to a cluster and to the settings of the user.

helm gets a copy of the chart with one more template that is not YAML. With --debug, it then stops parsing and prints the text of every
template as it was rendered, in no particular order: nothing is sorted, left out or checked.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

MAX_SECONDS = 60.0
"""The time that a rendering may take."""

STOPPER = "templates/zz-kcheck.yaml"
"""The path of the template in a copy that is not YAML."""

_STOPPING = "kcheck: [\n"
_MAX_BYTES = 64 * 1024 * 1024
_MAX_ERROR_BYTES = 256 * 1024
_MAX_MEMORY = 8 * 1024 * 1024 * 1024
_MAX_API_VERSIONS = 500
_API_VERSION = pattern(r"[A-Za-z0-9./-]{1,200}")
_SOURCE = pattern(r"^---\n# Source: ([^\n]+)\n", 8)
# Nothing listens on this port: requests fail at once.
_NO_PROXY = "http://127.0.0.1:9"
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class HelmFailed(Exception):
    """A chart could not be rendered; the message is that of helm."""


class HelmSettings(NamedTuple):
    """What `helm template` needs besides the chart.

    Attributes:
        release: name of the release.
        namespace: namespace of the release.
        kubernetes: version such as 1.36.
        api_versions: API versions and kinds that the cluster has, such as `apps/v1` and `apps/v1/Deployment`.
        files: contents of files with values, in order. Messages of helm name them kcheck-values-0.yaml and so on.
        set: values such as `image.tag=1.2`.
    """

    release: str
    namespace: str
    kubernetes: str
    api_versions: tuple[str, ...]
    files: tuple[str, ...] = ()
    set: tuple[str, ...] = ()


def find_program() -> str:
    """Return the path of helm in PATH, "" if it is not installed."""
    from shutil import which

    path = which("helm")
    # A relative entry of PATH may lead into the repository that is checked.
    return path if path is not None and os.path.isabs(path) else ""


def program_state(program: str) -> str:
    """Return a text that changes when another version of helm is installed, without running it."""
    real = os.path.realpath(program)
    try:
        status = os.stat(real)
    except OSError:
        return real
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def render(
    program: str, files: Mapping[str, bytes], chart: str, names: Collection[str], settings: HelmSettings, seconds: float = MAX_SECONDS
) -> dict[str, str]:  # fmt: skip
    """Return the rendered text of each template of a chart, by the name under which helm prints it. Raises HelmFailed.

    Args:
        program: path of helm.
        files: the files of the chart.
        chart: name of the chart.
        names: the names under which helm prints its templates.
        settings: the settings of helm.
        seconds: time limit.
    """
    with _folder() as folder:
        copy = folder / "chart"
        arguments = []
        try:
            write_files(copy, {**files, STOPPER: _STOPPING.encode()})
            for number, content in enumerate(settings.files):
                path = folder / f"kcheck-values-{number}.yaml"
                path.write_text(content, encoding="utf-8")
                arguments += ["--values", str(path)]
        except (OSError, ValueError) as error:
            # For example, an archive contains a file with the name of one of its folders.
            reason = error.strerror if isinstance(error, OSError) else error
            raise HelmFailed(f"a copy of the chart cannot be written: {reason}") from None
        for each in settings.set:
            arguments += ["--set", each]
        # Objects in the input determine the name of the release, which must not be read as an option.
        command = [
            program, "template", "--debug", "--no-hooks", "--namespace", settings.namespace, "--kube-version", settings.kubernetes,
            *_flags_of_api_versions(settings.api_versions), *arguments, "--", settings.release, str(copy),
        ]  # fmt: skip
        output, errors = folder / "output", folder / "errors"
        with output.open("wb") as out, errors.open("wb") as err:
            status = _run(command, out.fileno(), err.fileno(), _environment(folder), seconds)
        if status is None:
            raise HelmFailed(f"helm was stopped after {seconds:g} seconds")
        if output.stat().st_size > _MAX_BYTES:
            raise HelmFailed(f"its output is larger than {_MAX_BYTES >> 20} MiB")
        text = output.read_bytes().decode("utf-8", "replace")
        stopper = f"{chart}/{STOPPER}"
        if f"# Source: {stopper}\n" not in text:
            message = errors.read_bytes()[:_MAX_ERROR_BYTES].decode("utf-8", "replace")
            raise HelmFailed(_error_of(message, str(copy), str(folder)) or f"helm ended with status {status}")
        return _bodies(text, {*names, stopper}, stopper)


def _flags_of_api_versions(versions: Sequence[str]) -> Iterator[str]:
    """Yield flags with API versions. Linux limits the length of an argument, and helm reads it as CSV."""
    valid = [each for each in versions if _API_VERSION.fullmatch(each)]
    for start in range(0, len(valid), _MAX_API_VERSIONS):
        yield f"--api-versions={','.join(valid[start : start + _MAX_API_VERSIONS])}"


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files with paths relative to a folder. Raises ValueError for other paths."""
    for each in map(PurePath, files):
        if each.anchor or ".." in each.parts:
            raise ValueError(f"{each} is outside of the chart")
    for parent in {os.path.dirname(path) for path in files}:
        os.makedirs(folder / parent, exist_ok=True)
    for path, content in files.items():
        with open(folder / path, "wb") as file:
            file.write(content)


@contextmanager
def _folder() -> Iterator[Path]:
    # Imported on first use: a run with stored renderings does not start helm.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="kcheck-", ignore_cleanup_errors=True) as temporary:
        yield Path(os.path.realpath(temporary))


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of helm: without settings, plug-ins, credentials and clusters of the user, and without network."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("HELM_", "KUBE"))}
    own = {name: str(folder / name.lower()) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS")}
    offline = dict.fromkeys(_PROXIES, _NO_PROXY) | {"NO_PROXY": "", "no_proxy": ""}
    return kept | own | offline | {"KUBECONFIG": str(folder / "kubeconfig"), "HOME": str(folder)}


def _run(command: Sequence[str], output: int, errors: int, environment: Mapping[str, str], seconds: float) -> int | None:
    """Run a command and return its exit status, None if it took too long."""
    import subprocess
    import threading

    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment, start_new_session=True)
    except OSError as error:
        raise HelmFailed(f"{command[0]} cannot be started: {error.strerror or error}") from None
    except ValueError:
        raise HelmFailed("a name or value contains characters that a program cannot be given") from None
    _limit_memory(process.pid)
    is_late = False

    def stop() -> None:
        nonlocal is_late
        if process.poll() is None:
            is_late = True
            _kill(process.pid)

    # With a timeout, wait() polls and notices the end of the process up to 50 milliseconds later.
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        status = process.wait()
        return None if is_late else status
    finally:
        timer.cancel()
        if process.poll() is None:
            _kill(process.pid)
            process.wait()


def _kill(process: int) -> None:
    """Kill a process and those that it has started."""
    import signal

    with suppress(OSError):
        # Windows has no groups of processes; SIGTERM ends the process at once there.
        os.killpg(process, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(process, signal.SIGTERM)


def _limit_memory(process: int) -> None:
    """Limit the address space and the size of files of a process, where the system can do that for another process."""
    try:
        import resource

        limit = resource.prlimit
    except (ImportError, AttributeError):
        return
    with suppress(OSError, ValueError):
        limit(process, resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
        limit(process, resource.RLIMIT_FSIZE, (_MAX_BYTES + 1, _MAX_BYTES + 1))


def _bodies(text: str, names: Collection[str], stopper: str) -> dict[str, str]:
    """Return the texts of the templates in the output of helm by their names. Raises HelmFailed if it is ambiguous.

    `names`: the names of all templates; a text may contain the comments of other charts.
    """
    marks = [mark for mark in _SOURCE.finditer(text) if mark[1] in names]
    bodies: dict[str, str] = {}
    for number, mark in enumerate(marks):
        if mark[1] in bodies:
            raise HelmFailed(f"the chart prints a comment that helm writes as well: # Source: {mark[1]}")
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        # helm removes the whitespace at the end of the last text, whichever that is.
        bodies[mark[1]] = text[mark.end() : end].rstrip()
    del bodies[stopper]
    return bodies


_STACK = pattern(r"\n(?:helm\.go:\d+|\S+\n\t/|goroutine |helm\.sh/).*", 16)


def _error_of(errors: str, chart: str, folder: str) -> str:
    """Return the error message in the output of helm, without its stack trace and the folder of the copy."""
    found = errors.rfind("\nError: ")
    text = errors[found + 1 :] if found >= 0 else errors
    text = _STACK.sub("", text.removeprefix("Error: "))
    return text.replace(f"{chart}/", "").replace(f"{folder}/", "").strip()
