"""The input of a migration: configs, which are added to a draft, and manifests to rewrite."""

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
    """The file is neither a manifest nor a config of a supported tool."""


@dataclass
class Intake:
    """The files that have been read. `manifests`: manifests with their documents."""

    draft: ConfigDraft
    exemptions: list[Exemption] = field(default_factory=list)
    manifests: list[tuple[Source, list[Document]]] = field(default_factory=list)

    def file(self, source: Source, tool: str = "") -> None:
        """Adds a file. `tool`: the tool that the user named; it does not apply to manifests. Raises Unrecognised."""
        detected, documents = recognise(source)
        if detected == MANIFEST:
            self.manifests.append((source, documents))
            return
        tool = tool or detected
        if tool == "kube-score":
            words = kube_score.command_line(source.text)
            if words is None:
                raise Unrecognised(f"{source.path}: no call of kube-score score found")
            self.command_line(words, source.path)
            return
        if not tool:
            raise Unrecognised(f"{source.path}: neither a manifest nor a config of a supported tool; use --from TOOL")
        if fault := next((d.fault for d in documents if d.fault is not None), None):
            raise Unrecognised(f"{source.path}:{source.position(fault.start).line}: {concise(fault.message)}")
        self._config(tool, ConfigReading(tool, source, self.draft), documents[0].root if documents else Node({}, 0, 0))

    def command_line(self, words: Sequence[str], file: str) -> None:
        """Adds the arguments of kube-score."""
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
        """Whether the manifests need to be checked and rewritten."""
        return bool(self.exemptions) or any(mark in source.text for source, _ in self.manifests for mark in MARKS)
