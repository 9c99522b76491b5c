"""Several kubeconfig files of one input are one configuration, as those of KUBECONFIG are.

Rules: invalid-kubeconfig-reference and shadowed-kubeconfig-entry.
"""

from __future__ import annotations

import pytest

from kcheck.finding.finding import Finding
from tests.components.conftest import Check

HEAD = "apiVersion: v1\nkind: Config\n"
CLUSTER = "clusters: [{name: prod, cluster: {server: 'https://prod:6443'}}]\n"
USER = "users: [{name: dev, user: {token: %s}}]\n"
CONTEXT = "contexts: [{name: work, context: {cluster: prod, user: dev}}]\ncurrent-context: work\n"


def reported(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(f.rule, f.file, f.place.field) for f in findings]


def test_contexts_may_name_what_another_file_has(check: Check) -> None:
    files = {"a/team.yaml": HEAD + CONTEXT, "b/base.yaml": HEAD + CLUSTER + USER % "abc"}
    assert reported(check(files)) == []
    assert reported(check(files, "a", "b")) == []


def test_entries_that_no_file_has_are_reported_where_they_are_named(check: Check) -> None:
    findings = check({"team.yaml": HEAD + CONTEXT, "base.yaml": HEAD + CLUSTER.replace("prod,", "prods,")})
    assert reported(findings) == [
        ("invalid-kubeconfig-reference", "team.yaml", "contexts[0].context.cluster"),
        ("invalid-kubeconfig-reference", "team.yaml", "contexts[0].context.user"),
    ]
    assert findings[0].reason == "NotFound"
    assert findings[0].concise == 'context "work" refers to the unknown cluster "prod"; did you mean "prods"?'
    assert "add it to users" in findings[1].concise


def test_a_current_context_may_stand_in_another_file(check: Check) -> None:
    whole = CLUSTER + USER % "abc" + CONTEXT
    assert reported(check({"a.yaml": HEAD + "current-context: work\n", "b.yaml": HEAD + whole})) == []
    assert reported(check({"a.yaml": HEAD + "current-context: work\n", "c.yaml": HEAD + "current-context: home\n"})) == [
        ("invalid-kubeconfig-reference", "a.yaml", "current-context"),
        ("invalid-kubeconfig-reference", "c.yaml", "current-context"),
    ]


@pytest.mark.parametrize("order", [("first.yaml", "second.yaml"), ("second.yaml", "first.yaml")])
def test_the_first_file_wins_and_the_other_is_reported(check: Check, order: tuple[str, str]) -> None:
    files = {"first.yaml": HEAD + CLUSTER + USER % "one", "second.yaml": HEAD + CLUSTER + USER % "two"}
    (finding,) = check(files, *order)
    assert reported([finding]) == [("shadowed-kubeconfig-entry", order[1], "users[0].name")]
    assert f'user "dev" is ignored when merged with {order[0]}' in finding.concise
    assert [(r.place.file, r.place.field) for r in finding.related] == [(order[0], "users[0].name")]


def test_entries_that_say_the_same_do_not_clash(check: Check) -> None:
    other = "users:\n- user:\n    token: abc\n  name: dev\n"
    assert (
        reported(check({"a.yaml": HEAD + USER % "abc", "b.yaml": HEAD + other, "c.json": '{"apiVersion": "v1", "kind": "Config"}'})) == []
    )


def test_only_the_first_document_of_a_file_is_read(check: Check) -> None:
    findings = check({"a.yaml": f"{HEAD}{USER % 'one'}---\n{HEAD}{USER % 'two'}"})
    assert reported(findings) == [("shadowed-kubeconfig-entry", "a.yaml", "kind")]


def test_paths_begin_at_their_own_file(check: Check) -> None:
    text = HEAD + "clusters: [{name: %s, cluster: {server: 'https://prod:6443', certificate-authority: %s}}]\n"
    files = {"x/a.yaml": text % ("a", "ca.crt"), "y/b.yaml": text % ("b", "../ca.crt"), "c.yaml": text % ("c", "/ca.crt")}
    findings = check(files)
    assert reported(findings) == [
        ("relative-kubeconfig-path", "x/a.yaml", "clusters[0].cluster.certificate-authority"),
        ("relative-kubeconfig-path", "y/b.yaml", "clusters[0].cluster.certificate-authority"),
    ]
    assert '"x/ca.crt"' in findings[0].concise
    assert '("ca.crt")' in findings[1].concise


SECRET = "s3cr3t-t0k3n"


@pytest.mark.parametrize(
    "user",
    [
        f"{{token: {SECRET}, username: admin}}",
        f"{{token: {SECRET}, password: {SECRET}, exec: {{}}}}",
        f"{{password: {SECRET}, tokenFlie: /etc/token}}",
        f"{{client-key-data: {SECRET}}}",
        f"{{client-certificate: /tls.crt, client-key-data: '{SECRET}='}}",
        f'{{"token": "{SECRET}", as-groups: [a]}}',
        f"{{auth-provider: {{name: azure, config: {{id-token: {SECRET}, refresh-token: {SECRET}}}}}}}",
    ],
)
def test_no_secret_is_shown(check: Check, user: str) -> None:
    texts = {
        "flow.yaml": f"{HEAD}users: [{{name: dev, user: {user}}}]\n",
        "number.yaml": f"{HEAD}users: [{{name: robot, user: {{token: 9081726354}}}}]\n",
    }
    findings = check(texts)
    assert {f.file for f in findings} == {"flow.yaml", "number.yaml"}
    for finding in findings:
        for text in (finding.concise, finding.place.line, *(r.place.line + r.message for r in finding.related)):
            assert SECRET not in text
            assert "9081726354" not in text
    line = texts["flow.yaml"].splitlines()[2]
    assert {len(f.place.line) for f in findings if f.file == "flow.yaml"} == {len(line)}
