"""Changes of YAML that readers disagree about: line breaks, separators, marks, tags, anchors, merges, tabs, control characters."""

from __future__ import annotations

from functools import cache
from random import Random

from tests.fuzz.mutation import mutated
from tests.fuzz.seeds import manifests

BREAKS = ("\n", "\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\r\r\n", "\n\r")
MARKS = ("\ufeff", "\t", "\x01", "\x7f", "\x9f", "\xa0", "\u200b", "\u3000", "\ufffe", "\U0010ffff", "\x0b", "\x0c", "\x1c", "\x1f")
SEPARATORS = (
    "---", "--- ", "---\t", "--- # c", "---# c", "---#", "---x", "---x: 1", "---- x", "----", "--- x", "--- {a: 1}", "--- |", "--- !t",
    "--- &a", "---\r", "---\xa0", "---\xa0# c", "---\x85", "---\u2028x", "...", "... # c", "...x", " ---", "%YAML 1.1", "%YAML 1.2",
    "%TAG ! !x", "%", "%x", "# c", "\t# c", "#\x01", "# c\ra: 1", "# c\x85a: 1", "# c\u2028a: 1", "# c\u2029a: 1", "\ufeff", "\ufeff# c",
    "\ufeff---", "\t", " \t", "# c\r---", "# c\u2028---", "null", "~", "{}", "[]", "{", "}", "]", "x", "a: 1", "- a", "\ufeffa: 1", "",
)  # fmt: skip
VALUES = (
    "&x 1", "&x:y z", "&x", "*x", "*x ", "&x [1]", "&x {a: 1}", "&é 1", "*é", "!!str", "!!str 1", "!!int '7'", "!!int x", "!!float 1",
    "!!float 1.5", "!!float x", "!!bool yes", "!!bool x", "!!null ~", "!!null x", "!!binary aGk=", "!!binary aGVs=", "!!binary ü",
    "!!binary 'aG k='", "!!binary \"aGk=\\n\"", "!!binary /w==", "!!binary a", "!!binary ''", "!!binary |\n   aGk=\n   aGk=",
    "!!timestamp nonsense", "!!timestamp 2001-01-01", "!!timestamp '2001-1-1'", "!!timestamp 2001-02-30", "!!timestamp 2001-01-01t0:0:0Z",
    "!!timestamp 2001-01-01 1:2:3", "!!timestamp 2001-01-01T25:00:00Z", "!!timestamp 1", "!!set {a, b}", "!!map {a: 1}", "!!seq [1]",
    "!!map [1]",
    "!!seq {a: 1}", "!!str {a: 1}", "!!omap [a: 1]", "!!merge x", "!t x", "! 1", "! '1'", "!<x> 1", "!<tag:yaml.org,2002:int> 1",
    "!!", "!x!y 1",
    '"a\\/b"', '"\\x41\\u0042\\U00000043"', '"\\e\\0\\a\\b\\v\\f\\r\\N\\_\\L\\P"', "\"\\'\"", '"\\z"', '"a\\\n  b"', '"a\tb"',
    "'a\tb'", "a\tb",
    "a \tb", "\ta", "a\t", "a\t# c", "a #c", "a#c", "|", "|\n  a", "|-\n  a\n", "|+\n  a\n\n", ">\n  a\n  b\n", "|2\n   a", "| # c\n  a",
    "|\t# c\n  a", "|x", ">+-\n  a", "|\n\ta", "|\n  \ta\n  b", ">\n  a\r  b", "|\n  a\u2028  b", ">\n  a\x85  b\n",
    "'a\u2028b'", '"a\x85b"',
    "'a\r\n\r\n b'", "a\u2028 b", "a\r b", "a\x85b: c", "[a, b]", "[a: b]", "[a, b: c]", "[http://x:1]", "[a:b]", "{a:b}", "{a: b}", "{a}",
    "{a, b: 1}", "{a: }", "{\"a\":1}", "{'a':b}", "{a: [}", "[a\n b]", "[a\t,b]", "[\ta]", "{a: b}}", "[?a]", "{? a : b}", "? a",
    "- a", "-", "?",
    ":", ":a", "-a", "?a", "a: b", "a:b", "%a", "@a", "`a", "0o7", "0b1", "-0b1", "0x_1", "1_0", "1__0", "_1", "+1", "1.", ".1",
    "1e3", "1e400",
    "-0", "0.0", "-0.0", ".inf", ".nan", "~", "null", "Null", "yes", "On", "y", "=", "<<", "12345678901234567890", "123456789012345678901",
    "0777", "08", "1:30", "2001-01-01", "0x1F", "1e3_0", "1_000.5", "0b2", "0X1f", "0B1", "0O7",
)  # fmt: skip
KEYS = (
    '"a\\/b"', "a\\/b", "<<", '"<<"', "'<<'", "! <<", "!!merge <<", "!!str <<", "&k <<", "*x", "*x ", "&k a", "&k:l a", "? a",
    "? [a]", "? {a: 1}",
    "[a]", "{a: 1}", "~", "null", "''", "", "on", "0400", "1.0", "1e3", "1e40", ".inf", ".nan", "-.inf", "2001-01-01", "!!int 1", "!!int a",
    "!!binary aGk=", "!!binary a", "!!bool on", "!!null a", "!!null ~", "!!float 1", "!!timestamp 2001-01-01", "!t a", "a b",
    "a#b", "a #b", "'a''b'", '"a\\nb"',
    "12345678901234567890", "-9223372036854775809", "a\tb", "a\t", "x" * 200, "-", "-a", "%a", "{{ x }}", "a\xa0", "\xa0a",
    "\u3000", "\ufeffa",
)  # fmt: skip
SNIPPETS = (
    "a: &x [{n: 1}]\nb:\n- <<: *x\n",
    "a: &x [{n: 1}]\nb:\n- <<: [*x]\n",
    "a: &x {n: 1}\nb:\n  <<: [*x, {m: 2}]\n  n: 3\n",
    "a: &x {n: 1}\nb: &y {<<: *x, m: 1}\nc: {<<: [*x, *y], n: 4}\nd: {<<: {}, <<: *y}\n",
    "a: &x 1\nb: &x 2\nc: *x\n",
    "a: &x {b: *x}\n",
    "a: 1\n# c\r---\nb: 2\n",
    "a: 1\n...\nb: 2\n",
    "a: 1\n---\n\ufeffb: 2\n",
    "a: 1\rb: 2\r---\rc: 3\r",
    "# c\ra: 1\r",
    "# c\u2028{a: 1}\n",
    "a: 1\n---\n# c\x85b: 2\n",
    "a: 1\n---\n# c\u2029b: 2\n",
    "a: 1\n# c\u2028---\nb: 2\n",
    "a: 1\n---\r\nb: 2\r\n---\r\n",
    "# c\x01\n",
    "a: 1\n---\n# c\x7f\n---\nb: 2\n",
    "---\n\ufeffa: 1\n",
    "a: &x 1\nb: &y on\nc: &z 1.5\nd: {*x : 1, *y : 2, *z : 3}\n",
    "a: &x ~\nb: {*x : 1}\n",
    'a: "\\\'"\nb: [x:y]\n',
    "a: [http://x:1/y]\n&k:l b: [c:d]\nc: !<tag:yaml.org,2002:int> 1\n",
    "a: |\n  x",
    "a: >\n  x\n\n  y",
    "a:\n- b: |\n    x\n    y",
    "\ta: 1\n",
    " \t\n---\na: 1\n",
    "  a: 1\nb: 2\n",
    '{"a": "\\/"}\n',
    '{"a\\/b": 1}\n',
    '{"a": 1}{"b": 2}\n',
    '{"a": 1}\n{"b": 2}\n{"c": 3}\n',
    '{"a": 1}\n---\n{"b": 2}\n',
    '{"a": "\\ud83d\\ude00", "b": "\\ud800", "c": 1}\n',
    "{a: 1}\nb: 2\n",
    "null\n---\n~\n---\n''\n---\n0\n---\nfalse\n---\n[]\n---\n{}\n---\na\n",
)


