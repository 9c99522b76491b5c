"""A file's bytes to its text; and what a file is, by its name, its place and its first lines, before it is parsed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from kcheck.discovery.discover import Target, UnreadablePath, is_descriptor, what_is
from kcheck.text.pattern import pattern
from kcheck.text.source import Source, Undecodable

LIMIT = 32 * 1024 * 1024
"""Bytes of one file, unless the caller says otherwise: ten of the largest requests that the API server reads."""

_CHUNK = 1024 * 1024
_HEAD = 64 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def load(target: Target, limit: int = LIMIT, stdin: BinaryIO | None = None) -> Source | UnreadablePath:
    """The text of a file of at most `limit` bytes, or why it has none. `stdin` is what a target of standard input is read from."""
    path = target.path
    if target.data is not None:
        return _text(path, target.data)
    try:
        if target.stdin:
            if stdin is None:
                return UnreadablePath(path, "standard input is closed")
            data = _read(stdin.read, limit, _CHUNK)
        elif is_descriptor(path):
            with open(path, "rb") as stream:
                data = _read(stream.read, limit, _CHUNK)
        else:
            opened = _open(path)
            if isinstance(opened, str):
                return UnreadablePath(path, opened)
            file, size = opened
            try:
                if size > limit:
                    return UnreadablePath(path, f"file has {size:,} bytes, more than the limit of {limit:,}, and was not read")
                data = _read(partial(os.read, file), limit, size + 1, size)
            finally:
                os.close(file)
    except OSError as error:
        return UnreadablePath(path, f"cannot be read: {error.strerror or error}")
    if data is None:
        return UnreadablePath(path, f"input has more than the limit of {limit:,} bytes and was not read completely")
    return _text(path, data)


def _open(path: str) -> tuple[int, int] | str:
    """The descriptor of a regular file and its size, or what it is instead. Raises OSError.

    The look before keeps devices shut, the flag keeps a pipe that took the file's place in between from waiting for a writer.
    """
    status = os.stat(path)
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        return f"not a file but {what_is(mode)}, so it was not opened"
    return os.open(path, _FLAGS), status.st_size


def _read(read: Callable[[int], bytes], limit: int, step: int, whole: int = -1) -> bytes | None:
    """All bytes up to the end, or None where there are more than `limit`. `whole`: as many as there should be."""
    data = read(step)
    if len(data) == whole:
        return data
    parts = [data]
    size = len(data)
    while size <= limit:
        if not data:
            return b"".join(parts)
        data = read(step)
        parts.append(data)
        size += len(data)
    return None


def _text(path: str, data: bytes) -> Source | UnreadablePath:
    try:
        source = Source.decode(path, data)
    except Undecodable as error:
        return UnreadablePath(path, "file contains binary data" if b"\0" in data else f"file is not text: {error}", error.line)
    nul = source.text.find("\0")
    if nul >= 0:
        return UnreadablePath(path, "file is not text: it contains NUL characters", source.position(nul).line)
    return source


HELM_TEMPLATE = "Helm template: render it first, for example with helm template . | kcheck check -"

KUSTOMIZATION = "kustomization: build it first, e.g. kubectl kustomize . | kcheck check -"

_REASONS = {
    "kustomize": KUSTOMIZATION,
    "chart": "Helm chart metadata",
    "compose": "Docker Compose file",
    "ci": "configuration of a build service",
    "hooks": "configuration of git hooks",
    "docs": "configuration of a documentation generator",
    "node": "JavaScript package or compiler configuration",
    "lint": "configuration of a linter or formatter",
    "own": "kcheck's own configuration",
    "deploy": "configuration of a deployment or release tool",
}
# Names that belong to a tool. A file that says it is a Kubernetes object is checked whatever its name.
_NAMES = pattern(
    r"""
      (?P<kustomize> kustomization\.ya?ml )
    | (?P<chart>     Chart\.yaml )
    | (?P<compose>   (?:docker-)?compose(?:[-._].+)?\.ya?ml )
    | (?P<ci>        \.gitlab-ci\.ya?ml | \.travis\.ya?ml | \.?appveyor\.ya?ml | azure-pipelines.*\.ya?ml | bitbucket-pipelines\.ya?ml
                   | cloudbuild\.(?:ya?ml|json) | buildspec\.ya?ml | \.drone\.ya?ml | \.cirrus\.ya?ml | \.?codecov\.ya?ml
                   | \.?dependabot\.ya?ml | \.?renovate\.json | netlify\.ya?ml )
    | (?P<hooks>     \.pre-commit-(?:config|hooks)\.yaml | \.?lefthook\.ya?ml )
    | (?P<docs>      mkdocs.*\.ya?ml | \.readthedocs\.ya?ml | _config\.ya?ml )
    | (?P<node>      (?:package|package-lock|npm-shrinkwrap|composer|lerna|nx|turbo)\.json | (?:ts|js)config.*\.json
                   | pnpm-(?:lock|workspace)\.yaml )
    | (?P<lint>      \.(?:yamllint|prettierrc|eslintrc|stylelintrc|markdownlint.*|golangci|hadolint|ansible-lint|kube-linter)
                     \.(?:ya?ml|json) )
    | (?P<own>       \.kcheck\.ya?ml )
    | (?P<deploy>    skaffold.*\.ya?ml | helmfile.*\.ya?ml | devspace\.ya?ml | werf\.ya?ml | \.?goreleaser\.ya?ml | Taskfile\.ya?ml
                   | Pulumi.*\.ya?ml | serverless\.ya?ml | ct\.yaml | artifacthub-(?:repo|pkg)\.ya?ml | buf(?:\.gen|\.work)?\.yaml
                   | catalog-info\.ya?ml )
    """,
    re.VERBOSE,
)
_VALUES = pattern(r"values.*\.ya?ml|.+[-._]values\.ya?ml|values\.schema\.json")
_SERVICE_FOLDERS = frozenset({".github", ".gitlab", ".circleci", ".buildkite", ".devcontainer", ".vscode", ".idea"})

_API_VERSION = pattern(rb"""^["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"']+)""", re.MULTILINE)
_KIND = pattern(rb"""^["']?kind["']?[ \t]*:[ \t]*["']?\w""", re.MULTILINE)
_JSON_API_VERSION = pattern(rb'"apiVersion"\s*:\s*"([^"]+)')
_JSON_KIND = pattern(rb'"kind"\s*:\s*"\w')
# Tools whose own files look like objects.
_TOOL_GROUPS = (b"kustomize.config.k8s.io/", b"skaffold/", b"backstage.io/")


class Folders:
    """What is known of folders: one for a run, so that each is looked at once."""

    def __init__(self) -> None:
        self._charts: dict[str, bool] = {}
        self._reasons: dict[str, str] = {}
        self._services: dict[str, bool] = {}

    def has_chart(self, folder: str) -> bool:
        """Whether a Helm chart begins in a folder, given as an absolute path."""
        if folder not in self._charts:
            self._charts[folder] = os.path.isfile(os.path.join(folder, "Chart.yaml"))
        return self._charts[folder]

    def reason(self, folder: str) -> str:
        """Why the files of a folder are no manifests as they stand, whatever their names; nothing where they may be some."""
        if folder not in self._reasons:
            place = os.path.abspath(folder or ".")
            parts = place.split(os.sep) if "templates" in place else []
            inside = any(part == "templates" and self.has_chart(os.sep.join(parts[:i])) for i, part in enumerate(parts) if i)
            self._reasons[folder] = HELM_TEMPLATE if inside else ""
        return self._reasons[folder]

    def is_of_service(self, folder: str) -> bool:
        """Whether the files of a folder are for a code hosting service or an editor."""
        if folder not in self._services:
            self._services[folder] = not _SERVICE_FOLDERS.isdisjoint(folder.split("/"))
        return self._services[folder]


def kind_of_file(path: str, folders: Folders | None = None) -> str:
    """What a file that was found in a folder is, if it is no Kubernetes manifest; nothing if it is to be checked.

    Only what is certain counts: a folder `templates` or a `values.yaml` outside a chart is checked.
    """
    folders = Folders() if folders is None else folders
    folder, _, name = path.rpartition("/")
    if path.startswith("/"):
        folder = folder or "/"
    if reason := folders.reason(folder):
        return reason
    if _VALUES.fullmatch(name):
        place = os.path.abspath(folder or ".")
        # Tools that test charts keep further values in a folder `ci`.
        if folders.has_chart(place) or (os.path.basename(place) == "ci" and folders.has_chart(os.path.dirname(place))):
            return "Helm values"
    if match := _NAMES.fullmatch(name):
        reason = _REASONS[match.lastgroup or ""]
    elif folders.is_of_service(folder):
        reason = "configuration of a code hosting service or an editor"
    return reason if reason and not _is_object(path) else ""


def _is_object(path: str) -> bool:
    """Whether a file says that it is a Kubernetes object. One that cannot be read counts as one: whoever loads it will say why."""
    try:
        opened = _open(path)
        if isinstance(opened, str):
            return True
        file, _ = opened
        try:
            head = os.read(file, _HEAD)
        finally:
            os.close(file)
    except OSError:
        return True
    api_version, kind = (_JSON_API_VERSION, _JSON_KIND) if head.lstrip()[:1] == b"{" else (_API_VERSION, _KIND)
    found = api_version.search(head)
    return found is not None and not found[1].startswith(_TOOL_GROUPS) and kind.search(head) is not None
