"""Generate docs/rules-api.md: the reference of the classes that rules use, from their docstrings.

    python tools/rules_api.py [--check]

--check writes nothing and exits with status 1 if the page is outdated.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from kcheck import api

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rules-api.md"

CLASSES = ("Resource", "Pod", "Container", "Node", "Problem", "Fix", "Edit", "Span")
"""The documented classes of `kcheck.api`, in this order."""

INTERNAL = frozenset({"refused", "refuses", "held", "passage", "virtual", "shared", "echo", "reason", "field"})
"""Members that only the rules of the API server and the engine need."""

SPECIAL = {"__getitem__": "[{}]", "__bool__": "bool({})", "__contains__": "{} in", "__iter__": "for item in", "__len__": "len({})"}

INTRODUCTION = """\
# Rules API

The classes that rules use, from `kcheck.api`. Generated from their docstrings by `tools/rules_api.py`. [Local rules](local-rules.md) shows
how to write a rule; `Facts` and `Bundle`, for rules that compare objects, are documented in their modules, `kcheck/facts/facts.py` and
`kcheck/facts/bundle.py`.
"""


def page() -> str:
    """Return the text of docs/rules-api.md."""
    return "\n".join([INTRODUCTION, *(line for name in CLASSES for line in section(name, getattr(api, name))), *rule_section()])


def section(name: str, documented: type) -> list[str]:
    """Return the section of a class: its description, attributes and methods."""
    text = inspect.getdoc(documented) or ""
    summary, _, attributes = text.partition("\nAttributes:\n")
    described = attribute_rows(attributes) or [(each, "") for each in getattr(documented, "_fields", ())]
    names = {each for each, _ in described}
    rows = [*described, *(row for row in member_rows(name, documented) if row[0] not in names)]
    lines = [f"## {name}", "", summary.strip(), ""]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| `{signature}` | {sentence(meaning)} |" for signature, meaning in rows), ""]
    return lines


def attribute_rows(text: str) -> list[tuple[str, str]]:
    """Return the entries of an Attributes section."""
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text, re.MULTILINE)
    return [(name, " ".join(meaning.split())) for name, meaning in entries if name not in INTERNAL]


def member_rows(owner: str, documented: type) -> list[tuple[str, str]]:
    """Return the public properties and methods of a class, in the order of the source."""
    rows = []
    for name, member in vars(documented).items():
        text = inspect.getdoc(member) if isinstance(member, property) or inspect.isfunction(member) else None
        if text is None or name in INTERNAL or (name.startswith("_") and name not in SPECIAL):
            continue
        rows.append((signature_of(owner, name, member), " ".join(text.partition("\n\n")[0].split())))
    return rows


def signature_of(owner: str, name: str, member: Any) -> str:
    """Return how a member is written in code."""
    this = owner.lower()
    if name in SPECIAL:
        parameters = list(inspect.signature(member).parameters)[1:]
        written = SPECIAL[name].format(*(parameters or [this]))
        return f"{this}{written}" if name == "__getitem__" else f"{written} {this}" if name in ("__contains__", "__iter__") else written
    if isinstance(member, property):
        return name
    written = str(inspect.signature(member)).replace("(self, ", "(").replace("(self)", "()").partition(" -> ")[0]
    return name + written.replace("'", "").replace("|", "or")


def sentence(text: str) -> str:
    """Return a text that begins with an upper-case letter, for a cell of a table."""
    text = text.replace("|", "\\|")
    return text[:1].upper() + text[1:].rstrip(".")


def rule_section() -> list[str]:
    """Return the section of the decorator."""
    text = inspect.getdoc(api.rule) or ""
    parameters = inspect.signature(api.rule).parameters
    lines = [f"    {name}," if each.default is each.empty else f"    {name}={shown(each.default)}," for name, each in parameters.items()]
    return ["## rule", "", "```python", "@rule(", *lines, ")", "```", "", text, ""]


def shown(value: object) -> str:
    """Return a default value."""
    return value.word.upper() if isinstance(value, api.Severity) else repr(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with status 1 if the page is outdated")
    arguments = parser.parse_args()
    text = page()
    if arguments.check:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print("docs/rules-api.md is outdated: run python tools/rules_api.py")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
