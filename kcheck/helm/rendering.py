"""Rendered charts: the text of each template for one set of values, and where its characters come from."""

from __future__ import annotations

from collections.abc import Mapping

from kcheck.helm.chart import Chart
from kcheck.helm.marking import OPEN, Piece, mark_template
from kcheck.helm.program import HelmFailed, HelmSettings, render
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


def render_chart(program: str, chart: Chart, settings: HelmSettings) -> dict[str, str]:
    """Return the rendered text of each template, by the name under which helm prints it. Raises HelmFailed."""
    return render(program, chart.files, chart.rendered_names, settings)


class MarkedChart:
    """A copy of a chart with marks in its templates.

    Attributes:
        files: the files of the copy.
        pieces: the pieces of all templates.
    """

    def __init__(self, chart: Chart, with_helpers: bool = True) -> None:
        """Add the marks. `with_helpers`: whether the output of helpers is marked, too."""
        templates = {path: chart.template(path) for path in chart.templates}
        templates = {path: each for path, each in templates.items() if OPEN not in each.text and not each.faults}
        helpers = {name_of(start) for each in templates.values() for start, _ in each.blocks if start.keyword == "define"}
        self.pieces: list[Piece] = []
        self.files = dict(chart.files)
        for path, template in templates.items():
            marked = mark_template(path, template, self.pieces, helpers if with_helpers else ())
            self.files[path] = marked.encode("utf-8", "surrogatepass")


def render_marked(program: str, chart: Chart, settings: HelmSettings) -> tuple[MarkedChart, dict[str, str] | str]:
    """Return a copy of the chart with marks and its rendered texts, or the message of helm if the marks break it."""
    marked = MarkedChart(chart)
    try:
        return marked, render(program, marked.files, chart.rendered_names, settings)
    except HelmFailed as error:
        return marked, str(error)


def trace_chart(
    program: str, chart: Chart, settings: HelmSettings, plain: Mapping[str, str], first: tuple[MarkedChart, dict[str, str] | str] | None = None
) -> Trace:  # fmt: skip
    """Return the origins of the characters of a rendered chart. It never guesses: what cannot be verified is not traced.

    `plain`: the rendered texts. `first`: the rendering with marks, if it was made before.
    """
    marked, output = first or render_marked(program, chart, settings)
    if isinstance(output, str):
        # The marks break the chart. Without those in helpers, no template computes anything from them.
        marked = MarkedChart(chart, with_helpers=False)
        try:
            output = render(program, marked.files, chart.rendered_names, settings)
        except HelmFailed as error:
            return Trace(Stacks([]), {}, dict.fromkeys(plain, f"its marked copy cannot be rendered: {error}"))
    stacks = Stacks(marked.pieces)
    trace = Trace(stacks, {}, {})
    for name, text in plain.items():
        try:
            if name not in output:
                raise Untraceable("its marked copy renders nothing")
            stripped, traced = read_marks(output[name], stacks)
            trace.texts[name] = verified(text, stripped, traced, stacks)
        except Untraceable as error:
            trace.untraced[name] = str(error)
    return trace
