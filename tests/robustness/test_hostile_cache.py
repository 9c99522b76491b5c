"""A cache that somebody else has filled gives wrong answers at worst: it runs nothing, ends nothing, and takes no time or memory."""

from __future__ import annotations

import marshal
import os
import pickle
import random
import stat
import sys
from binascii import crc32
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from kcheck.cache import store as caching
from kcheck.cache.results import _CachedOutcome
from kcheck.check.suppressions import Ignore, Ignores
from kcheck.codec.encoding import packed
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Related
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.text.span import Range, Span
from tests.robustness.conftest import Told, run

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: a, ports: [{containerPort: 99999}]}]}\n"
LARGE = POD + "# much\n" * 20_000
"""Enough of an input for the cache to be used."""

AT = Location("pod.yaml", 0, Range(1, 1, 1, 1), "", ObjectId(), "kind: Pod", 0)


class Bed:
    """A folder with one manifest, and its cache."""

    def __init__(self, folder: Path) -> None:
        self.input = folder / "input"
        self.input.mkdir()
        (self.input / "pod.yaml").write_text(LARGE)
        self.cache = folder / "cache"
        self.mark = folder / "executed"

    def check(self, *arguments: str, text: str = "", command: str = "check") -> Told:
        with_cache = {"KCHECK_NO_CACHE": "0", "KCHECK_CACHE_DIR": str(self.cache)}
        stdin = {"input": text.encode()} if text else {}
        given = arguments or ("--isolated", "--format", "concise", "--jobs", "1", ".")
        return run(self.input, command, *given, environment=with_cache, **stdin)

    def packs(self) -> list[Path]:
        return sorted(self.cache.glob("*.pack"))

    def forge(self, body: bytes) -> None:
        """Give all packs another body, with the checksum that it needs."""
        for path in self.packs():
            path.write_bytes(caching._MARK + sha256(body).digest()[:16] + body)

    def replace(self, change: Callable[[str, list[bytes]], list[bytes]]) -> None:
        """Correction the parts of all entries. `change` takes the name of an entry, which is that of a file or "" for relations."""
        for path in filter(Path.is_file, self.packs()):
            pack = caching._read_pack(path)
            for name, entries in pack.entries.items():
                for entry in entries:
                    pack.new[name, entry.key] = change(name, [bytes(part) for part in pack.parts(name, entry)])
            caching._write_pack(path, pack)


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


class Payload:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def gadgets(command: str) -> bytes:
    """A pickle that names only classes found in modules of kcheck: operator's, by which it comes to os.system."""

    def named(module: str, name: str) -> bytes:
        return b"\x8c" + bytes([len(module)]) + module.encode() + b"\x8c" + bytes([len(name)]) + name.encode() + b"\x93"

    def text(value: str) -> bytes:
        return b"X" + len(value.encode()).to_bytes(4, "little") + value.encode()

    def called(function: bytes, *arguments: bytes) -> bytes:
        return function + b"(" + b"".join(arguments) + b"tR"

    attribute, item = named("kcheck.facts.facts", "attrgetter"), named("kcheck.facts.bundle", "itemgetter")
    of_path = called(called(attribute, text("__new__.__globals__")), named("kcheck.api", "Path"))
    system = called(called(attribute, text("system")), called(called(item, text("os")), of_path))
    return b"\x80\x04" + called(system, text(command)) + b"."


@pytest.mark.parametrize("payload", ["gadgets", "plain"])
def test_a_pickle_in_the_cache_is_not_executed(bed: Bed, payload: str) -> None:
    cold = bed.check()
    evil = gadgets(f"touch {bed.mark}") if payload == "gadgets" else pickle.dumps(Payload(bed.mark))
    bed.replace(lambda name, parts: [evil for _ in parts])
    assert bed.check().out == cold.out
    (bed.input / "pod.yaml").write_text(LARGE + "# changed\n")
    assert bed.check().out == cold.out
    for body in (evil, marshal.dumps(evil), pickle.dumps({"0 pod.yaml": [("", 1, 1, (evil,))]})):
        bed.forge(body)
        assert bed.check().out == cold.out
    assert not bed.mark.exists()


