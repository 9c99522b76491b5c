"""The public API: the names at run time are those that type checkers see."""

from __future__ import annotations

import ast
from pathlib import Path

from kcheck import api


def test_the_stub_declares_the_names_of_the_module() -> None:
    stub = ast.parse(Path(api.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = {
        f"{each.name}": f"{node.module}.{each.name}" for node in stub.body if isinstance(node, ast.ImportFrom) for each in node.names
    }
    names = {name: path for name, path in imported.items() if path.startswith("kcheck.")}
    names |= {node.name: "" for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert sorted(names) == sorted(api.__all__)
    for name, path in names.items():
        module = Path(api.__file__).parent.joinpath(*path.split(".")[1:]).with_suffix(".py")
        found = getattr(api, name)
        assert not module.is_file() or found.__name__ == path
        assert found is not None


def test_unknown_names_are_errors() -> None:
    assert not hasattr(api, "cron_jobs")
