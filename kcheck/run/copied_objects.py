"""Findings about copies of an object: one for each cause, in the file that a person edits.

Repositories contain the same objects several times: as sources, and in files such as `install.yaml` that a build makes of them, often once
for each provider or variant. What is wrong in the source is wrong in all of these files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kcheck.finding.finding import Finding
from kcheck.finding.rendered import template_of
from kcheck.kube.location import ObjectId
from kcheck.text.words import counted

_MIN_OBJECTS = 15
"""Objects that a file has at least to be a collection of copies. Smaller files are usually alternatives that a person edits."""
_SHARED = 0.75
"""The share of its objects that other files have as well."""

_Name = tuple[str, str, str]
"""API version, kind and name of an object. Variants of an installation have different namespaces."""

_Key = tuple[str, _Name, str]
"""What copies of a finding have in common: rule, object and message."""


def merge_copies(
    kept: Sequence[Finding], every: Iterable[Finding], collections: Collection[str], may_be_copied: Callable[[str], bool]
) -> list[Finding]:
    """Return findings without those that other files have about copies of the same object.

    The remaining finding is the one in a file that is not a collection of copies, otherwise the one in the first file. Its message states
    the number of the other files.

    Args:
        kept: The findings to report, in order.
        every: All findings, also suppressed ones: a copy of a suppressed finding is not reported either.
        collections: The files that are collections of copies.
        may_be_copied: Whether the findings of a file count as copies, or have copies.
    """
    if not collections:
        return list(kept)
    files: dict[_Key, set[str]] = defaultdict(set)
    for finding in every:
        if finding.object.name and may_be_copied(finding.file):
            # Findings in rendered charts were moved to the templates.
            files[_key(finding)].add(template_of(finding.file))
    if all(len(each) == 1 for each in files.values()):
        return list(kept)
    dropped: dict[tuple[str, _Key], set[str]] = defaultdict(set)
    remaining: list[Finding] = []
    for finding in kept:
        key = _key(finding)
        origin = min(files.get(key, ()), key=lambda file: (file in collections, file), default="")
        if finding.file == origin or finding.file not in collections or not origin:
            remaining.append(finding)
        else:
            dropped[origin, key].add(finding.file)
    return [_with_number(each, len(dropped.pop((each.file, _key(each)), ()))) for each in remaining]


def files_of_copies(objects: Mapping[str, Iterable[ObjectId]]) -> frozenset[str]:
    """Return the files most of whose objects other files have as well. `objects`: the objects of each file."""
    names = {file: set(map(_name, each)) for file, each in objects.items()}
    files = Counter(name for each in names.values() for name in each if name[2])
    return frozenset(
        file for file, own in names.items() if len(own) >= _MIN_OBJECTS and sum(files[name] > 1 for name in own) >= _SHARED * len(own)
    )


def _key(finding: Finding) -> _Key:
    return finding.rule, _name(finding.object), finding.message


def _name(object: ObjectId) -> _Name:
    return object.api_version, object.kind, object.name


def _with_number(finding: Finding, files: int) -> Finding:
    if not files:
        return finding
    return finding._replace(message=f"{finding.message} (also in {counted(files, 'other file')} with this object)")
