"""Renderings and traces of charts, which are stored for later runs."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kcheck.check.fingerprint import code_state
from kcheck.helm.chart import Chart
from kcheck.helm.marking import TemplatePiece
from kcheck.helm.program import MAX_SECONDS, HelmFailed, HelmSettings, program_state
from kcheck.helm.rendering import Trace, render_chart, trace_chart
from kcheck.helm.stored import StoredRendering, StoredTrace, restore_trace, store_trace
from kcheck.helm.tracing import Stacks, TracedText
from kcheck.helm.values import ChartValues, TextQuery, ValueLeaf, ValueTracer, path_text
from kcheck.redaction import redact
from kcheck.text.digest import digest_of_parts
from kcheck.text.record import NamedTuple
from kcheck.text.span import Range

_NO_TEXTS: Mapping[str, str] = {}


class Pool:
    """Threads that run helm, started when the first one is needed. `jobs`: their number."""

    def __init__(self, jobs: int) -> None:
        self._jobs = max(jobs, 1)
        self._executor: Any = None

    def __enter__(self) -> Pool:
        return self

    def submit(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Run a function in a thread and return its Future."""
        if self._executor is None:
            # Imported on first use: a run with stored renderings needs no thread.
            from concurrent.futures import ThreadPoolExecutor

            self._executor = ThreadPoolExecutor(self._jobs)
        return self._executor.submit(function, *arguments)

    def map(self, function: Callable[[str], Any], items: Iterable[str]) -> Iterator[Any]:
        """Yield the results of a function for each item, in order."""
        futures = deque(self.submit(function, each) for each in items)
        while futures:
            yield futures.popleft().result()

    def __exit__(self, *error: object) -> None:
        if self._executor is not None:
            self._executor.shutdown()


class StoredMistake(NamedTuple):
    """A mistake in a chart: see `ChartMistake`. `line`: the text of the line, without secrets."""

    kind: str
    path: str
    range: Range
    line: str
    name: str
    near: str


class StoredMistakes(NamedTuple):
    """The mistakes in a chart."""

    mistakes: tuple[StoredMistake, ...]


class StoredValues(NamedTuple):
    """The values that parts of texts come from: the text of the queries, and the paths of the values of each of them."""

    queries: str
    paths: tuple[tuple[str, ...], ...]


def _has_secrets(rendering: StoredRendering) -> bool:
    """Return whether texts contain secret values, which no cache may hold."""
    # Imported on first use: only texts that are new to the cache are searched.
    from kcheck.redaction.document_secrets import shown_text

    return any(shown_text(name, text) != text for name, text in zip(rendering.names, rendering.texts, strict=True))


def _leaves_at(values: ChartValues, paths: Sequence[str]) -> list[ValueLeaf]:
    """Return the values with these paths."""
    wanted = set(paths)
    return [leaf for leaf in values.leaves(()) if leaf.name in wanted] if wanted else []


