"""Why kcheck and a peer differ over an object: classes of agreement.yaml, told by predicates over what stands in the manifest."""

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

# Predicates make themselves known when their modules are read.
SOURCES = (roles, surroundings, traits)

DATA = Path(__file__).resolve().parent / "agreement.yaml"


@dataclass(frozen=True)
class Class:
    """A kind of difference. `checks`: patterns; `names`: beginnings of names; `when`: predicates, of which all hold.

    `right`: who is; "both" where the two mean different things by design.
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
        """Whether a case is of this class. A case about several objects is, where one of them is."""
        if self.side not in ("", case.side) or not any(fnmatchcase(case.check, pattern) for pattern in self.checks):
            return False
        if (self.kinds and case.key.kind not in self.kinds) or (self.names and not case.key.name.startswith(self.names)):
            return False
        return all(PREDICATES[name](case) for name in self.when)


@dataclass
class Knowledge:
    """agreement.yaml. `kinds`: what a check looks at, by pattern; `heard`: by peer, the kinds in which it finds something nearly always.

    `options`: check -> (rule, option) -> value, besides what a migration sets; `fields`: check -> pattern of the fields that it is about,
    where its rules are about more; `at_bindings`: checks that tell at a binding what rules tell at its role; `of_any_text`: checks that
    find something in what the peer has not understood.
    """

    classes: list[Class]
    kinds: list[tuple[str, frozenset[str]]]
    heard: Mapping[str, frozenset[str]]
    options: Mapping[str, Mapping[tuple[str, str], Any]]
    fields: Mapping[str, str]
    at_bindings: frozenset[str]
    of_any_text: frozenset[str]

    def kinds_of(self, check: str) -> frozenset[str]:
        """The first pattern that fits says it."""
        return next((kinds for pattern, kinds in self.kinds if fnmatchcase(check, pattern)), frozenset())

    def always_heard(self, peer: str) -> frozenset[str]:
        """The kinds of which a peer finds something wrong with nearly every object that it can read."""
        return self.heard.get(peer, frozenset())

    def cause(self, case: Case) -> str:
        """The first class that explains a case, "" for none."""
        return next((each.name for each in self.classes if each.explains(case)), "")


def load_knowledge() -> Knowledge:
    """Read agreement.yaml."""
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
