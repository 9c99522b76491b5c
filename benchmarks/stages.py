"""Measures the time of a check by stage, in a single process.

    python benchmarks/stages.py FOLDER [RUNS]    default: the examples, 3 runs

Prints user CPU time, the minimum of several runs in turns, which is least affected by other load. "read" is parsing to trees. Each further
line adds rules to the line above it: shape (the schema walk with the rules of the engine), spec (everything that an API server rejects),
all (the rules that are on by default). "more" is the additional time relative to reading and shape, in percent.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kcheck.check.document import check_documents
from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.discovery.load import Folders, kind_of_file, load_file
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load as load_definitions
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@dataclass(frozen=True)
class Input:
    """The files of the folder and its definitions."""

    folder: str
    registry: Registry
    sources: list[Source]

    def session(self, rules: RuleSet) -> Session:
        return Session(self.registry, rules, [Store(load_definitions())])

    def trees(self) -> list[list[Document]]:
        return [parse(source) for source in self.sources]


def read_input(folder: str) -> Input:
    """Returns the texts of all files that are checked."""
    folders = Folders()
    targets = [t for t in discover([folder]).targets if not kind_of_file(t.path, folders)]
    sources = [source for target in targets if isinstance(source := load_file(target), Source)]
    return Input(folder, Registry.load(), sources)


def stages(input: Input) -> dict[str, Callable[[], object]]:
    """Returns the functions to measure, by name."""
    everything = choose(input.registry)
    engine = {id: a for id, a in everything.active.items() if a.rule.family == "spec" and a.rule.module.startswith("kcheck_spec.engine")}
    spec = {id: a for id, a in everything.active.items() if a.rule.family == "spec"}
    shape = engine or {
        id: a for id, a in spec.items() if id in ("unknown-field", "wrong-type", "missing-required-field", "unsupported-value")
    }

    def check(rules: RuleSet) -> int:
        session = input.session(rules)
        trees = input.trees()
        for documents in trees:
            add_definitions(session.stores[0], documents)
        return sum(len(check_documents(documents, session, rules).findings) for documents in trees)

    return {
        "read": input.trees,
        "+ shape": lambda: check(RuleSet(shape)),
        "+ spec": lambda: check(RuleSet(spec)),
        "+ practice": lambda: check(everything),
        "whole run": lambda: run_pipeline(discover([input.folder]), input.session(everything)),
    }


def user_time(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = work()
    spent = time.process_time() - start
    gc.enable()
    del result
    return spent


def main() -> None:
    input = read_input(sys.argv[1] if len(sys.argv) > 1 else str(EXAMPLES))
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    work = stages(input)
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(runs):
        for name, function in work.items():
            times[name].append(user_time(function))
    base = min(times["+ shape"])
    size = sum(len(source.text) for source in input.sources)
    print(f"{len(input.sources)} files, {size:,} characters; CPU seconds, minimum of {runs} runs")
    for name, each in times.items():
        print(f"{name:12}{min(each):8.3f}{(min(each) / base - 1) * 100:+8.0f} % more than read + shape")


if __name__ == "__main__":
    main()
