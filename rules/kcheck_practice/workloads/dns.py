"""How pods look names up. Source: the documentation's page "DNS for Services and Pods"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Pod, Problem, rule
from kcheck_practice._support.security_contexts import is_on_windows, is_whole_pod


@rule(
    "missing-dns-option",
    "Pod does not set a required dnsConfig option (such as ndots)",
    severity=INFO,
    groups=("networking", "policy"),
    default=False,
)
def missing_dns_option(
    pod: Pod,
    *,
    options: Annotated[tuple[str, ...], "names of DNS options that pods must set"] = ("ndots",),
) -> Iterator[Problem]:
    """Under ClusterFirst a name with fewer than five dots is tried in every search domain first."""
    given = pod.node.at("dnsConfig", "options")
    if pod["dnsPolicy"].text in ("Default", "None") or is_on_windows(pod) or not is_whole_pod(pod):
        return
    missing = [name for name in options if name not in [option["name"].text for option in given]]
    if missing:
        message = "names outside of the cluster are looked up in every search domain first"
        yield Problem(given, message, help=f"set {', '.join(missing)} in dnsConfig.options", at="key")
