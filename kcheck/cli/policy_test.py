"""`kcheck policy test [PATH...]`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from kcheck.cli.output import echo_visibly, written
from kcheck.cli.policy_sources import LoadedPolicies, counted_policies, excerpt, find_policies, read_path, source_options
from kcheck.policy.policy_tests import TestReport, run_test_file
from kcheck.policy.rules.examples import example_failures
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.text.words import counted
from kcheck.yaml import edits
from kcheck.yaml.node import Node


@click.command(short_help="Run the examples and tests of policies.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option("--update", is_flag=True, help="Write the present results to the test files.")
@click.option("--quiet", "-q", is_flag=True, help="Print only failures.")
@source_options
def policy_test(paths: tuple[str, ...], update: bool, quiet: bool, **values: Any) -> None:
    """Run the examples of short rules, and the test files (*.kcheck-test.yaml).

    PATHS are files and folders with policies and tests. [default: the policies of the config]

    Exit status: 0 all results are as expected, 1 some are not, 2 a policy is invalid.
    """
    sources = find_policies(paths, values)
    failures, number, tested = _run_examples(sources)
    for path, text in sources.tests():
        report = run_test_file(Source(path, text), sources.store, read_path, sources.find_relations)
        if update and report.faults:
            report = _updated(report, sources)
        number += report.number
        tested |= report.judged
        failures += [_TestFailure.of(report.source, fault.node, fault.message) for fault in report.faults]
    for failure in failures:
        echo_visibly("\n".join(failure.lines()))
    names = {rule.id for rule in sources.rules()} | {each.id for each in sources.admission()[0]}
    if not quiet or failures:
        echo_visibly(f"{counted(number, 'case')} of {counted_policies(len(names))}, {counted(len(failures), 'failure')}.")
    untested = sorted(names - tested)
    if untested and not quiet:
        echo_visibly(f"Without tests: {', '.join(untested)}")
    sys.exit(1 if failures else 0)


class _TestFailure(NamedTuple):
    file: str
    line: int
    column: int
    message: str
    source: str
    length: int

    @classmethod
    def of(cls, source: Source, node: Node, message: str) -> _TestFailure:
        span = node.key_span if node.end <= node.start or node.is_map or node.is_list else node.span
        if (node.is_map or node.is_list) and not isinstance(node.key, Node):
            span = node.span
        line, column = source.position(span.start)
        return cls(source.path, line, column, message, source.text, span.end - span.start)

    def lines(self) -> list[str]:
        """Returns the failure with its line in the file."""
        head = f"{self.file}:{self.line}:{self.column}: {self.message}"
        return [head, *excerpt(self.source, self.line, self.column, self.length), ""]


def _run_examples(sources: LoadedPolicies) -> tuple[list[_TestFailure], int, set[str]]:
    """Returns the failures of the examples, their number, and the rules that have examples."""
    failures: list[_TestFailure] = []
    number, tested = 0, set[str]()
    for rule in sources.rules():
        for example in rule.examples:
            number += 1
            tested.add(rule.id)
            found = example_failures(rule, example, sources.store, sources.find_relations)
            failures += [_TestFailure.of(rule.source, each.node, f"{rule.id}: {each.message}") for each in found]
    return failures, number, tested


def _updated(report: TestReport, sources: LoadedPolicies) -> TestReport:
    """Writes the present results to a test file, as far as its text allows it, and runs it again."""
    source, made = report.source, list[Edit]()
    for fault in report.faults:
        if fault.actual is None:
            continue
        try:
            step = edits.replace_value if fault.node.exists else edits.insert_entry
            made += step(source.text, fault.node, fault.actual)
        except edits.Uneditable:
            continue
    text = apply_edits(source.text, _separate(made))
    with written(source.path) as file:
        file.write(text)
    return run_test_file(Source(source.path, text), sources.store, read_path, sources.find_relations)


def _separate(made: Sequence[Edit]) -> list[Edit]:
    """Returns the edits without those that overlap an earlier one."""
    found: list[Edit] = []
    for each in sorted(set(made)):
        if not found or found[-1].end <= each.start:
            found.append(each)
    return found