def test_a_pack_of_the_old_format_is_not_executed(bed: Bed) -> None:
    """The pack that an attacker made who knew the working folder and the name of one manifest, and no key."""
    cold = bed.check("--isolated", "--no-cache", "--format", "concise", ".")
    name = b"pod.yaml"
    evil = gadgets(f"touch {bed.mark}")
    parts = (1, (), False, False, False, (), evil, b"", b"")
    body = marshal.dumps({b"%d %b" % (final, name): [(b"any", 2**31, 100, parts)] for final in (0, 1)})
    place = sha256(marshal.dumps((os.fsencode(bed.input),), 2)).digest()[:16].hex()[:12]
    bed.cache.mkdir()
    (bed.cache / f"{place}-{crc32(name) % 64:02x}.pack").write_bytes(b"kcheck cache 2\n" + sha256(body).digest()[:16] + body)
    assert bed.check().out == cold.out
    assert not bed.mark.exists()


def test_nothing_that_reads_pickles_is_imported_for_what_is_on_disk() -> None:
    root = Path(__file__).parent.parent.parent / "kcheck"
    reading = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if _reads(path.read_text(encoding="utf-8"))}
    # Between processes that kcheck has started.
    assert reading == {"workers/transport.py"}


def _reads(text: str) -> bool:
    return any(word in text for word in ("Unpickler", "pickle.load", "marshal.load", "shelve", "import marshal"))


@pytest.mark.parametrize("seed", range(12))
def test_random_bytes_are_not_in_the_cache(bed: Bed, seed: int) -> None:
    cold = bed.check()
    chance = random.Random(seed)
    whole = [path.read_bytes()[len(caching._MARK) + 16 :] for path in bed.packs()]
    start = chance.choice(whole)
    body = bytearray(start if seed % 3 else chance.randbytes(chance.choice([0, 5, 100, 10_000])))
    for _ in range(chance.choice([1, 3, 30]) if body else 0):
        body[chance.randrange(len(body))] = chance.choice([0, 1, 127, 255, chance.randrange(256)])
    bed.forge(bytes(body))
    reported = bed.check()
    assert reported.code in (0, 1)
    assert reported.seconds < 15
    assert reported.code == cold.code or b"pod.yaml" not in reported.out


def hostile_parts() -> Mapping[str, list[bytes]]:
    size = 4
    many = (4_000_000).to_bytes(size, sys.byteorder) + b"\xff\xff\xff\x7f" * 1_000_000
    known = Finding("unknown-field", Severity.ERROR, "spec", "m", AT)
    far = AT._replace(range=Range(-(2**31), -(2**31), 2**31 - 1, 2**31 - 1), document=-1, start=-5, line="x" * 50)
    wide = Ignore("port-range", frozenset({"port-range"}), frozenset(), tuple([Span(-(2**31), 2**31 - 1)] * 20_000), AT)
    return {
        "nothing": [],
        "one": [b""],
        "many parts": [b"x"] * 1000,
        "no bytes": [b"", b"", b""],
        "large numbers": [many, many, many],
        "facts for a file": [packed([], list[Facts])] * 3,
        "a file for facts": [packed(_CachedOutcome(1), _CachedOutcome)] * 3,
        "unknown rule": [packed(_CachedOutcome(1, (), (known._replace(rule="no-such"),)), _CachedOutcome), b"", b""],
        "far away": [
            packed(_CachedOutcome(-(2**31), (), (known._replace(place=far, related=(Related(far, "x"),)),)), _CachedOutcome),
            b"",
            b"",
        ],
        "wide ignores": [packed(_CachedOutcome(1, (), (known,), Ignores([wide] * 10)), _CachedOutcome), b"", b""],
    }


