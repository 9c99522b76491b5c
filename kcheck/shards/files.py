"""Shard files: what one of several machines found in its part of the input, and several of them made one again.

Lines of JSON in ASCII: a head (`Head`), then for each file `[number, path, texts, numbers]`, last `{"digest": ...}` of all bytes before it.
Nothing in a shard says what is made of it (`kcheck.codec.encoding`), so a file that somebody else has written does no more than lie.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TextIO

from kcheck import __version__
from kcheck.check.checked import Checked
from kcheck.check.file import Outcome
from kcheck.check.session import Session
from kcheck.check.session_spec import IncompatibleSpec, SessionSpec, session_of
from kcheck.codec.encoding import decode, encode
from kcheck.finding.report import SkippedFile
from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry
from kcheck.text.record import NamedTuple

FORMAT = 2
_MARK = "kcheck-shard"


class BadShard(Exception):
    """Shards that make no report; the message names the file and says what to do."""


class Head(NamedTuple):
    """Shard `number` (from 1) of `of`. What follows is the same in all shards of a run.

    `input`: a digest of all files; `files`: how many there are; `fail_on`: what the config says; `passed`: what was left out.
    """

    number: int
    of: int
    terms: SessionSpec
    input: str
    files: int
    fail_on: Severity
    passed: tuple[SkippedFile, ...]

    @property
    def title(self) -> str:
        return f"{self.number}/{self.of}"


def write_shard(head: Head, checked: Iterable[Checked], out: TextIO) -> None:
    """Write a shard: ASCII."""
    digest = blake2b(digest_size=16)
    for line in _lines(head, checked):
        text = f"{line}\n"
        digest.update(text.encode("ascii"))
        out.write(text)
    out.write(json.dumps({"digest": digest.hexdigest()}) + "\n")


def _lines(head: Head, checked: Iterable[Checked]) -> Iterator[str]:
    yield json.dumps({_MARK: FORMAT, "kcheck": head.terms.version, "shard": head.title, "head": encode(head, Head)})
    for number, path, outcome in checked:
        yield json.dumps([number, path, *encode(outcome, Outcome)], separators=(",", ":"))


class Merged(NamedTuple):
    """The shards of one run. Going through `checked` raises BadShard, too."""

    head: Head
    checked: Iterator[Checked]
    session: Session


def read_shards(paths: Iterable[str], registry: Registry) -> Merged:
    """All shards of a run together. Raises BadShard for one that is missing, there twice, damaged, or of another run or program."""
    shards = [_Shard(path) for path in paths]
    first = shards[0]
    known: dict[int, _Shard] = {}
    for shard in shards:
        if difference := _difference(shard.head, first.head):
            raise BadShard(f"{shard.path} and {first.path} do not belong together: {difference}")
        other = known.setdefault(shard.head.number, shard)
        if other is not shard:
            raise BadShard(f"shard {shard.head.title} is there twice: {other.path} and {shard.path}")
    missing = [f"{number}/{first.head.of}" for number in range(1, first.head.of + 1) if number not in known]
    if missing:
        raise BadShard(f"{len(missing)} of {first.head.of} shards missing: {', '.join(missing[:20])}: give all that the run has written")
    try:
        session = session_of(first.head.terms, registry)
    except IncompatibleSpec as error:
        raise BadShard(f"{first.path} was {error}: check and merge with the same kcheck") from None
    return Merged(first.head, _in_order(shards, first.head.files, registry), session)


def _difference(one: Head, other: Head) -> str:
    """Why two shards are not of one run, nothing where they are."""
    if one.of != other.of:
        return f"one of {one.of} shards and one of {other.of}"
    if one.terms.version != other.terms.version:
        return f"kcheck {one.terms.version} and kcheck {other.terms.version} made them"
    if one.terms.program != other.terms.program:
        return "the code of kcheck or its plug-ins was not the same"
    if one.terms.schemas != other.terms.schemas:
        return "the schemas given were not the same"
    if (one.input, one.files, one.passed) != (other.input, other.files, other.passed):
        return "the files that they saw were not the same"
    return "" if one[2:] == other[2:] else "the rules or their options were not the same"


class _Shard:
    """A shard file, its lines not decoded yet. Raises BadShard."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise BadShard(f"{path} cannot be read: {error.strerror or error}") from None
        if not data.startswith(f'{{"{_MARK}": '.encode()):
            raise BadShard(f"{path} is no shard: write one with kcheck check --shard 1/2 --output FILE")
        end = data.rfind(b"\n", 0, len(data) - 1) + 1
        with _told(path):
            first, *self.lines = data[:end].split(b"\n")[:-1]
            head = json.loads(first)
            if head[_MARK] != FORMAT or head["kcheck"] != __version__:
                raise BadShard(f"{path} was made with kcheck {head['kcheck']}, and this is kcheck {__version__}: use the same one")
            if json.loads(data[end:]) != {"digest": blake2b(data[:end], digest_size=16).hexdigest()}:
                raise ValueError("its check sum is wrong")
            self.head = decode(head["head"], Head)
            if not 1 <= self.head.number <= self.head.of:
                raise ValueError("its number is wrong")

    def checked(self, registry: Registry) -> Iterator[Checked]:
        """The files of the shard."""
        with _told(self.path):
            for line in self.lines:
                number, path, *data = json.loads(line)
                outcome: Outcome = decode(data, Outcome)
                if not isinstance(number, int) or not isinstance(path, str):
                    raise ValueError("a file has no number or no name")
                if unknown := {finding.rule for finding in outcome.findings} - registry.rules.keys():
                    raise ValueError(f"no rule is called {min(unknown)}")
                yield Checked(number, path, outcome)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Say of what is damaged that it is."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadShard(f"{path} is damaged ({error}): write it anew") from None


def _in_order(shards: list[_Shard], files: int, registry: Registry) -> Iterator[Checked]:
    """The files of all shards in the order of the input."""
    wanted = 0
    for each in heapq.merge(*(shard.checked(registry) for shard in shards), key=lambda checked: checked.number):
        if each.number != wanted:
            raise BadShard(f"file {min(each.number, wanted)} of the input is in no shard or in two of them: write all shards anew")
        wanted += 1
        yield each
    if wanted != files:
        raise BadShard(f"the shards hold {wanted} files of {files}: write all of them anew")
