"""What the API server accepts and hurts later."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from kcheck.api import hookimpl


@hookimpl
def kcheck_rules() -> list[ModuleType]:
    folder = Path(__file__).parent
    return [import_module(f"kcheck_practice.{path.stem}") for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
