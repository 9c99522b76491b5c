"""Documents that are not YAML because they contain expressions of a template engine."""

from __future__ import annotations

from collections.abc import Sequence

from kcheck.kube import placeholders
from kcheck.text.complaint import Complaint
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse

TEMPLATE_OF_TOOL = "template of another tool"
"""The reason why a template is skipped that was found in a folder."""


def without_templates(documents: Sequence[Document]) -> list[Document]:
    """Return the documents without those that template expressions alone make invalid."""
    return [document for document in documents if not _is_template(document)]


def _is_template(document: Document) -> bool:
    """Whether a document does not parse, but would with values in the place of template expressions and variables."""
    if document.fault is None:
        return False
    text = document.source.text[document.start : document.end]
    if not placeholders.is_template(text) and not placeholders.has_variables(text):
        return False
    return all(each.fault is None for each in parse(Source(document.source.path, placeholders.fill_in_template(text))))


def merge_template_faults(documents: list[Document]) -> None:
    """Replace the syntax errors of templates by one message per file and drop the further ones, which have the same cause."""
    faults = [d for d in documents if d.fault is not None and placeholders.is_template(d.source.text[d.start : d.end])]
    for document in faults:
        assert document.fault is not None
        message = Complaint("the file is a template, not YAML", "render it and check the output, e.g. helm template . | kcheck check -")
        document.fault = document.fault._replace(message=message)
    for document in faults[1:]:
        documents.remove(document)
