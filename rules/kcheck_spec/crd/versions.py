"""Versions of a custom resource: which there are, which is stored, how one retires, and that each has a schema.

Source: validateCustomResourceDefinitionSpec, validateDeprecationWarning, ValidateCustomResourceDefinitionStoredVersions,
validatePreserveUnknownFields (apiextensions-apiserver, pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import require

crd_versions = declare("invalid-crd-versions", "CustomResourceDefinition has invalid versions (names, storage, served, schema)")

_SPEC = "apiextensions/v1 CustomResourceDefinitionSpec"
_WARNING_LIMIT = 256

tables = [
    fields(_SPEC, versions=()),
    fields("apiextensions/v1 CustomResourceDefinitionVersion", name=(), served=(), storage=()),
]


@validator(_SPEC, rule=crd_versions)
def one_version_is_stored(spec: Node) -> Iterator[Problem]:
    """All versions are converted to one when they are stored. The server blames the status, which it fills in itself, too."""
    versions = spec["versions"]
    stored = [each for each in versions if each["storage"].flag]
    status = spec.parent["status"]["storedVersions"] if spec.parent is not None else spec
    if not stored:
        hint = "add one with storage: true" if not len(versions) else "write storage: true in one of them"
        yield Problem(versions, "no version is the one that is stored", help=hint, reason="Invalid")
        yield Problem(versions, "without a version that is stored there are no stored versions", help=hint, reason="Invalid", field=status)
        return
    first = stored[0]["name"].text
    for each in stored[1:]:
        message = Complaint(f"{first or 'another version'} is stored already, and only one version can be", "write storage: false")
        yield Problem(each["storage"], message, reason="Invalid", field=versions)
    found = False
    for each in versions:
        # The server finds the name of the stored version once alone.
        if each["storage"].flag and (found or each["name"].text != first):
            message = Complaint(f"the stored version is the first of {first or 'no name'}", "write storage: false")
            yield Problem(each["storage"], message, reason="Invalid", field=status)
        found = found or each["name"].text == first


@validator(_SPEC, rule=crd_versions)
def names_of_versions_differ(spec: Node) -> Iterator[Problem]:
    """A version is called like a DNS label that begins with a letter, and each otherwise."""
    versions = spec["versions"]
    seen: set[str] = set()
    for index, version in enumerate(versions):
        name = version["name"]
        if name.text in seen:
            message = f"there is a version {name.text} already"
            yield Problem(name, message, help="give this one another name", reason="Invalid", field=versions)
        seen.add(name.text)
        if wrong := names.dns1035_label(name.text):
            yield Problem(name, wrong, reason="Invalid")
            if not index and name.text:
                yield Problem(name, wrong, reason="Invalid", field=spec.imaginary("version"))


@validator(_SPEC, rule=crd_versions)
def versions_have_schemas(spec: Node) -> Iterator[Problem]:
    """Without a schema, all fields would be pruned."""
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        if not schema:
            yield require(schema, Complaint("a version needs a schema", "add schema.openAPIV3Schema with type: object"))


@validator(_SPEC, rule=crd_versions)
def unknown_fields_are_pruned(spec: Node) -> Iterator[Problem]:
    """What a schema does not name is dropped; it can name places where nothing is."""
    kept = spec["preserveUnknownFields"]
    if not kept.flag:
        return
    message = Complaint(
        "unknown fields cannot be kept everywhere", "take it away, and write x-kubernetes-preserve-unknown-fields where they may stand"
    )
    yield Problem(kept, message, reason="Invalid")
    strategy = spec["conversion"]["strategy"]
    if spec["conversion"] and strategy.text != "None":
        message = Complaint("objects whose unknown fields are kept cannot be converted", "take preserveUnknownFields away, or write None")
        yield Problem(strategy, message, reason="Invalid")


@validator("apiextensions/v1 CustomResourceDefinitionVersion", rule=crd_versions, fields="deprecationWarning")
def deprecation_warning_is_a_line(version: Node) -> Iterator[Problem]:
    """What users of a deprecated version are told, in one line."""
    warning = version["deprecationWarning"]
    if warning.value.__class__ is not str:
        return
    said = warning.text
    if not version["deprecated"].flag:
        message = "nobody is warned of a version that is not deprecated"
        yield Problem(warning, message, help="write deprecated: true, or take it away", reason="Invalid", at="key")
    if not said:
        yield Problem(warning, "an empty warning warns of nothing", help="write what to use instead, or take it away", reason="Invalid")
    length = len(said.encode("utf-8", "surrogatepass"))
    if length > _WARNING_LIMIT:
        yield Problem(warning, f"a warning of {length} bytes", help=f"shorten it to {_WARNING_LIMIT}", reason="Invalid")
    strange = next((char for char in said if not _is_printable(char)), "")
    if strange:
        yield Problem(warning, "a warning is one line of plain characters", help=f"take {strange!r} out", reason="Invalid")


def _is_printable(char: str) -> bool:
    """As Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and of spaces the plain one."""
    return char == " " or unicodedata.category(char)[0] in "LMNPS"
