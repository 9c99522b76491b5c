"""Write the skeleton of a new rule and of its page. Tests fail until both are filled in.

    python tools/new_rule.py MODULE RULE-ID "Title" --type TYPE... | --kind KIND... | --facts FIELD... [--group GROUP...]

MODULE is a file in rules/ without its ending, such as kcheck_practice/probes; it is made where it does not exist. --type gives a rule
about values of API types ("core/v1 Probe"), with PodSpecs and containers as Pod and Container. --kind gives one about whole objects
("apps Deployment"), --facts one about objects together with all others.
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

# What a rule about these types is called with, unless it is about others, too.
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
    """A rule that cannot be written; the message says why."""


def function_of(id: str, title: str, types: list[str], kinds: list[str], facts: list[str], groups: list[str]) -> tuple[str, set[str]]:
    """The text of the rule's function, and the names that it imports from kcheck.api."""
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
    """A module's text with the function at its end and these names imported. A module that does not exist is ""."""
    text = module or "from __future__ import annotations\n"
    text = _with_import(text, "collections.abc", {"Iterator"})
    text = _with_import(text, "kcheck.api", names)
    return f"{text.rstrip()}\n\n\n{function}"


def _with_import(text: str, module: str, names: set[str]) -> str:
    """A module's text that imports these names, too. `ruff check --fix` sorts a new import in."""
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
    """Constants, classes, functions, as ruff sorts them."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def require_known(id: str, types: list[str], kinds: list[str], facts: list[str], groups: list[str]) -> None:
    """Raise Refused for an id that is taken or malformed, or a name that does not exist."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id):
        raise Refused(f"{id!r} is not a valid id: use lowercase words joined by hyphens")
    if id in Registry.load().rules:
        raise Refused(f"rule {id} exists")
    known = vocabulary()
    faults = [*map(known.fault_of_type, types), *map(known.fault_of_kind, kinds)]
    faults += [f"Facts has no field {each!r}; {suggest(each, Facts.__slots__)}" for each in facts if each not in Facts.__slots__]
    faults += [f"unknown group {each!r}; {suggest(each, GROUPS)}" for each in groups if each not in GROUPS]
    for fault in filter(None, faults):
        raise Refused(fault)


def write(folder: Path, module: str, id: str, function: str, names: set[str]) -> tuple[Path, Path]:
    """Write the function and the page; their files."""
    path = folder / f"{module}.py"
    page = path.parent / "pages" / f"{id}.md"
    if not path.parent.is_dir():
        raise Refused(f"no folder {path.parent}")
    if page.exists():
        raise Refused(f"{page} exists")
    path.write_text(with_function(path.read_text(encoding="utf-8") if path.exists() else "", function, names), encoding="utf-8")
    page.parent.mkdir(exist_ok=True)
    page.write_text(_PAGE.format(id=id), encoding="utf-8")
    return path, page


def main(arguments: list[str] | None = None, folder: Path = RULES) -> int:
    """Write a rule; 2 where it cannot be written."""
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
