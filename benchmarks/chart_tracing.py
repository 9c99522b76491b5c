"""Measure how exactly rendered charts are traced to their templates and values.

    python benchmarks/chart_tracing.py [--helm PATH] [--mutations N] [--values N] CHART...

Coverage: the visible lines of the renderings, with the values of the chart and each of its `ci` files, that were traced.

Mutations: one letter of the text of a template is changed, and the chart is rendered again. Lines with the letter must be traced to its
line in the template (exact), or to a line that calls the template with the letter and computes something from its output (coarse). Lines
that change without it, such as hashes of other templates, are counted as computed.

Values: one value of values.yaml is changed. Lines that change must be traced to the line of the value, as a finding on them would be.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from kcheck.helm.chart import Chart, ChartBudget, read_chart
from kcheck.helm.marking import TemplatePiece
from kcheck.helm.program import HelmFailed, HelmSettings, find_program
from kcheck.helm.rendering import Trace, render_chart, trace_chart
from kcheck.helm.settings import NAMESPACE, RELEASE
from kcheck.helm.template import calls
from kcheck.helm.values import ChartValues, TextQuery, ValueLeaf, ValueTracer, changed_leaf, path_text
from kcheck.run.charts import link_dependencies, repository_of, value_files
from kcheck.schema.builtin.definitions import load


def settings_of(chart: Chart, *files: str) -> HelmSettings:
    """Return the settings of helm for a chart and files with values."""
    definitions = load()
    versions = {version for version, _ in definitions.kinds()} | {f"{version}/{kind}" for version, kind in definitions.kinds()}
    return HelmSettings(RELEASE, NAMESPACE, definitions.release, tuple(sorted(versions)), files)


class ChangedLine(NamedTuple):
    """A line that differs between two renderings: its template, its number from 0, and the offset and the texts of the difference."""

    name: str
    number: int
    offset: int
    before: str
    after: str


def changed_lines(before: dict[str, str], after: dict[str, str], ignored: Collection[tuple[str, int]] = ()) -> Iterator[ChangedLine]:
    """Yield the lines that changed, in texts whose number of lines did not change."""
    for name, text in before.items():
        ours, theirs = text.split("\n"), after.get(name, "").split("\n")
        if len(ours) != len(theirs):
            continue
        start = 0
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other and (name, number) not in ignored:
                head = _common(one, other)
                tail = min(_common(one[::-1], other[::-1]), len(one) - head, len(other) - head)
                place = start + min(head, max(len(one) - 1, 0))
                yield ChangedLine(name, number, place, one[head : len(one) - tail], other[head : len(other) - tail])
            start += len(one) + 1


def _common(one: str, other: str) -> int:
    """Return how many characters at the beginning of two texts are equal."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def coverage(trace: Trace, plain: dict[str, str]) -> Counter[str]:
    """Return the number of visible lines that were traced, declared untraceable, or neither."""
    found: Counter[str] = Counter()
    for name, text in plain.items():
        traced = trace.texts.get(name)
        start = 0
        for line in text.split("\n"):
            if line.strip():
                first = start + len(line) - len(line.lstrip())
                found["untraceable" if traced is None else "traced" if traced.stack_at(first) else "missing"] += 1
            start += len(line) + 1
    return found


def callers(chart: Chart, path: str, line: int) -> set[str]:
    """Return the templates that the actions on a line call, directly or through others."""
    names: set[str] = set()
    template = chart.template(path)
    todo = [each.name for action in template.actions if _covers(chart, path, action.start, action.end, line) for each in calls(action)]
    if not todo:
        # The value may have been computed before: `{{ $name := include "x" . }}`.
        todo = [each.name for action in template.actions for each in calls(action)]
    while todo:
        name = todo.pop()
        if name in names:
            continue
        names.add(name)
        for file in chart.templates:
            todo += [each.name for action in chart.template(file).actions if action.define == name for each in calls(action)]
    return names


def _covers(chart: Chart, path: str, start: int, end: int, line: int) -> bool:
    source = chart.source(path)
    return source.position(start).line <= line <= source.position(end - 1).line


def mutate(
    program: str, chart: Chart, settings: HelmSettings, number: int, generator: random.Random, verbose: bool = False
) -> Counter[str]:  # fmt: skip
    """Change letters in the text of templates and return how well the changed lines were traced."""
    plain = render_chart(program, chart, settings)
    trace = trace_chart(program, chart, settings, plain)
    again = render_chart(program, chart, settings)
    unstable = {(each.name, each.number) for each in changed_lines(plain, again)}
    places = [
        (path, offset, define)
        for path in chart.templates
        if not path.endswith("NOTES.txt")
        for start, end, define in chart.template(path).texts()
        for offset in range(start, end)
        if chart.template(path).text[offset].isalpha() and chart.template(path).text[offset].isascii()
    ]
    found: Counter[str] = Counter()
    for path, offset, define in generator.sample(places, min(number, len(places))):
        text = chart.template(path).text
        letter = "q" if text[offset] != "q" else "x"
        other = Chart(chart.folder, {**chart.files, path: (text[:offset] + letter + text[offset + 1 :]).encode()})
        try:
            after = render_chart(program, other, settings)
        except HelmFailed:
            found["not rendered"] += 1
            continue
        line = chart.source(path).position(offset).line
        for name, at, changed, old, new in changed_lines(plain, after, unstable):
            if (old, new) != (text[offset], letter):
                found["computed"] += 1
                continue
            traced = trace.texts.get(name)
            stack = trace.stacks.of(traced.stack_at(changed)) if traced is not None else []
            if not stack:
                found["none"] += 1
                continue
            piece = stack[0]
            seen = chart.source(piece.file).position(piece.start).line
            if (piece.file, seen) == (path, line):
                found["exact"] += 1
            elif define and piece.kind != "text" and define in callers(chart, piece.file, seen):
                found["coarse"] += 1
                if verbose:
                    print(f"   coarse: {path}:{line} {define!r} is traced to {piece.file}:{seen}")
            else:
                found["wrong"] += 1
                print(f"   wrong: {path}:{line} {define!r} is traced to {piece.file}:{seen} {piece.kind} ({name} line {at + 1})")
    return found


