"""Rule pages as test cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from kcheck.finding.finding import Finding
from kcheck.rule.options import BadOption
from kcheck.rule.page import Example, Page, PageFault, read_page
from kcheck.rule.rule import Rule
from kcheck.testing.headings import check_headings, has_headings
from kcheck.testing.picture import difference, draw, drawing_of, shows
from kcheck.testing.recording import recording
from kcheck.testing.texts import check_text, registry_with
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

ROUNDS = 10
"""How often a fix may be made until nothing is left to mend."""

# What an example must not be by accident: such a slip can hide that the rule never looked.
_SLIPS = ("invalid-yaml", "not-kubernetes-object", "unknown-kind", "unknown-field", "internal-error")
_RUN_OPTIONS: dict[str, type] = {"kubernetes": str, "complete": bool}
_REMARK = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One thing to check of a page: an example, or (where it is None) the page as a whole. `fault`: it cannot be right, and why."""

    id: str
    path: Path | None
    rule: Rule | None = None
    page: Page | None = None
    example: Example | None = None
    fault: str = ""
    root: Path = Path()

    def __str__(self) -> str:
        return f"{self.id}:{self.example.line}" if self.example else self.id


def pages(plugin: ModuleType | str, *, root: str | Path = "", only: Collection[str] = ()) -> list[Case]:
    """The cases of all rules that a plug-in (its module, or the module's name) gives, and of pages beside them without a rule.

    `root`: the folder that the paths in `tested:` comments are relative to. `only`: ids of rules, to get their cases alone.
    """
    plugin = import_module(plugin) if isinstance(plugin, str) else plugin
    modules: list[ModuleType] = plugin.kcheck_rules() if hasattr(plugin, "kcheck_rules") else [plugin]
    names = {m.__name__ for m in modules}
    registry = registry_with(*sorted(names))
    cases: list[Case] = []
    paged: set[Path] = set()
    for rule in sorted((r for r in registry.rules.values() if r.module in names and (not only or r.id in only)), key=lambda r: r.id):
        path = registry.page(rule)
        if path is None:
            name = f"pages/{rule.id.rpartition('/')[2]}.md"
            cases.append(Case(rule.id, None, fault=f"{rule.id} has no page: write {name} beside {rule.module}"))
            continue
        paged.add(path)
        cases += _cases(rule, path, Path(root))
    if only:
        return cases
    folders = {Path(m.__file__).parent / "pages" for m in modules if m.__file__}
    strays = sorted({path for folder in folders for path in folder.glob("*.md")} - paged)
    return cases + [Case(path.stem, path, fault=f"{path}: no rule has this page") for path in strays]


def _cases(rule: Rule, path: Path, root: Path) -> Iterator[Case]:
    try:
        page = read_page(path.read_text(encoding="utf-8"))
    except PageFault as error:
        yield Case(rule.id, path, fault=f"{path}: {error}")
        return
    yield Case(rule.id, path, rule, page, root=root)
    for example in page.examples:
        yield Case(rule.id, path, rule, page, example, root=root)


def check(case: Case) -> None:
    """Raises AssertionError where a page and what happens differ, with the difference."""
    assert not case.fault, case.fault
    assert case.rule is not None
    assert case.page is not None
    if case.example is None:
        _check_page(case.rule, case.page, str(case.path), case.root)
    else:
        _check_example(case.rule, case.example, _where(case.path, case.example))


def update_page(case: Case) -> bool:
    """Rewrite the caret comments of a page to what its rule finds; returns whether the page has changed. Everything else stays as it is.

    Raises AssertionError for an example that another rule finds fault with.
    """
    if case.fault or case.rule is None or case.page is None or case.path is None:
        return False
    lines = case.page.text.split("\n")
    for example in reversed(case.page.examples):
        findings = _findings(case.rule, example, _where(case.path, example))
        drawn = draw(example.text, (drawing_of(f, example.text) for f in findings))
        lines[example.line : example.line + example.lines] = drawn.split("\n")[:-1]
    text = "\n".join(lines)
    if text == case.page.text:
        return False
    case.path.write_text(text, encoding="utf-8")
    return True


def _where(path: Path | str | None, example: Example) -> str:
    return f"{path}:{example.line}"


