"""kcheck: what the API server would say of your manifests, offline, and what it accepts and you will regret.

The Python API is described in `docs/python.md`; its types are in `__init__.pyi`.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

__all__ = ["Error", "Finding", "Location", "Report", "Severity", "__version__", "check", "check_text"]

_MODULES = {
    "Error": "kcheck.engine.error",
    "Finding": "kcheck.finding.finding",
    "Location": "kcheck.kube.location",
    "Report": "kcheck.finding.report",
    "Severity": "kcheck.finding.severity",
    "check": "kcheck.engine.check",
    "check_text": "kcheck.engine.check",
}

# The first import of the package kcheck.check would replace the function of the same name.
import_module("kcheck.check")
del globals()["check"]


def __getattr__(name: str) -> object:
    """Import a name of the API on first use, because a run of the command line needs few of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
