"""The files that somebody brings along: configs into a draft, manifests to be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kcheck.migration import checkov, kube_linter, kube_score, polaris
from kcheck.migration.detection import MANIFEST, recognise
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.polaris import Exemption
from kcheck.migration.reading import ConfigReading
from kcheck.migration.suppressions import MARKS
from kcheck.text.complaint import concise
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node


class Unrecognised(Exception):
    """A file that is no config of a tool that we know, and no manifest; the message says so."""


@dataclass
class Intake:
    """What was taken in so far. `manifests`: with their documents."""

    draft: ConfigDraft
    exemptions: list[Exemption] = field(default_factory=list)
    manifests: list[tuple[Source, list[Document]]] = field(default_factory=list)

    def file(self, source: Source, tool: str = "") -> None:
        """Take in a file. `tool`: what its owner says it is for; a manifest is one nevertheless. Raises Unrecognised."""
        found, documents = recognise(source)
        if found == MANIFEST:
            self.manifests.append((source, documents))
            return
        tool = tool or found
        if tool == "kube-score":
            words = kube_score.command_line(source.text)
            if words is None:
                raise Unrecognised(f"{source.path}: no line of it calls kube-score score")
            self.command_line(words, source.path)
            return
        if not tool:
            raise Unrecognised(f"{source.path}: neither a manifest nor a config of a tool that kcheck knows: say --from TOOL")
        if fault := next((d.fault for d in documents if d.fault is not None), None):
            raise Unrecognised(f"{source.path}:{source.position(fault.start).line}: {concise(fault.message)}")
        self._config(tool, ConfigReading(tool, source, self.draft), documents[0].root if documents else Node({}, 0, 0))

    def command_line(self, words: Sequence[str], file: str) -> None:
        """Take in the arguments of kube-score."""
        self.draft.origins.append((file, "kube-score"))
        kube_score.read(words, file, self.draft)

    def _config(self, tool: str, reading: ConfigReading, root: Node) -> None:
        self.draft.origins.append((reading.source.path, tool))
        if tool == "kube-linter":
            kube_linter.read(reading, root)
        elif tool == "checkov":
            checkov.read(reading, root)
        else:
            self.exemptions += polaris.read(reading, root)

    @property
    def concerns_manifests(self) -> bool:
        """Whether anything asks for a change of the manifests."""
        return bool(self.exemptions) or any(mark in source.text for source, _ in self.manifests for mark in MARKS)
