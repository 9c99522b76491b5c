"""Compare kcheck with four peers, object by object, for each check that rules replace.

    python benchmarks/agreement.py [--manifests FOLDER] [--peers FOLDER] [--json]        the table
    python benchmarks/agreement.py --show kube-linter/latest-tag [--limit 10]            the differences of a check, with locations

MANIFESTS contains one folder per repository. PEERS contains a `<peer>.jsonl` per peer with one line per finding: repo, check, file, kind,
name (kube-linter with all built-in checks, the Kubernetes framework of checkov, kube-score with all optional checks, polaris).

Compared are the objects of the kinds that a check reads (`kinds` in agreement.yaml), except those that only the peer can read, and those
for which the peer reports nothing at all although it has findings for every object that it can read. Agreement is 1 minus the share of
objects with findings of only one of the two. A class of agreement.yaml explains differences by a predicate, never by name.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from case import Case, Side
from differences import Knowledge, load_knowledge
from inventory import BY_FILE, Key, Object, Options, Ours, Repository, judge, theirs

from kcheck.migration.draft import OPTION_OVERRIDES
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.tools import PEERS
from kcheck.rule.registry import Registry

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
ENOUGH = 0.97
PARTIAL = "incomplete object"
"""The class of the differences about objects that kcheck deliberately does not check."""
_PARTIES = {"us": "kcheck", "them": "peer", "both": "both"}


@dataclass
class Row:
    """The comparison of one check. Contains object keys. `explained`: number of differences by class."""

    check: str
    rules: tuple[str, ...]
    judged: int
    both: set[Key]
    cases: list[Case]
    explained: Counter[str] = field(default_factory=Counter)

    @property
    def us(self) -> int:
        return sum(case.side == "us" for case in self.cases)

    @property
    def them(self) -> int:
        return sum(case.side == "them" for case in self.cases)

    @property
    def agreement(self) -> float:
        return 1 - len(self.cases) / self.judged if self.judged else 1.0

    @property
    def agreement_of_whole(self) -> float:
        """Returns the row without incomplete objects, which only one of the two checks."""
        return 1 - (len(self.cases) - self.explained[PARTIAL]) / self.judged if self.judged else 1.0

    @property
    def unexplained(self) -> int:
        return sum(not case.cause for case in self.cases)

    @property
    def is_good(self) -> bool:
        """Whether enough objects agree or all differences are explained."""
        return self.agreement >= ENOUGH or not self.judged or 1 - self.unexplained / self.judged >= ENOUGH


def options_of(check: str, rules: tuple[str, ...], knowledge: Knowledge) -> Options:
    """Returns the rule options that make the rules equivalent to a check."""
    asked = {**OPTION_OVERRIDES.get(check, {}), **knowledge.options.get(check, {})}
    return frozenset((rule, option, value) for (rule, option), value in asked.items() if rule in rules)


def runs(counterparts: Counterparts, checks: list[str], knowledge: Knowledge) -> dict[Options, list[str]]:
    """Returns the rules to run for each set of options; all rules for the empty set."""
    found: dict[Options, set[str]] = defaultdict(set)
    for check in checks:
        rules = counterparts.rules(*check.split("/", 1))
        options = options_of(check, rules, knowledge)
        found[options].update(rule for rule in rules if not options or rule in {rule for rule, _, _ in options})
        found[frozenset()].update(rules)
    return {options: sorted(rules) for options, rules in found.items()}


class Comparison:
    """Compares two lists of findings for the same objects."""

    def __init__(
        self, repositories: list[Repository], found: dict[str, set[Key]], counterparts: Counterparts, knowledge: Knowledge
    ) -> None:
        self.repositories = repositories
        self.around = {each.name: each.objects for each in repositories}
        self.found = found
        self.counterparts = counterparts
        self.knowledge = knowledge
        self.objects: dict[str, dict[Key, list[Object]]] = {peer: defaultdict(list) for peer in PEERS}
        self.heard: dict[str, set[Key]] = {peer: set() for peer in PEERS}
        for repository in repositories:
            for each in repository.objects:
                for peer in PEERS:
                    self.objects[peer][each.key(peer)].append(each)
        for check, keys in found.items():
            # Checks that report something for any YAML do not show that the peer has read the object.
            if check not in knowledge.of_any_text:
                self.heard[check.split("/")[0]] |= keys

    def row(self, check: str) -> Row:
        """Returns the comparison of a check and its rules."""
        peer, name = check.split("/", 1)
        rules = self.counterparts.rules(peer, name)
        kinds = self.knowledge.kinds_of(check)
        alike = self.objects[peer]
        # For kinds that only some checks apply to, the absence of findings means nothing.
        silent = self.knowledge.always_heard(peer)
        judged = {key for key in alike if key.kind in kinds and (key.kind not in silent or key in self.heard[peer])}
        theirs, ours = {self.of_template(key) for key in self.found.get(check, ())} & judged, self.ours(check, rules)
        cases = [self.case(check, "them", key, []) for key in sorted(theirs - ours.keys())]
        cases += [self.case(check, "us", key, ours[key]) for key in sorted((ours.keys() & judged) - theirs)]
        row = Row(check, rules, len(judged), theirs & ours.keys(), cases)
        for case in cases:
            case.cause = self.knowledge.cause(case)
            if case.cause:
                row.explained[case.cause] += 1
        return row

    def case(self, check: str, side: Side, key: Key, findings: list[Ours]) -> Case:
        peer = check.split("/")[0]
        around = self.around[key.repo]
        heard = [each for each in around if each.key(peer) in self.heard[peer]]
        return Case(check, side, key, self.objects[peer][key], findings, around, heard)

    def of_template(self, key: Key) -> Key:
        """Returns the workload for a Pod that Checkov derives from a template. Its name consists of the workload and its labels."""
        if key.kind != "Pod" or key in self.objects["checkov"] or not key.file:
            return key
        owners = [each for each in self.around.get(key.repo, ()) if each.file == key.file and key.name in each.template_names]
        return owners[0].key("checkov") if owners else key

    def ours(self, check: str, rules: tuple[str, ...]) -> dict[Key, list[Ours]]:
        """Returns the findings of kcheck, by object as the peer identifies it."""
        peer = check.split("/")[0]
        options = options_of(check, rules, self.knowledge)
        special = {rule for rule, _, _ in options}
        found: dict[Key, list[Ours]] = defaultdict(list)
        for repository in self.repositories:
            plain = [f for f in repository.found[frozenset()] if f.rule in rules and f.rule not in special]
            mine = plain + [f for f in repository.found[options] if f.rule in special]
            about = self.knowledge.fields.get(check, "")
            for key, finding in self.seen(check, repository, [f for f in mine if re.search(about, f.field)]):
                found[key._replace(file=key.file if peer in BY_FILE else "")].append(finding)
        return found

    def seen(self, check: str, repository: Repository, findings: list[Ours]) -> Iterator[tuple[Key, Ours]]:
        """Returns the objects that findings count for: the object itself or, if the peer reports roles at their bindings, the bindings."""
        yield from ((Key(repository.name, f.file, f.kind, f.name), f) for f in findings)
        bindings = [each for each in repository.objects if each.kind in ("RoleBinding", "ClusterRoleBinding")]
        for each in bindings if check in self.knowledge.at_bindings else ():
            role = each.at("roleRef")
            named = [f for f in findings if (f.kind, f.name) == (role.get("kind"), role.get("name"))]
            yield from ((Key(repository.name, each.file, each.kind, each.name), finding) for finding in named)


def table(rows: list[Row]) -> Iterator[str]:
    """Returns the rows as text, sorted by agreement."""
    yield f"{'check':74}{'judged':>7}{'both':>6}{'us':>6}{'them':>6}{'agree':>8}{'explained':>11}{'left':>6}"
    for row in rows:
        mark = "" if row.agreement >= ENOUGH else " ~" if row.is_good else " <"
        explained = sum(row.explained.values())
        line = f"{row.check:74}{row.judged:7}{len(row.both):6}{row.us:6}{row.them:6}{row.agreement:8.1%}"
        yield line + f"{explained:11}{row.unexplained:6}{mark}"


def summary(rows: list[Row]) -> str:
    """Returns the number of checks that agree."""
    agreeing, whole = sum(row.agreement >= ENOUGH for row in rows), sum(row.agreement_of_whole >= ENOUGH for row in rows)
    good = sum(row.is_good for row in rows)
    return f"{agreeing} of {len(rows)} agree on {ENOUGH:.0%}, {whole} where objects are whole, {good} with what is explained"


def markdown(rows: list[Row], knowledge: Knowledge) -> Iterator[str]:
    """The rows and the classes as tables."""
    yield "| check | rules | checked | both | kcheck only | peer only | agree | explained | left |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        counts = f"{row.judged} | {len(row.both)} | {row.us} | {row.them} | {row.agreement:.1%}"
        yield f"| {row.check} | {', '.join(row.rules)} | {counts} | {row.explained.total()} | {row.unexplained} |"
    yield from ["", "| class | reported only by | count | right | reason | example |", "|---|---|--:|---|---|---|"]
    total = sum((row.explained for row in rows), Counter[str]())
    for each in knowledge.classes:
        if total[each.name]:
            who, right = _PARTIES.get(each.side, "either"), _PARTIES[each.right]
            yield f"| {each.name} | {who} | {total[each.name]} | {right} | {each.why} | {each.example} |".replace("|| ", "| ")


def show(row: Row, limit: int) -> Iterator[str]:
    """Returns the differences of a check: first the unexplained ones, then examples of each class."""
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in row.cases:
        groups[case.cause, case.side].append(case)
    yield f"{row.check} ~ {', '.join(row.rules)}: {row.judged} judged, {len(row.both)} found by both, {row.agreement:.1%}"
    for (cause, side), cases in sorted(groups.items()):
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(case.key.kind for case in cases).most_common(6))
        yield f"{'only ' + side}, {cause or 'unexplained'}: {len(cases)} ({kinds})"
        step = max(1, len(cases) // limit)
        for case in cases[::step][:limit]:
            at = " ".join(f"{each.file}:{each.line}" for each in case.objects[:2])
            yield f"    {at} {case.key.kind} {case.key.name}" + (f": {case.findings[0].message}" if case.findings else "")


def as_json(rows: list[Row], unmapped: Counter[str]) -> dict[str, Any]:
    return {
        "checks": [
            {
                "check": row.check, "rules": row.rules, "judged": row.judged, "both": len(row.both), "us": row.us, "them": row.them,
                "agreement": round(row.agreement, 4), "explained": dict(row.explained), "unexplained": row.unexplained,
            }
            for row in rows
        ],
        "unmapped": dict(unmapped),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--manifests", type=Path, default=SHARED / "corpus" / "manifests")
    parser.add_argument("--peers", type=Path, default=SHARED / "field" / "peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--show", default="", metavar="CHECK")
    parser.add_argument("--limit", type=int, default=10, help="examples of each class")
    given = parser.parse_args()
    counterparts, knowledge = Counterparts(Registry.load()), load_knowledge()
    found = theirs(given.peers)
    mapped = [check for check in sorted(found) if counterparts.rules(*check.split("/", 1))]
    chosen = [check for check in mapped if given.show in (check, "")]
    if not chosen:
        sys.exit(f"no check {given.show} with findings and equivalent rules")
    repositories = list(judge(given.manifests, runs(counterparts, chosen, knowledge), counterparts.registry))
    comparison = Comparison(repositories, found, counterparts, knowledge)
    rows = [comparison.row(check) for check in chosen]
    if given.show:
        print("\n".join(show(rows[0], given.limit)))
        return 0
    unmapped = Counter({check: len(keys) for check, keys in found.items() if check not in mapped})
    if given.markdown:
        print("\n".join(markdown(rows, knowledge)))
    elif given.json:
        print(json.dumps(as_json(rows, unmapped), indent=1))
    else:
        print("\n".join(table(rows)))
        print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
