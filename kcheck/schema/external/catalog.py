"""Files passed with --schemas: CRDs, and JSON Schemas whose file names identify their kind.

Three naming schemes are supported, all in lower case: `GROUP/KIND_VERSION.json` (the CRDs catalog), `KIND-GROUP-VERSION.json`
(kubeconform, which uses only the first part of a group) and `KIND_VERSION.json` (for any group).

A catalog may be large while a run needs little of it, so a file is parsed only when an object of its kind is found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kcheck.kube.resource import Resource
from kcheck.schema.crd.definitions import definitions
from kcheck.schema.external.json_schemas import SchemaKind
from kcheck.schema.shape import Shape
from kcheck.schema.store import Judge, Store
from kcheck.schema.walk import Walk
from kcheck.text.complaint import concise
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source, Undecodable
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_VERSION = r"(v\d+(?:(?:alpha|beta)\d+)?)"
_KIND_VERSION_NAME = pattern(rf"([a-z0-9]+)_{_VERSION}\.json")
_KIND_GROUP_VERSION_NAME = pattern(rf"([a-z0-9]+)-(.+)-{_VERSION}\.json")
_SEPARATOR = pattern(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_FILE_EXTENSIONS = (".yaml", ".yml", ".json")
_CRD = "CustomResourceDefinition"


class BadSchemas(ValueError):
    """An unusable schema path or an invalid CRD in it; the message names the reason and a fix."""


class CatalogEntry(NamedTuple):
    """A JSON Schema file. `group`: its API group, the first part of the group, or "" if the file name does not contain it."""

    group: str
    file: Path


class SchemaFile:
    """A document with a CRD, parsed on first use. `line`: the number of lines before it in its file."""

    def __init__(self, file: Path, text: str, line: int) -> None:
        self.file = file
        self.text = text
        self.line = line
        self._documents: list[Document] | None = None

    @property
    def documents(self) -> list[Document]:
        """The parsed documents. Raises BadSchemas if the text is not valid YAML."""
        if self._documents is None:
            documents = parse(Source(str(self.file), self.text))
            for document in documents:
                if document.fault is not None:
                    line = document.source.position(document.fault.start).line + self.line
                    raise BadSchemas(f"{self.file}:{line}: {concise(document.fault.message)}")
            self._documents = documents
        return self._documents


class SchemaFiles:
    """The contents of one schema path: CRDs, and JSON Schemas by kind and version."""

    def __init__(self) -> None:
        self.definitions: list[SchemaFile] = []
        self.entries: dict[tuple[str, str], list[CatalogEntry]] = {}

    def add_to(self, store: Store) -> None:
        """Register these files as a catalog of a store."""
        store.catalogs.append(_StoreCatalog(self, store))

    def mentions(self, group: str, kind: str) -> Iterator[SchemaFile]:
        """Return the CRD documents whose text contains both words."""
        return (each for each in self.definitions if kind in each.text and group in each.text)

    def schema(self, api_version: str, kind: str) -> Path | None:
        """Return the JSON Schema of a kind; the file name with the most specific group is preferred."""
        group, _, version = api_version.rpartition("/")
        entries = self.entries.get((kind.lower(), version), ())
        for wanted in (group, group.partition(".")[0], ""):
            for entry in entries:
                if entry.group == wanted:
                    return entry.file
        return None


class _StoreCatalog:
    """The schema files for one store, with validators that are created on first use."""

    def __init__(self, files: SchemaFiles, store: Store) -> None:
        self._files = files
        self._store = store
        self._judges: dict[tuple[str, str], Judge | None] = {}

    def find(self, api_version: str, kind: str) -> Judge | None:
        key = (api_version, kind)
        if key not in self._judges:
            self._judges[key] = self._find_uncached(api_version, kind)
        return self._judges[key]

    def _find_uncached(self, api_version: str, kind: str) -> Judge | None:
        for definition in self._files.mentions(api_version.rpartition("/")[0], kind):
            try:
                for judge in definitions(self._store, definition.documents):
                    if (judge.version.api_version, judge.version.kind) == (api_version, kind):
                        return judge
            except BadSchemas as error:
                return _Unreadable(error)
        file = self._files.schema(api_version, kind)
        return SchemaKind(file, self._store.definitions.shape("meta/v1 ObjectMeta")) if file is not None else None


class _Unreadable:
    """The validator of a kind whose CRD cannot be read: it reports each object, so that none is considered valid."""

    shape: Shape | None = None
    namespaced: bool | None = None
    pod_schema: Node | None = None

    def __init__(self, error: BadSchemas) -> None:
        self.error = error

    def judge(self, resource: Resource, walk: Walk) -> None:
        walk.crash("crd-schema-violation", self.error)


def add_schemas(store: Store, path: Path) -> None:
    """Add the CRDs and JSON Schemas of a file or directory to a store. Raises BadSchemas."""
    read_schemas(path).add_to(store)


def read_schemas(path: Path) -> SchemaFiles:
    """Read the CRDs and JSON Schemas of a file or directory, for one store or several. Raises BadSchemas if there are none."""
    if not path.exists():
        raise BadSchemas(f"{path} does not exist: expected a file or directory with CRDs or JSON Schemas")
    found = SchemaFiles()
    for file in schema_files(path):
        entry = _parse_file_name(file)
        if entry is not None:
            kind, version, group = entry
            found.entries.setdefault((kind, version), []).append(CatalogEntry(group, file))
        else:
            found.definitions += _read_crds(file)
    if not found.definitions and not found.entries:
        raise BadSchemas(f"{path} contains no CRD and no JSON Schema named GROUP/KIND_VERSION.json or KIND-GROUP-VERSION.json")
    return found


def schema_files(path: Path) -> Iterator[Path]:
    """Yield the files of a path to read, in a stable order."""
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(_FILE_EXTENSIONS))


def _parse_file_name(file: Path) -> tuple[str, str, str] | None:
    """Return kind, version and group encoded in the file name of a JSON Schema; None for other files."""
    name = file.name.lower()
    plain = _KIND_VERSION_NAME.fullmatch(name)
    if plain:
        folder = file.absolute().parent.name.lower()
        return plain[1], plain[2], folder if "." in folder else ""
    joined = _KIND_GROUP_VERSION_NAME.fullmatch(name)
    return (joined[1], joined[3], joined[2]) if joined else None


def _read_crds(file: Path) -> Iterator[SchemaFile]:
    """Yield the documents of a file that contain a CRD."""
    try:
        text = Source.decode(str(file), file.read_bytes()).text
    except OSError as error:
        raise BadSchemas(f"{file} cannot be read: {error.strerror or error}") from None
    except Undecodable as error:
        raise BadSchemas(f"{file}:{error.line}: {error}: save it as UTF-8") from None
    bounds = [0, *(match.start() for match in _SEPARATOR.finditer(text)), len(text)]
    for start, end in pairwise(bounds):
        if text.find(_CRD, start, end) >= 0:
            yield SchemaFile(file, text[start:end], text.count("\n", 0, start))
