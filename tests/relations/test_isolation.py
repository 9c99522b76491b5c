"""Network policies between pods and those who call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, lines, service, workload

IN, OUT = "Ingress", "Egress"
PORTS = ", ports: [{name: http, containerPort: 8080}]"
WEB = workload(container=PORTS)
FRONT = service(ports="port: 80, targetPort: http")
CALLER = workload("caller", "app: caller", container=', env: [{name: WEB, value: "http://web:80/x"}]')
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
"""


def policy(name: str, *rules: str, way: str = IN, pods: str = "app: web", metadata: str = "") -> str:
    chosen = f"{{matchLabels: {{{pods}}}}}" if pods else "{}"
    listed = f"\n  {way.lower()}: [{', '.join(rules)}]" if rules else ""
    return f"""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}{metadata}}}
spec:
  podSelector: {chosen}
  policyTypes: [{way}]{listed}
---
"""


def port(number: object, more: str = "", peers: str = "") -> str:
    return f"{{{peers}ports: [{{port: {number}{more}}}]}}"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (("{ports: [{port: 80}]}",), "use container port 8080, not the Service port"),
        (("{ports: [{port: web}]}",), "allow port 8080"),
        (("{ports: [{port: 8081, endPort: 8090}]}",), "allow port 8080"),
        (("{ports: [{port: 8080, protocol: UDP}]}",), "use the same protocol in both"),
        (("{ports: [{port: 8080}]}",), ""), (("{ports: [{port: http}]}",), ""), (("{ports: [{port: 8000, endPort: 8090}]}",), ""),
        (("{}",), ""), (("{ports: [{protocol: TCP}]}",), ""), (("{ports: [{port: 80}]}", "{ports: [{port: 8080}]}"), ""),
    ],
)  # fmt: skip
def test_ports_that_do_not_meet(rules: tuple[str, ...], message: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"all.yaml": WEB + FRONT + policy("p", *rules)}, "network-policy-blocks-service")
    assert [f.help for f in found] == ([message] if message else [])


def test_policies_add_up(tmp_path: Path) -> None:
    shut = policy("p", port(80))
    for other in (policy("q", port(8080), pods=""), policy("q", port("http"))):
        assert check(tmp_path, {"all.yaml": WEB + FRONT + shut, "more/allow.yaml": other}, "network-policy-blocks-service") == []
    elsewhere = policy("q", port(8080), metadata=", namespace: other")
    named = (text.replace("{name: web", "{name: web, namespace: shop", 1) for text in (WEB, FRONT))
    files = {"all.yaml": "".join(named) + policy("p", port(80), metadata=", namespace: shop"), "more/allow.yaml": elsewhere}
    assert len(check(tmp_path, files, "network-policy-blocks-service")) == 1


def test_one_open_port_is_enough(tmp_path: Path) -> None:
    two = service(ports="name: http, port: 80, targetPort: http}, {name: admin, port: 9000")
    assert check(tmp_path, {"all.yaml": WEB + two + policy("p", port(8080))}, "network-policy-blocks-service") == []


def test_a_policy_blocks_a_service_behind_an_ingress(tmp_path: Path) -> None:
    closed = policy("p")
    assert check(tmp_path, {"all.yaml": WEB + FRONT + closed}, "network-policy-blocks-service") == []
    (finding,) = check(tmp_path, {"all.yaml": WEB + FRONT + closed + INGRESS}, "network-policy-blocks-service")
    assert (
        finding.message
        == 'NetworkPolicy "p" blocks all traffic to Deployment "web", which is exposed by Ingress "web" through Service "web"'
    )
    assert finding.help == "add an ingress rule for the clients"
    assert lines(tmp_path, [finding]) == ["all.yaml:21 {matchLabels: {app: web}}"]
    balanced = FRONT.replace("selector:", "type: LoadBalancer\n  selector:")
    assert len(check(tmp_path, {"all.yaml": WEB + balanced + closed}, "network-policy-blocks-service")) == 1


def test_policies_that_may_be_for_others(tmp_path: Path) -> None:
    shut = policy("p", port(80))
    assert check(tmp_path, {"all.yaml": WEB + FRONT, "far/p.yaml": shut}, "network-policy-blocks-service") == []
    # A policy for all pods of no namespace is often an example.
    blanket = {"far/p.yaml": "", "p.yaml": policy("p", port(80), pods="")}
    assert check(tmp_path, blanket, "network-policy-blocks-service") == []
    assert len(check(tmp_path, {"p.yaml": shut}, "network-policy-blocks-service")) == 1
    assert len(check(tmp_path, {"p.yaml": "", "far/p.yaml": shut}, "network-policy-blocks-service", complete=True)) == 1
    on_host = {"all.yaml": workload(container=PORTS, pod=", hostNetwork: true") + FRONT + shut, "far/p.yaml": ""}
    assert check(tmp_path, on_host, "network-policy-blocks-service") == []


