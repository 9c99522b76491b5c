"""The cached results of stored runs: outcomes of files, and findings across files."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

from kcheck.cache.store import Cache, Parts
from kcheck.check.file import DamagedCache, FactsByFile, Outcome, Relations, Task
from kcheck.check.fingerprint import program_state, rules_state, stores_state
from kcheck.check.input_kinds import KindPlace
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores
from kcheck.codec.encoding import DecodeError, packed, unpacked
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.role import UNKNOWN, Role
from kcheck.rule.ruleset import RuleSet
from kcheck.text.digest import digest_of, digest_of_parts
from kcheck.text.record import NamedTuple

_PACK_COUNT = 64
"""Number of packs that the files of an input are distributed to. Each run reads all of them and writes those with changed files."""

_RELATIONS = "relations"
_MAX_INPUTS = 8
"""Number of inputs whose relation findings are kept: changes that are reverted, and other folders checked from the same place."""


_FACTS_TYPE = list[Facts]


class _CachedOutcome(NamedTuple):
    """A cached outcome without its facts."""

    documents: int
    without_schema: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    ignores: Ignores | None = None
    skip_reason: str = ""
    partial: str = ""
    role: Role = UNKNOWN
    kinds: tuple[KindPlace, ...] = ()
    custom: bool = False
    is_postponed: bool = False
    kubeconfig: bool = False


class _CachedRelations(NamedTuple):
    """Cached results of comparing objects. `lines`: see `_facts_digest`."""

    relations: Relations
    lines: str


class LazyFacts(Sequence[Facts]):
    """The facts of a file, deserialized on first use. Raises DamagedCache if the bytes are invalid.

    Attributes:
        state: A digest that does not change when only line numbers do.
        data: The serialized facts.
    """

    __slots__ = ("_facts", "data", "state")

    def __init__(self, state: bytes, data: bytes | memoryview, facts: Sequence[Facts] | None = None) -> None:
        self.state = state
        self.data = data
        self._facts = facts

    def __bool__(self) -> bool:
        return bool(self.data)

    def load(self) -> Sequence[Facts]:
        if self._facts is None:
            try:
                self._facts = unpacked(self.data, _FACTS_TYPE)
            except DecodeError as error:
                raise DamagedCache(str(error)) from None
        return self._facts

    def __len__(self) -> int:
        return len(self.load())

    @overload
    def __getitem__(self, at: int) -> Facts: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Facts]: ...

    def __getitem__(self, at: int | slice) -> Facts | Sequence[Facts]:
        return self.load()[at]

    def __iter__(self) -> Iterator[Facts]:
        return iter(self.load())


class ResultCache:
    """The cached results of runs in one working folder.

    `folder`: the folder of the cache. `lazy`: deserialize facts on first use, which raises DamagedCache if it fails; the caller
    must be able to read the input again. `place`: the working folder whose results are used, by default the current folder.
    """

    def __init__(self, folder: Path, session: Session, lazy: bool = True, place: str = "") -> None:
        self._cache = Cache(folder, place or os.getcwd())
        self._session = session
        self._lazy = lazy
        self._files: dict[bytes, _CachedOutcome] = {}
        self._program = program_state(session)
        self._rules: dict[int, bytes] = {}
        # What the keys of files have in common: rules, stores, and the fields of the task except its path.
        self._hashers: dict[tuple[int, int, bool, bool, Role], Any] = {}

    def key(self, task: Task) -> str:
        """Return a digest of everything that the outcome of a file depends on, except kinds that the input defines."""
        path = task.source.path
        rules, stores = self._session.rules_for(path, task.role.name), self._session.stores_for(path)
        shared = id(rules), id(stores), task.named, task.other, task.role
        hasher = self._hashers.get(shared)
        if hasher is None:
            role = _encoded("\0".join(task.role))
            state = self._program + self._rules_digest(rules) + stores_state(stores)
            hasher = self._hashers[shared] = sha256(b"%b%d %d %d %b" % (state, task.named, task.other, len(role), role))
        digest = hasher.copy()
        name = _encoded(path)
        digest.update(b" %d %b" % (len(name), name))
        digest.update(task.source.text.encode("utf-8", "surrogatepass"))
        before = self._session.before
        if before is not None and not before.is_unchanged(task.source):
            digest.update(before.digest)
        key: str = digest.hexdigest()
        return key

    def get_outcome(self, task: Task, final: bool, key: str, kinds: str = "") -> Outcome | None:
        """Return the cached outcome of a file, or None. `kinds`: suffix of the key if the outcome depends on kinds of the input."""
        pack, name = _pack_of(task, final)
        parts = self._cache.get(pack, name, key, key + kinds)
        if parts is None:
            return None
        try:
            data, state, facts = parts
            file = self._file(bytes(data))
            lazy = LazyFacts(bytes(state), facts)
            if facts and not self._lazy:
                lazy.load()
        except (DamagedCache, ValueError):
            return None
        outcome = Outcome(list(file.findings), lazy if facts else [], file.documents, file.without_schema)
        outcome.skip_reason, outcome.partial, outcome.role, outcome.kinds = file.skip_reason, file.partial, file.role, list(file.kinds)
        outcome.custom, outcome.is_postponed, outcome.kubeconfig = file.custom, file.is_postponed, file.kubeconfig
        if file.ignores is not None:
            outcome.ignores = file.ignores
        return outcome

    def _file(self, data: bytes) -> _CachedOutcome:
        """Deserialize an outcome. Most outcomes are equal, because they have no findings. Raises DecodeError."""
        file = self._files.get(data)
        if file is None:
            file = unpacked(data, _CachedOutcome)
            self._require_known_rules(file.findings)
            # Ignores are not shared, because they record their use.
            if file.ignores is None:
                self._files[data] = file
        return file

    def _require_known_rules(self, findings: Iterable[Finding]) -> None:
        """Raise DecodeError for findings of unknown rules: reporters look up the rules."""
        if self._session.registry.unknown_of(finding.rule for finding in findings):
            raise DecodeError("a rule is not known")

    def put_outcome(self, task: Task, final: bool, key: str, outcome: Outcome) -> None:
        """Store the outcome of a file, unless it contains values that cannot be serialized."""
        place = _pack_of(task, final)
        findings, kinds = tuple(outcome.findings), tuple(outcome.kinds)
        plain = (outcome.custom, outcome.is_postponed, outcome.kubeconfig)
        numbers, reasons = (outcome.documents, outcome.without_schema), (outcome.skip_reason, outcome.partial)
        file = _CachedOutcome(*numbers, findings, outcome.ignores or None, *reasons, outcome.role, kinds, *plain)
        try:
            data = packed(file, _CachedOutcome)
            facts = self._make_lazy_facts(outcome.facts, self._cache.get_all(*place)) if outcome.facts else None
        except DecodeError:
            return
        if facts is not None:
            outcome.facts = facts
        self._cache.put(*place, key, (data, b"", b"") if facts is None else (data, facts.state, facts.data))

    def _make_lazy_facts(self, facts: Sequence[Facts], stored: Iterable[Parts]) -> LazyFacts:
        """Return serialized facts: the stored ones if they are equal, or with their digest if only line numbers changed.

        Raises DecodeError for facts that cannot be serialized.
        """
        from kcheck.cache.canonical import canonical_without_lines

        data = packed(facts, _FACTS_TYPE)
        for parts in stored:
            with suppress(DamagedCache, ValueError):
                _, state, before = parts
                if before == data or (before and canonical_without_lines(LazyFacts(b"", before).load()) == canonical_without_lines(facts)):
                    return LazyFacts(bytes(state), data, facts)
        return LazyFacts(digest_of(data), data, facts)

    def relations(self, facts_by_file: FactsByFile, check: Callable[[], Relations], is_current: Callable[[Relations], bool]) -> Relations:
        """Return the cached results of comparing the objects of files, or call `check` and store its result.

        These findings do not depend on line numbers but contain them. So they are valid as long as nothing moved in the files that
        they are about.
        """
        key = self._relations_key(facts_by_file)
        known = self._cache.get(_RELATIONS, "", key)
        if known is not None:
            with suppress(DecodeError):
                cached: _CachedRelations = unpacked(b"".join(known), _CachedRelations)
                found = cached.relations
                self._require_known_rules(found.findings)
                if cached.lines == _facts_digest(found.findings, facts_by_file) and is_current(found):
                    return found
        made = check()
        if not any(finding.rule == "internal-error" for finding in made.findings):
            with suppress(DecodeError):
                data = packed(_CachedRelations(made, _facts_digest(made.findings, facts_by_file)), _CachedRelations)
                self._cache.put(_RELATIONS, "", key, (data,), max_keys=_MAX_INPUTS)
                self.save()
        return made

    def _relations_key(self, facts_by_file: FactsByFile) -> str:
        units = "\0".join(self._session.complete_units).encode("utf-8", "surrogateescape")
        provided = _canonical(self._session.provided) if self._session.provided else b""
        partial = "\0".join(sorted(self._session.partial_folders)).encode("utf-8", "surrogateescape")
        removed = _canonical(self._session.removed) if self._session.removed else b""
        gone = repr([(each.id, *each[1:]) for each in self._session.gone]).encode("utf-8", "surrogatepass")
        parts = [self._program, bytes([self._session.complete]), units, partial, provided, removed, gone]
        # Clusters are known when the numbers of all files are.
        clusters = self._session.clusters
        numbers = {path: self._session.cluster_number(path) for path, _, _ in facts_by_file} if clusters is not None else {}
        for cluster in clusters or ():
            parts += (bytes([cluster.complete]), stores_state(cluster.stores), _canonical(cluster.provided))
        for path, role, facts in facts_by_file:
            parts.append(_encoded(f"{role} {numbers.get(path, 0)} {path}"))
            if facts:
                state = facts.state if isinstance(facts, LazyFacts) else _canonical(facts)
                parts += (state, self._rules_digest(self._session.rules_for(path, role)))
            else:
                parts += (b"", b"")
        return digest_of_parts(*parts).hex()

    def save(self) -> None:
        self._cache.save()

    def _rules_digest(self, rules: RuleSet) -> bytes:
        state = self._rules.get(id(rules))
        if state is None:
            state = self._rules[id(rules)] = rules_state(rules)
        return state


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _canonical(facts: Sequence[Facts]) -> bytes:
    from kcheck.cache.canonical import canonical

    return canonical(list(facts))


def _pack_of(task: Task, final: bool) -> tuple[str, str]:
    """Return the pack of a file and its name in the pack."""
    path = task.source.path
    return f"{crc32(_encoded(path)) % _PACK_COUNT:02x}", f"{final:d} {path}"


def _facts_digest(found: Iterable[Finding], facts_by_file: FactsByFile) -> str:
    """Return a digest of the facts, including line numbers, of all files that the findings refer to."""
    files = {place.file for finding in found for place in (finding.place, *(related.place for related in finding.related))}
    about = [facts for path, _, facts in facts_by_file if path in files]
    return digest_of_parts(*(facts.data if isinstance(facts, LazyFacts) else _canonical(facts) for facts in about)).hex()
