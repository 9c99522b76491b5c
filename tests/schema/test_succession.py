"""Versions of an API that a better one has followed."""

from __future__ import annotations

import pytest

from kcheck.schema.builtin.definitions import available, load
from kcheck.schema.builtin.version_preference import Succession, succession


@pytest.mark.parametrize(
    ("api_version", "kind", "first", "last", "expected"),
    [
        # A later release removes it.
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 25, 25, Succession("autoscaling/v2", "1.26")),
        # None has removed it yet, and the other is stable.
        ("resource.k8s.io/v1beta1", "DeviceClass", 34, 37, Succession("resource.k8s.io/v1", "")),
        # A beta version after another, only because the old one ends.
        ("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", 26, 26, Succession("flowcontrol.apiserver.k8s.io/v1beta3", "1.29")),
        ("resource.k8s.io/v1beta1", "DeviceClass", 33, 33, None),
        # The successor must be there on every version, and the old one, too: otherwise other rules tell.
        ("networking.k8s.io/v1beta1", "IPAddress", 32, 34, None),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 25, 26, None),
        # Two stable versions side by side.
        ("autoscaling/v1", "HorizontalPodAutoscaler", 37, 37, None),
        # The same name in another group is another thing.
        ("v1", "Event", 37, 37, None),
        ("apps/v1", "Deployment", 25, 37, None),
        ("example.com/v1beta1", "Deployment", 37, 37, None),
    ],
)
def test_succession(api_version: str, kind: str, first: int, last: int, expected: Succession | None) -> None:
    assert succession(api_version, kind, tuple(load(f"1.{minor}") for minor in range(first, last + 1))) == expected


def test_no_version_has_a_successor_that_it_does_not_serve() -> None:
    for version in available():
        definitions = load(version)
        for api_version, kind in definitions.kinds():
            after = succession(api_version, kind, (definitions,))
            assert after is None or definitions.kind(after.successor, kind) is not None
