"""Checking of a text without a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from typing import Any

from kcheck.changes.old_files import TextFiles
from kcheck.changes.old_objects import OldObjects
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.finding.finding import Finding
from kcheck.rule.registry import BUILT_IN, Registry
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import Setting, choose
from kcheck.run.removed_objects import find_removed_objects
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store


def check_text(
    text: str,
    rules: Iterable[str | Rule] = (),
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    kubernetes: str = "",
    complete: bool = False,
    name: str = "example.yaml",
    before: str | None = None,
) -> list[Finding]:
    """Checks a text and returns the findings.

    `rules`: ids, groups or Rules, by default the rules that are on by default. `options`: option values as in a config, by rule id.
    `complete`: whether the text contains every object of the cluster. `name`: the file name, which determines the language.
    `before`: the older version of the objects.

    Raises ValueError for an unknown rule or option, BadOption for an invalid option value.
    """
    wanted = list(rules)
    registry = registry_with(*sorted({r.module for r in wanted if isinstance(r, Rule)}))
    ids = [r.id if isinstance(r, Rule) else r for r in wanted]
    settings = {id: Setting(options=_read(registry, id, given)) for id, given in (options or {}).items()}
    unknown = [id for id in ids if id not in registry.rules and id not in registry.groups]
    if unknown:
        raise ValueError(f"unknown rule or group {', '.join(unknown)}")
    session = Session(registry, choose(registry, ids, settings=settings), [Store(load(kubernetes))], complete)
    if before is not None:
        contents = [Target(name, False, data=text.encode())]
        session.removed, session.gone = find_removed_objects(
            [Target(name, False, data=before.encode())], contents, {name: name}, session, TextFiles.state
        )
        session.before = OldObjects(TextFiles({name: before}))
    found = Discovery([Target(name, named=True, stdin=True)])
    return run_pipeline(found, session, stdin=BytesIO(text.encode())).findings


def _read(registry: Registry, id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if id not in registry.rules:
        raise ValueError(f"unknown rule {id}")
    known = registry.rules[id].options
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown option {', '.join(unknown)} of rule {id}")
    return {name: known[name].read(value) for name, value in given.items()}


@cache
def registry_with(*modules: str) -> Registry:
    """Returns a registry with all installed rules and the rules of some modules, which need not be installed."""
    registry = Registry.load()
    for failure in registry.failures:
        # Without the built-in rules, every text would have no findings.
        if failure.name in BUILT_IN:
            raise RuntimeError(f"{failure.name} could not be loaded: {failure.reason}")
    known = {r.module for r in registry.rules.values()}
    missing = [name for name in modules if name not in known]
    for foreign in (False, True):
        registry.add(*(sys.modules[name] for name in missing if (name.partition(".")[0] not in BUILT_IN) == foreign), foreign=foreign)
    return registry
