"""XML in ASCII, so that it is valid in every encoding of the output. Characters that XML does not allow are shown as escape codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

from kcheck.reporters.terminal_safe import Glyphs

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_FORBIDDEN = re.compile("[\ufffe\uffff]")
_GLYPHS = Glyphs()


def text(content: str) -> str:
    """Returns text as content of an element. Line breaks are kept."""
    return _ascii(escape("\n".join(map(_visible, content.split("\n")))))


def tag(name: str, attributes: Mapping[str, object], content: Iterable[str] | None = None) -> str:
    """Returns an element and a line break. `content`: encoded text or elements; None for an empty element."""
    shown = "".join(f" {key}={_ascii(quoteattr(_visible(str(value))))}" for key, value in attributes.items())
    return f"<{name}{shown}/>\n" if content is None else f"<{name}{shown}>{''.join(content)}</{name}>\n"


def _visible(line: str) -> str:
    return _FORBIDDEN.sub("\ufffd", _GLYPHS.visible(line))


def _ascii(encoded: str) -> str:
    return encoded.encode("ascii", "xmlcharrefreplace").decode("ascii")
