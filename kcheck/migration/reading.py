"""A config file of another tool, read with places; what is in it and not understood is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kcheck.finding.severity import Severity
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.note import note_at
from kcheck.text.source import Source
from kcheck.yaml.node import Node


class ConfigReading:
    """One file on its way into a draft."""

    def __init__(self, tool: str, source: Source, draft: ConfigDraft) -> None:
        self.tool = tool
        self.source = source
        self.draft = draft

    def note(self, node: Node, message: str) -> None:
        self.draft.notes.append(note_at(self.source, node, message))

    def line(self, node: Node) -> int:
        """The line of a node, 0 for what the file does not say."""
        return self.source.position(node.start).line if node.end > node.start else 0

    def want(self, node: Node, check: str, severity: Severity | None = None) -> None:
        self.draft.want(self.tool, check, self.source.path, self.line(node), severity)

    def refuse(self, node: Node, check: str) -> None:
        self.draft.refuse(self.tool, check, self.source.path, self.line(node))

    def entries(self, node: Node, idle: Mapping[str, str], known: tuple[str, ...]) -> dict[str, Node]:
        """The known entries of a map, by the names in `known`, without regard to case and '-'. The others are noted.

        `idle`: names of what kcheck has no setting for, and what to say of it; "" for nothing.
        """
        names = {_folded(name): name for name in (*known, *idle)}
        found: dict[str, Node] = {}
        for key, value in node.entries:
            name = names.get(_folded(key), "")
            if name in known:
                found[name] = value
            elif message := idle.get(name, "kcheck has no such setting"):
                self.note(value, f"{self.tool} {key}: {message}")
        return found

    def words(self, node: Node) -> Iterator[tuple[str, Node]]:
        """The texts of a list, or of a text with commas."""
        for each in node if node.is_list else (node,):
            for word in each.text.split(","):
                if word.strip():
                    yield word.strip(), each

    def exclude(self, node: Node, path: str, anywhere: bool = False) -> None:
        """Leave out a path: a glob relative to where the tool ran, which is where the config will stand, or one at any depth."""
        glob = re.sub(r"^(\./)+", "", path)
        if glob.startswith(("/", "~")) or ".." in glob.split("/"):
            self.note(node, f"{self.tool} {path}: kcheck's exclude reaches what stands beside .kcheck.yaml and below")
        elif glob.rstrip("/"):
            # To us, a name alone is at any depth, and what has a '/' begins where the config is.
            several = "/" in glob.rstrip("/")
            self.draft.exclude.append(f"**/{glob}" if several and anywhere else glob if several or anywhere else f"/{glob}")


def _folded(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
