"""The findings of whole trees of a git repository, by the id of the tree."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kcheck.cache.store import Cache
from kcheck.check.fingerprint import program_state, rules_state
from kcheck.check.session import Session
from kcheck.codec.encoding import DecodeError, packed, unpacked
from kcheck.finding.finding import Finding
from kcheck.text.digest import digest_of_parts

_PACK = "trees"
_MAX_TREES = 16
"""Number of trees whose findings are kept."""
_TYPE = tuple[Finding, ...]


class TreeCache:
    """The findings of trees that were checked in the current folder. `settings`: everything besides the session that they depend on."""

    def __init__(self, folder: Path, session: Session, settings: str) -> None:
        self._cache = Cache(folder, os.getcwd())
        self._registry = session.registry
        encoded = settings.encode("utf-8", "surrogateescape")
        self._settings = digest_of_parts(program_state(session), rules_state(session.rules), encoded)

    def get(self, tree: str) -> tuple[Finding, ...] | None:
        """Return the findings of a tree, None if they are not known."""
        parts = self._cache.get(_PACK, "", self._key(tree))
        with suppress(DecodeError):
            found: tuple[Finding, ...] | None = None if parts is None else unpacked(b"".join(parts), _TYPE)
            if found is not None and not self._registry.unknown_of(finding.rule for finding in found):
                return found
        return None

    def put(self, tree: str, findings: Iterable[Finding]) -> None:
        """Store the findings of a tree, unless they contain values that cannot be serialized."""
        with suppress(DecodeError):
            self._cache.put(_PACK, "", self._key(tree), (packed(tuple(findings), _TYPE),), max_keys=_MAX_TREES)
            self._cache.save()

    def _key(self, tree: str) -> str:
        return digest_of_parts(self._settings, tree.encode()).hex()
