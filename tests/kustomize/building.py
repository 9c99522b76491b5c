"""Builds of kustomizations that tests write down."""

from collections.abc import Mapping
from typing import Any

from kcheck.kustomize.build import Build, BuiltObject, KustomizationBuilder
from kcheck.kustomize.library import Library, Limits
from kcheck.text.source import Source
from kcheck.yaml.node import Node

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.0
        env:
        - name: A
          value: a
"""


class Repository:
    """Files by path; `read` are those that were asked for."""

    def __init__(self, files: Mapping[str, str], limits: Limits | None = None) -> None:
        self.files = files
        self.read: list[str] = []
        self.library = Library(self._read, limits)

    def _read(self, path: str) -> Source | None:
        self.read.append(path)
        return Source(path, self.files[path]) if path in self.files else None

    def build(self, folder: str = ".") -> Build:
        return KustomizationBuilder(self.library).build(folder)

    def place(self, node: Node) -> tuple[str, int, str]:
        """The file, the line and the text of a node."""
        source, start, end = self.library.extent(node.start, node.end)
        return source.path, source.position(start).line, source.text[start:end]

    def problems(self, build: Build) -> list[str]:
        return [self.library.describe(problem) for problem in build.problems]


def built(files: Mapping[str, str], folder: str = ".") -> dict[str, Any]:
    """The objects of a build without problems, by kind and name."""
    repository = Repository(files)
    build = repository.build(folder)
    assert repository.problems(build) == []
    return {f"{each['kind']} {each['metadata']['name']}": each for each in (found.node.plain() for found in build.objects)}


def only(build: Build) -> BuiltObject:
    (found,) = build.objects
    return found