def change_values(program: str, chart: Chart, number: int, generator: random.Random, verbose: bool = False) -> Counter[str]:
    """Change values of values.yaml and return how well the changed lines were traced to them."""
    settings = settings_of(chart)
    plain = render_chart(program, chart, settings)
    trace = trace_chart(program, chart, settings, plain)
    unstable = {(each.name, each.number) for each in changed_lines(plain, render_chart(program, chart, settings))}
    values = ChartValues(chart)

    def stack_of(name: str, offset: int) -> list[TemplatePiece]:
        return trace.stacks.of(trace.texts[name].stack_at(offset)) if name in trace.texts else []

    def render(extra: str) -> dict[str, str] | None:
        try:
            return render_chart(program, chart, settings._replace(files=(extra,)))
        except HelmFailed:
            return None

    tracer = ValueTracer(values, plain, stack_of)
    leaves = [leaf for leaf in values.leaves(()) if leaf.node.value not in (None, "")]
    places: dict[TextQuery, list[ValueLeaf]] = {}
    for leaf in generator.sample(leaves, min(number, len(leaves))):
        change = changed_leaf(leaf, 3)
        if change is None:
            continue
        after = render(tracer.override([change]))
        for each in changed_lines(plain, after, unstable) if after is not None else ():
            if change.old not in plain[each.name].split("\n")[each.number]:
                # Computed, such as a hash.
                continue
            # The characters of the value, as those of a finding on it.
            first = plain[each.name].rfind("\n", 0, each.offset) + 1
            line = plain[each.name][first:].partition("\n")[0]
            at = line.find(change.old, max(each.offset - first - len(change.old), 0))
            places.setdefault(TextQuery(each.name, first + at, first + at + len(change.old)), []).append(leaf)
    found: Counter[str] = Counter()
    proven = tracer.proven(list(places), render)
    for query, expected in places.items():
        names = {leaf.path for leaf in proven.get(query, ())}
        for leaf in expected:
            result = "exact" if leaf.path in names else "wrong" if names else "none"
            found[result] += 1
            if verbose and result != "exact":
                shown = plain[query.name][query.start : query.end]
                print(f"   {result}: {leaf.name} in {query.name} {shown!r}: {[path_text(name) for name in names]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("charts", nargs="+")
    parser.add_argument("--helm", default="")
    parser.add_argument("--mutations", type=int, default=60)
    parser.add_argument("--values", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print the lines that were not traced exactly")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = options.helm or find_program()
    lines: Counter[str] = Counter()
    mutations: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for folder in options.charts:
        generator = random.Random(f"{options.seed} {folder}")
        chart = read_chart(folder)
        link_dependencies(chart, repository_of(folder), ChartBudget())
        own: Counter[str] = Counter()
        sets = [("", ()), *((path, (chart.source(path).text,)) for path in value_files(chart))]
        start = time.perf_counter()
        usable: HelmSettings | None = None
        for name, files in sets:
            settings = settings_of(chart, *files)
            try:
                plain = render_chart(program, chart, settings)
            except HelmFailed as error:
                print(f"   {folder} {name or 'values.yaml'}: {' '.join(str(error).split())[:120]}")
                continue
            own += coverage(trace_chart(program, chart, settings, plain), plain)
            usable = usable or settings
        changed = mutate(program, chart, usable, options.mutations, generator, options.verbose) if usable else Counter()
        of_values: Counter[str] = Counter()
        if options.values:
            with suppress(HelmFailed):
                of_values = change_values(program, chart, options.values, generator, options.verbose)
        print(
            f"{folder}: {dict(own)}; mutations {dict(changed)}; values {dict(of_values)}; {time.perf_counter() - start:.1f} s", flush=True
        )
        lines += own
        mutations += changed
        values += of_values
    judged = sum(mutations[each] for each in ("exact", "coarse", "wrong", "none"))
    print(f"lines: {dict(lines)}")
    print(f"mutations: {dict(mutations)}; exact {mutations['exact'] / max(judged, 1):.2%} of {judged} changed lines")
    if values:
        print(f"values: {dict(values)}; exact {values['exact'] / values.total():.2%} of {values.total()} places")


if __name__ == "__main__":
    main()
