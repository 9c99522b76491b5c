"""Create the skeleton of a new rule and its page. Tests fail until both are completed.

    python tools/new_rule.py MODULE RULE-ID "Title" --type TYPE... | --kind KIND... | --facts FIELD... [--group GROUP...]

MODULE is a file in rules/ without extension, such as kcheck_practice/probes. It is created if it does not exist. --type creates a rule
about values of API types ("core/v1 Probe"), with PodSpecs and containers as Pod and Container. --kind creates a rule about objects
("apps Deployment"), --facts a rule about relations between objects.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

from kcheck.facts.facts import Facts
from kcheck.kube.suggestions import suggest
from kcheck.rule.groups import GROUPS
from kcheck.rule.registry import Registry
from kcheck.rule.vocabulary import vocabulary

RULES = Path(__file__).resolve().parent.parent / "rules"

# The parameter type of a rule about one of these types only.
_WRAPPED = {"core/v1 PodSpec": "Pod", "core/v1 Container": "Container"}

HEADINGS = ("What it checks", "Why", "Example", "Fixed", "Options", "When to ignore it", "References")
"""The headings of a page, in their order."""

_PAGE = """\
# {id}

## What it checks

## Why

## Example

```yaml
```

## Fixed

```yaml
```

## Options

## When to ignore it

## References
"""


class Refused(Exception):
    """The rule cannot be created. The message contains the reason."""


def function_of(id: str, title: str, types: list[str], kinds: list[str], facts: list[str], groups: list[str]) -> tuple[str, set[str]]:
    """Returns the source of the rule's function and the names that it imports from kcheck.api."""
    selected: list[tuple[str, list[str]]] = []
    if types:
        subject = _WRAPPED.get(types[0], "Node") if len(types) == 1 else "Node"
        selected = [("types", types)] if subject == "Node" else []
    else:
        subject = "Facts" if facts else "Resource"
        selected = [("facts", facts), ("kinds", kinds)]
    keywords = [f"    {name}={_literal(values)},\n" for name, values in (*selected, ("groups", groups)) if values]
    parameters = f"{subject.lower()}: {subject}" + (", bundle: Bundle" if facts else "")
    text = (
        f'@rule(\n    "{id}",\n    "{title}",\n{"".join(keywords)})\n'
        f"def {id.replace('-', '_')}({parameters}) -> Iterator[Problem]:\n"
        f'    raise NotImplementedError("{id}")\n    yield\n'
    )
    return text, {"Problem", "rule", subject, *(["Bundle"] if facts else [])}


def _literal(values: list[str]) -> str:
    quoted = ", ".join(f'"{value}"' for value in values)
    return f"({quoted},)" if len(values) == 1 else f"({quoted})"


def with_function(module: str, function: str, names: set[str]) -> str:
    """Returns the source of a module with a function appended and names imported. `module` is "" for a new module."""
    text = module or "from __future__ import annotations\n"
    text = _with_import(text, "collections.abc", {"Iterator"})
    text = _with_import(text, "kcheck.api", names)
    return f"{text.rstrip()}\n\n\n{function}"


def _with_import(text: str, module: str, names: set[str]) -> str:
    """Returns the source of a module with names imported. `ruff check --fix` sorts new imports."""
    lines = text.splitlines(keepends=True)
    found = [n for n in ast.parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))]
    same = [n for n in found if isinstance(n, ast.ImportFrom) and n.module == module and not any(each.asname for each in n.names)]
    names = names.union(each.name for n in same[:1] for each in n.names)
    line = f"from {module} import {', '.join(sorted(names, key=_order))}\n"
    if same:
        lines[same[0].lineno - 1 : same[0].end_lineno] = [line]
    else:
        last = max((n.end_lineno or 0 for n in found), default=0)
        lines[last:last] = ["\n", line]
    return "".join(lines)


def _order(name: str) -> tuple[int, str]:
    """Sort key for constants, classes, functions, as in ruff."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def require_known(id: str, types: list[str], kinds: list[str], facts: list[str], groups: list[str]) -> None:
    """Raises Refused for an id that is invalid or already used, and for unknown names."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id):
        raise Refused(f'"{id}" is not a valid id; use lowercase words joined by hyphens')
    if id in Registry.load().rules:
        raise Refused(f"rule {id} already exists")
    known = vocabulary()
    faults = [*map(known.fault_of_type, types), *map(known.fault_of_kind, kinds)]
    faults += [f'Facts has no field "{each}"; {suggest(each, Facts.__slots__)}' for each in facts if each not in Facts.__slots__]
    faults += [f'unknown group "{each}"; {suggest(each, GROUPS)}' for each in groups if each not in GROUPS]
    for fault in filter(None, faults):
        raise Refused(fault)


def write(folder: Path, module: str, id: str, function: str, names: set[str]) -> tuple[Path, Path]:
    """Writes the function and the page. Returns their files."""
    path = folder / f"{module}.py"
    page = path.parent / "pages" / f"{id}.md"
    if not path.parent.is_dir():
        raise Refused(f"folder {path.parent} does not exist")
    if page.exists():
        raise Refused(f"{page} already exists")
    path.write_text(with_function(path.read_text(encoding="utf-8") if path.exists() else "", function, names), encoding="utf-8")
    page.parent.mkdir(exist_ok=True)
    page.write_text(_PAGE.format(id=id), encoding="utf-8")
    return path, page


def main(arguments: list[str] | None = None, folder: Path = RULES) -> int:
    """Creates a rule. Returns the exit status, 2 if it cannot be created."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("module")
    parser.add_argument("id")
    parser.add_argument("title")
    about = parser.add_mutually_exclusive_group(required=True)
    about.add_argument("--type", nargs="+", default=[], dest="types")
    about.add_argument("--kind", nargs="+", default=[], dest="kinds")
    about.add_argument("--facts", nargs="+", default=[])
    parser.add_argument("--group", nargs="+", default=[], dest="groups")
    given = parser.parse_args(arguments)
    try:
        require_known(given.id, given.types, given.kinds, given.facts, given.groups)
        function, names = function_of(given.id, given.title, given.types, given.kinds, given.facts, given.groups)
        for path in write(folder, given.module.removesuffix(".py"), given.id, function, names):
            print(path)
    except Refused as error:
        print(f"new_rule: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
