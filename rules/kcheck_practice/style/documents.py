"""What stands in a file and reaches nobody."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Document, Node, Problem, Span, pattern, rule

_CONTENT = pattern(r"---[ \t]+(?![#\s])")
_SEPARATED = ("--- ", "---\t")
_JSON = pattern(r'\{\s*["}]')


@rule("content-after-document-end", 'Content after the YAML document end marker "..." is ignored')
def ignored_content(document: Document) -> Iterator[Problem]:
    """What stands behind a `...` line is dropped without a word."""
    start = document.trailing
    if start is not None:
        end = document.source.text.find("\n", start)
        span = Span(start, end if end >= 0 else document.end)
        yield Problem(span, "everything behind '...' is ignored", help="begin a new document with '---' or take it away")


@rule("content-after-separator", 'Content follows the document separator "---" on the same line')
def separator_content(document: Document) -> Iterator[Problem]:
    """kubectl refuses a file in which anything but a comment follows the separator; the API server alone would read it."""
    text, start = document.source.text, document.start
    if text.startswith(_SEPARATED, start) and _CONTENT.match(text, start):
        yield Problem(Span(document.start, document.start + 3), "kubectl refuses text behind '---'", help="move it to the next line")


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
