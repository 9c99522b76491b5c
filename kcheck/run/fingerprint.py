"""What findings depend on besides the files: the program, its plug-ins, rules and options, definitions and schemas."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kcheck import __version__
from kcheck.rule.ruleset import RuleSet
from kcheck.run.cache import digest
from kcheck.run.session import Session


def program_state(session: Session) -> bytes:
    """A digest of the code and the definitions. Files count by size and time of change, so that work on rules shows at once."""
    modules = {rule.module.partition(".")[0] for rule in session.registry.rules.values()}
    modules |= {check.function.__module__.partition(".")[0] for check in session.registry.checks}
    places = {place for name in {"kcheck", "_ruamel_yaml", *modules} if (place := _place(name)) is not None}
    parts = [__version__, sys.version, *(store.definitions.release for store in session.stores)]
    for place in (*sorted(places), *sorted(session.schemas)):
        parts += _states(place)
    return digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def rules_state(rules: RuleSet) -> bytes:
    """A digest of the rules that run, how severe they are, and their options."""
    parts = [f"{id} {active.severity} {sorted(active.options.items())!r}" for id, active in rules.active.items()]
    return digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _place(module: str) -> Path | None:
    """The folder of a package, the file of a module."""
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if file is None:
        return None
    return Path(file).parent if os.path.basename(file).startswith("__init__.") else Path(file)


def _states(place: Path) -> Iterator[str]:
    """Path, size and time of each file; those that Python makes do not count."""
    if not place.is_dir():
        yield _state(str(place))
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (_state(os.path.join(folder, name)) for name in sorted(files))


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} is gone"
    return f"{path} {status.st_size} {status.st_mtime_ns}"
