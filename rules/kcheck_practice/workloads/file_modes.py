"""Modes of mounted files. Source: the documentation's page "Secrets", on file permissions."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Edit, Fix, Node, Pod, Problem, file_modes, rule


@rule("decimal-file-mode", "File mode is decimal instead of octal (defaultMode: 400 instead of 0400)", severity=ERROR, groups=("storage", "security"), fixable=True,
      fields="volumes")  # fmt: skip
def decimal_file_mode(pod: Pod) -> Iterator[Problem]:
    """YAML reads 0400 as octal and 400 as decimal, which is the mode 0620; JSON has decimal numbers only."""
    source = pod.resource.document.source
    as_json = source.path.endswith(".json") or source.text.lstrip()[:1] == "{"
    for node in _modes(pod):
        value = node.integer
        # What is out of range, the server refuses by itself.
        if value is None or not 0 <= value <= file_modes.HIGHEST or source.text[node.start : node.end] != str(value):
            continue
        meant = file_modes.intended(value)
        if meant is not None:
            write = str(meant) if as_json else file_modes.octal(meant)
            fix = Fix(f"write {write}", (Edit(node.start, node.end, write),))
            read = f"{file_modes.octal(meant)} as a decimal number" if as_json else "a leading zero for octal"
            yield Problem(node, f"{value} is decimal and means {file_modes.octal(value)}", help=f"write {write}, {read}", fix=fix)


def _modes(pod: Pod) -> Iterator[Node]:
    """All file modes of a pod's volumes."""
    for volume in pod["volumes"]:
        for name in ("configMap", "secret", "downwardAPI", "projected"):
            source = volume[name]
            yield source["defaultMode"]
            yield from (item["mode"] for item in source["items"])
            for part in source["sources"]:
                for inner in ("configMap", "secret", "downwardAPI"):
                    yield from (item["mode"] for item in part[inner]["items"])
