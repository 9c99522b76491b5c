"""Sentences of the small languages used in manifests, most of them well-formed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from kcheck.cel.language.declarations import overloads
from kcheck.cel.language.signatures import COLLECTIONS, KUBERNETES, STANDARD, TEXTS
from tests.fuzz.mutation import SCALARS, mutated, value


def pieces(*words: str, most: int = 12) -> Callable[[Random], str]:
    """A maker of texts out of some words, with or without blanks."""

    def make(random: Random) -> str:
        between = random.choice(("", "", " "))
        text = between.join(random.choice(words) for _ in range(random.randint(0, most)))
        return mutated(random, text) if random.random() < 0.2 else text

    return make


selector = pieces(
    "a", "b/c", "x.y/z", "in", "notin", "(", ")", ",", "=", "==", "!=", "!", "<", ">", " ", "5", "-", "\t", "\n", "in (a,b)", ""
)
quantity = pieces(
    "1", "0", "9" * 20, ".", "-", "+", "e", "E", "e-", "Ki", "Mi", "m", "k", "n", "u", "Ei", "e3", "0.5", "000", "%", "1e9", "i", most=6
)
duration = pieces("1", "0", "99", ".", "-", "+", "h", "m", "s", "ms", "us", "µs", "ns", "1.5h", "9" * 20, "d", " ", most=7)
schedule = pieces(
    "*",
    "*/5",
    "1-5",
    "0",
    "59",
    "60",
    "MON",
    "jan",
    "@daily",
    "@every",
    "1h",
    " ",
    ",",
    "-",
    "/",
    "?",
    "TZ=UTC",
    "CRON_TZ=",
    "L",
    "#",
    "7",
    "1,2",
)
image = pieces(
    "a",
    "nginx",
    "/",
    ":",
    "@",
    "sha256:",
    "0" * 64,
    "localhost",
    ".",
    "-",
    "_",
    "__",
    "5000",
    "latest",
    "A",
    "[::1]",
    "docker.io",
    "v1.2",
    "//",
)
pattern = pieces(
    "a", "b", "^", "$", "(", ")", "|", "*", "+", "?", "{2}", "{2,}", "{0,3}", "{1000}", "{,2}", ".", "[", "]", "[a-z]", "[^a]", "\\d",
    "\\W", "\\pL",
    "\\p{Greek}", "(?i)", "(?:", "(?P<n>", "(?s:", "\\Q", "\\E", "\\b", "[[:alpha:]]", "\\x41",
    "\\", "-", "(a+)+", "(a|aa)*", "\u212a", "(?=a)", "\\1",
)  # fmt: skip
probe = pieces("a", "b", "aaaaaaaaaaaaaaaa", "A", "1", "-", " ", "\n", "\u00e9", "\u212a", "_", "z" * 50, most=20)
comment = pieces(
    "# ",
    "kcheck",
    ":",
    " ",
    "ignore",
    "[",
    "]",
    ",",
    "all",
    "practice",
    "latest-tag",
    "invalid-yaml",
    "kchek",
    "Ignore",
    "reason",
    "\n",
    "#",
    "disable",
)


@cache
def _functions() -> tuple[tuple[str, bool, int], ...]:
    """Names of all functions that are called by name, whether on a target, and with how many arguments."""
    names = {line.split(None, 1)[0] for text in (STANDARD, TEXTS, COLLECTIONS, KUBERNETES) for line in text.strip().splitlines()}
    found = {
        (name, each.member, len(each.args) - each.member)
        for name in names
        if name.replace(".", "").replace("_", "").isalnum() and not name.startswith("_")
        for each in overloads(name, 36)
    }
    return tuple(sorted(found))


_LITERALS = (
    "1", "0", "-1", "2u", "1.5", "-9223372036854775808", "9223372036854775807", "1e308", "true", "false", "null", "'a'", '"\\u00e9"',
    "r'\\d'", "b'x'",
    "''", "[]", "{}", "[1, 2, 3]", "['a', 'b']", "{'a': 1}", "'1Gi'", "'1.2.3.4'", "'10.0.0.0/8'", "'https://a/b?c=d'", "'1.2.3'",
    "'2020-01-01T00:00:00Z'",
    "'1h'", "'(a+)+$'", "'%s %d'", "'2023-01-01'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "type(1)", "int", "string",
)  # fmt: skip
_NAMES = (
    "self",
    "oldSelf",
    "self.s",
    "self.n",
    "self.l",
    "self.m",
    "self.o",
    "self.any",
    "self.?s",
    "self.l[0]",
    "self.m['a']",
    "self.o.x",
    "x",
    "i",
)
_SIGNS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in")
_MACROS = ("all", "exists", "exists_one", "map", "filter", "existsOne", "sortBy", "transformList")


def expression(random: Random, depth: int = 4) -> str:
    """A CEL expression; its types need not fit."""
    if depth <= 0 or random.random() < 0.15:
        return random.choice(_NAMES if random.random() < 0.5 else _LITERALS)

    def inner() -> str:
        return expression(random, depth - 1)

    match random.randint(0, 9):
        case 0 | 1:
            return f"{inner()} {random.choice(_SIGNS)} {inner()}"
        case 2 | 3 | 4:
            name, member, count = random.choice(_functions())
            arguments = ", ".join(inner() for _ in range(count))
            return f"{inner()}.{name}({arguments})" if member else f"{name}({arguments})"
        case 5 | 6:
            return f"{inner()}.{random.choice(_MACROS)}({random.choice(('x', 'i', 'self', 'i, x'))}, {inner()})"
        case 7:
            return f"({inner()} ? {inner()} : {inner()})"
        case 8:
            return random.choice(
                (f"[{inner()}, {inner()}]", f"{{{inner()}: {inner()}}}", f"has({inner()})", f"!({inner()})", f"-({inner()})")
            )
        case _:
            return f"({inner()})[{inner()}]"


def formula(random: Random) -> str:
    """A CEL expression, now and then a broken one."""
    text = expression(random)
    return mutated(random, text) if random.random() < 0.15 else text[:5000]


_TYPES = ("object", "array", "string", "integer", "number", "boolean", "", "null", 1)
_FORMATS = (
    "date-time",
    "date",
    "duration",
    "int32",
    "int64",
    "byte",
    "uuid",
    "ipv4",
    "cidr",
    "email",
    "uri",
    "hostname",
    "x",
    "quantity",
    "bsonobjectid",
)
_EXTENSIONS: tuple[tuple[str, Any], ...] = (
    ("x-kubernetes-preserve-unknown-fields", True), ("x-kubernetes-int-or-string", True), ("x-kubernetes-embedded-resource", True),
    ("x-kubernetes-list-type", "map"), ("x-kubernetes-list-type", "set"), ("x-kubernetes-list-map-keys", ["name"]),
    ("x-kubernetes-map-type", "atomic"),
    ("nullable", True), ("uniqueItems", True), ("minProperties", 1), ("maxProperties", 2), ("minItems", 1), ("maxItems", 2),
    ("minLength", 1),
    ("maxLength", 3), ("minimum", 1), ("maximum", 2.5), ("exclusiveMinimum", True), ("multipleOf", 0.1), ("multipleOf", 0), ("default",
    None),
)  # fmt: skip


def schema(random: Random, depth: int = 4) -> dict[str, Any]:
    """A schema as CRDs have them, mostly structural."""
    made: dict[str, Any] = {}
    if random.random() < 0.9:
        made["type"] = random.choice(_TYPES[:6] if random.random() < 0.9 else _TYPES)
    if depth > 0 and made.get("type") == "object":
        names = ("spec", "status", "a", "b", "s", "n", "l", "m", "name", "metadata")
        made["properties"] = {random.choice(names): schema(random, depth - 1) for _ in range(random.randint(0, 4))}
        if random.random() < 0.2:
            made["additionalProperties"] = random.choice((True, False, schema(random, depth - 1)))
        if random.random() < 0.3:
            made["required"] = random.choice((["spec"], ["a", "b"], [], "a", [1]))
    if depth > 0 and made.get("type") == "array":
        made["items"] = schema(random, depth - 1)
    for _ in range(random.randint(0, 2)):
        name, default = random.choice(_EXTENSIONS)
        made[name] = default if random.random() < 0.85 else random.choice(SCALARS)
    if random.random() < 0.15:
        made["format"] = random.choice(_FORMATS)
    if random.random() < 0.15:
        made["pattern"] = pattern(random)
    if random.random() < 0.1:
        made["enum"] = [random.choice(SCALARS) for _ in range(random.randint(0, 3))]
    if random.random() < 0.15:
        made["default"] = value(random, 2)
    if random.random() < 0.2:
        made["x-kubernetes-validations"] = [rule(random) for _ in range(random.randint(0, 2))]
    if depth > 0 and random.random() < 0.1:
        made[random.choice(("allOf", "anyOf", "oneOf"))] = [schema(random, depth - 2) for _ in range(random.randint(0, 2))]
    if depth > 0 and random.random() < 0.05:
        made[random.choice(("not", "items", "$ref", "definitions", "patternProperties"))] = random.choice(
            (schema(random, 1), value(random))
        )
    return made


def rule(random: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"rule": formula(random)}
    for name in ("message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"):
        if random.random() < 0.15:
            made[name] = random.choice((formula(random), ".spec.a", "FieldValueInvalid", True, random.choice(SCALARS)))
    return made


def instance(random: Random, of: Any, depth: int = 5) -> Any:
    """A value that a schema would mostly accept."""
    if not isinstance(of, dict) or depth <= 0 or random.random() < 0.1:
        return value(random, 2)
    if isinstance(of.get("enum"), list) and of["enum"] and random.random() < 0.5:
        return random.choice(of["enum"])
    match of.get("type"):
        case "object":
            properties = of.get("properties")
            known = properties if isinstance(properties, dict) else {}
            made = {name: instance(random, inner, depth - 1) for name, inner in known.items() if random.random() < 0.8}
            if random.random() < 0.2:
                made[random.choice(("a", "x", "metadata"))] = value(random, 2)
            return made
        case "array":
            return [instance(random, of.get("items"), depth - 1) for _ in range(random.randint(0, 3))]
        case "string":
            return random.choice(("a", "", probe(random), quantity(random), "2020-01-01T00:00:00Z", "1h", "1.2.3.4"))
        case "integer":
            return random.choice((0, 1, -1, 5, 2**40, 2**70))
        case "number":
            return random.choice((0, 1.5, -2, 1e300))
        case "boolean":
            return random.random() < 0.5
    return value(random, 2)
