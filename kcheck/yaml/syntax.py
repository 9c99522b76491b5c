"""Messages about YAML syntax errors."""

from __future__ import annotations

import re

from kcheck.text.complaint import Complaint
from kcheck.text.record import NamedTuple


class SyntaxFault(NamedTuple):
    """A syntax error: character offsets in the file's text, and the message."""

    start: int
    end: int
    message: str


# A part of libyaml's message, our message and help.
_WORDS = (
    ("mapping values are not allowed", "a second ': ' on one line", "quote the value, or indent the key that it belongs to"),
    ("found character that cannot start any token", "this character cannot begin a value", "quote the text"),
    ("found a tab character", "a tab where YAML wants spaces", "indent with spaces"),
    ("could not find expected ':'", "neither 'key: value' nor a list item", "add the colon, or indent it under what it continues"),
    ("did not find expected key", "wrong indentation, or a value that ended too early", "align it with its siblings or quote it"),
    ("did not find expected '-' indicator", "expected another '- ' item", "align it with the list, or dedent it to a key above"),
    ("did not find expected ',' or '}'", "the '{' is never closed, or a ',' is missing", "close it with '}'"),
    ("did not find expected ',' or ']'", "the '[' is never closed, or a ',' is missing", "close it with ']'"),
    ("found unexpected end of stream", "the quote is never closed", "add the closing one"),
    ("found unexpected document indicator", "a '---' or '...' inside a quoted text", "close the quote before it"),
    ("block sequence entries are not allowed", "a list cannot begin on this line", "put '- ' on a line of its own"),
    ("mapping keys are not allowed", "a '?' key is not allowed here", "quote the text"),
    ("found unknown escape character", "an escape that YAML does not know", "double the backslash or use single quotes"),
    ("invalid Unicode character escape", "this escape is half a character", 'write the whole one, "\\U0001F600", or the character'),
    ("did not find expected hexdecimal number", "hexadecimal digits belong behind \\x", "double the backslash or use single quotes"),
    ("did not find expected alphabetic or numeric character", "'&' and '*' name anchors", "quote the text if it is none"),
    ("did not find expected node content", "a value is missing here", "write one, or quote the text"),
    ("did not find expected comment or line break", "only a comment may follow '|' or '>' on its line", "move the text to the next line"),
    ("did not find expected <document start>", "expected '---' here", "a directive or text after '...' needs it before the object"),
    ("found unexpected ':'", "a ':' inside { } or [ ] needs a space behind it", "quote the text"),
    ("control characters are not allowed", "a control character", 'write it as an escape in double quotes, e.g. "\\u0007"'),
    ("found undefined tag handle", "a tag that nothing defines", "quote the text if it is none"),
    ("found unexpected non-alphabetical character", "a '%' at the start of a line is a directive", "quote the text"),
    ("could not find expected directive name", "a '%' at the start of a line is a directive", "quote the text"),
    ("incompatible YAML document", "a %YAML version that is not 1.1 or 1.2", "take the directive away"),
    ("found unknown directive", "a directive that YAML does not know", "take the line away"),
)

_TEMPLATE = re.compile(r"\{\{")


def explain(problem: str, context: str) -> str:
    """Return our message for a problem of libyaml, or the message of libyaml if it is unknown."""
    words = f"{context or ''} {problem or ''}"
    for theirs, message, help in _WORDS:
        if theirs in words:
            return Complaint(message, help)
    return (problem or context or "not YAML").strip()


def is_template(text: str) -> bool:
    """Return whether the text contains Go template actions, as in Helm charts."""
    return _TEMPLATE.search(text) is not None
