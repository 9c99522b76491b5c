"""What stands in a file and reaches nobody."""

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
    """kubectl and the API server read the first YAML document between two separators and silently drop what follows."""
    start = document.trailing
    if start is not None:
        end = document.source.text.find("\n", start)
        span = Span(start, end if end >= 0 else document.end)
        yield Problem(
            span, "kubectl and the API server never read what follows the end of a document", help="put '---' on a line before it"
        )


@rule("content-after-separator", "Text on the line of a '---' separator, or a YAML directive before it")
def separator_content(document: Document) -> Iterator[Problem]:
    """kubectl refuses a file with a directive, or with anything but a comment after `---`; the API server alone would read it."""
    text, start = document.source.text, document.start
    if text.startswith("%", start):
        yield Problem(Span(start, start + 1), "kubectl refuses YAML directives", help="remove this line")
    elif text.startswith(_SEPARATED, start) and _CONTENT.match(text, start):
        yield Problem(Span(start, start + 3), "kubectl refuses text on the line of a separator", help="move it to the next line")


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
    """JSON has no comments, and every bracket of it must be matched by hand. KYAML and other flow style leave the keys bare."""
    start = document.root.start
    if document.root.is_map and _JSON.match(document.source.text, start):
        yield Problem(Span(start, start + 1), "this manifest is in JSON", help="write YAML, which is easier to read and takes comments")


@rule("unsorted-keys", "Keys of a map are not in alphabetical order", severity=INFO, groups=("style",), default=False)
def unsorted_keys(document: Document) -> Iterator[Problem]:
    """For teams that let a program sort them, so that differences are small. Told once a map."""
    nodes = [document.root]
    while nodes:
        node = nodes.pop()
        nodes += _children(node)
        before = ""
        for key, child in node.entries if node.is_map else ():
            if key < before:
                yield Problem(child, f"{key} stands behind {before}", help="sort the keys of this map", at="key")
                break
            before = key


def _children(node: Node) -> list[Node]:
    return [child for _, child in node.entries] if node.is_map else list(node) if node.is_list else []
