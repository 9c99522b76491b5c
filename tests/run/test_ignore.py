"""What ignores cover, in real text; and what is outcome of those that are wrong or of no use."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from textwrap import dedent, indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kcheck_practice.style.ignore_comments
import kcheck_spec.objects.engine
from kcheck.check.document import check_documents
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, Partition, apply_ignores, read_ignores
from kcheck.finding.finding import Finding
from kcheck.finding.severity import WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.schema.builtin.definitions import load
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse
from tests.conftest import examples

MARK = re.compile(r"\bx\w*")


@pytest.fixture(scope="session")
def registry() -> Registry:
    """A few real rules, one that finds whatever is called x, xa, xb ..., and one that looks at several objects."""
    registry = Registry()
    for module in (kcheck_practice.style.ignore_comments, kcheck_spec.objects.engine):
        registry.add(module)
    for rule in (
        Rule("marked", "", WARNING, "practice", frozenset({"marks"})),
        Rule("between", "", WARNING, "practice", frozenset({"relations"}), scope="bundle"),
        Rule("usually-off", "", WARNING, "practice", frozenset({"marks"}), default=False),
    ):
        registry.rules[rule.id] = rule
    return registry


@pytest.fixture(scope="session")
def rules(registry: Registry) -> RuleSet:
    return choose(registry)


def marks(documents: list[Document]) -> list[Finding]:
    """A finding of the rule "marked" at every key and plain value that is x, xa, xb ..."""
    found: list[Finding] = []

    def visit(node: Node, placer: Locator) -> None:
        if isinstance(node.key, Node) and MARK.fullmatch(node.key.value):
            found.append(Finding("marked", WARNING, "practice", node.key.value, placer.place(node, "key")))
        if isinstance(node.value, str) and MARK.fullmatch(node.value):
            found.append(Finding("marked", WARNING, "practice", node.value, placer.place(node)))
        for child in node:
            visit(child, placer)

    for document in documents:
        visit(document.root, Locator(document))
    return found


def sift(text: str, registry: Registry, rules: RuleSet, complete: bool = False) -> Partition:
    source = Source("a.yaml", text)
    documents = parse(source)
    return apply_ignores(marks(documents), {"a.yaml": read_ignores(source, documents, registry)}, lambda _: rules, lambda _: complete)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("a: xa # kcheck: ignore[marked] why\nb: xb\n", "xb", id="behind a value"),
        pytest.param("a: xa #kcheck:ignore[marked]\n", "", id="without spaces"),
        pytest.param("a: xa #  kcheck :  ignore [ marked , not-kubernetes-object ] why\n", "", id="with spaces"),
        pytest.param("a: xa # see below # kcheck: ignore[marked]\n", "", id="behind another comment"),
        pytest.param("a: 'xa' # kcheck: ignore[marked]\nb: [xb]\n", "xb", id="behind a quoted value"),
        pytest.param("xa: # kcheck: ignore[marked]\nxb: 1\n", "xb", id="behind a key without value"),
        pytest.param("xa: # kcheck: ignore[marked]\n  xb:\n  - xc\n  - d: xd\nxe: 1\n", "xe", id="a map that opens there"),
        pytest.param("xa: # kcheck: ignore[marked]\n- xb\n- xc\nxd: 1\n", "xd", id="a list without indentation"),
        pytest.param("xa: {xb: xc,\n  xd: xe} # kcheck: ignore[marked]\n", "xa xb xc", id="the end of a flow map, entries on the line"),
        pytest.param("xa: {xb: xc,\n  xd: xe\n} # kcheck: ignore[marked]\nxf: 1\n", "xf", id="the bracket that closes a flow map"),
        pytest.param("r:\n  xa: [\n    xb\n  ] # kcheck: ignore[marked]\nxf: 1\n", "xf", id="the bracket that closes a list"),
        pytest.param("a: [\n  xa, # kcheck: ignore[marked]\n  xb, xc, # kcheck: ignore[marked]\n  xd]\n", "xd", id="items of a flow list"),
        pytest.param("a: [\n  xa,# kcheck: ignore[marked]\n  xb]\n", "xb", id="right behind a comma"),
        pytest.param("a: {b: xa, c: xb} # kcheck: ignore[marked]\nd: xc\n", "xc", id="a whole flow map"),
        pytest.param("{a: xa, b: xb} # kcheck: ignore[marked]\n", "", id="a document in one line"),
        pytest.param("a: xa # kcheck: ignore[marked]\nxb: 1\n", "xb", id="the first entry is not the document"),
        pytest.param("- n: xa # kcheck: ignore[marked]\n  m: xb\n- n: xc\n", "xc", id="a list item is covered whole"),
        pytest.param("- n: 1\n  m: xb # kcheck: ignore[marked]\n- n: xc\n", "xc", id="a later entry of an item is one entry"),
        pytest.param("- # kcheck: ignore[marked]\n  n: xa\n- n: xb\n", "xb", id="behind a dash"),
        pytest.param("- xa # kcheck: ignore[marked]\n- xb\n", "xb", id="a scalar item"),
        pytest.param("- - xa # kcheck: ignore[marked]\n  - xb\n- - xc\n", "xc", id="an item in an item"),
        pytest.param("xa: | # kcheck: ignore[marked]\n  text\nxb: 1\n", "xb", id="the head of a block scalar"),
        pytest.param("xa: 'text\n  more' # kcheck: ignore[marked]\nxb: 1\n", "xb", id="the end of a text over two lines"),
        pytest.param("a: &x xa # kcheck: ignore[marked]\nb: xb\n", "xb", id="an anchor"),
        pytest.param("a: b\n# kcheck: ignore[marked] why\nxc: xd\nxe: 1\n", "xe", id="on its own line"),
        pytest.param("a: b\n# kcheck: ignore[marked]\n\n# more\nxc: xd\nxe: 1\n", "xe", id="with lines between"),
        pytest.param("a: b\n# why: kcheck # kcheck: ignore[marked]\nxc: xd\n", "", id="on its own line behind words"),
        pytest.param("a:\n  # kcheck: ignore[marked]\n  xb: 1\n  xc: 1\n", "xc", id="the first entry of a map"),
        pytest.param("a:\n# kcheck: ignore[marked]\n- n: xb\n  m: xc\n- xd\n", "xd", id="the next item"),
        pytest.param("a:\n- 1\n    # kcheck: ignore[marked]\n- n: xb\n  m: {o: xc}\nxd: 1\n", "xd", id="whatever its indentation"),
        pytest.param("a: {\n  # kcheck: ignore[marked]\n  xb: 1, xc: 2}\n", "xc", id="the next entry of a flow map"),
        pytest.param("a: b\n# kcheck: ignore[marked]\n# kcheck: ignore[usually-off]\nxc: xd\n", "", id="one above the other"),
        pytest.param("# kcheck: ignore[marked]\nxa: xb\nxc: [xd]\n", "", id="before the first key"),
        pytest.param("# (c)\n#\n# kcheck: ignore[marked]\n\n- xa\n- xb\n", "", id="before the first item"),
        pytest.param("---\n# kcheck: ignore[marked]\nxa: xb\n---\nxc: 1\n", "xc", id="one of two documents"),
        pytest.param("--- # kcheck: ignore[marked]\nxa: xb\n---\nxc: 1\n", "xc", id="on the separator"),
        pytest.param("xa: 1\n---\n# kcheck: ignore[marked]\nxb: xc\n", "xa", id="the other of two documents"),
        pytest.param("# kcheck: ignore[marked]\n---\nxa: xb\n---\nxc: 1\n", "xc", id="above the separator"),
        pytest.param("xz: 1\n---\n# kcheck: ignore[marked]\n---\n---\nxa: xb\n", "xz", id="in a document of comments"),
        pytest.param("xa: 1 # kcheck: ignore[marks]\n", "", id="a group"),
        pytest.param("xa: 1 # kcheck: ignore[all]\nxb: 1\n", "xb", id="everything"),
        pytest.param('{"xa": 1, # kcheck: ignore[marked]\n "xb": 1}\n', "", id="a document that opens on the line"),
        pytest.param("base: &b\n  xa: 1 # kcheck: ignore[marked]\nuse:\n  <<: *b\n  xb: 1\n", "xb", id="a merge"),
        pytest.param("a: [1] # kcheck: ignore[marked]\na: {b: xb} # kcheck: ignore[marked]\n", "", id="a key that occurs twice"),
        pytest.param('a: "#" # kcheck: ignore[marked]\nxb: 1\n', "xb", id="a hash in quotes"),
        pytest.param("ä: 'ü' # kcheck: ignore[marked] ß\nö: xa # kcheck: ignore[marked] \U0001f600\nxb: 1\n", "xb", id="other letters"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_comment_covers(text: str, kept: str, ending: str, registry: Registry, rules: RuleSet) -> None:
    sifted = sift(text.replace("\n", ending), registry, rules)
    found = [f.concise for f in sifted.kept if f.rule == "marked"]
    assert sorted(set(found)) == kept.split()
    assert not [f for f in sifted.kept if f.rule == "unknown-ignore"]


@pytest.mark.parametrize(
    "text",
    [
        "xa: '# kcheck: ignore[marked]'\n",
        'xa: "# kcheck: ignore[marked]"\n',
        'xa: "text\n  # kcheck: ignore[marked]"\n',
        "xa: |\n  # kcheck: ignore[marked]\n  text\n",
        "xa: |\n  text # kcheck: ignore[marked]\n",
        "xa: >-\n  text\n\n  # kcheck: ignore[marked]\n",
        "- xa: |+\n    text\n    # kcheck: ignore[marked]\n\n",
        "xa: |2\n    # kcheck: ignore[marked]\n  text\n",
        "'# kcheck: ignore[marked]': xa\n",
        "xa: a# kcheck:ignore[marked]\n",
        "xa: {b: '# kcheck: ignore[marked]'}\n",
        "xa: 'b\n\n  # kcheck: ignor[marked]'\n",
        "xa: |\n  # kcheck: ignore[marked]\nxa: 1\n",
        "xa: 1\n...\nb: 1 # kcheck: ignore[marked]\n",
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_text_is_not_a_comment(text: str, ending: str, registry: Registry, rules: RuleSet) -> None:
    sifted = sift(text.replace("\n", ending), registry, rules)
    assert {f.rule for f in sifted.kept} == {"marked"}
    assert not sifted.suppressed


def outcome(text: str, registry: Registry, rules: RuleSet, complete: bool = False) -> list[str]:
    """What is said of the ignores of a text: rule, line, the characters shown and the message."""
    lines = text.split("\n")
    findings = [f for f in sift(text, registry, rules, complete).kept if f.rule.endswith("-ignore")]
    shown = []
    for f in sorted(findings, key=lambda f: f.order):
        line, start, last, end = f.range
        assert line == last
        shown.append(f"{f.rule} {line} {lines[line - 1][start - 1 : end - 1]} | {f.concise}")
    return shown


@pytest.mark.parametrize(
    ("comment", "shown"),
    [
        ("# kcheck: ignore", "# kcheck: ignore | the ignore names no rule; use # kcheck: ignore[rule] reason"),
        ("# kcheck: ignore because", "# kcheck: ignore | the ignore names no rule; use # kcheck: ignore[rule] reason"),
        ("# kcheck: ignore[]", "# kcheck: ignore[] | the ignore names no rule; use # kcheck: ignore[rule] reason"),
        ("# kcheck: ignore[ , ] why", "# kcheck: ignore[ , ] | the ignore names no rule; use # kcheck: ignore[rule] reason"),
        ("# kcheck: ignore[marked why", "# kcheck: ignore[marked why | the closing bracket is missing; use # kcheck: ignore[rule] reason"),
        ("# kcheck: ignor[marked] why", '# kcheck: ignor[marked] | unknown directive "ignor"; use # kcheck: ignore[rule] reason'),
        ("# kcheck: disable", '# kcheck: disable | unknown directive "disable"; use # kcheck: ignore[rule] reason'),
        ("# kcheck:", "# kcheck: | the directive is missing; use # kcheck: ignore[rule] reason"),
        ("# KCheck: ignore[marked]", "# KCheck: ignore[marked] | ignore comments must be lowercase; use # kcheck: ignore[rule] reason"),
        ("# kcheck ignore[marked] why", "# kcheck ignore | invalid ignore comment; use # kcheck: ignore[rule] reason"),
        ("# kcheck-ignore: marked", "# kcheck-ignore | invalid ignore comment; use # kcheck: ignore[rule] reason"),
        ("# kcheck.ignores(marked)", "# kcheck.ignores | invalid ignore comment; use # kcheck: ignore[rule] reason"),
        ("# kchek: ignore[marked]", "# kchek | invalid ignore comment; did you mean # kcheck: ignore[rule] reason?"),
        ("# kcheck: ignore[marcked]", 'marcked | unknown rule or group "marcked"; did you mean "marked"?'),
        ("# kcheck: ignore[marsk]", 'marsk | unknown rule or group "marsk"; did you mean "marks"?'),
        ("# kcheck: ignore[zzz]", 'zzz | unknown rule or group "zzz"; use the rule id that is shown with the finding'),
        ("# kcheck: ignore[a/b]", 'a/b | unknown rule or group "a/b"; use the rule id that is shown with the finding'),
        ("# kcheck: ignore[Marked]", 'Marked | unknown rule or group "Marked"; did you mean "marked"?'),
        (
            "# kcheck: ignore[marked is wrong]",
            'marked is wrong | unknown rule or group "marked is wrong"; '
            "write the reason after the bracket, or after ';' in an annotation",
        ),
        ("# kcheck: ignore[invalid-yaml]", 'invalid-yaml | "invalid-yaml" cannot be ignored: what was not checked must be reported'),
        ("# kcheck: ignore[internal-error]", 'internal-error | "internal-error" cannot be ignored: what was not checked must be reported'),
    ],
)
def test_what_looks_like_an_ignore_and_is_none(comment: str, shown: str, registry: Registry, rules: RuleSet) -> None:
    assert outcome(f"a: 1 {comment}\nb: 2\n", registry, rules) == [f"unknown-ignore 1 {shown}"]
    assert outcome(f"a: 1\n{comment}\nb: 2\n", registry, rules) == [f"unknown-ignore 2 {shown}"]


@pytest.mark.parametrize(
    "comment",
    [
        "# kcheck",
        "# kcheck ignores CRDs",
        "# checked by kcheck",
        "# kcheck finds this",
        "# type: ignore[marked]",
        "# see kcheck: docs",
        "# ignore[a]",
    ],
)
def test_prose_is_left_alone(comment: str, registry: Registry, rules: RuleSet) -> None:
    assert outcome(f"a: 1 {comment}\n{comment}\nb: 2\n", registry, rules) == []


class TestUnused:
    def test_each_name_that_covers_nothing_is_reported(self, registry: Registry, rules: RuleSet) -> None:
        text = (
            "a: xa # kcheck: ignore[not-kubernetes-object, marked, wrong-type] why\n"
            "# kcheck: ignore[marked]\nb: 1\n# kcheck: ignore[marked]\n"
        )
        assert outcome(text, registry, rules) == [
            'unused-ignore 1 not-kubernetes-object | "not-kubernetes-object" has no findings here; remove it',
            'unused-ignore 1 wrong-type | "wrong-type" has no findings here; remove it',
            'unused-ignore 2 marked | "marked" has no findings here; remove it',
            'unused-ignore 4 marked | "marked" has no findings here; remove it',
        ]

    def test_only_where_the_rule_ran(self, registry: Registry, rules: RuleSet) -> None:
        text = "a: 1 # kcheck: ignore[marked]\n"
        assert outcome(text, registry, choose(registry, ["unused-ignore"])) == []
        assert len(outcome(text, registry, choose(registry, ["unused-ignore", "marked"]))) == 1
        assert outcome(text, registry, choose(registry, ignore=["unused-ignore"])) == []
        assert outcome("a: 1 # kcheck: ignore[usually-off]\n", registry, rules) == []

    def test_a_group_only_where_its_usual_rules_ran(self, registry: Registry, rules: RuleSet) -> None:
        assert outcome("a: 1 # kcheck: ignore[marks]\n", registry, rules) == [
            'unused-ignore 1 marks | "marks" has no findings here; remove it'
        ]
        assert outcome("a: 1 # kcheck: ignore[spec]\n", registry, choose(registry, ["unused-ignore", "not-kubernetes-object"])) == []

    @pytest.mark.parametrize("name", ["between", "relations"])
    def test_rules_across_objects_only_with_all_objects(self, name: str, registry: Registry, rules: RuleSet) -> None:
        assert outcome(f"a: 1 # kcheck: ignore[{name}]\n", registry, rules) == []
        assert len(outcome(f"a: 1 # kcheck: ignore[{name}]\n", registry, rules, complete=True)) == 1

    def test_it_can_be_ignored_itself_by_name(self, registry: Registry, rules: RuleSet) -> None:
        assert outcome("a: 1 # kcheck: ignore[marked, unused-ignore] edge only\n", registry, rules) == []
        assert outcome("# kcheck: ignore[unused-ignore]\na: 1 # kcheck: ignore[marked]\n", registry, rules) == []
        assert outcome("# kcheck: ignore[unknown-ignore]\na: 1 # kcheck: ignore[mraked]\n", registry, rules) == []
        assert outcome("xa: 1 # kcheck: ignore[marked, unused-ignore]\n", registry, rules) == [
            'unused-ignore 1 unused-ignore | "unused-ignore" has no findings here; remove it'
        ]

    @pytest.mark.parametrize("group", ["all", "practice"])
    def test_no_group_accepts_that_it_is_of_no_use(self, group: str, registry: Registry, rules: RuleSet) -> None:
        assert len(outcome(f"# kcheck: ignore[{group}]\na: 1\n", registry, rules, complete=True)) == 1


def finding(rule: str, start: int, file: str = "a.yaml") -> Finding:
    return Finding(rule, WARNING, "practice", "", Location(file, 0, Range(1, start + 1, 1, start + 1), "", ObjectId(), "", start))


class TestApply:
    def test_what_was_not_checked_is_never_covered(self, registry: Registry, rules: RuleSet) -> None:
        source = Source("a.yaml", "# kcheck: ignore[all]\na: 1\n")
        ignores = read_ignores(source, parse(source), registry)
        kept = [finding(rule, 22) for rule in ("internal-error", "unreadable-file", "invalid-yaml")]
        assert apply_ignores([*kept, finding("marked", 22)], {"a.yaml": ignores}, lambda _: rules) == Partition(
            kept, [finding("marked", 22)]
        )

    def test_findings_of_other_files_are_left_alone(self, registry: Registry, rules: RuleSet) -> None:
        source = Source("a.yaml", "# kcheck: ignore[marked, between]\na: 1\n")
        ignores = {"a.yaml": read_ignores(source, parse(source), registry)}
        findings = [finding("marked", 34, "b.yaml"), finding("between", 34), finding("marked", 34), finding("marked", 34)]
        assert apply_ignores(findings, ignores, lambda _: rules) == Partition(findings[:1], findings[1:3])

    def test_each_file_is_judged_by_its_own_rules(self, registry: Registry, rules: RuleSet) -> None:
        ignores = {}
        for name in ("a.yaml", "b.yaml"):
            source = Source(name, "a: 1 # kcheck: ignore[marked]\n")
            ignores[name] = read_ignores(source, parse(source), registry)
        without = choose(registry, ignore=["marked"])
        sifted = apply_ignores([], ignores, lambda file: without if file == "a.yaml" else rules)
        assert [(f.file, f.rule) for f in sifted.kept] == [("b.yaml", "unused-ignore")]

    def test_what_was_of_use_in_an_earlier_run_is_judged_anew(self, registry: Registry, rules: RuleSet) -> None:
        source = Source("a.yaml", "a: xa # kcheck: ignore[marked]\n")
        ignores = {"a.yaml": read_ignores(source, parse(source), registry)}
        assert apply_ignores([finding("marked", 3)], ignores, lambda _: rules).kept == []
        assert [f.rule for f in apply_ignores([], ignores, lambda _: rules).kept] == ["unused-ignore"]

    def test_ignores_go_from_one_process_to_another(self, registry: Registry, rules: RuleSet) -> None:
        source = Source("a.yaml", "a: xa # kcheck: ignore[marked, mraked]\n")
        ignores = pickle.loads(pickle.dumps(read_ignores(source, parse(source), registry)))
        assert ignores
        assert apply_ignores([finding("marked", 3)], {"a.yaml": ignores}, lambda _: rules).suppressed == [finding("marked", 3)]

    def test_a_file_without_any_costs_nothing(self, registry: Registry) -> None:
        source = Source("a.yaml", "a: 1 # noqa\n")
        assert read_ignores(source, parse(source), registry) == Ignores()
        assert not read_ignores(source, [], registry)

    def test_a_finding_before_the_first_key_belongs_to_the_document(self, registry: Registry, rules: RuleSet) -> None:
        source = Source("a.yaml", "a: 1\n---\n# kcheck: ignore[marked]\na: 1\n...\nrest\n---\nb: 1\n")
        ignores = {"a.yaml": read_ignores(source, parse(source), registry)}
        findings = [finding("marked", at) for at in (0, 5, 46, 51)]
        assert apply_ignores(findings, ignores, lambda _: rules) == Partition([findings[0], findings[3]], findings[1:3])


@pytest.fixture(scope="session")
def session(registry: Registry, rules: RuleSet) -> Session:
    return Session(registry, rules, [Store(load("1.36"))])


def checked(text: str, session: Session) -> Partition:
    source = Source("a.yaml", dedent(text))
    documents = parse(source)
    findings = [f for f in check_documents(documents, session, session.rules).findings if f.rule == "unknown-field"]
    return apply_ignores(findings, {"a.yaml": read_ignores(source, documents, session.registry)}, lambda _: session.rules)


class TestObjects:
    """Real findings of real objects."""

    DEPLOYMENT = dedent("""\
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: web
        {object}
        spec:
          fieldA: 1{entry}
          selector: {{matchLabels: {{app: web}}}}
          template:
            metadata:
              labels: {{app: web}}
        {template}
            fieldB: 1
            spec:
              containers:
              - name: web{item}
                image: web:1.2
                fieldC: 1
                ports: [{{containerPort: 80, fieldD: 1}}]
              - name: other
                image: other:1.2
                fieldE: 1
    """)

    def fields(self, session: Session, object: str = "", template: str = "", entry: str = "", item: str = "") -> str:
        """The last letters of the unknown fields that are left."""
        text = self.DEPLOYMENT.format(object=object, template=template, entry=entry, item=item)
        sifted = checked("\n".join(line for line in text.split("\n") if line.strip()) + "\n", session)
        assert len(sifted.kept) + len(sifted.suppressed) == 5
        return "".join(sorted(f.place.field[-1] for f in sifted.kept))

    def test_comments(self, session: Session) -> None:
        assert self.fields(session) == "ABCDE"
        assert self.fields(session, entry="  # kcheck: ignore[unknown-field] ours") == "BCDE"
        assert self.fields(session, item="  # kcheck: ignore[unknown-field] ours") == "ABE"
        assert self.fields(session, object="# kcheck: ignore[unknown-field] ours") == ""
        assert self.fields(session, template="    # kcheck: ignore[unknown-field] ours") == "ACDE"

    @pytest.mark.parametrize("value", ["unknown-field", '"unknown-field; ours"', "' wrong-type ,unknown-field;'", "|\n      unknown-field"])
    def test_annotations(self, value: str, session: Session) -> None:
        text = f"  annotations:\n    kcheck.dev/ignore: {value}"
        quiet = Session(session.registry, choose(session.registry, ignore=["unused-ignore"]), session.stores)
        assert self.fields(quiet, object=text) == ""
        assert self.fields(quiet, template=indent(text, "    ")) == "A"

    def test_an_object_of_a_list(self, session: Session) -> None:
        sifted = checked(
            """\
            apiVersion: v1
            kind: List
            items:
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: a, annotations: {kcheck.dev/ignore: unknown-field}}
              fieldA: 1
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: b}
              fieldB: 1
            # kcheck: ignore[unknown-field]
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: c}
              fieldC: 1
            """,
            session,
        )
        assert [f.place.field for f in sifted.kept] == ["fieldB"]

    def test_json(self, session: Session) -> None:
        sifted = checked(
            '{"apiVersion": "v1", "kind": "ConfigMap", "fieldA": "# kcheck: ignore[wrong-type]",\n'
            ' "metadata": {"name": "a", "annotations": {"kcheck.dev/ignore": "unknown-field; made by a program"}}}\n',
            session,
        )
        assert sifted.kept == []
        assert len(sifted.suppressed) == 1

    @pytest.mark.parametrize(
        ("annotation", "shown"),
        [
            ("kcheck.dev/ignore: wrong-type", 'unused-ignore wrong-type "wrong-type" has no findings here; remove it'),
            ("kcheck.dev/ignore: 'a\\b; wrong-type'", 'unknown-ignore a\\b unknown rule or group "a\\b"; use the rule id'),
            ('kcheck.dev/ignore: "wrong\\x2dtype"', 'unused-ignore "wrong\\x2dtype" "wrong-type" has no findings here'),
            ("kcheck.dev/ignore: ''", "unknown-ignore '' the ignore names no rule; use kcheck.dev/ignore: rule; reason"),
            ("kcheck.dev/ignore:", "unknown-ignore kcheck.dev/ignore the ignore names no rule; use kcheck.dev/ignore: rule; reason"),
            ("kcheck.dev/ignore: [wrong-type]", "unknown-ignore [wrong-type] the ignore names no rule"),
            ("kcheck.dev/ignored: wrong-type", 'unknown-ignore kcheck.dev/ignored unknown annotation "kcheck.dev/ignored"; did you mean'),
            ("kcheck/ignore: wrong-type", 'unknown-ignore kcheck/ignore unknown annotation "kcheck/ignore"; did you mean'),
        ],
    )
    def test_annotations_that_are_wrong_or_of_no_use(self, annotation: str, shown: str, session: Session) -> None:
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    {annotation}\n"
        (found,) = checked(text, session).kept
        line, (start, end) = text.split("\n")[5], (found.range.start.column, found.range.end.column)
        assert f"{found.rule} {line[start - 1 : end - 1]} {found.concise}".startswith(shown)
        assert found.place.field == f"metadata.annotations[{annotation.partition(':')[0]}]"
        assert found.object.name == "a"

    def test_an_annotation_that_an_alias_brings_twice_is_one(self, session: Session) -> None:
        text = """\
            apiVersion: v1
            kind: List
            items:
            - {apiVersion: v1, kind: ConfigMap, metadata: &m {name: a, annotations: {kcheck.dev/ignore: unknown-field}}}
            - {apiVersion: v1, kind: ConfigMap, metadata: *m, fieldA: 1}
            """
        sifted = checked(text, session)
        assert sifted.kept == []
        assert len(sifted.suppressed) == 1

    def test_what_is_said_of_a_comment_names_the_object(self, session: Session) -> None:
        text = "# kcheck: ignore[zzz]\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {} # kcheck: ignore[zzz]\n"
        assert [f.object.name for f in checked(text, session).kept] == ["a", "a"]

    def test_a_document_that_does_not_parse_is_left_alone(self, session: Session) -> None:
        good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nfieldA: 1 # kcheck: ignore[unknown-field]\n"
        sifted = checked(f"a: [ # kcheck: ignore[zzz]\n---\n{good}", session)
        assert sifted.kept == []
        assert len(sifted.suppressed) == 1

    def test_nor_one_that_was_taken_out_of_the_list(self, session: Session) -> None:
        source = Source("a.yaml", "a: [ # kcheck: ignore[zzz]\n---\na: 1\n---\n{{ x }} # kcheck: ignore[zzz]\n")
        documents = [d for d in parse(source) if d.fault is None]
        assert len(documents) == 1
        assert read_ignores(source, documents, session.registry) == Ignores()


DOCUMENTATION = (Path(__file__).resolve().parents[2] / "docs/suppression.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"^```yaml\n(.*?)^```$", DOCUMENTATION, re.MULTILINE | re.DOTALL))
def test_the_examples_of_the_documentation_are_read(text: str) -> None:
    names = re.findall(r"[a-z-]+", " ".join(re.findall(r"ignore\[(.*?)\]|kcheck.dev/ignore: \"(.*?);", text)[0]))
    registry = Registry(
        {name: Rule(name, "", WARNING, "practice") for name in ["host-network", "host-path-volume", "privileged-container", "reliability"]}
    )
    source = Source("a.yaml", text)
    ignores = read_ignores(source, parse(source), registry)
    assert not ignores.errors
    assert {i.name for i in ignores.entries} >= set(names)
    assert all(i.spans for i in ignores.entries)


_LINES = st.sampled_from(
    [
        "a: b",
        "b: {c: [1, 2]}",
        "c: >",
        "  text",
        "d:",
        "- e",
        "  - f: g",
        "---",
        "...",
        "",
        "  'h'",
        "i: >-",
        "j: &k [",
        "]",
        "{",
        "}",
        "l: *k",
        "<<: *k",
        "# m",
        "? n",
    ]
)
_COMMENTS = st.sampled_from(
    [
        "",
        "#",
        "# kcheck",
        "# kcheck:",
        "# kcheck: ignore",
        "# kcheck: ignore[",
        "# kcheck: ignore[]",
        "#kcheck:ignore[a,,b",
        "# kcheck: ignore[marked] why",
    ]
) | st.text("#kchec: ignore[],\\\t\"'x\r", max_size=30)


@given(st.lists(st.tuples(_LINES, _COMMENTS), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
@examples(600)
def test_no_comment_breaks_anything(lines: list[tuple[str, str]], ending: str) -> None:
    registry = _hypothesis_registry()
    rules = choose(registry)
    text = ending.join(f"{line} {comment}" for line, comment in lines) + ending
    for sifted in (sift(text, registry, rules), sift("# kcheck: ignore[marked]" + ending + text, registry, rules)):
        for each in sifted.kept:
            assert each.range.start <= each.range.end
            assert 0 <= each.place.start <= len(text) + 26


def _hypothesis_registry() -> Registry:
    registry = Registry({"marked": Rule("marked", "", WARNING, "practice")})
    registry.add(kcheck_practice.style.ignore_comments)
    return registry


_CONTENT = st.sampled_from(["# kcheck: ignore[marked]", "# kcheck: ignor", "text", "#", "", " deeper # kcheck: ignore[x]"])


@given(st.lists(_CONTENT, min_size=1))
@examples(200)
def test_a_block_scalar_holds_no_comment(lines: list[str]) -> None:
    text = "a:\n  b: |\n    text\n" + "".join(f"    {line}\n" for line in lines) + "c: xc\n"
    source = Source("a.yaml", text)
    assert not read_ignores(source, parse(source), _hypothesis_registry())