@pytest.mark.parametrize("what", hostile_parts())
def test_hostile_entries_end_nothing(bed: Bed, what: str) -> None:
    bed.check()
    parts = hostile_parts()[what]
    for name in ("0 pod.yaml", "1 pod.yaml", ""):
        bed.replace(lambda its_name, old, name=name: parts if its_name == name else old)  # type: ignore[misc]
    for format in ("text", "concise", "json", "sarif", "github"):
        reported = bed.check("--isolated", "--format", format, "--jobs", "1", ".")
        assert reported.code in (0, 1)
        assert reported.seconds < 15


@pytest.mark.parametrize("command", ["check", "graph"])
@pytest.mark.parametrize("stdin", [True, False])
def test_damaged_facts_are_made_anew(bed: Bed, command: str, stdin: bool) -> None:
    arguments = ("--isolated", "--format", "json", "-" if stdin else ".")
    text = LARGE if stdin else ""
    cold = bed.check(*arguments, text=text, command=command)
    bed.replace(lambda name, parts: [parts[0], parts[1], b"damaged"] if name and parts[2] else [])
    assert bed.check(*arguments, text=text, command=command).out == cold.out


def test_fixes_are_not_taken_from_the_cache(bed: Bed) -> None:
    from kcheck.finding.fix import Fix
    from kcheck.text.edit import Edit

    bed.check("--isolated", ".")
    evil = Finding("unknown-field", Severity.ERROR, "spec", "m", AT, fix=Fix("evil", (Edit(0, 0, "# evil\n"),)))
    bed.replace(lambda name, parts: [packed(_CachedOutcome(1, (), (evil,)), _CachedOutcome), parts[1], parts[2]] if name else parts)
    assert b"m" in bed.check().out
    bed.check("--isolated", "--fix", ".")
    assert (bed.input / "pod.yaml").read_text() == LARGE


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("there", [True, False])
def test_only_the_owner_can_read_it(bed: Bed, there: bool) -> None:
    if there:
        bed.cache.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        bed.check()
    finally:
        os.umask(before)
    assert bed.packs()
    assert {stat.S_IMODE(path.stat().st_mode) for path in bed.packs()} == {0o600}
    if not there:
        assert stat.S_IMODE(bed.cache.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs")
@pytest.mark.parametrize("what", ["folder", "fifo", "link", "device", "large", "unreadable"])
def test_what_is_not_a_pack_is_left_alone(bed: Bed, what: str, tmp_path: Path) -> None:
    cold = bed.check()
    packs = bed.packs()
    outside = tmp_path / "outside"
    for path in packs:
        data = path.read_bytes()
        path.unlink()
        if what == "folder":
            path.mkdir()
        elif what == "fifo":
            os.mkfifo(path)
        elif what == "link":
            outside.write_bytes(data)
            path.symlink_to(outside)
        elif what == "device":
            path.symlink_to("/dev/zero")
        elif what == "large":
            with open(path, "wb") as file:
                file.write(data)
                file.truncate(1 << 40)
        else:
            path.write_bytes(data)
            path.chmod(0)
    for _ in range(2):
        assert bed.check().out == cold.out
    bed.replace(lambda name, parts: [b"damaged"] * len(parts))
    assert bed.check().out == cold.out
    assert bed.check("info", command="cache").code == 0
    reported = bed.check("clear", command="cache")
    assert (reported.code, reported.err) == (0, "")
    if what == "folder":
        assert all(path.is_dir() for path in packs)


def test_a_cache_that_is_not_a_folder(bed: Bed) -> None:
    bed.cache.write_text("a file")
    cold = bed.check()
    assert bed.check().out == cold.out
    cleared = bed.check("clear", command="cache")
    assert (cleared.code, "cannot be read" in cleared.err) == (2, True)
