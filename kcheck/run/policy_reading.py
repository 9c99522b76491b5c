"""Reads the user-defined policies of a run from the input and from the files that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

from kcheck.check.file import Checked
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery
from kcheck.finding.role import EXAMPLES, FRAGMENTS, TESTS
from kcheck.policy.collection import collect_policies
from kcheck.policy.policy_input import PolicyFile, PolicyInput, PolicyUser, RelatedObject
from kcheck.yaml.parse import parse

CheckFiles = Callable[[Session, Discovery], list[Checked]]
"""Checks files with a session and returns their outcomes."""

_NOT_ENFORCED = TESTS | EXAMPLES | FRAGMENTS
"""Roles of files whose policies are not enforced on the input: those of tests, libraries and examples."""


def add_policies(
    session: Session, candidates: Iterable[tuple[str, str, str]], texts: Iterable[tuple[str, str, str]], paths: Iterable[str] = (),
    contents: Mapping[str, bytes] | None = None, check_files: CheckFiles = lambda session, found: [],
) -> None:  # fmt: skip
    """Add the policies that are enforced to a session, before workers receive it.

    Args:
        session: The session, with the settings of policies.
        candidates: Path, content and role of the files of the input that may contain policies.
        texts: The same of all files of the input, which are read only if the policies depend on other objects.
        paths: The paths of all files of the input, to find the kustomizations that change policies.
        contents: Contents that replace those of files.
        check_files: Checks files with a session, to find the relations of their objects.
    """
    settings = session.policy_settings
    own = dict(settings.files)
    files = [
        PolicyFile(path, text)
        for path, text, role in candidates
        if path not in own and (role not in _NOT_ENFORCED or role in session.included_roles)
    ]
    unenforced: tuple[str, ...] = ()
    if files:
        # Imported late: few inputs have policies.
        from kcheck.run.patched_policies import patch_policies

        files, unenforced = patch_policies(session, files, paths, contents or {})
    files += [PolicyFile(path, text, False) for path, text in own.items()]
    if not files and not settings.rule_files:
        return

    @cache
    def read_texts() -> Iterable[tuple[str, str]]:
        found = [*own.items(), *((path, text) for path, text, role in texts if role not in TESTS), *settings.provided]
        return dict(found).items()

    user = PolicyUser(settings.username, settings.groups) if settings.username else None
    parse_file = session.substitution.parse if session.substitution is not None else parse

    def relations(texts: Sequence[tuple[str, str]]) -> tuple[RelatedObject, ...]:
        # Imported late: few rules ask for relations.
        from kcheck.run.policy_relations import find_relations

        return find_relations(texts, session, check_files)

    session.policies = collect_policies(files, read_texts, user, parse_file, settings.rule_files, unenforced, relations)
    if session.policies is not None and session.factory is not None:
        session.factory = partial(_create_with, session.factory, session.policies)


def _create_with(factory: Callable[[], Session], policies: PolicyInput) -> Session:
    session = factory()
    session.policies = policies
    return session
