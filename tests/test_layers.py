"""The architecture: imports point one way, libraries have one importer, names are unique and say what a thing is."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = (
    "text", "regex", "yaml", "kube", "codec", "facts", "finding", "redaction", "rule", "baseline", "schema", "defaulting", "kustomize",
    "helm", "cel", "policy", "config", "extract", "discovery", "repository", "changes", "check", "workers", "cache", "shards", "run",
    "reporters", "graph", "html", "diff", "migration", "testing", "engine", "cli",
)  # fmt: skip
"""Packages of kcheck: each imports itself and those before it."""
PACKAGES = ("kcheck", "rules/kcheck_spec", "rules/kcheck_practice")
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
IMPORTERS = {
    "ruamel": "kcheck/yaml/libyaml/",
    "_ruamel_yaml": "kcheck/yaml/libyaml/",
    "jsonschema": "kcheck/schema/external/",
    "pluggy": "kcheck/rule/",
    "click": "kcheck/cli/",
    "distributed": "kcheck/workers/",
}
"""The only folder that may import a library: it is slow to load, or may be replaced."""
VAGUE = {"utils", "util", "helpers", "helper", "base", "manager", "mixin", "core", "misc"}


def name_of(path: Path) -> str:
    """The module's name: kcheck.run.run, kcheck_spec.crd.names."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part not in ("rules", "__init__"))


@cache
def nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom | ast.ClassDef, ...]:
    """The imports and classes of a module, inside functions too."""
    return tuple(node for node in ast.walk(MODULES[path]) if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef))


def imports(path: Path) -> Iterator[str]:
    """What a module imports; `from kcheck.kube import image` is kcheck.kube.image."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            yield from (f"{node.module}.{name.name}" for name in node.names)


NAMES = {name_of(path): path for path in MODULES}


def imported_modules(path: Path) -> set[str]:
    """The modules of the project that a module imports."""
    found = {name if name in NAMES else name.rpartition(".")[0] for name in imports(path)}
    return (found & NAMES.keys()) - {name_of(path)}


def cycles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of nodes that import one another (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(group)

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return found


def test_packages_import_lower_layers_only() -> None:
    wrong = []
    for path in MODULES:
        module = name_of(path)
        layer = module.split(".")[1] if module.count(".") else ""
        for name in imports(path):
            top, _, rest = name.partition(".")
            inner = rest.partition(".")[0]
            if not module.startswith("kcheck."):
                allowed = (top != "kcheck" or inner == "api") and (not top.startswith("kcheck_") or top == module.partition(".")[0])
            elif top == "kcheck" and layer in LAYERS and inner != "__version__":
                allowed = inner in LAYERS and LAYERS.index(inner) <= LAYERS.index(layer)
            else:
                allowed = top not in ("kcheck_spec", "kcheck_practice")
            if not allowed:
                wrong.append(f"{module} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_import_cycle() -> None:
    modules = {name_of(path): imported_modules(path) for path in MODULES}
    assert not cycles(modules)
    # Sub-packages of one package do not import one another in a circle either; modules beside them may be above and below.
    packages: dict[str, set[str]] = defaultdict(set)
    for module, others in modules.items():
        for other in others:
            here, there = module.rpartition(".")[0], other.rpartition(".")[0]
            if here != there and here.count(".") >= 2 and there.count(".") >= 2 and here.startswith("kcheck."):
                packages[here].add(there)
    assert not cycles(packages)


def test_libraries_have_one_importer() -> None:
    wrong = [
        f"{where} imports {name}: only {IMPORTERS[name.partition('.')[0]]} does"
        for path in MODULES
        for name in imports(path)
        if name.partition(".")[0] in IMPORTERS
        and not (where := path.relative_to(ROOT).as_posix()).startswith(IMPORTERS[name.partition(".")[0]])
    ]
    assert not wrong, "\n".join(wrong)


def test_types_are_not_imported_for_the_checker_alone() -> None:
    assert not [path for path in MODULES if "TYPE_CHECKING" in path.read_text(encoding="utf-8")]


def test_module_names_are_nouns_of_the_field() -> None:
    assert not [path for path in MODULES if not VAGUE.isdisjoint(path.stem.split("_"))]


def test_class_names_are_unique() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(name_of(path))
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice


@pytest.mark.parametrize("lists", [["modules"], ["modules", "release-modules"]], ids=["installation", "release"])
def test_classes_of_compiled_modules_have_compiled_subclasses_only(lists: list[str]) -> None:
    """mypyc: an interpreted class cannot inherit from a compiled one."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = config["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    names = [name for each in lists for name in hook[each]]
    assert len(names) == len(set(names))
    compiled = {ROOT / name for name in names}
    assert compiled <= MODULES.keys()
    classes = {node.name for path in compiled for node in MODULES[path].body if isinstance(node, ast.ClassDef)}
    wrong = [
        f"{name_of(path)}.{node.name}"
        for path in MODULES
        if path not in compiled
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id in classes for base in node.bases)
    ]
    assert not wrong
