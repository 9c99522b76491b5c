"""Loads the text of a file, and detects files of other tools by name, folder and first lines before they are parsed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from kcheck.discovery.discover import Discovery, Target, UnreadablePath, describe_file_type, is_descriptor
from kcheck.finding.role import CHART_TEMPLATE, KUSTOMIZATION, TOOL, VALUES, Role
from kcheck.text.pattern import name_pattern, pattern
from kcheck.text.source import Source, Undecodable

LIMIT = 32 * 1024 * 1024
"""Default maximum size of a file in bytes: ten times the largest request that the API server accepts."""

_CHUNK_BYTES = 1024 * 1024
_HEAD_BYTES = 64 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def load_file(target: Target, limit: int = LIMIT, stdin: BinaryIO | None = None) -> Source | UnreadablePath:
    """Return the text of a file of at most `limit` bytes, or the reason why it cannot be read. `stdin`: the stream for standard input."""
    data = read_file(target, limit, stdin)
    return data if isinstance(data, UnreadablePath) else _decode(target.path, data)


def read_file(target: Target, limit: int = LIMIT, stdin: BinaryIO | None = None) -> bytes | UnreadablePath:
    """Return the content of a regular file, as `load_file` does with its text."""
    path = target.path
    if target.data is not None:
        return target.data
    try:
        if target.stdin:
            if stdin is None:
                return UnreadablePath(path, "standard input is closed")
            data = _read_all(stdin.read, limit, _CHUNK_BYTES)
        elif is_descriptor(path):
            with open(path, "rb") as stream:
                data = _read_all(stream.read, limit, _CHUNK_BYTES)
        else:
            opened = _open_regular(path)
            if isinstance(opened, str):
                return UnreadablePath(path, opened)
            file, size = opened
            try:
                if size > limit:
                    return UnreadablePath(path, f"{size:,} bytes exceed the limit of {limit:,} bytes: not read")
                data = _read_all(partial(os.read, file), limit, size + 1, size)
            finally:
                os.close(file)
    except OSError as error:
        return UnreadablePath(path, f"cannot be read: {error.strerror or error}")
    if data is None:
        return UnreadablePath(path, f"exceeds the limit of {limit:,} bytes: not read completely")
    return data


def with_standard_input(found: Discovery, limit: int, stdin: BinaryIO | None) -> Discovery:
    """Return the files with the content of standard input, of at most `limit` bytes. It can be read only once."""
    if not any(target.stdin for target in found.targets):
        return found
    targets, unreadable = [], list(found.unreadable)
    for target in found.targets:
        data = read_file(target, limit, stdin) if target.stdin else target.data
        if isinstance(data, UnreadablePath):
            unreadable.append(data)
        else:
            targets.append(target._replace(data=data))
    return found._replace(targets=targets, unreadable=unreadable)


def _open_regular(path: str) -> tuple[int, int] | str:
    """Open a regular file. Returns its descriptor and size, or a description of another file type. Raises OSError.

    Devices are not opened, because the type is checked before. O_NONBLOCK prevents blocking if a pipe replaces the file in between.
    """
    status = os.stat(path)
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        return f"{describe_file_type(mode)}, not a regular file: not opened"
    return os.open(path, _FLAGS), status.st_size


def _read_all(read: Callable[[int], bytes], limit: int, step: int, whole: int = -1) -> bytes | None:
    """Read to the end. Returns None if there are more than `limit` bytes. `whole`: the expected size."""
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


def _decode(path: str, data: bytes) -> Source | UnreadablePath:
    try:
        source = Source.decode(path, data)
    except Undecodable as error:
        return UnreadablePath(path, "binary data, not text" if b"\0" in data else f"not text: {error}", error.line)
    nul = source.text.find("\0")
    if nul >= 0:
        return UnreadablePath(path, "not text: it contains NUL characters", source.position(nul).line)
    return source


HELM_TEMPLATE = Role(CHART_TEMPLATE, "Helm template: render it first, for example with helm template . | kcheck check -")
HELM_VALUES = Role(VALUES, "Helm values")

_REASONS = {
    "kustomize": "kustomization: the objects that it builds are checked",
    "chart": "Helm chart metadata",
    "compose": "Docker Compose file",
    "ci": "CI configuration",
    "hooks": "git hook configuration",
    "docs": "documentation generator configuration",
    "node": "JavaScript package or compiler configuration",
    "lint": "linter or formatter configuration",
    "own": "kcheck configuration",
    "baseline": "kcheck baseline",
    "deploy": "deployment or release tool configuration",
}
# File names of other tools. A file that declares itself a Kubernetes object is checked regardless of its name.
_NAMES = name_pattern(
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
    | (?P<own>       \.kcheck\.ya?ml | .+\.kcheck(?:-test)?\.yaml | kcheck-test\.yaml )
    | (?P<baseline>  \.kcheck-baseline\.json )
    | (?P<deploy>    skaffold.*\.ya?ml | helmfile.*\.ya?ml | devspace\.ya?ml | werf\.ya?ml | \.?goreleaser\.ya?ml | Taskfile\.ya?ml
                   | Pulumi.*\.ya?ml | serverless\.ya?ml | ct\.yaml | artifacthub-(?:repo|pkg)\.ya?ml | buf(?:\.gen|\.work)?\.yaml
                   | catalog-info\.ya?ml | \.krew\.ya?ml )
    """,
    re.VERBOSE,
)
_VALUES = name_pattern(r"values.*\.ya?ml|.+[-._]values\.ya?ml|values\.schema\.json")
_TOOL_FOLDER = Role(TOOL, "code hosting or editor configuration")
_TOOL_FOLDERS = frozenset({".github", ".gitlab", ".circleci", ".buildkite", ".devcontainer", ".vscode", ".idea"})

