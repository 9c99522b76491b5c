"""Lexer: names, literals and operators of an expression, with their offsets.

Source: the lexical grammar of the CEL language definition.
"""

from __future__ import annotations

import re
from typing import Final

from kcheck.cel.language.issues import Broken
from kcheck.text.record import NamedTuple

END: Final = "end"


class LexerToken(NamedTuple):
    """A token. `kind`: name, int, uint, float, string, bytes, end, or the operator or keyword itself. `value`: the literal's value, or the
    name.
    """

    kind: str
    value: object
    start: int


_ESCAPE = r"""\\(?:[abfnrtv"'`?\\]|[xX][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-3][0-7]{2})"""
_TOKEN = re.compile(
    rf"""(?:[ \t\r\n\f]++|//[^\n]*+|)*+(?:
    (?P<text>(?P<prefix>[bB]?[rR]|[bB]?)(?:
        (?<=[rR])(?:\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}|\"[^\"\n\r]*\"|'[^'\n\r]*')
      | (?<![rR])(?:\"{{3}}(?:[^\\]|{_ESCAPE})*?\"{{3}}|'{{3}}(?:[^\\]|{_ESCAPE})*?'{{3}}
                 |\"(?:[^\\\"\n\r]|{_ESCAPE})*\"|'(?:[^\\'\n\r]|{_ESCAPE})*')))
  | (?P<float>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
  | (?P<int>0x[0-9A-Fa-f]+|[0-9]+)(?P<unsigned>[uU]?)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | `(?P<quoted>[A-Za-z0-9_.\-/ ]+)`
  | (?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{{}}])
  | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(("true", "false", "null", "in"))
_ESCAPES = re.compile(_ESCAPE)
_CONTROL_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def read_tokens(text: str) -> list[LexerToken]:
    """Return all tokens; the last one has the kind END. Raises Broken."""
    tokens: list[LexerToken] = []
    at = 0
    match_at = _TOKEN.match
    while True:
        match = match_at(text, at)
        if match is None:
            raise Broken(*_unreadable(text, at))
        kind = match.lastgroup
        at = match.end()
        if kind == "name":
            name = match["name"]
            tokens.append(LexerToken(name if name in _KEYWORDS else "name", name, match.start("name")))
        elif kind == "sign":
            sign = match["sign"]
            tokens.append(LexerToken(sign, sign, match.start("sign")))
        elif kind == "end":
            tokens.append(LexerToken(END, "", match.start("end")))
            return tokens
        elif kind == "quoted":
            raise Broken(match.start("quoted") - 1, "unsupported syntax: '`'")
        else:
            tokens.append(_literal(match, kind or ""))


def _unreadable(text: str, at: int) -> tuple[int, str]:
    whitespace = re.compile(r"(?:[ \t\r\n\f]++|//[^\n]*+|)*+").match(text, at)
    start = whitespace.end() if whitespace else at
    rest = text[start : start + 20].split("\n")[0]
    return start, f"Syntax error: token recognition error at: {rest!r}"


def _literal(match: re.Match[str], kind: str) -> LexerToken:
    if kind == "float":
        return LexerToken("float", float(match["float"]), match.start("float"))
    if match["int"] is not None:
        start = match.start("int")
        digits = match["int"]
        value = int(digits, 16) if digits.startswith("0x") else int(digits[-400:]) if len(digits.lstrip("0")) <= 400 else 1 << 64
        if match["unsigned"]:
            if value >= 1 << 64:
                raise Broken(start, "invalid uint literal")
            return LexerToken("uint", value, start)
        return LexerToken("int", value, start)
    prefix = match["prefix"]
    return _string(match["text"], prefix.lower(), match.start("text"))


def _string(text: str, prefix: str, start: int) -> LexerToken:
    body = text[len(prefix) :]
    width = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    body = body[width:-width]
    binary = "b" in prefix
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    if "r" in prefix or "\\" not in body:
        return LexerToken("bytes", body.encode("utf-8", "surrogatepass"), start) if binary else LexerToken("string", body, start)
    if binary:
        return LexerToken("bytes", _bytes(body, start), start)
    return LexerToken("string", _ESCAPES.sub(lambda match: _char(match[0][1:], start), body), start)


def _bytes(body: str, start: int) -> bytes:
    parts: list[bytes] = []
    at = 0
    for match in _ESCAPES.finditer(body):
        parts.append(body[at : match.start()].encode("utf-8", "surrogatepass"))
        escape = match[0][1:]
        if escape[0] in "uU":
            raise Broken(start, "unable to unescape string: \\u escapes are not allowed in bytes")
        # In bytes literals, \x and octal escapes denote bytes, not characters.
        parts.append(bytes([ord(_char(escape, start))]))
        at = match.end()
    parts.append(body[at:].encode("utf-8", "surrogatepass"))
    return b"".join(parts)


def _char(escape: str, start: int) -> str:
    first = escape[0]
    if first in _CONTROL_ESCAPES:
        return _CONTROL_ESCAPES[first]
    if first in "xXuU":
        code = int(escape[1:], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise Broken(start, "invalid unicode code point")
        return chr(code)
    return chr(int(escape, 8)) if first.isdigit() else first
