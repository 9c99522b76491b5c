"""The policies of the input that its kustomizations change: what is deployed is enforced, not what is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kcheck.check.session import Session
from kcheck.kustomize.build import Build, BuiltObject
from kcheck.kustomize.library import NAMES, Library
from kcheck.policy.policy_input import BuiltPolicy, PolicyFile
from kcheck.run.built_objects import model_builds
from kcheck.text.record import NamedTuple
from kcheck.text.words import enumeration


class PatchedPolicies(NamedTuple):
    """Files with policies as kustomizations build them. `unenforced`: why some of the policies are not enforced, for people."""

    files: list[PolicyFile]
    unenforced: tuple[str, ...]


def patch_policies(
    session: Session, files: Sequence[PolicyFile], paths: Iterable[str], texts: Mapping[str, bytes]
) -> PatchedPolicies:  # fmt: skip
    """Return files of the input with their policies as the kustomizations of the input build them.

    A policy that several kustomizations build differently is not enforced, because its objects belong to one of them.

    Args:
        session: The session that checks the input.
        files: The files with policies.
        paths: The paths of all files of the input.
        texts: Contents that replace those of files.
    """
    paths = list(paths)
    folders = dict.fromkeys(os.path.dirname(path) or "." for path in paths if os.path.basename(path) in NAMES)
    if not folders:
        return PatchedPolicies(list(files), ())
    library, builds = model_builds(session, folders, paths, texts)
    used = {folder for build in builds.values() for folder in build.reads[1:]}
    outer = {folder: build for folder, build in builds.items() if build.folder not in used and not build.is_component}
    made: dict[str, dict[BuiltPolicy, list[str]]] = {}
    for folder, build in outer.items():
        for path, policy in _built_policies(build, library):
            made.setdefault(path, {}).setdefault(policy, []).append(folder)
    found, unenforced = [], []
    for file in files:
        versions: dict[tuple[str, str], list[tuple[BuiltPolicy, list[str]]]] = {}
        for policy, places in made.get(file.path, {}).items():
            versions.setdefault((policy.kind, policy.name), []).append((policy, places))
        built = []
        for (kind, name), each in versions.items():
            if len(each) == 1:
                built.append(each[0][0])
                continue
            built.append(BuiltPolicy(kind, name, ""))
            folders_of = enumeration([place for _, places in each for place in places])
            unenforced.append(f"{kind} {name} ({file.path}) is not enforced, because {folders_of} build it differently")
        found.append(file._replace(built=tuple(built)))
    return PatchedPolicies(found, tuple(unenforced))


def _built_policies(build: Build, library: Library) -> Iterator[tuple[str, BuiltPolicy]]:
    """Yield the policies and bindings of a build, with the paths of the files that they are written in."""
    for each in build.objects:
        written = each.origin
        if "AdmissionPolic" in written["kind"].text and not each.generated:
            name = written.at("metadata", "name").text
            yield library.locate(written.start).source.path, BuiltPolicy(written["kind"].text, name, _json_of(each))


def _json_of(built: BuiltObject) -> str:
    return json.dumps(built.node.plain(), default=str, sort_keys=True)