class RenderingCache:
    """Renders charts, unless an earlier run has done so. `place`: the working folder of that run, "" for the current folder."""

    def __init__(self, folder: Path | None, program: str, jobs: int = 1, place: str = "") -> None:
        self._program = program
        self._jobs = jobs
        self._state = b""
        self._store = None
        if folder is not None and program:
            from kcheck.cache.store import Cache

            self._state = digest_of_parts(code_state(), program_state(program).encode("utf-8", "surrogateescape"))
            self._store = Cache(folder, place or os.getcwd())

    def _key(self, chart: Chart, settings: HelmSettings, texts: Mapping[str, str]) -> str:
        described = repr((settings, sorted(texts.items()))).encode("utf-8", "surrogateescape")
        return digest_of_parts(self._state, chart.digest, described).hex()

    def rendering(self, pool: Pool, chart: Chart, name: str, settings: HelmSettings) -> Callable[[], StoredRendering]:
        """Return a function that returns the output of helm, which starts now."""
        stored = self._get("texts", chart, name, settings, StoredRendering)
        if isinstance(stored, StoredRendering):
            found = stored
            return lambda: found
        output = pool.submit(self._render, chart, settings)

        def result() -> StoredRendering:
            rendering: StoredRendering = output.result()
            if not rendering.error and not _has_secrets(rendering):
                self._put("texts", chart, name, settings, rendering, StoredRendering)
            return rendering

        return result

    def _render(self, chart: Chart, settings: HelmSettings) -> StoredRendering:
        try:
            texts = render_chart(self._program, chart, settings)
        except HelmFailed as error:
            return StoredRendering((), (), str(error))
        ordered = sorted(texts)
        return StoredRendering(tuple(ordered), tuple(texts[each] for each in ordered))

    def mistakes(self, chart: Chart, files: Sequence[tuple[str, str]]) -> Sequence[StoredMistake]:
        """Return the mistakes in a chart that are seen without rendering it. `files`: see `ChartChecker.mistakes`."""
        settings = HelmSettings("", "", "", (), tuple(text for pair in files for text in pair))
        stored = self._get("mistakes", chart, "", settings, StoredMistakes)
        if isinstance(stored, StoredMistakes):
            return stored.mistakes
        # Imported on first use: the results of unchanged charts are stored.
        from kcheck.helm.value_checks import ChartChecker
        from kcheck.kube.suggestions import nearest

        found = []
        for each in ChartChecker(chart, nearest).mistakes(files):
            range = each.source.range(*each.span)
            found.append(StoredMistake(each.kind, each.path, range, redact.line(each.source.line(range.line)), each.name, each.near))
        self._put("mistakes", chart, "", settings, StoredMistakes(tuple(found)), StoredMistakes)
        return found

    def trace(self, chart: Chart, name: str, settings: HelmSettings, texts: Mapping[str, str]) -> Trace:
        """Return the origins of the characters of a rendered chart."""
        stored = self._get("trace", chart, name, settings, StoredTrace, texts)
        if isinstance(stored, StoredTrace):
            with suppress(ValueError):
                return restore_trace(stored)
        trace = trace_chart(self._program, chart, settings, texts)
        self._put("trace", chart, name, settings, store_trace(trace), StoredTrace, texts)
        self.save()
        return trace

    def proven_values(
        self,
        chart: Chart,
        name: str,
        settings: HelmSettings,
        values: ChartValues,
        texts: Mapping[str, str],
        traces: Mapping[str, TracedText],
        stacks: Stacks,
        queries: Sequence[TextQuery],
    ) -> Mapping[TextQuery, Sequence[ValueLeaf]]:
        """Return the values that parts of rendered texts come from, proven by renderings with other values."""
        asked = repr(queries)
        stored = self._get("values", chart, name, settings, StoredValues, texts)
        if isinstance(stored, StoredValues) and stored.queries == asked:
            return {query: _leaves_at(values, paths) for query, paths in zip(queries, stored.paths, strict=False)}

        def stack_of(text: str, offset: int) -> list[TemplatePiece]:
            traced = traces.get(text)
            return [] if traced is None else stacks.of(traced.stack_at(offset))

        # All renderings together take no longer than one may take.
        end = time.monotonic() + MAX_SECONDS

        def render(extra: str) -> dict[str, str] | None:
            left = end - time.monotonic()
            try:
                return render_chart(self._program, chart, settings._replace(files=(*settings.files, extra)), left) if left > 0 else None
            except HelmFailed:
                return None

        with Pool(self._jobs) as pool:
            proven = ValueTracer(values, texts, stack_of).proven(queries, render, pool.map)
        if time.monotonic() < end:
            paths = tuple(tuple(path_text(leaf.path) for leaf in proven.get(query, ())) for query in queries)
            self._put("values", chart, name, settings, StoredValues(asked, paths), StoredValues, texts)
            self.save()
        return proven

    def _pack(self, chart: Chart) -> str:
        return f"chart-{digest_of_parts(chart.folder.encode('utf-8', 'surrogateescape')).hex()[:2]}"

    def _get(
        self, what: str, chart: Chart, name: str, settings: HelmSettings, kind: type, texts: Mapping[str, str] = _NO_TEXTS
    ) -> object:  # fmt: skip
        """Return a stored value, None if there is none. `texts`: the rendered texts that it is about; some charts have random values."""
        if self._store is None:
            return None
        from kcheck.codec.encoding import DecodeError, unpacked

        parts = self._store.get(self._pack(chart), f"{what} {chart.folder} {name}", self._key(chart, settings, texts))
        with suppress(DecodeError, ValueError):
            if parts is not None:
                return unpacked(b"".join(parts), kind)
        return None

    def _put(
        self, what: str, chart: Chart, name: str, settings: HelmSettings, value: object, kind: type, texts: Mapping[str, str] = _NO_TEXTS
    ) -> None:  # fmt: skip
        if self._store is None:
            return
        from kcheck.codec.encoding import DecodeError, packed

        key = self._key(chart, settings, texts)
        with suppress(DecodeError):
            self._store.put(self._pack(chart), f"{what} {chart.folder} {name}", key, (packed(value, kind),), max_keys=4)

    def save(self) -> None:
        """Write what was rendered."""
        if self._store is not None:
            self._store.save()
