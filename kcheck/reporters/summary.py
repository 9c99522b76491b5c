"""The summary of a report, the table of rules, and the list of skipped files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.role import CHART_TEMPLATE, KUSTOMIZATION, VALUES, VENDORED
from kcheck.finding.severity import Severity
from kcheck.reporters.style import BOLD, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.words import counted, enumeration

_MAX_KINDS = 5
"""Number of kinds without a schema in the summary, unless the report is verbose."""


def summary_lines(report: Report, verbose: bool = False) -> list[str]:
    """Returns the summary: what was found in what, and what was not checked. `verbose`: the report lists the skipped files."""
    lines = [_findings_line(report), _policies_line(report), *report.unenforced_policies, _unchecked_line(report, verbose)]
    return [line for line in lines if line]


def _findings_line(report: Report) -> str:
    affected = len({f.file for f in report.findings})
    # A file that could not be read has a finding and is not counted as checked.
    files = max(report.files, affected)
    parts = [counted(report.documents, "document"), *([counted(report.units, "deployment unit")] if report.units else [])]
    read = f"{counted(files, 'file')} ({', '.join(parts)})" + (f" for Kubernetes {report.kubernetes}" if report.kubernetes else "")
    if report.findings:
        line = f"Found {counted_severities(report.count())} in {affected} of {read}."
    elif files:
        line = f"No findings in {read}."
    else:
        line = "No findings: no files were checked."
    if report.suppressed:
        line += f" {counted(report.suppressed, 'finding')} suppressed."
    if report.coverage:
        line += f" {counted(len(report.coverage.known), 'finding')} in the baseline."
    if report.since:
        line += f" {counted(report.since.known, 'older finding')} of {report.since.name} not listed."
    return line


def _policies_line(report: Report) -> str:
    """Returns the number of user-defined policies that are enforced, "" if there are none."""
    number = len(report.policies)
    if not number:
        return ""
    enforced = "1 policy is enforced" if number == 1 else f"{number} policies are enforced"
    hint = " (policies: {from-input: false} in the config ignores those in the input)" if report.policies_in_input else ""
    return f"{enforced}{hint}."


def counted_severities(counts: Mapping[Severity, int]) -> str:
    """Returns numbers of findings as text: "1 error, 2 warnings and 3 info"."""
    return enumeration([counted_severity(s, counts[s]) for s in sorted(counts, reverse=True)])


def _unchecked_line(report: Report, verbose: bool) -> str:
    """Returns the numbers of what was skipped, checked only in part and not validated, "" if everything was checked."""
    folders = sum(each.file.endswith("/") for each in report.passed)
    skipped = [counted(number, noun) for number, noun in ((len(report.passed) - folders, "file"), (folders, "folder")) if number]
    parts = [f"{enumeration(skipped)} skipped"] if skipped else []
    if report.limited:
        parts.append(f"{counted(len(report.limited), 'file')} checked only in part")
    sentences = [", ".join(parts) + ("" if verbose else " (--verbose lists them)")] if parts else []
    if report.without_schema:
        number = report.without_schema.total()
        were = "was" if number == 1 else "were"
        the = "its CRD" if len(report.without_schema) == 1 else "their CRDs"
        kinds = _kinds_without_schema(report, verbose)
        sentences.append(f"{counted(number, 'object')} without a schema {were} not validated: {kinds} (add {the} or use --schemas)")
    if report.remote:
        number = len({each.file for each in report.remote})
        listed = "" if verbose or parts else " (--verbose lists them)"
        sentences.append(f"remote resources of {counted(number, 'kustomization')} were not seen{listed}")
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)


def _kinds_without_schema(report: Report, verbose: bool) -> str:
    """Returns the kinds without a schema with the numbers of their objects, most frequent first: "Application (12), Rollout"."""
    kinds: Counter[str] = Counter()
    for name, number in report.without_schema.items():
        kinds[name if verbose else name.rpartition(" ")[2]] += number
    shown = [f"{name} ({number})" if number > 1 else name for name, number in kinds.most_common(None if verbose else _MAX_KINDS)]
    return enumeration([*shown, *([counted(len(kinds) - len(shown), "other kind")] if len(kinds) > len(shown) else [])])


def nothing_checked(report: Report) -> str:
    """Returns a warning if no file was checked: what was skipped instead, and what to do. "" if any file was checked."""
    if report.files or any(finding.rule != UNRENDERED for finding in report.findings):
        return ""
    roles = Counter(report.roles[each.file].name for each in report.passed if each.file in report.roles)
    skipped = [counted(number, _SKIPPED[role]) for role, number in roles.most_common() if role in _SKIPPED]
    others = len([each for each in report.passed if not each.file.endswith("/")]) - sum(roles[role] for role in _SKIPPED)
    if others:
        skipped.append(counted(others, "other file" if skipped else "file"))
    line = "kcheck: warning: no manifest was checked: " + (f"{enumeration(skipped)} skipped" if skipped else "no YAML or JSON file found")
    if roles[CHART_TEMPLATE] or roles[VALUES]:
        line += "; install helm, or render charts first, e.g. helm template CHART | kcheck check -"
    return line


UNRENDERED = "unrendered-chart"
"""The rule about charts that were not checked."""

_SKIPPED = {CHART_TEMPLATE: "chart template", VALUES: "values file", KUSTOMIZATION: "kustomization", VENDORED: "vendored file"}


def statistics_lines(report: Report, glyphs: Glyphs, style: Style) -> list[str]:
    """Returns a table of rules with the number of findings, severity, fix mark and title, most frequent first."""
    rows = sorted(Counter(f.rule for f in report.findings).items(), key=lambda row: (-row[1], row[0]))
    severities: dict[str, Severity] = {}
    for finding in report.findings:
        severities[finding.rule] = max(finding.severity, severities.get(finding.rule, finding.severity))
    fixable = {finding.rule for finding in report.findings if finding.fix is not None}
    names = {rule: glyphs.visible(rule) for rule, _ in rows}
    widest = max(map(len, names.values()), default=0)
    digits = len(str(rows[0][1])) if rows else 0
    lines = []
    for rule, count in rows:
        note = report.rules.get(rule)
        title = glyphs.visible(note.title) if note else ""
        padding = " " * (widest - len(names[rule]))
        facts = f"{count:>{digits}}  {severities[rule].word:7}  {'fix' if rule in fixable else '':3}"
        lines.append(f"{style.paint(names[rule], BOLD)}{padding}  {facts}  {title}".rstrip())
    return lines


def passed_lines(report: Report, glyphs: Glyphs) -> list[str]:
    """Returns the lists of skipped files, of files that were checked only in part, and of remote resources, with the reasons."""
    lists = (
        ("Skipped files:", report.passed),
        ("Files checked only in part:", report.limited),
        ("Kustomizations with remote resources:", report.remote),
    )
    return [line for title, files in lists if files for line in (title, *(_reason_line(each, glyphs) for each in files))]


def _reason_line(each: SkippedFile, glyphs: Glyphs) -> str:
    return f"  {glyphs.visible(each.file)}: {glyphs.visible(each.why)}"


def counted_severity(severity: Severity, count: int) -> str:
    """Returns a number with a severity: "2 errors", "2 info"."""
    return f"{count} info" if severity is Severity.INFO else counted(count, severity.word)
