"""The `substitute` key of a config: values of the variables in manifests."""

from __future__ import annotations

import os
from pathlib import Path

from kcheck.config.values import Values, quoted, shown
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_KEYS = ("values", "env-file")
_MAX_BYTES = 1024 * 1024
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE = pattern(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*")
_COMMENT = pattern(r"\s+#.*\Z")


def read_substitute(node: Node, values: Values, folder: Path) -> dict[str, str]:
    """Return the variables of the section by name. `values` override those of the files, later files those of earlier ones."""
    if not node:
        return {}
    if not node.is_map:
        values.wrong(node, f"substitute must be a map with {' and '.join(_KEYS)}, not {shown(node)}")
        return {}
    entries = dict(values.entries(node, _KEYS))
    variables: dict[str, str] = {}
    for each in values.texts(entries["env-file"]) if "env-file" in entries else ():
        variables |= _read_file(each, values, folder)
    if "values" in entries:
        variables |= _read_values(entries["values"], values)
    return variables


def _read_values(node: Node, values: Values) -> dict[str, str]:
    if node and not node.is_map:
        values.wrong(node, f"values must be a map from names to values, not {shown(node)}")
    variables: dict[str, str] = {}
    for name, child in node.entries:
        if not _NAME.fullmatch(name):
            message = f"{quoted(name)} is not a valid variable name; use letters, digits and underscores, not beginning with a digit"
            values.wrong(child, message, at="key")
        elif child.is_map or child.is_list:
            values.wrong(child, f"{name} must be a string, number or boolean, not {shown(child)}")
        else:
            # The text of a number or boolean, as it is written: 1.30 is not 1.3.
            variables[name] = child.text if isinstance(child.value, str) else values.source.text[child.start : child.end]
    return variables


def _read_file(node: Node, values: Values, folder: Path) -> dict[str, str]:
    """Return the variables of a file with lines NAME=value. Values may be in quotes; lines that begin with # are comments."""
    path = folder / node.text
    # A config must not be able to show files outside of its repository.
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        values.wrong(node, f"{quoted(node.text)} is not in the folder of this file")
        return {}
    try:
        if path.stat().st_size > _MAX_BYTES or not path.is_file():
            values.wrong(node, f"{path} is not a file of at most {_MAX_BYTES:,} bytes")
            return {}
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        values.wrong(node, f"{path} cannot be read: {reason}")
        return {}
    variables: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            values.wrong(node, f"line {number} of {path} is not NAME=value")
        else:
            variables[found["name"]] = _unquoted(found["value"])
    return variables


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return _COMMENT.sub("", text)