TO_WEB = "to: [{podSelector: {matchLabels: {app: web}}}], "
TO_DB = "{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{port: 5432}]}"


@pytest.mark.parametrize(
    ("rules", "reported"),
    [
        ((TO_DB,), True), (("{to: [{podSelector: {}}]}",), True), (("{to: [{namespaceSelector: {}}], ports: [{port: 80}]}",), True),
        ((TO_DB, "{ports: [{port: 53, protocol: UDP}]}"), False), ((TO_DB, "{ports: [{port: 53}]}"), False),
        ((TO_DB, "{to: [{namespaceSelector: {}}], ports: [{port: dns, protocol: UDP}]}"), False), ((TO_DB, "{}"), False),
        ((TO_DB, "{to: [{namespaceSelector: {}}]}"), False), ((TO_DB, "{ports: [{port: 1, endPort: 1024, protocol: UDP}]}"), False),
        ((), False), (("{to: [{ipBlock: {cidr: 10.0.0.0/24}}], ports: [{port: 443}]}",), False), (("{ports: [{port: 443}]}",), False),
    ],
)  # fmt: skip
def test_pods_that_may_not_ask_for_names(rules: tuple[str, ...], reported: bool, tmp_path: Path) -> None:
    assert bool(check(tmp_path, {"p.yaml": policy("p", *rules, way=OUT)}, "network-policy-blocks-dns")) is reported


def test_another_policy_lets_names_through(tmp_path: Path) -> None:
    dns = "{ports: [{port: 53, protocol: UDP}]}"
    narrow = policy("p", TO_DB, way=OUT, metadata=", namespace: shop")
    for other, reported in (
        (policy("dns", dns, way=OUT, pods="", metadata=", namespace: shop"), False),
        (policy("dns", dns, way=OUT, pods=""), False),
        (policy("dns", dns, way=OUT, pods="tier: x"), False),
        (policy("dns", dns, way=OUT, pods="", metadata=", namespace: other"), True),
        (policy("dns", dns, way=OUT, pods="app: other"), True),
    ):
        assert bool(check(tmp_path, {"p.yaml": narrow, "far/dns.yaml": other}, "network-policy-blocks-dns")) is reported


@pytest.mark.parametrize(
    ("policies", "reported"),
    [
        (policy("p", port(8080, peers="from: [{podSelector: {matchLabels: {app: other}}}], ")), 'NetworkPolicy "p" blocks traffic from'),
        (policy("p", port(8080, peers="from: [{podSelector: {matchLabels: {app: caller}}}], ")), ""),
        (policy("p", "{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}"), ""),
        (policy("p", "{from: [{namespaceSelector: {matchLabels: {team: x}}}]}"), ""),
        (policy("p", "{from: [{podSelector: {matchLabels: {app: other}}}]}") + policy("q", "{from: [{podSelector: {}}]}"), ""),
        (policy("p", TO_DB, way=OUT, pods="app: caller"), 'NetworkPolicy "p" blocks traffic from'),
        (policy("p", port(80, peers=TO_WEB), way=OUT, pods="app: caller"), 'NetworkPolicy "p" blocks traffic from'),
        (policy("p", port("http", peers=TO_WEB), way=OUT, pods="app: caller"), ""),
        (policy("p", way=OUT, pods="app: bystander"), ""),
    ],
)  # fmt: skip
def test_a_policy_between_caller_and_called(policies: str, reported: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"all.yaml": WEB + FRONT + CALLER + policies}, "network-policy-blocks-client")
    assert [f.concise[: len('NetworkPolicy "p" blocks traffic from')] for f in found] == ([reported] if reported else [])


def test_labels_of_namespaces_that_are_in_sight(tmp_path: Path) -> None:
    def home(label: str) -> str:
        return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{{label}}}}}\n---\n"

    rule = "{from: [{namespaceSelector: {matchLabels: {team: x}}, podSelector: {}}]}"
    named = "{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}]}"
    parts = [text.replace("metadata: {name: ", "metadata: {namespace: shop, name: ", 1) for text in (WEB, FRONT, CALLER)]
    for each, label, reported in ((rule, "team: x", 0), (rule, "team: y", 1), (named % "shop", "a: b", 0), (named % "other", "a: b", 1)):
        text = "".join(parts) + home(label) + policy("p", each, metadata=", namespace: shop")
        assert len(check(tmp_path, {"all.yaml": text}, "network-policy-blocks-client")) == reported


def test_labels_that_a_patch_may_bring_are_not_sure(tmp_path: Path) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {metadata: {labels: {tier: shut}}}}\n"
    files = {"all.yaml": WEB + FRONT + policy("p", port(80), pods="tier: shut"), "patch.yaml": patch}
    assert check(tmp_path, files, "network-policy-blocks-service") == []
