"""What a run may know from earlier ones: the outcomes of files, and what was found among the objects of all of them."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

from kcheck.finding.finding import Finding
from kcheck.kube.facts import Facts
from kcheck.rule.ruleset import RuleSet
from kcheck.run.cache import Cache, Parts, digest, state_of
from kcheck.run.conclusion import Told
from kcheck.run.fingerprint import program_state, rules_state
from kcheck.run.flat import flattened, restored
from kcheck.run.ignore import Ignores
from kcheck.run.kinds import KindPlace
from kcheck.run.outcome import Damaged, Outcome, Task
from kcheck.run.pickles import canonical, outline, pickled, unpickled
from kcheck.run.session import Session

_PACKS = 64
"""Packs that the files of an input are spread over: each is read by every run, and written where one of its files has changed."""

_RELATIONS = "relations"
_INPUTS = 8
"""Inputs whose relations are kept: what is changed and changed back, and other folders that are checked from the same place."""


class LateFacts(Sequence[Facts]):
    """The facts of a file, made of bytes when somebody asks for them. `state`: the same where they are the same but for their lines.

    Asking raises Damaged where the bytes are not what they should be.
    """

    __slots__ = ("_facts", "data", "state")

    def __init__(self, state: bytes, data: bytes, facts: Sequence[Facts] | None = None) -> None:
        self.state = state
        self.data = data
        self._facts = facts

    def __bool__(self) -> bool:
        return bool(self.data)

    def made(self) -> Sequence[Facts]:
        if self._facts is None:
            found = unpickled(self.data)
            if not isinstance(found, list) or not all(isinstance(each, Facts) for each in found):
                raise Damaged("no facts")
            self._facts = found
        return self._facts

    def __len__(self) -> int:
        return len(self.made())

    @overload
    def __getitem__(self, at: int) -> Facts: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Facts]: ...

    def __getitem__(self, at: int | slice) -> Facts | Sequence[Facts]:
        return self.made()[at]

    def __iter__(self) -> Iterator[Facts]:
        return iter(self.made())


class Memory:
    """That of the runs of one working folder. `folder`: where the cache is."""

    def __init__(self, folder: Path, session: Session) -> None:
        self._cache = Cache(folder, os.getcwd())
        self._session = session
        self._program = program_state(session)
        self._rules: dict[int, bytes] = {}
        self._begun: dict[int, Any] = {}

    def key(self, task: Task) -> bytes:
        """All that the outcome of a file depends on, definitions of the input left aside."""
        path = task.source.path
        rules = self._session.rules_for(path)
        begun = self._begun.get(id(rules))
        if begun is None:
            begun = self._begun[id(rules)] = sha256(self._program + self._state_of(rules))
        state = begun.copy()
        name = _encoded(path)
        state.update(b"%d %d %d %d %b" % (task.named, task.other, task.part, len(name), name))
        state.update(task.source.text.encode("utf-8", "surrogatepass"))
        key: bytes = state.digest()
        return key

    def outcome(self, task: Task, final: bool, key: bytes, kinds: bytes = b"") -> Outcome | None:
        """What is remembered of a file. `kinds`: behind the key of those that depend on the kinds of the input."""
        pack, name = _place(task, final)
        parts = self._cache.get(pack, name, key, key + kinds)
        try:
            return None if parts is None else _outcome(parts)
        except (Damaged, KeyError, ValueError, TypeError):
            return None

    def keep(self, task: Task, final: bool, key: bytes, outcome: Outcome) -> None:
        """Remember what a file gave."""
        place = _place(task, final)
        if outcome.facts:
            outcome.facts = self._late(outcome.facts, self._cache.latest(*place))
        # A text of a rule's own class is not written.
        with suppress(ValueError):
            self._cache.put(*place, key, _parts(outcome))

    def _late(self, facts: Sequence[Facts], earlier: Iterable[Parts]) -> LateFacts:
        """Facts that are remembered: those from before, where they are the same, or with their state, where they have only moved."""
        data = pickled(facts)
        for parts in earlier:
            with suppress(Exception):
                before = _outcome(parts).facts
                if isinstance(before, LateFacts) and outline(before.made()) == outline(facts):
                    return before if before.made() == facts else LateFacts(before.state, data, facts)
        return LateFacts(state_of(data), data, facts)

    def relations(self, told: Told, judged: Callable[[], list[Finding]]) -> list[Finding]:
        """What rules find that see the objects of all files, in their order: as remembered, or `judged` and remembered.

        What they find does not depend on lines, but tells them. So it is good for an input in which nothing moved that it is about.
        """
        key = self._key_of_relations(told)
        known = self._cache.get(_RELATIONS, b"", key)
        if known is not None:
            with suppress(KeyError, ValueError, TypeError):
                flat, lines = known
                found = restored(flat)
                if lines == _lines(found, told):
                    return found
        found = judged()
        if not any(finding.rule == "internal-error" for finding in found):
            with suppress(ValueError):
                self._cache.put(_RELATIONS, b"", key, (flattened(found), _lines(found, told)), most=_INPUTS)
            self.save()
        return found

    def _key_of_relations(self, told: Told) -> bytes:
        parts = [self._program, bytes([self._session.complete])]
        for path, facts in told:
            parts.append(_encoded(path))
            if facts:
                state = facts.state if isinstance(facts, LateFacts) else canonical(list(facts))
                parts += (state, self._state_of(self._session.rules_for(path)))
            else:
                parts += (b"", b"")
        return digest(*parts)

    def save(self) -> None:
        self._cache.save()

    def _state_of(self, rules: RuleSet) -> bytes:
        state = self._rules.get(id(rules))
        if state is None:
            state = self._rules[id(rules)] = rules_state(rules)
        return state


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _place(task: Task, final: bool) -> tuple[str, bytes]:
    """The pack of a file, and its name there."""
    name = _encoded(task.source.path)
    return f"{crc32(name) % _PACKS:02x}", b"%d %b" % (final, name)


def _parts(outcome: Outcome) -> Parts:
    rest = (outcome.ignores, outcome.kinds)
    facts = outcome.facts
    late = (facts.state, facts.data) if isinstance(facts, LateFacts) else (b"", b"")
    plain = (outcome.documents, outcome.passed, outcome.custom, outcome.waits, outcome.kubeconfig)
    return (*plain, flattened(outcome.findings), pickled(rest) if any(rest) else b"", *late)


def _outcome(parts: Parts) -> Outcome:
    """Raises Damaged, KeyError, ValueError or TypeError for parts of something else."""
    documents, passed, custom, waits, kubeconfig, findings, rest, state, data = parts
    outcome = Outcome(documents=documents, passed=passed, custom=custom, waits=waits, kubeconfig=kubeconfig)
    if findings:
        outcome.findings = restored(findings)
    if rest:
        outcome.ignores, outcome.kinds = unpickled(rest)
        if not isinstance(outcome.ignores, Ignores) or not all(isinstance(kind, KindPlace) for kind in outcome.kinds):
            raise Damaged("no outcome")
    if data:
        outcome.facts = LateFacts(state, data)
    return outcome


def _lines(found: Iterable[Finding], told: Told) -> bytes:
    """Bytes that are the same where the facts have not moved in files that findings are about."""
    files = {place.file for finding in found for place in (finding.place, *(related.place for related in finding.related))}
    about = [facts for path, facts in told if path in files]
    return digest(*(facts.data if isinstance(facts, LateFacts) else canonical(list(facts)) for facts in about))
