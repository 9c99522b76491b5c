"""Objects that share one file."""

from __future__ import annotations

from pathlib import Path

from tests.relations.world import check, lines

SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: shop
spec:
  selector: {app: shop}
  ports: [{port: 80}]
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: shop, image: "shop:1.4.2"}]}
"""


def test_a_service_apart_from_its_workload(tmp_path: Path) -> None:
    found = check(tmp_path, {"service.yaml": SERVICE, "deployment.yaml": DEPLOYMENT}, "service-in-separate-file")
    assert lines(tmp_path, found) == ["service.yaml:4 shop"]
    assert found[0].concise == ('Service "shop" and the Deployment "shop" that it selects are in different files; move them into one file')


def test_one_file_or_two_workloads_or_another_folder(tmp_path: Path) -> None:
    other = DEPLOYMENT.replace("name: shop\nspec", "name: canary\nspec")
    assert not check(tmp_path / "a", {"all.yaml": SERVICE + "---\n" + DEPLOYMENT}, "service-in-separate-file")
    assert not check(tmp_path / "b", {"s.yaml": SERVICE, "d.yaml": DEPLOYMENT, "e.yaml": other}, "service-in-separate-file")
    assert not check(tmp_path / "c", {"s/s.yaml": SERVICE, "d/d.yaml": DEPLOYMENT}, "service-in-separate-file")
