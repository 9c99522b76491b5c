"""Routes, the Gateways that they name, and grants between namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcheck.facts.network import hosts_meet
from tests.relations.world import check, service

API = "gateway.networking.k8s.io"
RULES = ("missing-gateway-listener", "route-not-allowed", "route-hostname-mismatch", "missing-reference-grant", "external-name-backend")


def gateway(*listeners: str, metadata: str = "", more: str = "") -> str:
    return f"""\
apiVersion: {API}/v1
kind: Gateway
metadata: {{name: public{metadata}}}
spec: {{gatewayClassName: c, listeners: [{", ".join(f"{{{each}}}" for each in listeners)}]{more}}}
---
"""


def route(parent: str = "", kind: str = "HTTPRoute", more: str = "", backend: str = "", metadata: str = "") -> str:
    return f"""\
apiVersion: {API}/v1
kind: {kind}
metadata: {{name: shop{metadata}}}
spec: {{parentRefs: [{{name: public{parent}}}]{more}, rules: [{{backendRefs: [{{name: web, port: 80{backend}}}]}}]}}
---
"""


WEB = "name: web, port: 80, protocol: HTTP"
TLS = "name: tls, port: 443, protocol: TLS"
LISTENERS = "use one of its listeners: web (80), tls (443)"
SHOP, INFRA = ", namespace: shop", ", namespace: infra"


def reported(tmp_path: Path, *parts: str, complete: bool = False) -> list[tuple[str, str]]:
    return [(f.rule, f.concise) for f in check(tmp_path, {"all.yaml": "".join(parts)}, *RULES, complete=complete)]


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        (", sectionName: web", ""), (", sectionName: web, port: 80", ""), (", port: 443", ""), ("", ""),
        (", sectionName: wbe", 'Gateway "public" has no listener "wbe"; did you mean "web"?'),
        (", sectionName: admin", f'Gateway "public" has no listener "admin"; {LISTENERS}'),
        (", port: 8080", f'Gateway "public" has no listener on port 8080; {LISTENERS}'),
        (", sectionName: web, port: 81", f'Gateway "public" has no listener "web" on port 81; {LISTENERS}'),
        (", kind: Service, group: '', sectionName: x", ""), (", namespace: elsewhere, sectionName: x", ""),
    ],
)  # fmt: skip
def test_listeners_that_are_not_there(parent: str, message: str, tmp_path: Path) -> None:
    tcp = "name: tls, port: 443, protocol: HTTPS"
    assert reported(tmp_path, gateway(WEB, tcp), route(parent)) == ([("missing-gateway-listener", message)] if message else [])
    assert reported(tmp_path, gateway(WEB, tcp, more=", allowedListeners: {namespaces: {from: All}}"), route(parent)) == []


def test_gateways_out_of_sight(tmp_path: Path) -> None:
    files = {"a/gateway.yaml": gateway(WEB), "b/route.yaml": route(", sectionName: x")}
    assert check(tmp_path, files, *RULES) == []
    assert len(check(tmp_path, files, *RULES, complete=True)) == 1


@pytest.mark.parametrize(
    ("listener", "kind", "taken"),
    [
        (WEB, "HTTPRoute", True), (WEB, "GRPCRoute", True), (WEB, "TCPRoute", False), (TLS, "HTTPRoute", False), (TLS, "TLSRoute", True),
        ("name: web, port: 53, protocol: UDP", "UDPRoute", True), ("name: web, port: 80, protocol: example.com/x", "HTTPRoute", True),
        (WEB + ", allowedRoutes: {kinds: [{kind: GRPCRoute}]}", "HTTPRoute", False),
    ],
)  # fmt: skip
def test_kinds_of_routes(listener: str, kind: str, taken: bool, tmp_path: Path) -> None:
    assert [rule for rule, _ in reported(tmp_path, gateway(listener), route(kind=kind))] == ([] if taken else ["route-not-allowed"])


@pytest.mark.parametrize(
    ("allowed", "taken"),
    [
        ("", False),
        ("from: Same", False),
        ("from: All", True),
        ("from: None", False),
        ("from: Selector, selector: {matchLabels: {team: shop}}", True),
        ("from: Selector, selector: {matchLabels: {team: x}}", False),
        ("from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: shop}}", True),
    ],
)
def test_namespaces_of_routes(allowed: str, taken: bool, tmp_path: Path) -> None:
    listener = WEB + (f", allowedRoutes: {{namespaces: {{{allowed}}}}}" if allowed else "")
    home = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: shop}}\n---\n"
    parts = (home, gateway(listener, metadata=INFRA), route(INFRA, metadata=SHOP))
    assert [rule for rule, _ in reported(tmp_path, *parts)] == ([] if taken else ["route-not-allowed"])


def test_labels_of_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    listener = WEB + ", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: x}}}}"
    assert reported(tmp_path, gateway(listener, metadata=INFRA), route(INFRA, metadata=SHOP)) == []


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ("", "a.b", True), ("a.b", "a.b", True), ("A.b", "a.B", True), ("a.b", "b.b", False), ("*.b", "a.b", True), ("*.b", "x.a.b", True),
        ("*.b", "b", False), ("*.b", "*.a.b", True), ("*.a.b", "*.c.b", False), ("*.b", "a.bb", False), ("*.b", "ab", False),
        ("*.b", "*.b", True),
    ],
)  # fmt: skip
def test_host_names(first: str, second: str, meet: bool) -> None:
    assert hosts_meet(first, second) is hosts_meet(second, first) is meet


@pytest.mark.parametrize(
    ("hostname", "names", "served"),
    [("'*.example.com'", "[a.example.org]", False), ("'*.example.com'", "[a.example.org, a.example.com]", True), ("", "[a.b]", True)],
)
def test_host_names_of_routes(hostname: str, names: str, served: bool, tmp_path: Path) -> None:
    listener = WEB + (f", hostname: {hostname}" if hostname else "")
    found = reported(tmp_path, gateway(listener), route(more=f", hostnames: {names}"))
    assert [rule for rule, _ in found] == ([] if served else ["route-hostname-mismatch"])


GRANT = """\
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g, namespace: %s}
spec: {from: [{group: gateway.networking.k8s.io, kind: %s, namespace: shop}], to: [{group: "", kind: Service%s}]}
---
"""


@pytest.mark.parametrize(
    ("grant", "granted"),
    [
        ("", False), (GRANT % ("back", "HTTPRoute", ""), True), (GRANT % ("back", "HTTPRoute", ", name: web"), True),
        (GRANT % ("back", "HTTPRoute", ", name: x"), False), (GRANT % ("back", "GRPCRoute", ""), False),
        (GRANT % ("other", "HTTPRoute", ""), False),
    ],
)  # fmt: skip
def test_grants(grant: str, granted: bool, tmp_path: Path) -> None:
    parts = (service(metadata=", namespace: back"), route(backend=", namespace: back", metadata=SHOP), grant)
    target = 'Service "web" in namespace "back" without a ReferenceGrant'
    message = f'HTTPRoute in namespace "shop" may not refer to {target}; add a ReferenceGrant to namespace "back"'
    assert reported(tmp_path, *parts) == ([] if granted else [("missing-reference-grant", message)])


def test_what_is_out_of_sight_needs_no_grant(tmp_path: Path) -> None:
    away = route(backend=", namespace: back", metadata=SHOP)
    assert reported(tmp_path, away) == []
    files = {"a/route.yaml": away, "b/web.yaml": service(metadata=", namespace: back"), "all.yaml": ""}
    assert check(tmp_path, files, *RULES) == []
    assert len(check(tmp_path, files, *RULES, complete=True)) == 1


def test_another_name_is_not_a_backend(tmp_path: Path) -> None:
    other = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: ExternalName, externalName: a.example.com}\n---\n"
    assert [rule for rule, _ in reported(tmp_path, other, route())] == ["external-name-backend"]
    assert reported(tmp_path, service(), route()) == []
