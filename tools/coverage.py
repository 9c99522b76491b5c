"""Make COVERAGE.md of tools/coverage.yaml and kcheck/rule/equivalents.json: which ideas of other linters kcheck has, under which names.

    python tools/coverage.py [--check]

--check writes nothing and ends with 1 where COVERAGE.md is not what would be written. Nothing here goes into the wheel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcheck.rule.equivalents import entries
from kcheck.rule.registry import Registry
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

ROOT = Path(__file__).resolve().parent.parent
IDEAS = ROOT / "tools" / "coverage.yaml"
REPORT = ROOT / "COVERAGE.md"

# Flags of the programs that make a control plane are no manifests of applications: they are counted by themselves.
CONTROL_PLANE = "P"

INTRODUCTION = """\
# What kcheck covers

Made by `python tools/coverage.py` from `kcheck/rule/equivalents.json` and `tools/coverage.yaml`; `tests/test_coverage.py` holds it to them.

What twenty linters of Kubernetes manifests check was collected from their sources, id by id, and put together by idea. Each idea is
a rule here, or refused with a reason. `kcheck rules --like kube-linter` prints the table of one tool,
`kcheck rules --like kube-linter/latest-tag` one row of it.

Where a tool has no ids, a word stands for what it does: `schema` for holding an object against its schema, `strict` and `reject` for
flags of kubeconform, `deprecated` and `removed` for the two lists of pluto, `syntax` and `style` for the rules of yamllint.
"""


@dataclass(frozen=True, slots=True)
class Idea:
    """One thing that linters check. `rules`: ids of ours, () where it is refused or something else than a rule does it."""

    number: int
    section: str
    what: str
    rules: tuple[str, ...]
    peers: tuple[str, ...]
    refused: str = ""
    otherwise: str = ""

    @property
    def is_covered(self) -> bool:
        return bool(self.rules or self.otherwise)


def ideas(registry: Registry) -> list[Idea]:
    """The ideas of tools/coverage.yaml, with the checks that belong to them. Where one names no rules, they are those of its checks."""
    peers: dict[int, list[str]] = {}
    for check, entry in entries().items():
        for number in entry["ideas"]:
            peers.setdefault(number, []).append(check)
    return [_idea(section["section"], entry, peers[entry["idea"]]) for section in _data() for entry in section["ideas"]]


def titles() -> dict[str, str]:
    """The title of each section."""
    return {section["section"]: section["title"] for section in _data()}


def report(registry: Registry) -> str:
    """The text of COVERAGE.md."""
    known = ideas(registry)
    return "\n".join([INTRODUCTION, *_counts(known), *_by_idea(known, registry), *_by_tool(known, registry)]).rstrip() + "\n"


def _data() -> Any:
    (document,) = parse(Source(str(IDEAS), IDEAS.read_text(encoding="utf-8")))
    return document.root.plain()


def _idea(section: str, entry: dict[str, Any], peers: list[str]) -> Idea:
    refused, otherwise = entry.get("refused", "").strip(), entry.get("otherwise", "").strip()
    rules = entry.get("rules", ())
    if not (rules or refused or otherwise):
        rules = sorted({id for check in peers for id in entries()[check]["rules"]})
    return Idea(entry["idea"], section, entry["what"], tuple(rules), tuple(peers), refused, otherwise)


def _counts(known: list[Idea]) -> Iterator[str]:
    yield from ["| ideas about | all | covered | refused |", "|---|---|---|---|"]
    for what, chosen in [
        ("manifests of applications", [idea for idea in known if idea.section != CONTROL_PLANE]),
        ("flags of the control plane", [idea for idea in known if idea.section == CONTROL_PLANE]),
    ]:
        covered = sum(idea.is_covered for idea in chosen)
        yield f"| {what} | {len(chosen)} | {covered} | {sum(bool(idea.refused) for idea in chosen)} |"
    yield ""


def _by_idea(known: list[Idea], registry: Registry) -> Iterator[str]:
    yield from ["## By idea", ""]
    for section, title in titles().items():
        yield from [f"### {section}. {title}", "", "| | idea | rules | elsewhere |", "|---|---|---|---|"]
        for idea in known:
            if idea.section == section:
                yield f"| {idea.number} | {_cell(idea.what)} | {_answer(idea, registry)} | {', '.join(idea.peers)} |"
        yield ""


def _by_tool(known: list[Idea], registry: Registry) -> Iterator[str]:
    yield from ["## By tool", ""]
    checks: dict[str, list[Idea]] = {}
    for idea in known:
        for peer in idea.peers:
            checks.setdefault(peer, []).append(idea)
    for tool in sorted({peer.partition("/")[0] for peer in checks}):
        mine = {peer: found for peer, found in sorted(checks.items()) if peer.partition("/")[0] == tool}
        covered = sum(any(idea.is_covered for idea in found) for found in mine.values())
        yield from [f"### {tool}", "", f"{covered} of {len(mine)} checks.", "", "| its check | rules |", "|---|---|"]
        for peer, found in mine.items():
            rules = entries()[peer]["rules"]
            answer = _links(rules, registry) if rules else "; ".join(dict.fromkeys(_answer(idea, registry) for idea in found))
            yield f"| {_cell(peer.partition('/')[2])} | {answer} |"
        yield ""


def _answer(idea: Idea, registry: Registry) -> str:
    if idea.refused:
        return f"none: {_cell(idea.refused)}"
    return _links(idea.rules, registry) if idea.rules else _cell(idea.otherwise)


def _links(rules: Iterable[str], registry: Registry) -> str:
    return ", ".join(_link(id, registry) for id in rules)


def _link(id: str, registry: Registry) -> str:
    rule = registry.rules.get(id)
    page = registry.page(rule) if rule is not None else None
    return f"`{id}`" if page is None else f"[{id}]({page.relative_to(ROOT).as_posix()})"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    registry = Registry.load()
    if registry.failures:
        sys.exit(f"plug-in {registry.failures[0].name} could not be loaded: {registry.failures[0].reason}")
    text = report(registry)
    if "--check" in sys.argv[1:]:
        return int(not REPORT.is_file() or REPORT.read_text(encoding="utf-8") != text)
    REPORT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
