"""Versions of a custom resource: names, storage, schemas, unknown fields and deprecation.

Source: validateCustomResourceDefinitionSpec, validateDeprecationWarning, ValidateCustomResourceDefinitionStoredVersions,
validatePreserveUnknownFields (apiextensions-apiserver, pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, remove, validator
from kcheck_spec.objects.common_constraints import require

crd_versions = declare(
    "invalid-crd-versions", "CustomResourceDefinition has invalid versions (names, storage, served, schema)", fixable=True
)

_SPEC = "apiextensions/v1 CustomResourceDefinitionSpec"
_MAX_WARNING_BYTES = 256

tables = [
    fields(_SPEC, versions=()),
    fields("apiextensions/v1 CustomResourceDefinitionVersion", name=(), served=(), storage=()),
]


@validator(_SPEC, rule=crd_versions)
def one_version_is_stored(spec: Node) -> Iterator[Problem]:
    """Yield definitions without exactly one stored version. The API server also reports status.storedVersions, which it sets itself."""
    versions = spec["versions"]
    stored = [each for each in versions if each["storage"].boolean]
    status = spec.parent["status"]["storedVersions"] if spec.parent is not None else spec
    if not stored:
        help = "set storage: true on exactly one version" if len(versions) else "add a version with storage: true"
        yield Problem(versions, "no version has storage: true", help=help, reason="Invalid")
        message = "status.storedVersions is empty because no version has storage: true"
        yield Problem(versions, message, help=help, reason="Invalid", field=status)
        return
    first = stored[0]["name"].text
    for each in stored[1:]:
        message = f'version "{each["name"].text}" and version "{first}" both have storage: true'
        yield Problem(each["storage"], message, help="set storage: true on exactly one version", reason="Invalid", field=versions)
    found = False
    for each in versions:
        # The API server accepts the name of the stored version only once.
        if each["storage"].boolean and (found or each["name"].text != first):
            message = f'several versions have storage: true, but the API server sets status.storedVersions only to "{first}"'
            yield Problem(each["storage"], message, help="set storage: true on exactly one version", reason="Invalid", field=status)
        found = found or each["name"].text == first


@validator(_SPEC, rule=crd_versions)
def names_of_versions_differ(spec: Node) -> Iterator[Problem]:
    """Yield versions whose name is a duplicate or not a DNS label (RFC 1035)."""
    versions = spec["versions"]
    seen: set[str] = set()
    for index, version in enumerate(versions):
        name = version["name"]
        if name.text in seen:
            message = f'duplicate version "{name.text}"'
            yield Problem(name, message, help="rename or remove one of them", reason="Invalid", field=versions)
        seen.add(name.text)
        if wrong := names.dns1035_label(name.text):
            yield Problem(name, wrong, reason="Invalid")
            if not index and name.text:
                yield Problem(name, wrong, reason="Invalid", field=spec.virtual("version"))


@validator(_SPEC, rule=crd_versions)
def versions_have_schemas(spec: Node) -> Iterator[Problem]:
    """Yield versions without a schema."""
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        if not schema:
            message = f'version "{version["name"].text}" has no schema'
            yield require(schema, Complaint(message, "add schema.openAPIV3Schema with type: object"))


@validator(_SPEC, rule=crd_versions)
def unknown_fields_are_pruned(spec: Node) -> Iterator[Problem]:
    """Yield preserveUnknownFields: true, which apiextensions.k8s.io/v1 does not allow, and a conversion with it."""
    kept = spec["preserveUnknownFields"]
    if not kept.boolean:
        return
    message = "spec.preserveUnknownFields: true is not allowed in apiextensions.k8s.io/v1"
    help = "remove it, and set x-kubernetes-preserve-unknown-fields: true in the schemas that need it"
    yield Problem(kept, message, help=help, reason="Invalid")
    strategy = spec["conversion"]["strategy"]
    if spec["conversion"] and strategy.text != "None":
        message = f"conversion strategy {strategy.text} cannot be combined with preserveUnknownFields: true"
        yield Problem(strategy, message, help=remove("preserveUnknownFields"), reason="Invalid")


@validator("apiextensions/v1 CustomResourceDefinitionVersion", rule=crd_versions, fields="deprecationWarning")
def deprecation_warning_is_a_line(version: Node) -> Iterator[Problem]:
    """Yield a deprecationWarning of a version that is not deprecated, or one that is empty, too long or not printable."""
    warning = version["deprecationWarning"]
    if warning.value.__class__ is not str:
        return
    text = warning.text
    if not version["deprecated"].boolean:
        message = "deprecationWarning is only allowed for a version with deprecated: true"
        yield Problem(warning, message, help="set deprecated: true, or remove deprecationWarning", reason="Invalid", at="key")
    if not text:
        yield Problem(warning, "deprecationWarning is empty", help="describe what to use instead, or remove it", reason="Invalid")
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > _MAX_WARNING_BYTES:
        message = f"deprecationWarning has {length} bytes, more than the maximum of {_MAX_WARNING_BYTES}"
        yield Problem(warning, message, help="shorten it", reason="Invalid")
    unprintable = next((char for char in text if not _is_printable(char)), "")
    if unprintable:
        message = f"deprecationWarning has the unprintable character {unprintable!r}"
        yield Problem(warning, message, help=remove(), reason="Invalid")


def _is_printable(char: str) -> bool:
    """Like unicode.IsPrint of Go: letters, marks, numbers, punctuation, symbols and the ASCII space."""
    return char == " " or unicodedata.category(char)[0] in "LMNPS"
