"""Shard files: the outcomes of one machine, and the merged outcomes of all machines.

A shard has lines of JSON in ASCII: a head (`Head`), one line per file (`[number, path, strings, numbers]`), and `{"digest": ...}`
of all bytes before it. The content does not determine the types it is decoded to (`kcheck.codec.encoding`), so a forged file can
contain false findings but cannot execute code.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TextIO

from kcheck import __version__
from kcheck.check.file import Checked, Outcome
from kcheck.check.session import Session
from kcheck.check.session_spec import IncompatibleSpec, SessionSpec, create_session
from kcheck.codec.encoding import decode, encode
from kcheck.finding.report import SkippedFile
from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry

FORMAT = 2
_MARK = "kcheck-shard"


class BadShard(Exception):
    """Shards that cannot be merged; the message names the file and a solution."""


class Head(NamedTuple):
    """The head of shard `number` (from 1) of `of`. The other fields are the same in all shards of a run.

    Attributes:
        number: Number of this shard, from 1.
        of: Number of shards.
        spec: The session.
        input: Digest of all input files.
        files: Number of input files.
        fail_on: The severity that makes the run fail, from the config.
        passed: Files that were skipped before they were read.
    """

    number: int
    of: int
    spec: SessionSpec
    input: str
    files: int
    fail_on: Severity
    passed: tuple[SkippedFile, ...]

    @property
    def title(self) -> str:
        return f"{self.number}/{self.of}"


def write_shard(head: Head, checked: Iterable[Checked], out: TextIO) -> None:
    """Write a shard in ASCII."""
    digest = blake2b(digest_size=16)
    for line in _lines(head, checked):
        text = f"{line}\n"
        digest.update(text.encode("ascii"))
        out.write(text)
    out.write(json.dumps({"digest": digest.hexdigest()}) + "\n")


def _lines(head: Head, checked: Iterable[Checked]) -> Iterator[str]:
    yield json.dumps({_MARK: FORMAT, "kcheck": head.spec.version, "shard": head.title, "head": encode(head, Head)})
    for number, path, outcome in checked:
        yield json.dumps([number, path, *encode(outcome, Outcome)], separators=(",", ":"))


class Merged(NamedTuple):
    """The merged shards of one run. Iterating over `checked` may raise BadShard as well."""

    head: Head
    checked: Iterator[Checked]
    session: Session


def read_shards(paths: Iterable[str], registry: Registry) -> Merged:
    """Merge all shards of a run.

    Raises BadShard for shards that are missing, duplicate, damaged, or from another run or program.
    """
    shards = [_Shard(path) for path in paths]
    first = shards[0]
    by_number: dict[int, _Shard] = {}
    for shard in shards:
        if difference := _difference(shard.head, first.head):
            raise BadShard(f"{shard.path} and {first.path} are not from the same run: {difference}")
        other = by_number.setdefault(shard.head.number, shard)
        if other is not shard:
            raise BadShard(f"shard {shard.head.title} was passed twice: {other.path} and {shard.path}")
    missing = [f"{number}/{first.head.of}" for number in range(1, first.head.of + 1) if number not in by_number]
    if missing:
        raise BadShard(f"{len(missing)} of {first.head.of} shards are missing: {', '.join(missing[:20])}; pass all shards of the run")
    try:
        session = create_session(first.head.spec, registry)
    except IncompatibleSpec as error:
        raise BadShard(f"{first.path} is not compatible: {error}; check and merge with the same kcheck") from None
    return Merged(first.head, _merge(shards, first.head.files, registry), session)


def _difference(one: Head, other: Head) -> str:
    """Return why two shards are not from the same run, or an empty string."""
    if one.of != other.of:
        return f"one is of {one.of} shards, the other of {other.of}"
    if one.spec.version != other.spec.version:
        return f"created with kcheck {one.spec.version} and kcheck {other.spec.version}"
    if one.spec.program != other.spec.program:
        return "the code of kcheck or its plug-ins differs"
    if one.spec.schemas != other.spec.schemas:
        return "the additional schemas differ"
    if (one.input, one.files, one.passed) != (other.input, other.files, other.passed):
        return "the input files differ"
    return "" if one[2:] == other[2:] else "the rules or their options differ"


class _Shard:
    """A shard file whose lines are decoded later. Raises BadShard."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise BadShard(f"{path} cannot be read: {error.strerror or error}") from None
        if not data.startswith(f'{{"{_MARK}": '.encode()):
            raise BadShard(f"{path} is not a shard: create one with kcheck check --shard 1/2 --output FILE")
        end = data.rfind(b"\n", 0, len(data) - 1) + 1
        with _raises_bad_shard(path):
            first, *self.lines = data[:end].split(b"\n")[:-1]
            head = json.loads(first)
            if head[_MARK] != FORMAT or head["kcheck"] != __version__:
                raise BadShard(f"{path} was created with kcheck {head['kcheck']}, but this is kcheck {__version__}: use the same version")
            if json.loads(data[end:]) != {"digest": blake2b(data[:end], digest_size=16).hexdigest()}:
                raise ValueError("its checksum is wrong")
            self.head = decode(head["head"], Head)
            if not 1 <= self.head.number <= self.head.of:
                raise ValueError("its number is wrong")

    def checked(self, registry: Registry) -> Iterator[Checked]:
        """Yield the outcomes of the shard's files."""
        with _raises_bad_shard(self.path):
            for line in self.lines:
                number, path, *data = json.loads(line)
                outcome: Outcome = decode(data, Outcome)
                if not isinstance(number, int) or not isinstance(path, str):
                    raise ValueError("a file has no number or no path")
                if unknown := registry.unknown_of(finding.rule for finding in outcome.findings):
                    raise ValueError(f"unknown rule {min(unknown)}")
                yield Checked(number, path, outcome)


@contextmanager
def _raises_bad_shard(path: str) -> Iterator[None]:
    """Raise BadShard if the `with` block finds invalid data."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadShard(f"{path} is damaged ({error}): create it again") from None


def _merge(shards: list[_Shard], files: int, registry: Registry) -> Iterator[Checked]:
    """Yield the files of all shards in input order."""
    expected = 0
    for each in heapq.merge(*(shard.checked(registry) for shard in shards), key=lambda checked: checked.number):
        if each.number != expected:
            raise BadShard(f"file {min(each.number, expected)} of the input is in no shard or in two shards: create all shards again")
        expected += 1
        yield each
    if expected != files:
        raise BadShard(f"the shards contain {expected} of {files} files: create all shards again")
