"""Files with user-defined policies that are not part of the input."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kcheck.check.input_kinds import POLICY_MARKER
from kcheck.discovery.discover import UnreadablePath, discover
from kcheck.discovery.load import load_file
from kcheck.engine.error import Error, InvalidConfig
from kcheck.schema.store import Store

Files = tuple[tuple[str, str], ...]
"""Paths and contents of files."""

_RULE_FILE = ".kcheck.yaml"
_TEST_FILE = ".kcheck-test.yaml"


def read_policy_files(paths: Iterable[str | Path], inline: Files, store: Store) -> tuple[Files, Files]:
    """Return the files in these paths with policies and their objects, and the files with short rules.

    Raises Error for a file that cannot be read, a path without policies, and short rules with errors.

    Args:
        paths: Files and folders.
        inline: The config, if it contains short rules.
        store: The kinds of the newest Kubernetes version.
    """
    found: dict[str, str] = {}
    for path in paths:
        texts = dict(_read_texts(path))
        if not any(POLICY_MARKER in text or name.endswith(_RULE_FILE) for name, text in texts.items()):
            raise Error(f"policies: {path} contains no policy")
        found |= texts
    rules = (*inline, *((name, text) for name, text in found.items() if name.endswith(_RULE_FILE)))
    if rules:
        check_rules(rules, store)
    others = tuple((name, text) for name, text in found.items() if not name.endswith((_RULE_FILE, _TEST_FILE)))
    return others, rules


def check_rules(files: Files, store: Store) -> None:
    """Check files with short rules. Raises InvalidConfig with all errors in them."""
    # Imported late: few runs have short rules.
    from kcheck.policy.rules.definitions import InvalidRules
    from kcheck.policy.rules.rule_files import check_rule_files

    try:
        check_rule_files(files, store)
    except InvalidRules as error:
        raise InvalidConfig(str(error)) from None


def _read_texts(path: str | Path) -> Iterable[tuple[str, str]]:
    relative = os.path.relpath(path)
    for target in discover([str(path) if relative.startswith("..") else relative]).targets:
        source = load_file(target)
        if isinstance(source, UnreadablePath):
            raise Error(f"policies: {target.path}: {source.message}")
        yield target.path, source.text
