"""Workers that reuse the outcomes of earlier runs."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.cache.results import ResultCache
from kcheck.check.file import Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.text.digest import digest_of_parts
from kcheck.workers.workers import Workers


class CachingWorkers:
    """Looks up files in the cache, passes the others to the workers and stores their outcomes."""

    def __init__(self, cache: ResultCache, workers: Workers) -> None:
        self.cache = cache
        self.workers = workers
        self._states: dict[str, None] = {}
        self._kinds = digest_of_parts().hex()

    def add_kinds(self, kinds: list[InputKind]) -> None:
        self._states.update((f"{kind.state} {kind.is_general}", None) for kind in kinds)
        self._kinds = digest_of_parts("".join(self._states).encode()).hex()
        self.workers.add_kinds(kinds)

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        missing: list[Task] = []
        keys: dict[int, str] = {}
        for task in tasks:
            key = self.cache.key(task)
            cached = self.cache.get_outcome(task, final, key, self._kinds_of(task, final))
            if cached is not None:
                yield task, cached
            else:
                keys[task.number] = key
                missing.append(task)
        if not missing:
            return
        for task, outcome in self.workers.check_files(missing, final):
            if not any(finding.rule == "internal-error" for finding in outcome.findings):
                # Outcomes depend on kinds that the input defines only if the file has objects of kinds that are not built in.
                kinds = self._kinds_of(task, final) if outcome.custom else ""
                self.cache.put_outcome(task, final, keys[task.number] + kinds, outcome)
            yield task, outcome

    def _kinds_of(self, task: Task, final: bool) -> str:
        """Return a digest of the kinds that are known to a file, and of those that take precedence."""
        if not final:
            return ""
        return digest_of_parts(self._kinds.encode(), *map(str.encode, task.definitions)).hex() if task.definitions else self._kinds

    def close(self) -> None:
        self.workers.close()
        self.cache.save()
