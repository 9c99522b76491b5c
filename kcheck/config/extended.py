"""The `extends` key of a config: a preset, and configs in files and installed packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from kcheck.config.search import repository
from kcheck.config.values import Values, quoted
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.rule.presets import PRESETS
from kcheck.text.pattern import pattern
from kcheck.text.words import enumeration
from kcheck.yaml.node import Node

_PACKAGE = "package:"
_PACKAGE_NAME = pattern(r"[A-Za-z_][\w-]*")
_FILE_IN_PACKAGE = "kcheck.yaml"
_MAX_DEPTH = 20


class ConfigPlace(NamedTuple):
    """A config file in a chain of `extends`.

    Attributes:
        path: The file.
        root: The folder that relative paths must not leave: the repository or the package; None without one.
        chain: The files that lead here, with symbolic links resolved, the outermost first.
    """

    path: Path
    root: Path | None
    chain: tuple[Path, ...] = ()


def place_of(path: Path) -> ConfigPlace:
    """Returns the place of a config that no other config extends."""
    real = Path(os.path.realpath(path))
    return ConfigPlace(path, repository(real.parent), (real,))


class Extended(NamedTuple):
    """The value of `extends`: the name of a preset, "" for none, and config files."""

    preset: str = ""
    files: tuple[ConfigPlace, ...] = ()


def read_extends(node: Node, values: Values, place: ConfigPlace) -> Extended:
    """Returns the preset and the files that a config extends. Errors are reported at the node."""
    presets: list[str] = []
    files = []
    for each in values.texts(node):
        if each.text in PRESETS:
            presets.append(each.text)
            if len(presets) > 1:
                values.wrong(each, f"only one preset can be extended, not {presets[0]} and {presets[-1]}")
        elif (path := _path(each, values, place)) is not None and (found := _checked(path, each, values, place)) is not None:
            files.append(found)
    if not presets and not files and not values.mistakes:
        values.wrong(node, f"extends must name a preset ({', '.join(PRESETS)}), a file such as ./base.yaml or package:NAME")
    return Extended(presets[-1] if presets else "", tuple(files))


def _path(node: Node, values: Values, place: ConfigPlace) -> tuple[Path, Path | None] | None:
    """Returns the path that an item means, and the folder that it must not leave."""
    text = node.text
    if text.startswith(_PACKAGE):
        return _path_in_package(node, text.removeprefix(_PACKAGE), values)
    if "/" in text or text.endswith((".yaml", ".yml")):
        return place.path.parent / text, place.root
    near = nearest(text, PRESETS)
    hint = f"use {enumeration(list(PRESETS), 'or')}, a file such as ./base.yaml, or package:NAME"
    values.wrong(node, f"unknown preset {quoted(text)}; {did_you_mean(near, hint)}")
    return None


def _path_in_package(node: Node, text: str, values: Values) -> tuple[Path, Path | None] | None:
    """Returns the path of NAME or NAME/FILE. The package is not imported."""
    name, _, file = text.partition("/")
    module = name.replace("-", "_")
    try:
        spec = find_spec(module) if _PACKAGE_NAME.fullmatch(name) else None
    except (ImportError, ValueError):
        spec = None
    folders: Sequence[str] = spec.submodule_search_locations or () if spec is not None else ()
    for folder in folders:
        path = Path(folder, file or _FILE_IN_PACKAGE)
        if path.is_file():
            return path, Path(os.path.realpath(folder))
    if folders:
        values.wrong(node, f"package {quoted(name)} contains no file {file or _FILE_IN_PACKAGE}")
    else:
        values.wrong(node, f"package {quoted(name)} is not installed where kcheck is installed")
    return None


def _checked(path: tuple[Path, Path | None], node: Node, values: Values, place: ConfigPlace) -> ConfigPlace | None:
    """Returns the place of a file that is extended, unless that is an error."""
    file, root = path
    real = Path(os.path.realpath(file))
    if root is not None and not real.is_relative_to(root):
        # A config must not be able to show files outside of its repository.
        values.wrong(node, f"{quoted(node.text)} is outside of the repository")
    elif not real.is_file():
        values.wrong(node, f"no such file: {file}")
    elif real in place.chain:
        names = " -> ".join(_shown(each) for each in (*place.chain[place.chain.index(real) :], real))
        values.wrong(node, f"configs extend each other: {names}")
    elif len(place.chain) > _MAX_DEPTH:
        values.wrong(node, f"more than {_MAX_DEPTH} configs extend each other")
    else:
        return ConfigPlace(file, root, (*place.chain, real))
    return None


def _shown(path: Path) -> str:
    name = os.path.relpath(path)
    return str(path) if name.startswith("..") else name
