"""Files of --schemas: CRDs, and JSON Schemas whose file names contain the kind.

There are three conventions for the lower-case name of a JSON Schema: `GROUP/KIND_VERSION.json` (the CRDs catalog),
`KIND-GROUP-VERSION.json` (kubeconform, with only the first part of the group) and `KIND_VERSION.json` (of any group).

A catalog may be large, so a file is parsed only when an object of its kind is validated.
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
_PLAIN = pattern(rf"([a-z0-9]+)_{_VERSION}\.json")
_JOINED = pattern(rf"([a-z0-9]+)-(.+)-{_VERSION}\.json")
_SEPARATOR = pattern(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_ENDINGS = (".yaml", ".yml", ".json")
_CRD = "CustomResourceDefinition"


class BadSchemas(ValueError):
    """A path of schemas, or a CRD in it, that cannot be used; the message says why and what to do."""


class CatalogEntry(NamedTuple):
    """A JSON Schema. `group`: its API group, the first part of it, or "" where the name has none."""

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
        """Raises BadSchemas for invalid YAML."""
        if self._documents is None:
            documents = parse(Source(str(self.file), self.text))
            for document in documents:
                if document.fault is not None:
                    line = document.source.position(document.fault.start).line + self.line
                    raise BadSchemas(f"{self.file}:{line}: {concise(document.fault.message)}")
            self._documents = documents
        return self._documents


class SchemaFiles:
    """The contents of one path: CRDs, and JSON Schemas by kind and version."""

    def __init__(self) -> None:
        self.definitions: list[SchemaFile] = []
        self.entries: dict[tuple[str, str], list[CatalogEntry]] = {}

    def add_to(self, store: Store) -> None:
        """Let a store look up unknown kinds here."""
        store.catalogs.append(_Shelf(self, store))

    def mentions(self, group: str, kind: str) -> Iterator[SchemaFile]:
        """The CRDs whose text contains both words."""
        return (each for each in self.definitions if kind in each.text and group in each.text)

    def schema(self, api_version: str, kind: str) -> Path | None:
        """The JSON Schema of a kind, the one with the most specific name."""
        group, _, version = api_version.rpartition("/")
        entries = self.entries.get((kind.lower(), version), ())
        for wanted in (group, group.partition(".")[0], ""):
            for entry in entries:
                if entry.group == wanted:
                    return entry.file
        return None


class _Shelf:
    """Schema files for one store, with judges that are created on first use."""

    def __init__(self, files: SchemaFiles, store: Store) -> None:
        self._files = files
        self._store = store
        self._judges: dict[tuple[str, str], Judge | None] = {}

    def find(self, api_version: str, kind: str) -> Judge | None:
        key = (api_version, kind)
        if key not in self._judges:
            self._judges[key] = self._make(api_version, kind)
        return self._judges[key]

    def _make(self, api_version: str, kind: str) -> Judge | None:
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
    """The judge of a kind whose CRD cannot be read. It reports every object, so that none looks valid."""

    shape: Shape | None = None
    namespaced: bool | None = None
    plural = ""
    pod_schema: Node | None = None
    definition: None = None

    def __init__(self, error: BadSchemas) -> None:
        self.error = error

    def judge(self, resource: Resource, walk: Walk) -> None:
        walk.crash("crd-schema-violation", self.error)


def add_schemas(store: Store, path: Path) -> None:
    """Add the CRDs and JSON Schemas of a file or folder to a store. Raises BadSchemas."""
    read_schemas(path).add_to(store)


def read_schemas(path: Path) -> SchemaFiles:
    """The CRDs and JSON Schemas of a file or folder, for one store or several. Raises BadSchemas where there are none."""
    if not path.exists():
        raise BadSchemas(f"{path} does not exist: use a file or directory with CustomResourceDefinitions or JSON Schemas")
    found = SchemaFiles()
    for file in schema_files(path):
        entry = _entry(file)
        if entry is not None:
            kind, version, group = entry
            found.entries.setdefault((kind, version), []).append(CatalogEntry(group, file))
        else:
            found.definitions += _definitions(file)
    if not found.definitions and not found.entries:
        raise BadSchemas(f"{path} has no CRD and no JSON Schema named GROUP/KIND_VERSION.json or KIND-GROUP-VERSION.json")
    return found


def schema_files(path: Path) -> Iterator[Path]:
    """The files of a path that are read, in a fixed order."""
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(_ENDINGS))


def _entry(file: Path) -> tuple[str, str, str] | None:
    """Kind, version and group from the name of a JSON Schema; None for another file."""
    name = file.name.lower()
    plain = _PLAIN.fullmatch(name)
    if plain:
        folder = file.absolute().parent.name.lower()
        return plain[1], plain[2], folder if "." in folder else ""
    joined = _JOINED.fullmatch(name)
    return (joined[1], joined[3], joined[2]) if joined else None


def _definitions(file: Path) -> Iterator[SchemaFile]:
    """The CRDs of a file, document by document."""
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