_API_VERSION = pattern(rb"""^["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"']+)""", re.MULTILINE)
_KIND = pattern(rb"""^["']?kind["']?[ \t]*:[ \t]*["']?\w""", re.MULTILINE)
_JSON_API_VERSION = pattern(rb'"apiVersion"\s*:\s*"([^"]+)')
_JSON_KIND = pattern(rb'"kind"\s*:\s*"\w')
# API groups of tools whose configuration looks like an object.
_TOOL_GROUPS = (b"kustomize.config.k8s.io/", b"skaffold/", b"backstage.io/")


class Folders:
    """Cached properties of folders, so that each folder is examined once per run."""

    def __init__(self) -> None:
        self._charts: dict[str, bool] = {}
        self._tool_folders: dict[str, bool] = {}
        self._templates: dict[str, bool] = {}

    def has_chart(self, folder: str) -> bool:
        """Whether a folder (an absolute path) is the root of a Helm chart."""
        if folder not in self._charts:
            self._charts[folder] = os.path.isfile(os.path.join(folder, "Chart.yaml"))
        return self._charts[folder]

    def has_templates(self, folder: str) -> bool:
        """Whether the files of a folder are templates of a Helm chart, regardless of their names."""
        if folder not in self._templates:
            place = os.path.abspath(folder or ".")
            parts = place.split(os.sep) if "templates" in place else []
            self._templates[folder] = any(
                part == "templates" and self.has_chart(os.sep.join(parts[:i])) for i, part in enumerate(parts) if i
            )
        return self._templates[folder]

    def is_tool_folder(self, folder: str) -> bool:
        """Whether a folder is used by a code hosting service or an editor."""
        if folder not in self._tool_folders:
            self._tool_folders[folder] = not _TOOL_FOLDERS.isdisjoint(folder.split("/"))
        return self._tool_folders[folder]


def kind_of_file(path: str, folders: Folders | None = None) -> Role | None:
    """Return the role of a file that belongs to another tool, or None if it may be a manifest.

    Only unambiguous cases count: a folder `templates` or a `values.yaml` outside a chart is checked.
    """
    folders = Folders() if folders is None else folders
    folder, _, name = path.rpartition("/")
    if path.startswith("/"):
        folder = folder or "/"
    if folders.has_templates(folder):
        return HELM_TEMPLATE
    if _VALUES.fullmatch(name):
        place = os.path.abspath(folder or ".")
        # Chart testing tools expect additional values in a folder `ci`.
        if folders.has_chart(place) or (os.path.basename(place) == "ci" and folders.has_chart(os.path.dirname(place))):
            return HELM_VALUES
    if match := _NAMES.fullmatch(name):
        tool = match.lastgroup or ""
        role = Role(KUSTOMIZATION if tool == "kustomize" else TOOL, _REASONS[tool])
    elif folders.is_tool_folder(folder):
        role = _TOOL_FOLDER
    else:
        return None
    # The findings in a baseline name objects.
    return role if role.reason == _REASONS["baseline"] or not _is_object(path) else None


def role_in_chart(path: str) -> Role | None:
    """Return the role of a packed chart, a Chart.yaml or a template of a chart, None for other files."""
    folder, _, name = path.rpartition("/")
    if name == "Chart.yaml" or name.endswith(".tgz"):
        return Role(TOOL, _REASONS["chart"])
    return HELM_TEMPLATE if "templates" in folder and Folders().has_templates(folder) else None


def _is_object(path: str) -> bool:
    """Whether a file declares itself a Kubernetes object. An unreadable file counts as one, so that loading it reports the error."""
    try:
        opened = _open_regular(path)
        if isinstance(opened, str):
            return True
        file, _ = opened
        try:
            head = os.read(file, _HEAD_BYTES)
        finally:
            os.close(file)
    except OSError:
        return True
    api_version, kind = (_JSON_API_VERSION, _JSON_KIND) if head.lstrip()[:1] == b"{" else (_API_VERSION, _KIND)
    found = api_version.search(head)
    return found is not None and not found[1].startswith(_TOOL_GROUPS) and kind.search(head) is not None
