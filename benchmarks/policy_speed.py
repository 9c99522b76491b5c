"""Measures the processor time of one evaluation of a policy for one object, including matching.

    python benchmarks/policy_speed.py             the figures
    python benchmarks/policy_speed.py --slowest   and those of each policy
    python benchmarks/policy_speed.py --json      the figures as JSON

The object is decoded and defaulted before, because this is done once for all policies (`benchmarks/defaulting.py` measures it).
An evaluation begins with a new request and ends with the verdicts, whose fields are searched for. Needs ../shared. Three groups:

    kubescape   the policies of its library, on the objects of their tests (half of them fail)
    vap, rules  those of examples/policies, on the workloads of the corpus
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from policies import Case, kubescape_cases

from kcheck.check.session import Session
from kcheck.config.config import Config
from kcheck.engine import settings
from kcheck.engine.options import CheckOptions
from kcheck.kube.resource import Resource, resources
from kcheck.policy.collection import collect_policies
from kcheck.policy.policy_input import PolicyFile
from kcheck.policy.policy_set import PolicySet
from kcheck.policy.review import Review
from kcheck.policy.rules.definitions import SUFFIX
from kcheck.rule.registry import Registry
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

HERE = Path(__file__).resolve().parent.parent
CORPUS = HERE.parent / "shared" / "corpus" / "manifests"
WORKLOADS = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet")
ROUNDS = 9
EVALUATIONS = 400
"""The minimum number of evaluations of a round."""


class Measurement(NamedTuple):
    """The least seconds of `count` evaluations of the policies with this name."""

    name: str
    count: int
    seconds: float


def objects_in(text: str, path: str) -> list[Resource]:
    return [each for document in parse(Source(path, text)) if document.fault is None for each in resources(document)]


def workloads(number: int) -> list[Resource]:
    """Return workloads of the corpus, spread over its files."""
    found: list[Resource] = []
    for file in sorted(CORPUS.rglob("*.y*ml")):
        text = file.read_text(encoding="utf-8", errors="replace")
        if any(f"kind: {kind}\n" in text for kind in WORKLOADS):
            found += [
                each for each in objects_in(text, str(file)) if each.kind in WORKLOADS and each.api_version in ("v1", "apps/v1", "batch/v1")
            ]
    return found[:: max(1, len(found) // number)][:number]


def measure(name: str, policies: PolicySet, objects: Sequence[Resource], store: Store) -> Measurement:
    """Return the least time of all policies of a set on the objects. Evaluations that match are counted."""
    held = []
    count = 0
    for each in objects:
        review = Review(each, store)
        held.append((each, review.object))
        count += sum(not clause for clause in policies.reasons(each).values())
    passes = max(1, EVALUATIONS // max(1, count))
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for each, value in held * passes:
            for _ in policies.judge(Review(each, store, object=value)):
                pass
        taken.append((time.process_time() - start) / passes)
    return Measurement(name, count, min(taken))


def case_measurements(store: Store) -> Iterator[Measurement]:
    """Yield a measurement of each policy of kubescape."""
    for case in kubescape_cases():
        yield measure(case.id, policies_of(case, store), [o for n, t in enumerate(case.objects) for o in objects_in(t, f"{n}.yaml")], store)


def policies_of(case: Case, store: Store) -> PolicySet:
    add_definitions(store, [each for path, text in case.files.items() for each in parse(Source(path, text))])
    files = [PolicyFile(path, text) for path, text in case.files.items() if "AdmissionPolic" in text]
    found = collect_policies(files, case.files.items, None, parse)
    assert found is not None
    return PolicySet(found, store)


def example_measurement(name: str, store: Store, objects: Sequence[Resource]) -> Measurement:
    """Return the measurement of a folder of examples/policies."""
    paths = [each for each in sorted((HERE / "examples" / "policies" / name).glob("*.yaml")) if not each.name.endswith(".kcheck-test.yaml")]
    texts = [(str(each), each.read_text(encoding="utf-8")) for each in paths]
    rules = tuple(each for each in texts if each[0].endswith(SUFFIX))
    files = [PolicyFile(path, text) for path, text in texts if not path.endswith(SUFFIX) and "kind: ValidatingAdmissionPolicy\n" in text]
    found = collect_policies(files, lambda: [each for each in texts if each not in rules], None, parse, rules)
    assert found is not None
    return measure(name, PolicySet(found, store), objects, store)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--slowest", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--objects", type=int, default=300)
    arguments = parser.parse_args()
    gc.disable()  # as in runs of kcheck
    session: Session = settings.create_session(CheckOptions(kubernetes="1.36"), Config(str(HERE)), Registry.load())
    store = session.stores[-1]
    kubescape = list(case_measurements(store))
    objects = workloads(arguments.objects)
    figures = {"kubescape": 1e6 * sum(each.seconds for each in kubescape) / sum(each.count for each in kubescape)}
    for name in ("vap", "rules"):
        _, count, seconds = example_measurement(name, store, objects)
        figures[name] = 1e6 * seconds / count
    if arguments.slowest:
        for each in sorted(kubescape, key=lambda each: each.seconds / max(1, each.count)):
            print(f"{1e6 * each.seconds / max(1, each.count):8.1f} µs {each.count:4} {each.name}")
    print(json.dumps(figures) if arguments.json else "\n".join(f"{name:12}{value:8.1f} µs" for name, value in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
