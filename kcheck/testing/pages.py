"""Rule pages as test cases."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from kcheck.finding.finding import Finding
from kcheck.rule.options import BadOption
from kcheck.rule.page import Drawing, Example, Page, PageFault, read_page
from kcheck.rule.rule import Rule
from kcheck.run.fixing import compatible_fixes
from kcheck.testing.headings import check_headings, has_headings
from kcheck.testing.recording import recording
from kcheck.testing.texts import check_text, registry_with
from kcheck.text.edit import apply_edits
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def drawing_of(finding: Finding, text: str) -> Drawing:
    """Returns the drawing of a finding: on its first line, with at least one caret."""
    line, start, last, end = finding.range
    if last != line:
        end = len(text.split("\n")[line - 1]) + 1
    return Drawing(line, start, max(end, start + 1), finding.concise)


def shows(drawing: Drawing, finding: Finding, text: str) -> bool:
    """Whether a drawing shows a finding."""
    return drawing[:3] == drawing_of(finding, text)[:3] and drawing.words in finding.concise


def draw(text: str, drawings: Iterable[Drawing]) -> str:
    """Returns the text with drawings below its lines."""
    below: dict[int, list[str]] = {}
    for line, start, end, words in sorted(drawings):
        margin = "#" + " " * (start - 2) if start > 1 else "# <"
        below.setdefault(line, []).append(f"{margin}{'^' * (end - start)} {words}".rstrip())
    lines = text.split("\n")
    return "\n".join(part for number, line in enumerate(lines, 1) for part in (line, *below.get(number, ())))


def difference(expected: str, actual: str) -> str:
    """Returns the lines that differ, with two lines of context."""
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), lineterm="", n=2)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


ROUNDS = 10
"""Maximum number of fix rounds until no fixable finding is left."""

# Rules that must have no findings in an example: such an error could hide that the rule under test did not run.
_VALIDITY_RULES = ("invalid-yaml", "not-kubernetes-object", "unknown-kind", "unknown-field", "internal-error")
_RUN_OPTIONS: dict[str, type] = {"kubernetes": str, "complete": bool}
_OPTION_TYPES = {str: "a quoted string", bool: "true or false"}
_REMARK = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A test case: an example of a page or, if `example` is None, the page as a whole. `fault`: why the page is invalid, otherwise ""."""

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
    """Returns the cases of all rules of a plug-in (a module or its name), and of pages without a rule.

    `root`: the folder that the paths in `tested:` comments are relative to. `only`: rule ids, to get only their cases.
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
            cases.append(Case(rule.id, None, fault=f"{rule.id} has no page; add {name} in the folder of {rule.module}"))
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
    """Raises AssertionError with a diff if a page does not match the findings of its rule."""
    assert not case.fault, case.fault
    assert case.rule is not None
    assert case.page is not None
    if case.example is None:
        _check_page(case.rule, case.page, str(case.path), case.root)
    else:
        _check_example(case.rule, case.example, _where(case.path, case.example))


def update_page(case: Case) -> bool:
    """Rewrites the caret comments and fixed blocks of a page to match the findings of its rule. Returns whether the page has changed.

    Raises AssertionError for an example with unexpected findings of other rules.
    """
    if case.fault or case.rule is None or case.page is None or case.path is None:
        return False
    lines = case.page.text.split("\n")
    for example in reversed(case.page.examples):
        where = _where(case.path, example)
        findings = _findings(case.rule, example, where)
        if example.fixed is not None:
            end = example.fixed_line + example.fixed.count("\n")
            lines[example.fixed_line : end] = _fixed_text(case.rule, example, findings, where).split("\n")[:-1]
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
    """Checks the page as a whole."""
    assert page.id == rule.id, f"{path}: the heading says {page.id}, the rule is {rule.id}"
    if has_headings(page):
        try:
            check_headings(page, rule.options)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from None
    if page.tested:
        test = root / page.tested
        assert test.is_file(), f"{path}: {page.tested} does not exist"
        assert rule.id in test.read_text(encoding="utf-8"), f"{path}: {page.tested} does not mention {rule.id}"
    else:
        assert any(e.drawings for e in page.examples), f"{path}: no example has a finding"
        assert any(not e.drawings or _is_solved(rule, e, path) for e in page.examples), f"{path}: no example is without findings"
        assert not rule.fixable or any(e.fixed is not None for e in page.examples), f"{path}: the rule is fixable, but no example has a fix"
    with recording(rule) as asked:
        for example in page.examples:
            _findings(rule, example, _where(path, example))
    wrong = asked.unknown_fields()
    assert not wrong, "\n".join(
        [f"{path}: {rule.id} reads fields that no object in the examples can have: a typo, or an example is missing", *wrong]
    )


def _is_solved(rule: Rule, example: Example, path: str) -> bool:
    """Whether the fixed example has no findings."""
    return example.fixed is not None and not _findings(rule, replace(example, text=example.fixed), _where(path, example))


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
        diff = difference(draw(example.text, expected), draw(example.text, actual))
        raise AssertionError(f"{where}: the page (-) and the findings of {rule.id} (+) differ\n{diff}")
    if example.fixed is not None:
        _check_fix(rule, example, findings, where)


def _check_fix(rule: Rule, example: Example, findings: list[Finding], where: str) -> None:
    assert any(f.fix for f in findings), f"{where}: no finding has a fix"
    text = _fixed_text(rule, example, findings, where)
    assert text == example.fixed, (
        f"{where}: the fixed example of the page (-) and the fix (+) differ\n{difference(example.fixed or '', text)}"
    )
    lost = Counter(_REMARK.findall(example.text)) - Counter(_REMARK.findall(text))
    assert not lost, f"{where}: the fix loses the comments {', '.join(lost)}"


def _fixed_text(rule: Rule, example: Example, findings: list[Finding], where: str) -> str:
    """Returns the text after all fixes, as `kcheck fix --unsafe` applies them."""
    text, rounds = example.text, 0
    while wanted := [(finding, finding.fix) for finding in findings if finding.fix is not None]:
        rounds += 1
        assert rounds <= ROUNDS, f"{where}: fixable findings are left after {ROUNDS} rounds"
        text = apply_edits(text, {edit for _, fix in compatible_fixes(wanted) for edit in fix.edits})
        findings = _findings(rule, replace(example, text=text), where)
    return text


def _findings(rule: Rule, example: Example, where: str) -> list[Finding]:
    """Returns the findings of the rule in an example. Raises AssertionError if rules that check the validity of examples have findings."""
    options = _options(example.options, where)
    for_run = {name: options.pop(name) for name in _RUN_OPTIONS if name in options and name not in rule.options}
    for name, value in for_run.items():
        assert isinstance(value, _RUN_OPTIONS[name]), f"{where}: option {name} must be {_OPTION_TYPES[_RUN_OPTIONS[name]]}, not {value!r}"
    try:
        found = check_text(
            example.text,
            [rule, *_VALIDITY_RULES],
            options={rule.id: options},
            name=f"example.{example.language}",
            before=example.before,
            **for_run,
        )
    except (BadOption, ValueError) as error:
        raise AssertionError(f"{where}: {error}") from None
    unexpected = [f"line {f.range.start.line} of the example: {f.rule}: {f.concise}" for f in found if f.rule != rule.id]
    assert not unexpected, "\n".join([f"{where}: the example has unexpected findings", *unexpected])
    return [f for f in found if f.rule == rule.id]


def _options(text: str, where: str) -> dict[str, Any]:
    documents = parse(Source("options", text))
    if not documents:
        return {}
    assert documents[0].fault is None, f"{where}: the options are invalid YAML"
    assert documents[0].root.is_map, f"{where}: the options must be a map"
    # As in a config, option names are written with hyphens.
    return {name.replace("-", "_"): value for name, value in documents[0].root.plain().items()}
