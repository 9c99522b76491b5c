"""The shape of the code: imports point one way, modules are small, names say what a thing is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = (
    "text", "tree", "kube", "finding", "rule", "schema", "kustomize", "cel", "config", "run",
    "migration", "render", "reporters", "graph", "lsp", "cli",
)  # fmt: skip
PACKAGES = ("kcheck", "rules/kcheck_spec", "rules/kcheck_practice")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
# Only this may import that: what is slow to load or might be exchanged stands behind one door.
DOORS = {
    "ruamel": "kcheck/tree/",
    "_ruamel_yaml": "kcheck/tree/",
    "jsonschema": "kcheck/schema/",
    "pluggy": "kcheck/rule/",
    "click": "kcheck/cli/",
}
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "mixin", "core", "misc"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            # `from kcheck.kube import image` imports a module, too.
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module(path: Path) -> None:
    where = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    assert "TYPE_CHECKING" not in text
    assert text.count("\n") <= 300
    assert VAGUE.isdisjoint(path.stem.split("_"))
    layer = where.split("/")[1] if where.startswith("kcheck/") else ""
    for name in imports(path):
        top, _, rest = name.partition(".")
        door = DOORS.get(top)
        assert door is None or where.startswith(door), f"only {door} imports {top}"
        inner = rest.partition(".")[0]
        if where.startswith("rules/"):
            assert top != "kcheck" or inner == "api", f"rules import kcheck.api alone, not {name}"
        elif top == "kcheck" and layer in LAYERS and inner != "__version__":
            assert inner in LAYERS, f"{layer} imports {name}"
            assert LAYERS.index(inner) <= LAYERS.index(layer), f"{layer} imports {name}"
        assert top not in ("kcheck_spec", "kcheck_practice") or where.split("/")[1] == top, f"{where} imports {name}"
