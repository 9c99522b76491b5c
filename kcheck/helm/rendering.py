"""Rendered charts: the text of each template for one set of values, and where its characters come from."""

from __future__ import annotations

from collections.abc import Mapping

from kcheck.helm.chart import Chart
from kcheck.helm.marking import OPEN, TemplatePiece, mark_template
from kcheck.helm.program import MAX_SECONDS, HelmFailed, HelmSettings, render
from kcheck.helm.template import name_of
from kcheck.helm.tracing import Stacks, TracedText, Untraceable, read_marks, verified
from kcheck.text.record import NamedTuple


class Trace(NamedTuple):
    """The origins of the characters of a rendered chart.

    Attributes:
        stacks: the stacks of pieces.
        texts: the origins in each text by the name of its template; texts that could not be traced are missing.
        untraced: why texts could not be traced, by the name of the template.
    """

    stacks: Stacks
    texts: dict[str, TracedText]
    untraced: dict[str, str]


def render_chart(program: str, chart: Chart, settings: HelmSettings, seconds: float = MAX_SECONDS) -> dict[str, str]:
    """Return the rendered text of each template, by the name under which helm prints it. Raises HelmFailed. `seconds`: time limit."""
    return render(program, chart.files_for_helm, chart.metadata().name, chart.rendered_names, settings, seconds)


class MarkedChart:
    """A copy of a chart with marks in its templates.

    Attributes:
        files: the files of the copy.
        pieces: the pieces of all templates.
    """

    def __init__(self, chart: Chart, pieces: list[TemplatePiece], with_helpers: bool = True) -> None:
        """Add the marks.

        Args:
            chart: the chart.
            pieces: pieces of earlier copies, to which those of this one are added.
            with_helpers: whether the output of helpers is marked, too.
        """
        templates = {path: chart.template(path) for path in chart.templates}
        templates = {path: each for path, each in templates.items() if OPEN not in each.text and not each.faults}
        helpers = {name_of(start) for each in templates.values() for start, _ in each.blocks if start.keyword == "define"}
        self.pieces = pieces
        self.files = chart.files_for_helm
        for path, template in templates.items():
            marked = mark_template(path, template, self.pieces, helpers if with_helpers else ())
            self.files[path] = marked.encode("utf-8", "surrogatepass")


def trace_chart(program: str, chart: Chart, settings: HelmSettings, plain: Mapping[str, str]) -> Trace:
    """Return the origins of the characters of a rendered chart. It never guesses: what cannot be verified is not traced.

    `plain`: the rendered texts.
    """
    pieces: list[TemplatePiece] = []
    trace = Trace(Stacks(pieces), {}, {})
    # Marks in the output of helpers may change texts that other templates compute from it. Without them, these texts are still traced.
    for with_helpers in (True, False):
        missing = [name for name in plain if name not in trace.texts]
        if not missing:
            break
        marked = MarkedChart(chart, pieces, with_helpers)
        try:
            output = render(program, marked.files, chart.metadata().name, chart.rendered_names, settings)
        except HelmFailed as error:
            trace.untraced.update(dict.fromkeys(missing, f"its marked copy cannot be rendered: {error}"))
            continue
        for name in missing:
            try:
                if name not in output:
                    raise Untraceable("its marked copy renders nothing")
                stripped, traced = read_marks(output[name], trace.stacks)
                trace.texts[name] = verified(plain[name], stripped, traced, trace.stacks)
                trace.untraced.pop(name, None)
            except Untraceable as error:
                trace.untraced[name] = str(error)
    return trace


def with_comments(text: str, traced: TracedText, chart: Chart, stacks: Stacks) -> tuple[str, TracedText, list[tuple[int, int]]]:
    """Return a rendered text with the ignore comments of actions, `{{/* kcheck: ignore[rule] */}}`, as comments of YAML, the origins of its
    characters, and the offset and length of each comment.

    A comment after text stays at the end of its line. A comment on a line by itself precedes the next line.
    """
    inserted = sorted(_comment(text, offset, number, chart, stacks) for offset, number in traced.comments)
    parts: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    insertions: list[tuple[int, int]] = []
    at = shift = 0
    for place, comment, number in [*inserted, (len(text), "", 0)]:
        parts.append(text[at:place])
        for start, _, stack in traced.segments(at, place):
            starts.append(start + shift)
            numbers.append(stack)
        if comment:
            starts.append(place + shift)
            numbers.append(number)
            parts.append(comment)
            insertions.append((place + shift, len(comment)))
            shift += len(comment)
        at = place
    return "".join(parts), TracedText(starts, numbers), insertions


def _comment(text: str, offset: int, number: int, chart: Chart, stacks: Stacks) -> tuple[int, str, int]:
    """Return where a comment is inserted, its text and its stack."""
    piece = stacks.pieces[stacks.links[number][0]]
    template = chart.template(piece.file).text
    words = template[piece.start : piece.end].strip("{}- \t\r\n").removeprefix("/*").removesuffix("*/").split()
    comment = f"# {' '.join(words)}"
    first = text.rfind("\n", 0, offset) + 1
    last = text.find("\n", offset)
    last = len(text) if last < 0 else last
    if template[template.rfind("\n", 0, piece.start) + 1 : piece.start].strip() or (
        text[first:offset].strip() and text[offset:last].strip()
    ):
        return last, f" {comment}", number
    if text[offset:last].strip():
        return first, f"{_indent(text, first)}{comment}\n", number
    if text[first:offset].strip():
        return last, f"\n{_indent(text, last)}{comment}", number
    return last, comment if last > first else f"{_indent(text, last)}{comment}", number


def _indent(text: str, offset: int) -> str:
    """Return the indentation of the first visible line after an offset."""
    rest = text[offset:]
    visible = rest.lstrip()
    return rest[: len(rest) - len(visible)].rpartition("\n")[2]
