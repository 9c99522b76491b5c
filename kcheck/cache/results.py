"""What a run may know from earlier ones: the outcomes of files, and what was found among the objects of all of them."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

from kcheck.cache.store import Cache, Parts
from kcheck.check.checked import FactsByFile
from kcheck.check.file import Damaged, Outcome, Task
from kcheck.check.fingerprint import program_state, rules_state
from kcheck.check.input_kinds import KindPlace
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores
from kcheck.codec.encoding import DecodeError, packed, unpacked
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.rule.ruleset import RuleSet
from kcheck.text.digest import digest_of, digest_of_parts
from kcheck.text.record import NamedTuple

_PACKS = 64
"""Packs that the files of an input are spread over: each is read by every run, and written where one of its files has changed."""

_RELATIONS = "relations"
_INPUTS = 8
"""Inputs whose relations are kept: what is changed and changed back, and other folders that are checked from the same place."""


_FACTS = list[Facts]


class _File(NamedTuple):
    """What is remembered of an outcome besides its facts."""

    documents: int
    findings: tuple[Finding, ...] = ()
    ignores: Ignores | None = None
    passed: str = ""
    kinds: tuple[KindPlace, ...] = ()
    custom: bool = False
    waits: bool = False
    kubeconfig: bool = False


class _Relations(NamedTuple):
    """What was found across files. `lines`: see `_lines`."""

    findings: tuple[Finding, ...]
    lines: str


class LazyFacts(Sequence[Facts]):
    """The facts of a file, made of bytes when somebody asks for them. `state`: the same where they are the same but for their lines.

    Asking raises Damaged where the bytes are not what they should be.
    """

    __slots__ = ("_facts", "data", "state")

    def __init__(self, state: bytes, data: bytes | memoryview, facts: Sequence[Facts] | None = None) -> None:
        self.state = state
        self.data = data
        self._facts = facts

    def __bool__(self) -> bool:
        return bool(self.data)

    def made(self) -> Sequence[Facts]:
        if self._facts is None:
            try:
                self._facts = unpacked(self.data, _FACTS)
            except DecodeError as error:
                raise Damaged(str(error)) from None
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


class ResultCache:
    """That of the runs of one working folder. `folder`: where the cache is.

    `late`: facts are read when they are needed, which raises Damaged where that fails: the input must be there to be read again.
    """

    def __init__(self, folder: Path, session: Session, late: bool = True) -> None:
        self._cache = Cache(folder, os.getcwd())
        self._session = session
        self._late = late
        self._files: dict[bytes, _File] = {}
        self._program = program_state(session)
        self._rules: dict[int, bytes] = {}
        self._begun: dict[int, Any] = {}

    def key(self, task: Task) -> str:
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
        key: str = state.hexdigest()
        return key

    def outcome(self, task: Task, final: bool, key: str, kinds: str = "") -> Outcome | None:
        """What is remembered of a file. `kinds`: behind the key of those that depend on the kinds of the input."""
        pack, name = _place(task, final)
        parts = self._cache.get(pack, name, key, key + kinds)
        if parts is None:
            return None
        try:
            data, state, facts = parts
            file = self._file(bytes(data))
            late = LazyFacts(bytes(state), facts)
            if facts and not self._late:
                late.made()
        except (Damaged, ValueError):
            return None
        outcome = Outcome(list(file.findings), late if facts else [], file.documents, passed=file.passed, kinds=list(file.kinds))
        outcome.custom, outcome.waits, outcome.kubeconfig = file.custom, file.waits, file.kubeconfig
        if file.ignores is not None:
            outcome.ignores = file.ignores
        return outcome

    def _file(self, data: bytes) -> _File:
        """Raises Misfit. Most files are alike: there is nothing to tell of them."""
        file = self._files.get(data)
        if file is None:
            file = unpacked(data, _File)
            self._check(file.findings)
            # What is in use of ignores is noted in them.
            if file.ignores is None:
                self._files[data] = file
        return file

    def _check(self, findings: Iterable[Finding]) -> None:
        """Raises Misfit for findings of rules that do not exist: reporters look them up."""
        if not {finding.rule for finding in findings} <= self._session.registry.rules.keys():
            raise DecodeError("a rule is not known")

    def keep(self, task: Task, final: bool, key: str, outcome: Outcome) -> None:
        """Remember what a file gave, where all of it has a form as data."""
        place = _place(task, final)
        findings, kinds = tuple(outcome.findings), tuple(outcome.kinds)
        plain = (outcome.custom, outcome.waits, outcome.kubeconfig)
        file = _File(outcome.documents, findings, outcome.ignores or None, outcome.passed, kinds, *plain)
        try:
            data = packed(file, _File)
            facts = self._remembered(outcome.facts, self._cache.latest(*place)) if outcome.facts else None
        except DecodeError:
            return
        if facts is not None:
            outcome.facts = facts
        self._cache.put(*place, key, (data, b"", b"") if facts is None else (data, facts.state, facts.data))

    def _remembered(self, facts: Sequence[Facts], earlier: Iterable[Parts]) -> LazyFacts:
        """Facts that are remembered: those from before, where they are the same, or with their state, where they have only moved.

        Raises Misfit for facts that have no form as data.
        """
        from kcheck.cache.canonical import outline

        data = packed(facts, _FACTS)
        for parts in earlier:
            with suppress(Damaged, ValueError):
                _, state, before = parts
                if before == data or (before and outline(LazyFacts(b"", before).made()) == outline(facts)):
                    return LazyFacts(bytes(state), data, facts)
        return LazyFacts(digest_of(data), data, facts)

    def relations(self, told: FactsByFile, judged: Callable[[], list[Finding]]) -> list[Finding]:
        """What rules find that see the objects of all files, in their order: as remembered, or `judged` and remembered.

        What they find does not depend on lines, but tells them. So it is good for an input in which nothing moved that it is about.
        """
        key = self._key_of_relations(told)
        known = self._cache.get(_RELATIONS, "", key)
        if known is not None:
            with suppress(DecodeError):
                found = unpacked(b"".join(known), _Relations)
                self._check(found.findings)
                if found.lines == _lines(found.findings, told):
                    return list(found.findings)
        anew = judged()
        if not any(finding.rule == "internal-error" for finding in anew):
            with suppress(DecodeError):
                data = packed(_Relations(tuple(anew), _lines(anew, told)), _Relations)
                self._cache.put(_RELATIONS, "", key, (data,), most=_INPUTS)
                self.save()
        return anew

    def _key_of_relations(self, told: FactsByFile) -> str:
        parts = [self._program, bytes([self._session.complete])]
        for path, facts in told:
            parts.append(_encoded(path))
            if facts:
                state = facts.state if isinstance(facts, LazyFacts) else _canonical(facts)
                parts += (state, self._state_of(self._session.rules_for(path)))
            else:
                parts += (b"", b"")
        return digest_of_parts(*parts).hex()

    def save(self) -> None:
        self._cache.save()

    def _state_of(self, rules: RuleSet) -> bytes:
        state = self._rules.get(id(rules))
        if state is None:
            state = self._rules[id(rules)] = rules_state(rules)
        return state


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _canonical(facts: Sequence[Facts]) -> bytes:
    from kcheck.cache.canonical import canonical

    return canonical(list(facts))


def _place(task: Task, final: bool) -> tuple[str, str]:
    """The pack of a file, and its name there."""
    path = task.source.path
    return f"{crc32(_encoded(path)) % _PACKS:02x}", f"{final:d} {path}"


def _lines(found: Iterable[Finding], told: FactsByFile) -> str:
    """A text that is the same where the facts have not moved in files that findings are about."""
    files = {place.file for finding in found for place in (finding.place, *(related.place for related in finding.related))}
    about = [facts for path, facts in told if path in files]
    return digest_of_parts(*(facts.data if isinstance(facts, LazyFacts) else _canonical(facts) for facts in about)).hex()
