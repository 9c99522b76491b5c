"""Texts and values changed a little in ways that hurt: what a slip, a merge, an editor or an enemy does to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

TOKENS = (
    "\n", "\n\n", "\r", "\r\n", "\t", " ", "  ", "- ", "-", "? ", ": ", ":", ",", "[", "]", "{", "}", "{}", "[]", "#", " # ", "&a ", "*a",
    "&a &a ", "<<: *a", "<<: [*a, *a]", "!", "!!str ", "!!int ", "!!binary ", "!!merge ", "!<x> ", "|", ">", "|-", "|+", ">2", "|9", "'",
    '"',
    "''", '""', '"\\', "\\u0000", "\\ud800", "\\U00110000", "%", "@", "`", "---", "\n---\n", "\n...\n", "--- |\n", "%YAML 1.2\n---\n",
    "\ufeff", "\0", "\x1b[31m", "\x07", "\x85", "\u2028", "\u202e", "\u00e9", "e\u0301", "\U0001f600", "\ud800", "\udc80", "\uffff",
    "\u3000",
    "null", "~", "true", "no", "y", "0", "-1", "010", "0x", "1e9", "1e999999", ".inf", ".nan", "9223372036854775808", "1_0", "=", "<<",
    "{{ .x }}", "${x}", "$(A)", "apiVersion: ", "kind: ", "metadata:", "spec:", "name: ", "items:", "labels: ", "List", "Pod", "v1",
    "a" * 300,
    "# kcheck: ignore[", "# kcheck: ignore[all]", "kcheck.dev/ignore: ", "x-kubernetes-validations: ", "$patch: delete", "1Gi", "100m",
)  # fmt: skip

SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 65536, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, "", " ", "a", "0", "-1", "true", "null",
    "a b",
    "A", "a/b/c", "/", "..", "-", "a" * 64, "a" * 254, "\n", "\t", "\x1b[2J", "\u202e", "\u00e9", "\ud800", "\0", "*", "?", "$(A)", "$(",
    "%", "1Gi",
    "1e99", "-1m", "0.0000000001", "1.5.", "1h", "-5s", "99999999999h", "* * * * *", "*/0 * * * *", "@every 1s", "1.2.3.4/33",
    "::ffff:1.2.3.4",
    "fe80::1%eth0", "http://a:99999/%zz", "http://[::1", "nginx:latest", "a@sha256:0", "registry:5000/a", "x" * 5000, "a=b,c in (d", "!a",
    "{", "[", "(a+)+$", "a{1001}", "2020-01-01T00:00:00Z", "self.a", "LS0tLS1CRUdJTg==", "v1", "apps/v1", "Pod", "default", "kcheck",
    "AKIA" + "Q" * 16,
)  # fmt: skip

_HUGE = 3000


def mutated(random: Random, text: str, others: tuple[str, ...] = ()) -> str:
    """A text with one to eight changes. `others`: texts that parts may come from."""
    for _ in range(random.randint(1, 8)):
        change = random.choice(_CHANGES)
        text = change(random, text, random.choice(others) if others else text)
    return text


def _cut(random: Random, text: str, most: int = 40) -> tuple[int, int]:
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.randint(0, most))


def _insert(random: Random, text: str, other: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(TOKENS) + text[at:]


def _delete(random: Random, text: str, other: str) -> str:
    start, end = _cut(random, text)
    return text[:start] + text[end:]


def _replace(random: Random, text: str, other: str) -> str:
    start, end = _cut(random, text, 12)
    return text[:start] + random.choice(TOKENS) + text[end:]


def _flip(random: Random, text: str, other: str) -> str:
    if not text:
        return text
    at = random.randint(0, len(text) - 1)
    return text[:at] + chr(ord(text[at]) ^ (1 << random.randint(0, 6))) + text[at + 1 :]


def _splice(random: Random, text: str, other: str) -> str:
    start, end = _cut(random, other, 400)
    at = random.randint(0, len(text))
    return text[:at] + other[start:end] + text[at:]


def _repeat(random: Random, text: str, other: str) -> str:
    start, end = _cut(random, text, 30)
    times = random.choice((1, 2, 3, 10, 100, _HUGE // (end - start + 1)))
    return text[:end] + text[start:end] * times + text[end:]


def _truncate(random: Random, text: str, other: str) -> str:
    return text[: random.randint(0, len(text))]


def _breaks(random: Random, text: str, other: str) -> str:
    """Other line breaks, some or all."""
    new = random.choice(("\r\n", "\r", "\n\n", "\x85", "\u2028", "\n\t", " \n"))
    return text.replace("\n", new, random.choice((-1, 1, 3)))


def _lines(random: Random, text: str, other: str) -> str:
    """A line moved, doubled, indented otherwise, or given a value of its own."""
    lines = text.split("\n")
    at = random.randint(0, len(lines) - 1)
    line = lines[at]
    match random.randint(0, 5):
        case 0:
            lines.insert(random.randint(0, len(lines)), line)
        case 1:
            lines[at] = " " * random.randint(0, 12) + line.lstrip()
        case 2:
            lines[at] = line.partition(":")[0] + ": " + str(random.choice(SCALARS))
        case 3:
            lines[at] = (
                line.partition(":")[0] + ": " + random.choice(("&a", "*a", "!!str", "|", ">-", "{", "[", "'", '"')) + line.partition(":")[2]
            )
        case 4:
            lines.insert(random.randint(0, len(lines)), lines.pop(at))
        case _:
            end = random.randint(at, min(len(lines), at + 8))
            lines[at:end] = [" " * random.randint(0, 4) + each for each in lines[at:end]]
    return "\n".join(lines)


_CHANGES: tuple[Callable[[Random, str, str], str], ...] = (
    _insert, _insert, _delete, _replace, _replace, _flip, _splice, _repeat, _truncate, _breaks, _lines, _lines, _lines, _lines,
)  # fmt: skip


def mutated_bytes(random: Random, data: bytes) -> bytes:
    """Bytes with some changes below the level of characters."""
    for _ in range(random.randint(1, 5)):
        at = random.randint(0, len(data))
        match random.randint(0, 4):
            case 0:
                data = data[:at] + bytes([random.randint(0, 255)]) + data[at + 1 :]
            case 1:
                data = data[:at] + bytes([random.randint(0, 255)]) + data[at:]
            case 2:
                data = data[:at] + data[at + random.randint(0, 3) :]
            case 3:
                data = (
                    random.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0", b"\xed\xa0\x80", b"\xc0\x80")) + data
                )
            case _:
                data = data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\r")))
    return data


def value(random: Random, depth: int = 3) -> Any:
    """Any value that JSON can hold."""
    if depth <= 0 or random.random() < 0.5:
        return random.choice(SCALARS)
    if random.random() < 0.5:
        return [value(random, depth - 1) for _ in range(random.randint(0, 3))]
    return {key(random): value(random, depth - 1) for _ in range(random.randint(0, 3))}


def key(random: Random) -> str:
    return (
        str(random.choice(SCALARS))
        if random.random() < 0.3
        else random.choice(("a", "b", "name", "kind", "spec", "type", "items", "value"))
    )


def mutated_value(random: Random, data: Any, others: tuple[Any, ...] = ()) -> Any:
    """A value with some of its parts replaced, dropped, doubled or moved."""
    data = {"": data}
    for _ in range(random.randint(1, 5)):
        holder, at = random.choice(list(places(data)))
        match random.randint(0, 6):
            case 0 | 1:
                holder[at] = random.choice(SCALARS)
            case 2:
                holder[at] = value(random)
            case 3 if at != "":
                del holder[at]
            case 4:
                holder[at] = [holder[at], holder[at]]
            case 5:
                source, where = random.choice(list(places(random.choice(others) if others else data)))
                holder[at] = _copied(source[where])
            case _:
                if isinstance(holder, dict) and at != "":
                    holder[key(random)] = _copied(holder[at])
                elif isinstance(holder, list):
                    holder.append(_copied(holder[at]))
    return data[""]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """All parts of a value: what holds them, and where in it."""
    stack = [data]
    while stack:
        holder = stack.pop()
        for at in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, at
            if isinstance(holder[at], (dict, list)):
                stack.append(holder[at])


def _copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _copied(each) for name, each in data.items()}
    return [_copied(each) for each in data] if isinstance(data, list) else data
