"""Reads the user-defined policies of a run from the input and from the files that the settings name."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.check.session import Session
from kcheck.finding.role import EXAMPLES, FRAGMENTS, TESTS
from kcheck.policy.collection import collect_policies
from kcheck.policy.policy_input import PolicyFile, PolicyInput, PolicyUser
from kcheck.yaml.parse import parse

_NOT_ENFORCED = TESTS | EXAMPLES | FRAGMENTS
"""Roles of files whose policies are not enforced on the input: those of tests, libraries and examples."""


def read_policies(
    session: Session, candidates: Iterable[tuple[str, str, str]], texts: Iterable[tuple[str, str, str]]
) -> PolicyInput | None:  # fmt: skip
    """Return the policies that are enforced, None if there are none.

    Args:
        session: The session, with the settings of policies.
        candidates: Path, content and role of the files of the input that may contain policies.
        texts: The same of all files of the input, which is used only if there are policies.
    """
    settings = session.policy_settings
    files = [PolicyFile(path, text) for path, text, role in candidates if role not in _NOT_ENFORCED or role in session.included_roles]
    known = {file.path for file in files}
    files += [PolicyFile(path, text, False) for path, text in settings.files if path not in known]
    if not files:
        return None
    objects = [*settings.files, *((path, text) for path, text, role in texts if role not in TESTS)]
    user = PolicyUser(settings.username, settings.groups) if settings.username else None
    parse_file = session.substitution.parse if session.substitution is not None else parse
    return collect_policies(files, dict(objects).items(), user, parse_file)
