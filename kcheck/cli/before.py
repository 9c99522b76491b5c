"""`--before PATH`: what is no longer in the input."""

from __future__ import annotations

import sys

from kcheck.changes.old_objects import OldObjects
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.discovery.load import LIMIT, load_file, with_standard_input
from kcheck.run.removed_objects import find_removed_objects
from kcheck.text.source import Source


def compare_with_older_files(found: Discovery, session: Session) -> Discovery:
    """Let a session with older objects judge what was removed, and return the input with the content of standard input.

    Objects that a cluster has written are not expected in the input: a cluster also contains objects from other sources.
    """
    before = session.before
    if not isinstance(before, OldObjects) or not any(active.rule.scope == "removal" for active in session.rules.active.values()):
        return found
    found = with_standard_input(found, LIMIT, sys.stdin.buffer if sys.stdin else None)
    counterparts, changed, unchanged = {}, [], set()
    for target in found.targets:
        old = before.files.counterpart(target.path)
        source = load_file(target)
        if old is not None and isinstance(source, Source) and before.files.is_unchanged(source):
            unchanged.add(old)
            continue
        changed.append(target)
        if old is not None:
            counterparts[target.path] = old
    files = before.files
    older = {path: text for path in files.paths if path not in unchanged and (text := files.read(path)) is not None}
    targets = [Target(source.path, False, data=source.text.encode("utf-8", "surrogatepass")) for source in older.values()]
    names = {new: older[old].path for new, old in counterparts.items() if old in older}
    session.removed, session.gone = find_removed_objects(targets, changed, names, session, before.files.state)
    return found
