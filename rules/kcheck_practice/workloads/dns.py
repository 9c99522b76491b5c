"""Rules about name resolution in Pods. Source: the page "DNS for Services and Pods" of the Kubernetes documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Pod, Problem, enumeration, rule
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
    options: Annotated[tuple[str, ...], "names of DNS options that Pods must set"] = ("ndots",),
) -> Iterator[Problem]:
    """Yields a problem for a Pod without a required DNS option. Under ClusterFirst, ndots is 5: a name with fewer dots is first looked
    up in every search domain.
    """
    present = pod.node.at("dnsConfig", "options")
    if pod["dnsPolicy"].text in ("Default", "None") or is_on_windows(pod) or not is_whole_pod(pod):
        return
    missing = [name for name in options if name not in [option["name"].text for option in present]]
    if missing:
        effect = ", so external names are first looked up in every search domain" if "ndots" in missing else ""
        message = f"dnsConfig.options does not set {enumeration(missing, 'or')}{effect}"
        entries = ['{name: ndots, value: "2"}' if name == "ndots" else name for name in missing]
        yield Problem(present, message, help=f"add {enumeration(entries)} to dnsConfig.options", at="key")
