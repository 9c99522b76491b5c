"""Files with user-defined policies that are not part of the input."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kcheck.check.input_kinds import POLICY_MARKER
from kcheck.discovery.discover import UnreadablePath, discover
from kcheck.discovery.load import load_file
from kcheck.engine.error import Error


def read_policy_files(paths: Iterable[str | Path]) -> tuple[tuple[str, str], ...]:
    """Return path and content of all files in these paths. Raises Error for unreadable files and paths without policies."""
    found: list[tuple[str, str]] = []
    for path in paths:
        targets = discover([str(path)]).targets
        texts = []
        for target in targets:
            source = load_file(target)
            if isinstance(source, UnreadablePath):
                raise Error(f"policies: {target.path}: {source.message}")
            texts.append((target.path, source.text))
        if not any(POLICY_MARKER in text for _, text in texts):
            raise Error(f"policies: {path} contains no policy")
        found += texts
    return tuple(dict(found).items())
