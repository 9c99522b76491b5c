"""Files that an earlier run has checked need no checking again."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.run.cache import Cache, digest
from kcheck.run.fingerprint import program_state, rules_state
from kcheck.run.kinds import InputKind
from kcheck.run.outcome import Outcome, Task
from kcheck.run.session import Session
from kcheck.run.workers import Workers


class Remembered:
    """Looks files up, and has those checked that are new. What is checked is remembered."""

    def __init__(self, cache: Cache, session: Session, workers: Workers) -> None:
        self.cache = cache
        self.session = session
        self.workers = workers
        self._kinds: list[InputKind] = []
        self._kinds_state = b""
        self._program = program_state(session)
        self._rules: dict[int, bytes] = {}

    def learn(self, kinds: list[InputKind]) -> None:
        self._kinds += kinds
        texts = dict.fromkeys(kind.text for kind in self._kinds)
        self._kinds_state = digest(*(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts))
        self.workers.learn(kinds)

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        new: list[Task] = []
        keys: dict[int, bytes] = {}
        for task in tasks:
            key = keys[task.number] = self.key(task)
            name = _name(task, final)
            # Only objects of kinds that are not built in depend on the definitions of the input.
            known = self.cache.get(name, key) or (self.cache.get(name, digest(key, self._kinds_state)) if final else None)
            if isinstance(known, Outcome):
                yield task, known
            else:
                new.append(task)
        for task, outcome in self.workers.check(new, final):
            if not any(finding.rule == "internal-error" for finding in outcome.findings):
                key = keys[task.number]
                self.cache.put(_name(task, final), digest(key, self._kinds_state) if final and outcome.custom else key, outcome)
            yield task, outcome

    def close(self) -> None:
        self.workers.close()
        self.cache.save()

    def key(self, task: Task) -> bytes:
        """All that the outcome of a file depends on, definitions of the input left aside."""
        rules = self.session.rules_for(task.source.path)
        if id(rules) not in self._rules:
            self._rules[id(rules)] = rules_state(rules)
        path = task.source.path.encode("utf-8", "surrogateescape")
        text = task.source.text.encode("utf-8", "surrogatepass")
        return digest(self._program, self._rules[id(rules)], path, bytes([task.named, task.other, task.part]), text)


def _name(task: Task, final: bool) -> bytes:
    return digest(b"file" + bytes([final]), task.source.path.encode("utf-8", "surrogateescape"))
