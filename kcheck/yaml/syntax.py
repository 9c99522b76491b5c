"""Messages about YAML syntax errors."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.text.complaint import Complaint


class SyntaxFault(NamedTuple):
    """A syntax error: character offsets in the file's text, and the message."""

    start: int
    end: int
    message: str


# A part of libyaml's message, our message and help.
_WORDS = (
    (
        "mapping values are not allowed",
        '": " is not allowed at this position',
        'quote the value if it contains ": ", or fix the indentation of the key',
    ),
    ("found character that cannot start any token", "a plain value must not begin with this character", "quote the value"),
    ("found a tab character", "tab in the indentation", "indent with spaces"),
    ("could not find expected ':'", 'expected "key: value" or a list item', "add the colon, or indent the line if it continues a value"),
    (
        "did not find expected key",
        "expected a key: wrong indentation, or a value that ended early",
        "align the line with its siblings, or quote the value",
    ),
    ("did not find expected '-' indicator", 'expected another "- " item', "align the line with the list, or with a key above"),
    ("did not find expected ',' or '}'", 'unclosed "{" or missing ","', 'add "}" or ","'),
    ("did not find expected ',' or ']'", 'unclosed "[" or missing ","', 'add "]" or ","'),
    ("found unexpected end of stream", "unclosed quote", "add the closing quote"),
    (
        "found unexpected document indicator",
        '"---" or "..." at the start of a line inside quotes',
        "close the quote before it, or indent the line",
    ),
    ("block sequence entries are not allowed", "a list must not begin on this line", 'move "- " to a new line'),
    ("mapping keys are not allowed", '"?" key is not allowed at this position', "quote the value"),
    ("found unknown escape character", "unknown escape sequence", "double the backslash or use single quotes"),
    (
        "invalid Unicode character escape",
        "escape of half a character",
        'use one escape for the character, such as "\\U0001F600", or the character itself',
    ),
    (
        "did not find expected hexdecimal number",
        "expected hexadecimal digits in the escape sequence",
        "double the backslash or use single quotes",
    ),
    (
        "did not find expected alphabetic or numeric character",
        'expected the name of an anchor after "&" or "*"',
        "quote the value if it is not an anchor",
    ),
    ("did not find expected node content", "missing value", "add a value, or quote the text"),
    (
        "did not find expected comment or line break",
        'only a comment may follow "|" or ">" on the same line',
        "move the text to the next line",
    ),
    ("did not find expected <document start>", 'expected "---"', 'add a line --- after a directive or "..." and before the object'),
    ("found unexpected ':'", '":" without a space inside {} or []', "add a space after it, or quote the value"),
    ("control characters are not allowed", "control character", 'use an escape in double quotes, such as "\\u0007"'),
    ("found undefined tag handle", "undefined tag", "quote the value if it is not a tag"),
    ("found unexpected non-alphabetical character", 'invalid directive: "%" at the start of a line', "quote the value"),
    ("could not find expected directive name", 'invalid directive: "%" at the start of a line', "quote the value"),
    ("incompatible YAML document", "%YAML version is not 1.1 or 1.2", "remove the directive"),
    ("found unknown directive", "unknown YAML directive", "remove the line"),
)


def explain(problem: str, context: str) -> str:
    """Return our message for a problem of libyaml, or the message of libyaml if it is unknown."""
    words = f"{context or ''} {problem or ''}"
    for theirs, message, help in _WORDS:
        if theirs in words:
            return Complaint(message, help)
    return (problem or context or "not YAML").strip()
