"""Rules about the modes of mounted files. Source: the page "Secrets" of the Kubernetes documentation (file permissions)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Edit, Fix, Node, Pod, Problem, file_modes, rule


@rule(
    "decimal-file-mode",
    "File mode is decimal instead of octal (defaultMode: 400 instead of 0400)",
    severity=ERROR,
    groups=("storage", "security"),
    fixable=True,
    fields="volumes",
)
def decimal_file_mode(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for each mode that is written without its leading zero. YAML reads 0400 as octal and 400 as decimal, which is the
    mode 0620. JSON has decimal numbers only.
    """
    source = pod.resource.document.source
    as_json = source.path.endswith(".json") or source.text.lstrip()[:1] == "{"
    for node in _modes(pod):
        value = node.integer
        # The API server rejects values out of range.
        if value is None or not 0 <= value <= file_modes.HIGHEST or source.text[node.start : node.end] != str(value):
            continue
        intended = file_modes.intended(value)
        if intended is not None:
            octal = file_modes.octal(intended)
            text = str(intended) if as_json else octal
            yield Problem(
                node,
                f"{node.name}: {value} is a decimal number and means mode {file_modes.octal(value)}",
                help=f"did you mean {text} (octal {octal})?" if as_json else f"did you mean {octal}?",
                fix=Fix(f"use {text}", (Edit(node.start, node.end, text),)),
            )


def _modes(pod: Pod) -> Iterator[Node]:
    """The nodes of all file modes of a Pod's volumes: defaultMode of each volume and mode of each item."""
    for volume in pod["volumes"]:
        for name in ("configMap", "secret", "downwardAPI", "projected"):
            source = volume[name]
            yield source["defaultMode"]
            yield from (item["mode"] for item in source["items"])
            for part in source["sources"]:
                for inner in ("configMap", "secret", "downwardAPI"):
                    yield from (item["mode"] for item in part[inner]["items"])
