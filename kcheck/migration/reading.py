"""Reading of a config file of another tool. Unknown entries are reported with their line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kcheck.finding.severity import Severity
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.note import note_at
from kcheck.text.source import Source
from kcheck.yaml.node import Node


class ConfigReading:
    """Reads a config file and adds its content to a draft."""

    def __init__(self, tool: str, source: Source, draft: ConfigDraft) -> None:
        self.tool = tool
        self.source = source
        self.draft = draft

    def note(self, node: Node, message: str) -> None:
        self.draft.notes.append(note_at(self.source, node, message))

    def line(self, node: Node) -> int:
        """Returns the line of a node, 0 if it is not in the file."""
        return self.source.position(node.start).line if node.end > node.start else 0

    def want(self, node: Node, check: str, severity: Severity | None = None) -> None:
        self.draft.want(self.tool, check, self.source.path, self.line(node), severity)

    def refuse(self, node: Node, check: str) -> None:
        self.draft.refuse(self.tool, check, self.source.path, self.line(node))

    def entries(self, node: Node, unsupported: Mapping[str, str], known: tuple[str, ...]) -> dict[str, Node]:
        """Returns the entries of a map by the names in `known`. Case, '-' and '_' are ignored. Other entries are reported.

        `unsupported`: notes for entries without an equivalent, "" for no note.
        """
        names = {_folded(name): name for name in (*known, *unsupported)}
        found: dict[str, Node] = {}
        for key, value in node.entries:
            name = names.get(_folded(key), "")
            if name in known:
                found[name] = value
            elif message := unsupported.get(name, "kcheck has no such setting"):
                self.note(value, f"{self.tool} {key}: {message}")
        return found

    def words(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Yields the strings of a list or of a comma-separated string."""
        for each in node if node.is_list else (node,):
            for word in each.text.split(","):
                if word.strip():
                    yield word.strip(), each

    def exclude(self, node: Node, path: str, anywhere: bool = False) -> None:
        """Excludes a path: a glob relative to the folder of the config or, with `anywhere`, at any depth."""
        glob = re.sub(r"^(\./)+", "", path)
        if glob.startswith(("/", "~")) or ".." in glob.split("/"):
            self.note(node, f"{self.tool} {path}: exclude only matches files in the folder of .kcheck.yaml and below")
        elif glob.rstrip("/"):
            # In kcheck, a name without '/' matches at any depth; a path with '/' is relative to the folder of the config.
            several = "/" in glob.rstrip("/")
            self.draft.exclude.append(f"**/{glob}" if several and anywhere else glob if several or anywhere else f"/{glob}")


def _folded(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
