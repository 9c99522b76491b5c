"""How documents are written in a file: ignored content, line breaks, JSON, order of keys."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, WARNING, Document, Node, Problem, Span, pattern, rule, unusual_break

_CONTENT = pattern(r"---[ \t][^\S\n]*[^#\s]")
_SEPARATED = ("--- ", "---\t")
_JSON = pattern(r'\{\s*["}]')


_BREAKS = {
    "\r": "CR without LF", "\x85": "NEL (U+0085)", "\u2028": "a line separator (U+2028)", "\u2029": "a paragraph separator (U+2029)",
}  # fmt: skip


@rule("content-after-document-end", "Content after the end of a YAML document is ignored")
def ignored_content(document: Document) -> Iterator[Problem]:
    """kubectl and the API server read the first YAML document between two separators and silently drop the rest."""
    start = document.trailing
    if start is not None:
        end = document.source.text.find("\n", start)
        span = Span(start, end if end >= 0 else document.end)
        message = 'kubectl and the API server ignore content after "...", the end of a YAML document'
        yield Problem(span, message, help="insert a line --- before this content")


@rule("content-after-separator", "Text on the line of a '---' separator, or a YAML directive before it")
def separator_content(document: Document) -> Iterator[Problem]:
    """kubectl rejects a file with a directive or with text other than a comment after `---`; the API server would accept it."""
    text, start = document.source.text, document.start
    if text.startswith("%", start):
        yield Problem(Span(start, start + 1), "kubectl rejects YAML directives (lines that begin with %)", help="remove this line")
    elif text.startswith(_SEPARATED, start) and _CONTENT.match(text, start):
        yield Problem(Span(start, start + 3), "kubectl rejects text after --- on the same line", help="move the text to the next line")


@rule("unusual-line-break", "Line break that is neither LF nor CRLF", severity=WARNING)
def unusual_line_break(document: Document) -> Iterator[Problem]:
    """YAML 1.1 has five line breaks, most other tools have two. Reported once per document."""
    text = document.source.text
    at = unusual_break(text, document.start, document.end)
    if at >= 0:
        name = _BREAKS[text[at]]
        yield Problem(Span(at, at + 1), f"{name} starts a new line in YAML but not in most editors and diffs", help="replace it with LF")


@rule("json-manifest", "Manifest is written in JSON instead of YAML", severity=INFO, groups=("style",), default=False)
def json_manifest(document: Document) -> Iterator[Problem]:
    """Recognized by the quoted first key: KYAML and other flow style do not quote keys."""
    start = document.root.start
    if document.root.is_map and _JSON.match(document.source.text, start):
        help = "convert it to YAML, which is easier to read and allows comments"
        yield Problem(Span(start, start + 1), "manifest is written in JSON", help=help)


@rule("unsorted-keys", "Keys of a map are not in alphabetical order", severity=INFO, groups=("style",), default=False)
def unsorted_keys(document: Document) -> Iterator[Problem]:
    """For teams whose manifests are sorted by a program. Reported once per map, at the first key that is out of order."""
    nodes = [document.root]
    while nodes:
        node = nodes.pop()
        nodes += _children(node)
        before = ""
        for key, child in node.entries if node.is_map else ():
            if key < before:
                message = f'key "{key}" comes after "{before}"'
                yield Problem(child, message, help="sort the keys of this map alphabetically", at="key")
                break
            before = key


def _children(node: Node) -> list[Node]:
    return [child for _, child in node.entries] if node.is_map else list(node) if node.is_list else []
