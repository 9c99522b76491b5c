"""Files that an earlier run has checked need no checking again."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.cache.results import ResultCache
from kcheck.check.file import Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.text.digest import digest_of_parts
from kcheck.workers.workers import Workers


class CachingWorkers:
    """Looks files up, and has those checked that are new. What is checked is remembered."""

    def __init__(self, memory: ResultCache, workers: Workers) -> None:
        self.memory = memory
        self.workers = workers
        self._states: dict[str, None] = {}
        self._kinds = digest_of_parts().hex()

    def learn(self, kinds: list[InputKind]) -> None:
        self._states.update((kind.state, None) for kind in kinds)
        self._kinds = digest_of_parts("".join(self._states).encode()).hex()
        self.workers.learn(kinds)

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        kinds = self._kinds if final else ""
        new: list[Task] = []
        keys: dict[int, str] = {}
        for task in tasks:
            key = self.memory.key(task)
            known = self.memory.outcome(task, final, key, kinds)
            if known is not None:
                yield task, known
            else:
                keys[task.number] = key
                new.append(task)
        if not new:
            return
        for task, outcome in self.workers.check(new, final):
            if not any(finding.rule == "internal-error" for finding in outcome.findings):
                # Only objects of kinds that are not built in depend on the definitions of the input.
                self.memory.keep(task, final, keys[task.number] + (kinds if outcome.custom else ""), outcome)
            yield task, outcome

    def close(self) -> None:
        self.workers.close()
        self.memory.save()
