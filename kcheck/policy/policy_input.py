"""The policies of a run, and the objects that they refer to, as data that can be sent to other processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kcheck.text.record import NamedTuple


class BuiltPolicy(NamedTuple):
    """What a kustomization makes of a policy or binding in a file. `json`: the object, "" if several of them build it differently."""

    kind: str
    name: str
    json: str


class PolicyFile(NamedTuple):
    """A file with policies or bindings.

    Attributes:
        path: The path of the file.
        text: Its content.
        in_input: Whether its policies are enforced only because the file is in the input.
        built: The objects of the file that kustomizations change.
    """

    path: str
    text: str
    in_input: bool = True
    built: tuple[BuiltPolicy, ...] = ()


class KnownObject(NamedTuple):
    """An object that policies may refer to: a Namespace or a parameter. `json`: the object as written, in JSON."""

    file: str
    api_version: str
    kind: str
    namespace: str
    name: str
    json: str


class RelatedObject(NamedTuple):
    """An object with its relations to other objects, which are indexes in the list of all of them.

    Attributes:
        file: The file.
        api_version: Its apiVersion.
        kind: Its kind.
        namespace: Its namespace, "" if it states none.
        name: Its name.
        json: The object as written, in JSON.
        pods: Its Pods in JSON: itself, or those that a workload creates.
        references: The objects that it names.
        selected: The objects whose Pods its selector matches.
    """

    file: str
    api_version: str
    kind: str
    namespace: str
    name: str
    json: str
    pods: tuple[str, ...] = ()
    references: tuple[int, ...] = ()
    selected: tuple[int, ...] = ()


FindRelations = Callable[[Sequence[tuple[str, str]]], tuple[RelatedObject, ...]]
"""Returns the related objects in files, given as paths and contents."""


class PolicyUser(NamedTuple):
    """The user whose requests are judged, as the config states."""

    username: str
    groups: tuple[str, ...] = ()


class PolicyInput(NamedTuple):
    """What policies are evaluated from.

    Attributes:
        files: The files with policies, in the order of their paths.
        objects: The objects that policies may refer to, in the order of their files.
        user: The user who makes the requests, None if unknown.
        names: The ids of the policies that are enforced.
        names_in_input: Those that are enforced only because they are in the input.
        independent: Those whose verdicts depend only on the object: not on other objects, its older version or the user.
        rule_files: Paths and contents of the files with short rules.
        unenforced: Why policies of the input are not enforced, for people.
        related: The objects with their relations, () if no rule asks for relations.
    """

    files: tuple[PolicyFile, ...]
    objects: tuple[KnownObject, ...] = ()
    user: PolicyUser | None = None
    names: tuple[str, ...] = ()
    names_in_input: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    rule_files: tuple[tuple[str, str], ...] = ()
    unenforced: tuple[str, ...] = ()
    related: tuple[RelatedObject, ...] = ()
