"""What findings depend on besides the files: the program, its plug-ins, rules and options, definitions and schemas."""

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
from kcheck.text.digest import digest_of, digest_of_parts
from kcheck.text.pattern import pattern

_REFERENCE = pattern(rb'"\$ref"\s*:\s*"([^"#]+)')


def program_state(session: Session) -> bytes:
    """A digest of the code and the schemas. Code counts by the size and time of its files, so that work on rules shows at once; schemas
    count by their contents, because checkouts and archives set times.
    """
    places = {place for name in {"_ruamel_yaml", *_modules(session.registry)} if (place := _place(name)) is not None}
    parts = [__version__, sys.version, *(f"{store.definitions.release} {store.pods!r}" for store in session.stores)]
    for place in sorted(places):
        parts += _states(place)
    given = [part for place in session.schemas for part in (str(place).encode("utf-8", "surrogateescape"), *_schema_states(place))]
    return digest_of_parts(*(part.encode("utf-8", "surrogateescape") for part in parts), *given)


def program_digest(registry: Registry) -> str:
    """The same of the code, for other machines: it counts by what is in it, wherever it is installed."""
    return _code_digest(tuple(sorted(_modules(registry))))


@cache
def _code_digest(modules: tuple[str, ...]) -> str:
    parts = [part for name in modules if (place := _place(name)) for part in contents(place, ".py")]
    return digest_of_parts(__version__.encode(), *parts).hex()


def schemas_digest(schemas: Iterable[Path]) -> str:
    """The same of schemas that were given."""
    return digest_of_parts(*(part for place in schemas for part in contents(place))).hex()


def _modules(registry: Registry) -> set[str]:
    """The packages whose code findings depend on."""
    modules = {rule.module.partition(".")[0] for rule in registry.rules.values()}
    return {"kcheck", *modules, *(validator.module.partition(".")[0] for validator in registry.validators)}


def rules_state(rules: RuleSet) -> bytes:
    """A digest of the rules that run, how severe they are, and their options."""
    parts = [f"{id} {active.severity} {sorted(active.options.items())!r}" for id, active in rules.active.items()]
    return digest_of_parts(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _place(module: str) -> Path | None:
    """The folder of a package, the file of a module."""
    found = sys.modules.get(module)
    # Some are loaded late, and it must not matter whether they are yet.
    spec = getattr(found, "__spec__", None) or find_spec(module)
    file = getattr(found, "__file__", None) or (spec.origin if spec is not None else None)
    if file is None:
        return None
    return Path(file).parent if os.path.basename(file).startswith("__init__.") else Path(file)


def contents(place: Path, ending: str = "") -> Iterator[bytes]:
    """The path, from the name of `place` on, and the bytes of each file; how lines end does not count."""
    files = [place] if place.is_file() else sorted(path for path in place.rglob(f"*{ending}") if path.is_file())
    for file in files:
        yield file.relative_to(place.parent).as_posix().encode("utf-8", "surrogateescape")
        yield file.read_bytes().replace(b"\r\n", b"\n")


def _schema_states(place: Path) -> Iterator[bytes]:
    """Path and digest of each schema file, and of those that JSON Schemas refer to outside of the folder."""
    files = dict.fromkeys(map(str, schema_files(place)))
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        yield path.encode("utf-8", "surrogateescape")
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            yield b"is gone"
            continue
        yield digest_of(data)
        for reference in _REFERENCE.findall(data) if path.endswith(".json") else ():
            other = os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(reference)))
            if other not in files and os.path.isfile(other):
                files[other] = None
                waiting.append(other)


def _states(place: Path) -> Iterator[str]:
    """Path, size and time of each file; those that Python makes and the pages of rules do not count."""
    if not place.is_dir():
        yield _state(str(place))
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "pages"))
        yield from (_state(os.path.join(folder, name)) for name in sorted(files))


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} is gone"
    return f"{path} {status.st_size} {status.st_mtime_ns}"
