"""Explanations of differences between kcheck and another linter: the classes of agreement.yaml, which are predicates about manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import roles
import surroundings
import traits
from case import PREDICATES, Case

from kcheck.text.source import Source
from kcheck.yaml.parse import parse

# Predicates are registered when their modules are imported.
SOURCES = (roles, surroundings, traits)

DATA = Path(__file__).resolve().parent / "agreement.yaml"


@dataclass(frozen=True)
class Class:
    """A class of differences. `checks`: patterns of checks; `names`: prefixes of names; `when`: predicates that must all hold.

    `right`: the linter that is right; "both" if the two check different things by design.
    """

    name: str
    side: str
    checks: tuple[str, ...]
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    when: tuple[str, ...]
    right: str
    why: str
    example: str

    def explains(self, case: Case) -> bool:
        """Whether a case belongs to this class. For a case with several objects, one of them is enough."""
        if self.side not in ("", case.side) or not any(fnmatchcase(case.check, pattern) for pattern in self.checks):
            return False
        if (self.kinds and case.key.kind not in self.kinds) or (self.names and not case.key.name.startswith(self.names)):
            return False
        return all(PREDICATES[name](case) for name in self.when)


@dataclass
class Knowledge:
    """The content of agreement.yaml.

    Attributes:
        kinds: Kinds that a check applies to, by pattern of checks.
        heard: Kinds that a peer nearly always has findings for, by peer.
        options: Option values by check and (rule, option), in addition to those of a migration.
        fields: Pattern of the fields that a check applies to, if its rules apply to more fields.
        at_bindings: Checks that report at a binding what rules report at its role.
        of_any_text: Checks that have findings for text that the peer cannot interpret.
    """

    classes: list[Class]
    kinds: list[tuple[str, frozenset[str]]]
    heard: Mapping[str, frozenset[str]]
    options: Mapping[str, Mapping[tuple[str, str], Any]]
    fields: Mapping[str, str]
    at_bindings: frozenset[str]
    of_any_text: frozenset[str]

    def kinds_of(self, check: str) -> frozenset[str]:
        """Returns the kinds that a check applies to, from the first pattern that matches."""
        return next((kinds for pattern, kinds in self.kinds if fnmatchcase(check, pattern)), frozenset())

    def always_heard(self, peer: str) -> frozenset[str]:
        """Returns the kinds for which a peer has findings in nearly every object that it can read."""
        return self.heard.get(peer, frozenset())

    def cause(self, case: Case) -> str:
        """Returns the first class that explains a case, "" if there is none."""
        return next((each.name for each in self.classes if each.explains(case)), "")


def load_knowledge() -> Knowledge:
    """Reads agreement.yaml."""
    (document,) = parse(Source(str(DATA), DATA.read_text(encoding="utf-8")))
    if document.fault is not None:
        raise SystemExit(f"{DATA.name}: {document.fault.message}")
    data: Any = document.root.plain()
    named = {name: tuple(kinds.split()) for name, kinds in data["kinds"].items()}

    def listed(entry: Any) -> frozenset[str]:
        return frozenset(kind for word in entry.split() for kind in named.get(word, (word,)))

    classes = [
        Class(
            c["class"], c.get("side", ""), tuple(c.get("checks", "*").split()), tuple(listed(c.get("kinds", ""))),
            tuple(c.get("names", "").split()), tuple(c.get("when", "").split()),
            c["right"], " ".join(c["why"].split()), " ".join(c.get("example", "").split()),
        )
        for c in data["classes"]
    ]  # fmt: skip
    options: dict[str, dict[tuple[str, str], Any]] = {}
    for entry in data.get("options", ()):
        value = tuple(entry["value"]) if isinstance(entry["value"], list) else entry["value"]
        for check in entry["checks"].split():
            options.setdefault(check, {})[entry["rule"], entry["option"]] = value
    return Knowledge(
        classes,
        [(pattern, listed(kinds)) for entry in data["looks"] for pattern in entry["checks"].split() for kinds in [entry["kinds"]]],
        {peer: listed(kinds) for peer, kinds in data["heard"].items()},
        options,
        {check: entry["field"] for entry in data.get("fields", ()) for check in entry["checks"].split()},
        frozenset(data.get("at-bindings", "").split()),
        frozenset(data.get("of-any-text", "").split()),
    )