def snippets() -> tuple[str, ...]:
    """Short texts that the answers of tests/tree/answers.jsonl are about."""
    values = [f"a: {value}\nb: 1\n" for value in VALUES] + [f"a:\n- {value}\n- 1\n" for value in VALUES]
    keys = [f"x: &x {{k: 1}}\n{key}: *x\n" for key in KEYS] + [f"a: {{{key}: 1, b: 2}}\n" for key in KEYS]
    streams = [f"a: 1\n{separator}\nb: 2\n" for separator in SEPARATORS] + [f"{separator}\nb: 2\n" for separator in SEPARATORS]
    return (*SNIPPETS, *values, *keys, *streams)


@cache
def texts() -> tuple[str, ...]:
    """What mutants are made of: the snippets, and examples of rule pages."""
    return (*snippets(), *(text for text in manifests() if len(text) < 1200))


def mutant(random: Random, seeds: tuple[str, ...]) -> str:
    """One of the texts with one to four changes."""
    text = random.choice(seeds)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        text = _changed(random, text, seeds)
    return text


def _changed(random: Random, text: str, seeds: tuple[str, ...]) -> str:
    at = random.randint(0, len(text))
    line = text.rfind("\n", 0, at) + 1
    match random.randint(0, 11):
        case 0:
            return text.replace("\n", random.choice(BREAKS), random.choice((-1, 1, 2)))
        case 1:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            return text[:end] + random.choice(BREAKS) + text[end + 1 :]
        case 2 | 3:
            return text[:line] + random.choice(SEPARATORS) + random.choice(BREAKS) + text[line:]
        case 4:
            return text[:at] + random.choice(MARKS + BREAKS) + text[at:]
        case 5:
            return text[:line] + random.choice(MARKS) + text[line:]
        case 6 | 7:
            colon = text.find(": ", line)
            end = text.find("\n", colon)
            return text if colon < 0 else text[: colon + 2] + random.choice(VALUES) + (text[end:] if end >= 0 else "")
        case 8:
            colon = text.find(":", line)
            start = line + len(text[line:colon]) - len(text[line:colon].lstrip(" -"))
            return text if colon < 0 else text[:start] + random.choice(KEYS) + text[colon:]
        case 9:
            return text + random.choice(("---\n", "\n---\n", "", "...\n", "# c\r---\n", "\u2028---\n")) + random.choice(seeds)[:1000]
        case 10:
            return text.rstrip("\n") if random.random() < 0.5 else text[:at]
        case _:
            return mutated(random, text)
