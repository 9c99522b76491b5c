"""Renderings and traces as values that can be stored."""

from __future__ import annotations

from kcheck.helm.marking import TemplatePiece
from kcheck.helm.rendering import Trace
from kcheck.helm.tracing import Stacks, TracedText
from kcheck.text.record import NamedTuple


class StoredRendering(NamedTuple):
    """The output of helm.

    Attributes:
        names: names of the templates, as helm prints them.
        texts: their texts.
        error: the message of helm if it failed.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    error: str = ""


class StoredTrace(NamedTuple):
    """A trace in columns.

    Attributes:
        pieces: the pieces that occur in stacks.
        links: the piece and the stack below it, of each stack.
        names: names of the traced templates.
        starts: see `TracedText`, one item for each template.
        stacks: see `TracedText`.
        comments: see `TracedText`.
    """

    pieces: tuple[TemplatePiece, ...]
    links: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    starts: tuple[tuple[int, ...], ...]
    stacks: tuple[tuple[int, ...], ...]
    comments: tuple[tuple[tuple[int, int], ...], ...]


def store_trace(trace: Trace) -> StoredTrace:
    """Return a trace as a value that can be stored, without pieces that nothing was rendered from.

    Why texts could not be traced is left out: messages of helm may contain values.
    """
    stacks = trace.stacks
    used = sorted({piece for piece, _ in stacks.links[1:]})
    numbers = {piece: number for number, piece in enumerate(used)}
    return StoredTrace(
        tuple(stacks.pieces[piece] for piece in used),
        tuple((numbers.get(piece, -1), below) for piece, below in stacks.links),
        tuple(trace.texts),
        tuple(tuple(text.starts) for text in trace.texts.values()),
        tuple(tuple(text.stacks) for text in trace.texts.values()),
        tuple(tuple(text.comments) for text in trace.texts.values()),
    )


def restore_trace(stored: StoredTrace) -> Trace:
    """Return a stored trace. Raises ValueError if it is inconsistent."""
    links = stored.links
    number = len(stored.pieces)
    valid = links[:1] == ((-1, 0),) and all(0 <= piece < number and 0 <= below < at for at, (piece, below) in enumerate(links) if at)
    texts = {}
    for name, starts, stacks, comments in zip(stored.names, stored.starts, stored.stacks, stored.comments, strict=True):
        valid = valid and len(starts) == len(stacks) and all(0 <= each < len(links) for each in stacks)
        valid = valid and all(0 <= stack < len(links) for _, stack in comments)
        texts[name] = TracedText(starts, stacks, comments)
    if not valid:
        raise ValueError("the trace is inconsistent")
    return Trace(Stacks(stored.pieces, links), texts, {})
