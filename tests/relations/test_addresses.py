"""Addresses in environments, arguments and settings, and the Services that they mean."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.relations.world import check, facts, holder, lines, service, workload

RULES = ("unknown-service-address", "unknown-service-address-port")


def env(value: str, name: str = "V") -> str:
    return workload("caller", "app: caller", container=f", env: [{{name: {name}, value: '{value}'}}]")


def read(value: str, name: str = "V") -> list[tuple[str, int, str]]:
    (found,) = facts(env(value, name))
    return [(a.host, a.port, a.scheme) for a in found.addresses]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://api:80/x", [("api", 80, "http")]), ("http://api", [("api", 0, "http")]), ("tcp://api.shop:1", [("api.shop", 1, "tcp")]),
        ("postgres://user:pass@db:5432/x", [("db", 5432, "postgres")]), ("api:8080", [("api", 8080, "")]),
        ("a-0.api:80,a-1.api:80", [("a-0.api", 80, ""), ("a-1.api", 80, "")]), ("api.shop.svc", [("api.shop.svc", 0, "")]),
        ("-c http://api.shop.svc.cluster.local.:80", [("api.shop.svc.cluster.local.", 80, "http")]),
        ("run --to api.shop.svc:80 now", [("api.shop.svc", 80, "")]), ("jdbc:mysql://db:3306/x", [("db", 3306, "mysql")]),
        # Others' hosts, and what is filled in later.
        ("https://example.com:443", []), ("http://localhost:80", []), ("http://127.0.0.1:80", []), ("http://$(HOST):80", []),
        ("http://api-$(STAGE):80", []), ("http://{{ .Host }}:80", []), ("http://api.${NS}.svc:80", []), ("a.b.c.d:80", []),
        ("12:30", []), ("a:b", []), ("api:8080/path", []), ("key: value", []), ("a/api.shop.svc", []), ("", []), ("://", []),
        ("http://[::1]:80", []), ("http://API:80", []), ("api.svc", []),
    ],
)  # fmt: skip
def test_reading(text: str, found: list[tuple[str, int, str]]) -> None:
    assert read(text) == found


def test_versions_of_images_are_not_ports() -> None:
    assert read("redis:7000", "REDIS_IMAGE") == []


@given(st.text(alphabet="ab:/.@-$svc 0", max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    for host, port, _ in read(text.replace("'", "")):
        assert host in text
        assert 0 <= port <= 99999


def test_hostile_texts_take_no_time() -> None:
    begun = time.process_time()
    long = "a" * 200_000
    for text in (f"{long}://", "a." * 100_000 + ".svc", "://" * 60_000, "x.y.svc " * 30_000, "@" * 100_000 + "://a", "a:80," * 40_000):
        assert len(facts(holder("ConfigMap", "c", f"k: '{text}'"))[0].addresses) <= 100
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://shopp:80", 'address refers to Service "shopp", which is not in the input; did you mean "shop"?'),
        ("shpo.default.svc:80", 'address refers to Service "shpo", which is not in the input; did you mean "shop"?'),
        ("http://shop:8080", 'Service "shop" has no port 8080; use port 80, which forwards to container port 8080'),
        ("shop:81", 'Service "shop" has no port 81; use port 80'),
        ("http://shop:80", ""), ("http://shop", ""), ("shop.default.svc.cluster.local:80", ""), ("http://basket:80", ""),
        ("http://shop2:80", ""), ("basket.other.svc:80", ""), ("basket.default.svc:80", ""),
    ],
)  # fmt: skip
def test_what_is_reported(address: str, message: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"all.yaml": service("shop", ports="port: 80, targetPort: 8080") + env(address)}, *RULES)
    assert [f.concise for f in found] == ([message] if message else [])


def test_a_suffixed_name_beside_services_of_its_namespace(tmp_path: Path) -> None:
    text = service("shop", metadata=", namespace: shop") + holder("ConfigMap", "c", "url: 'basket.shop.svc:80'", ", namespace: web")
    (finding,) = check(tmp_path, {"all.yaml": text}, *RULES)
    message = 'address refers to Service "basket" in namespace "shop", which is not in the input'
    assert finding.concise == f"{message}; correct the address, or add the Service"
    assert lines(tmp_path, [finding]) == ["all.yaml:11 basket.shop.svc"]
    assert check(tmp_path, {"all.yaml": text + service("basket", metadata=", namespace: shop")}, *RULES) == []


def test_in_a_complete_input_everything_is_there(tmp_path: Path) -> None:
    text = service("shop") + env("http://basket:80")
    assert check(tmp_path, {"all.yaml": text}, *RULES) == []
    assert [f.concise for f in check(tmp_path, {"all.yaml": text}, *RULES, complete=True)] == [
        'address refers to Service "basket", which is not in the input; correct the address, or add the Service'
    ]


def test_who_calls_both_means_both(tmp_path: Path) -> None:
    text = service("users") + env("http://users:80,http://user:80")
    assert check(tmp_path, {"all.yaml": text}, *RULES) == []


@pytest.mark.parametrize("more", ["clusterIP: None", "type: ExternalName, externalName: x.example.com"])
def test_services_that_answer_at_any_port(more: str, tmp_path: Path) -> None:
    text = service("shop").replace("  ports", f"  {more.replace(', ', chr(10) + '  ')}\n  ports")
    assert check(tmp_path, {"all.yaml": text + env("http://shop:8080")}, *RULES) == []


def test_pods_of_a_headless_service(tmp_path: Path) -> None:
    text = service("db").replace("  ports", "  clusterIP: None\n  ports") + env("db-0.db:5432,db-1.db:5432")
    assert check(tmp_path, {"all.yaml": text}, *RULES, complete=True) == []


def test_remarks_are_not_addresses() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: |\n    # http://old:80\n    b http://new:80\n"
    assert [a.host for a in facts(text)[0].addresses] == ["new"]
