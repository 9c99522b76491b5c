"""Recursive descent parser for expressions.

Source: the grammar of the CEL language definition with the optional syntax (`?.`, `[?i]`, `{?k: v}`). The limits are the server's:
100,000 characters, 250 levels.
"""

from __future__ import annotations

from kcheck.cel.language.issues import Broken
from kcheck.cel.language.lexer import END, LexerToken, read_tokens
from kcheck.cel.language.macros import bind, expand
from kcheck.cel.language.names import RESERVED
from kcheck.cel.language.syntax import Call, Expr, Ident, ListExpr, Literal, MapExpr, Message, Select, qualified_name

_MAX_CHARS = 100_000
_MAX_DEPTH = 250
_RESERVED = RESERVED - {"true", "false", "null", "in"}
_BINARY = {
    "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip
_NAMES = {sign: "@in" if sign == "in" else f"_{sign}_" for sign in _BINARY}
_INT_LIMIT = 1 << 63


def parse(text: str, minor: int, bindings: bool = False) -> Expr:
    """Parse an expression. `minor`: use the macros of Kubernetes 1.N. `bindings`: also support cel.bind. Raises Broken."""
    if len(text) > _MAX_CHARS:
        raise Broken(0, f"expression code point size exceeds limit: size: {len(text)}, limit {_MAX_CHARS}")
    parser = _Parser(read_tokens(text), minor, bindings)
    expr = parser.expression()
    if parser.kind != END:
        raise parser.unexpected("the end of the expression")
    return expr


class _Parser:
    def __init__(self, tokens: list[LexerToken], minor: int, bindings: bool) -> None:
        self.tokens = tokens
        self.at = 0
        self.kind = tokens[0].kind
        self.minor = minor
        self.bindings = bindings
        self.depth = 0

    def advance(self) -> LexerToken:
        token = self.tokens[self.at]
        self.at += 1
        self.kind = self.tokens[self.at].kind
        return token

    def expect(self, kind: str, what: str = "") -> LexerToken:
        if self.kind != kind:
            raise self.unexpected(what or f"'{kind}'")
        return self.advance()

    def accept(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.advance()
        return True

    def unexpected(self, wanted: str) -> Broken:
        token = self.tokens[self.at]
        found = "the end" if token.kind == END else f"'{token.value}'"
        return Broken(token.start, f"Syntax error: found {found}, expected {wanted}")

    def expression(self) -> Expr:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Broken(0, f"expression recursion limit exceeded: {_MAX_DEPTH}")
        expr = self.chain("||")
        if self.kind == "?":
            at = self.advance().start
            then = self.chain("||")
            self.expect(":")
            expr = Call(at, "_?_:_", [expr, then, self.expression()])
        self.depth -= 1
        if expr.depth > _MAX_DEPTH + 1:
            raise Broken(0, "max recursion depth exceeded")
        return expr

    def chain(self, sign: str) -> Expr:
        """Parse a || b || c and a && b && c as balanced trees, so that long chains are not deep."""
        first = self.chain("&&") if sign == "||" else self.binary(3)
        if self.kind != sign:
            return first
        terms = [first]
        places: list[int] = []
        while self.kind == sign:
            places.append(self.advance().start)
            terms.append(self.chain("&&") if sign == "||" else self.binary(3))
        return _balanced(f"_{sign}_", terms, places, 0, len(places) - 1)

    def binary(self, level: int) -> Expr:
        left = self.unary()
        while True:
            sign = self.kind
            bound = _BINARY.get(sign, 0)
            if bound < level:
                return left
            at = self.advance().start
            left = Call(at, _NAMES[sign], [left, self.binary(bound + 1)])
            if left.depth > _MAX_DEPTH + 1:
                raise Broken(at, "max recursion depth exceeded")

    def unary(self) -> Expr:
        sign = self.kind
        if sign not in ("!", "-"):
            return self.member()
        start = self.tokens[self.at].start
        count = 0
        # A single minus before a number is part of the literal: -9223372036854775808 is not a negation.
        if sign == "-" and self.tokens[self.at + 1].kind in ("int", "float"):
            return self.member()
        while self.kind == sign:
            self.advance()
            count += 1
        operand = self.member()
        return Call(start, f"{sign}_", [operand]) if count % 2 else operand

    def member(self) -> Expr:
        expr = self.primary()
        while True:
            if self.kind == ".":
                at = self.advance().start
                optional = self.accept("?")
                token = self.expect("name", "a name")
                name = str(token.value)
                if self.kind == "(" and not optional:
                    expr = self.call(expr, name)
                elif optional:
                    expr = Call(at, "_?._", [expr, Literal(token.start, "string", name)])
                else:
                    expr = Select(at, expr, name)
            elif self.kind == "[":
                at = self.advance().start
                function = "_[?_]" if self.accept("?") else "_[_]"
                expr = Call(at, function, [expr, self.expression()])
                self.expect("]")
            elif self.kind == "{" and (name_ := qualified_name(expr)) is not None:
                expr = self.message(name_)
            else:
                return expr
            if expr.depth > _MAX_DEPTH + 1:
                raise Broken(expr.at, "max recursion depth exceeded")

    def call(self, target: Expr | None, name: str) -> Expr:
        at = self.expect("(").start
        args: list[Expr] = []
        if self.kind != ")":
            args.append(self.expression())
            while self.accept(","):
                args.append(self.expression())
        self.expect(")")
        if self.bindings and isinstance(target, Ident) and target.name == "cel" and name == "bind" and len(args) == 3:
            return bind(at, args)
        return expand(at, name, target, args, self.minor) or Call(at, name, args, target)

    def primary(self) -> Expr:
        kind = self.kind
        if kind == "name" or kind == ".":
            return self.name()
        token = self.tokens[self.at]
        if kind == "string" or kind == "bytes" or kind == "uint":
            self.advance()
            return Literal(token.start, kind, token.value)
        if kind in ("int", "float", "-"):
            return self.number()
        if kind == "(":
            self.advance()
            expr = self.expression()
            self.expect(")")
            return expr
        if kind == "[":
            return self.list()
        if kind == "{":
            return self.map()
        if kind in ("true", "false", "null"):
            self.advance()
            return Literal(token.start, "null" if kind == "null" else "bool", {"true": True, "false": False}.get(kind))
        raise self.unexpected("a value")

    def number(self) -> Expr:
        start = self.tokens[self.at].start
        negative = self.accept("-")
        token = self.advance()
        value = token.value
        if token.kind == "float":
            number = float(str(value))
            if number in (float("inf"), float("-inf")):
                raise Broken(start, "invalid double literal")
            return Literal(start, "double", -number if negative else number)
        if token.kind != "int" or not isinstance(value, int):
            raise self.unexpected("a number")
        value = -value if negative else value
        if not -_INT_LIMIT <= value < _INT_LIMIT:
            raise Broken(start, "invalid int literal")
        return Literal(start, "int", value)

    def name(self) -> Expr:
        leading = self.accept(".")
        token = self.expect("name", "a name")
        name = str(token.value)
        if name in _RESERVED:
            raise Broken(token.start, f"reserved identifier: {name}")
        if self.kind == "(":
            return self.call(None, name)
        return Ident(token.start, f".{name}" if leading else name)

    def list(self) -> Expr:
        at = self.advance().start
        items: list[Expr] = []
        optional: list[int] = []
        while self.kind not in ("]", ","):
            if self.accept("?"):
                optional.append(len(items))
            items.append(self.expression())
            if self.kind == "]" or not self.accept(","):
                break
            if self.kind == ",":
                raise self.unexpected("']'")
        if not items:
            self.accept(",")
        self.expect("]")
        return ListExpr(at, items, frozenset(optional))

    def map(self) -> Expr:
        at = self.advance().start
        keys: list[Expr] = []
        values: list[Expr] = []
        optional: list[int] = []
        while self.kind not in ("}", ","):
            if self.accept("?"):
                optional.append(len(keys))
            keys.append(self.expression())
            self.expect(":")
            values.append(self.expression())
            if self.kind == "}" or not self.accept(","):
                break
        if not keys:
            self.accept(",")
        self.expect("}")
        return MapExpr(at, keys, values, frozenset(optional))

    def message(self, name: str) -> Expr:
        at = self.advance().start
        fields: list[str] = []
        values: list[Expr] = []
        places: list[int] = []
        optional: list[int] = []
        while self.kind not in ("}", ","):
            if self.accept("?"):
                optional.append(len(fields))
            fields.append(str(self.expect("name", "a field's name").value))
            places.append(self.expect(":").start)
            values.append(self.expression())
            if self.kind == "}" or not self.accept(","):
                break
        if not fields:
            self.accept(",")
        self.expect("}")
        return Message(at, name, fields, values, places, frozenset(optional))


def _balanced(function: str, terms: list[Expr], places: list[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, [left, right])
