"""The older state of the input that changes are judged against."""

from __future__ import annotations

from kcheck.changes.old_files import FolderFiles
from kcheck.changes.old_objects import OldObjects
from kcheck.discovery.discover import NoSuchPath
from kcheck.engine.error import InvalidOption


def read_before(path: str) -> OldObjects:
    """Returns the older objects in a file or folder. Raises InvalidOption if it does not exist."""
    try:
        return OldObjects(FolderFiles(path))
    except NoSuchPath as error:
        raise InvalidOption("before: " + "\n".join(error.messages)) from None
