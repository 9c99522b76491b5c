"""Digests of what findings depend on besides the files: the program, its plug-ins, rules with their options, definitions and schemas."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from kcheck import __version__
from kcheck.check.session import Session
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.external.catalog import schema_files
from kcheck.schema.store import Store
from kcheck.text.digest import digest_of, digest_of_parts
from kcheck.text.pattern import pattern

_SCHEMA_REFERENCE = pattern(rb'"\$ref"\s*:\s*"([^"#]+)')


def program_state(session: Session) -> bytes:
    """Return a digest of the code and the schemas.

    Code is identified by the size and modification time of its files, so that changes to rules take effect immediately. Schemas are
    identified by content, because checkouts and archives set modification times.
    """
    places = {place for name in {"_ruamel_yaml", *_modules(session.registry)} if (place := _module_path(name)) is not None}
    parts = [__version__, sys.version, *(f"{store.definitions.release} {store.pods!r}" for store in session.all_stores)]
    variables = session.substitution.variables if session.substitution is not None else {}
    parts.append(f"{session.judges_placeholders} {session.judges_as_server} {sorted(variables.items())!r}")
    for place in sorted(places):
        parts += _code_states(place)
    if session.policies is not None:
        parts.append(repr(session.policies))
    # The names of these modules contain digests of their content.
    parts += sorted(session.registry.local_modules)
    schema_states = [part for place in session.schemas for part in (str(place).encode("utf-8", "surrogateescape"), *_schema_states(place))]
    return digest_of_parts(*(part.encode("utf-8", "surrogateescape") for part in parts), *schema_states)


def code_state() -> bytes:
    """Return a digest of the code of kcheck, identified as in `program_state`."""
    place = _module_path("kcheck")
    parts = [__version__, sys.version, *(_code_states(place) if place is not None else ())]
    return digest_of_parts(*(part.encode("utf-8", "surrogateescape") for part in parts))


def program_digest(registry: Registry) -> str:
    """Return a digest of the code by content, which is comparable between machines and independent of the install location."""
    return _code_digest(tuple(sorted(_modules(registry))))


@cache
def _code_digest(modules: tuple[str, ...]) -> str:
    # Sorted, because the names of local modules depend on the folder of the checkout.
    contents = sorted(tuple(file_contents(place, ".py")) for name in modules if (place := _module_path(name)))
    return digest_of_parts(__version__.encode(), *(part for parts in contents for part in parts)).hex()


def schemas_digest(schemas: Iterable[Path]) -> str:
    """Return a digest of the file_contents of schema files."""
    return digest_of_parts(*(part for place in schemas for part in file_contents(place))).hex()


def _modules(registry: Registry) -> set[str]:
    """Return the top-level packages whose code affects findings."""
    modules = {rule.module.partition(".")[0] for rule in registry.rules.values()}
    return {"kcheck", *modules, *(validator.module.partition(".")[0] for validator in registry.validators)}


def stores_state(stores: Iterable[Store]) -> bytes:
    """Return a digest of the Kubernetes versions that a file is validated with."""
    return digest_of_parts(*(store.definitions.release.encode() for store in stores))


def rules_state(rules: RuleSet) -> bytes:
    """Return a digest of the enabled rules with their severities and options."""
    parts = [f"{id} {active.severity} {sorted(active.options.items())!r}" for id, active in rules.active.items()]
    parts.append(repr(rules.policies))
    return digest_of_parts(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _module_path(module: str) -> Path | None:
    """Return the folder of a package or the file of a module."""
    found = sys.modules.get(module)
    # A module that is imported lazily must give the same result before and after its import.
    spec = getattr(found, "__spec__", None) or find_spec(module)
    file = getattr(found, "__file__", None) or (spec.origin if spec is not None else None)
    if file is None:
        return None
    return Path(file).parent if os.path.basename(file).startswith("__init__.") else Path(file)


def file_contents(place: Path, ending: str = "") -> Iterator[bytes]:
    """Yield the path (starting with the name of `place`) and the bytes of each file. Line endings are normalized."""
    files = [place] if place.is_file() else sorted(path for path in place.rglob(f"*{ending}") if path.is_file())
    for file in files:
        yield file.relative_to(place.parent).as_posix().encode("utf-8", "surrogateescape")
        yield file.read_bytes().replace(b"\r\n", b"\n")


def _schema_states(place: Path) -> Iterator[bytes]:
    """Yield path and digest of each schema file, including files outside the folder that JSON Schemas refer to."""
    files = dict.fromkeys(map(str, schema_files(place)))
    pending = list(files)
    while pending:
        path = pending.pop()
        yield path.encode("utf-8", "surrogateescape")
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            yield b"is gone"
            continue
        yield digest_of(data)
        for reference in _SCHEMA_REFERENCE.findall(data) if path.endswith(".json") else ():
            other = os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(reference)))
            if other not in files and os.path.isfile(other):
                files[other] = None
                pending.append(other)


def _code_states(place: Path) -> Iterator[str]:
    """Yield path, size and modification time of a file, or of each file in a folder, except bytecode and the pages of rules."""
    return _file_states(str(place)) if place.is_dir() else iter([_state(str(place))])


def _file_states(folder: str) -> Iterator[str]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            yield _state(entry.path)
        elif entry.name not in ("__pycache__", "pages"):
            yield from _file_states(entry.path)


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} is gone"
    return f"{path} {status.st_size} {status.st_mtime_ns}"
