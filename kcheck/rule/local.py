"""Rules in Python files of a project, without a package."""

from __future__ import annotations

import os
import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

PREFIX = "kcheck_local_"
"""The beginning of the names of the modules."""

_lock = threading.Lock()
_loaded: dict[str, ModuleType] = {}


def load_module(path: Path) -> ModuleType:
    """Run a Python file as a module and return it. Raises any exception that the file raises.

    The name of the module contains a digest of its path and content, so a changed file is a new module. No bytecode is read or written:
    its check for changes relies on modification times.
    """
    # Imported late: few projects have such files.
    from hashlib import sha256

    real = os.path.realpath(path)
    content = Path(real).read_bytes()
    name = PREFIX + sha256(os.fsencode(real) + b"\0" + content).hexdigest()[:16]
    with _lock:
        if name not in _loaded:
            module = ModuleType(name)
            module.__file__ = real
            module.__spec__ = ModuleSpec(name, None, origin=real)
            # Registered first, as by an import: decorators such as dataclass look up the module of a class.
            sys.modules[name] = module
            try:
                exec(compile(content, real, "exec"), vars(module))
            except BaseException:
                del sys.modules[name]
                raise
            _loaded[name] = module
    return _loaded[name]


def is_local(module: str) -> bool:
    """Whether a module is a file of a project."""
    return module.startswith(PREFIX)