def _check_page(rule: Rule, page: Page, path: str, root: Path) -> None:
    """What only the whole page shows."""
    assert page.id == rule.id, f"{path}: the heading says {page.id}, the rule is {rule.id}"
    if has_headings(page):
        try:
            check_headings(page, rule.options)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from None
    if page.tested:
        test = root / page.tested
        assert test.is_file(), f"{path}: {page.tested} does not exist"
        assert rule.id in test.read_text(encoding="utf-8"), f"{path}: {page.tested} says nothing of {rule.id}"
    else:
        assert any(e.drawings for e in page.examples), f"{path}: no example has a finding"
        assert any(not e.drawings for e in page.examples), f"{path}: no example is without findings"
        assert not rule.fixable or any(e.fixed is not None for e in page.examples), f"{path}: the rule mends, and no example shows it"
    with recording(rule) as asked:
        for example in page.examples:
            _findings(rule, example, _where(path, example))
    wrong = asked.never_there()
    assert not wrong, "\n".join(
        [f"{path}: {rule.id} asks for fields that nothing in the examples can have: a slip, or an example is missing", *wrong]
    )


def _check_example(rule: Rule, example: Example, where: str) -> None:
    findings = _findings(rule, example, where)
    left = list(findings)
    expected = []
    for drawing in example.drawings:
        match = next((f for f in left if shows(drawing, f, example.text)), None)
        if match is not None:
            left.remove(match)
        expected.append(drawing._replace(words=match.concise) if match is not None else drawing)
    if left or len(expected) != len(findings):
        actual = [drawing_of(f, example.text) for f in findings]
        told = difference(draw(example.text, expected), draw(example.text, actual))
        raise AssertionError(f"{where}: what the page draws (-) and what {rule.id} finds (+)\n{told}")
    if example.fixed is not None:
        _check_fix(rule, example, findings, where)


def _check_fix(rule: Rule, example: Example, findings: list[Finding], where: str) -> None:
    assert any(f.fix for f in findings), f"{where}: no finding has a fix"
    once = _mend(example.text, findings)
    assert once == example.fixed, f"{where}: the fixed form of the page (-) and the fix (+)\n{difference(example.fixed or '', once)}"
    text, rounds = example.text, 0
    while any(f.fix for f in findings):
        rounds += 1
        assert rounds <= ROUNDS, f"{where}: after {ROUNDS} rounds there is still something to mend"
        text = _mend(text, findings)
        findings = _findings(rule, replace(example, text=text), where)
    lost = Counter(_REMARK.findall(example.text)) - Counter(_REMARK.findall(text))
    assert not lost, f"{where}: the fix loses {', '.join(lost)}"


def _mend(text: str, findings: list[Finding]) -> str:
    """The text after all fixes that do not get in each other's way."""
    made: set[Edit] = set()
    for finding in findings:
        wanted = made | set(finding.fix.edits if finding.fix else ())
        try:
            apply_edits(text, wanted)
        except ValueError:
            continue
        made = wanted
    return apply_edits(text, made)


def _findings(rule: Rule, example: Example, where: str) -> list[Finding]:
    """What the rule finds in an example. Raises AssertionError where the example has a slip that is not its point."""
    options = _options(example.options, where)
    for_run = {name: options.pop(name) for name in _RUN_OPTIONS if name in options and name not in rule.options}
    for name, value in for_run.items():
        assert isinstance(value, _RUN_OPTIONS[name]), f"{where}: the option {name} is {value!r}: quote it, or say true or false"
    try:
        found = check_text(example.text, [rule, *_SLIPS], options={rule.id: options}, name=f"example.{example.language}", **for_run)
    except (BadOption, ValueError) as error:
        raise AssertionError(f"{where}: {error}") from None
    slips = [f"line {f.range.start.line} of the example: {f.rule}: {f.concise}" for f in found if f.rule != rule.id]
    assert not slips, "\n".join([f"{where}: the example is wrong in another way", *slips])
    return [f for f in found if f.rule == rule.id]


def _options(text: str, where: str) -> dict[str, Any]:
    documents = parse(Source("options", text))
    if not documents:
        return {}
    assert documents[0].fault is None, f"{where}: the options are no YAML"
    assert documents[0].root.is_map, f"{where}: the options are no map"
    # As in a config, the names of options have hyphens.
    return {name.replace("-", "_"): value for name, value in documents[0].root.plain().items()}
