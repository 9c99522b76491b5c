"""Generate schemas/go-types.json: how the Go types of the Kubernetes API are written as JSON, and which defaults they declare.

    python tools/refresh_go_types.py DIR

DIR is a Go module cache with k8s.io/api, apimachinery, apiextensions-apiserver and kube-aggregator of every supported minor version
(`GOMODCACHE=DIR go mod download k8s.io/api@v0.36.6` and so on). Of each struct, only the facts that the API definitions lack are read:
which fields are pointers, which are written even if they are empty, and the `+default` markers. The format of the file is described in
kcheck/defaulting/go_types.py. This script is not part of the wheel.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"

# Folders of types within a module, with the group where it is not the name of the folder.
PACKAGES = {
    "api": ("*/v*", ""),
    "apimachinery": ("pkg/apis/meta/v1", "meta"),
    "apiextensions-apiserver": ("pkg/apis/apiextensions/v*", "apiextensions"),
    "kube-aggregator": ("pkg/apis/apiregistration/v*", "apiregistration"),
}

_STRUCT = re.compile(r"type (\w+) struct \{")
_ALIAS = re.compile(r"^type (\w+) = (\w+)\.(\w+)", re.MULTILINE)
_MEMBER = re.compile(r'(?:(\w+)\s+)?(\S+)\s+`[^`]*json:"([^"]*)"[^`]*`')
_IMPORT = re.compile(r'^\s*(?:import\s+)?(\w+)?\s*"(k8s\.io/[^"]+)"', re.MULTILINE)
_CONSTANT = re.compile(r'^\s*(?:const\s+)?(\w+)(?:\s+[\w.]+)?\s*=\s*"([^"]*)"', re.MULTILINE)


class Member(NamedTuple):
    """A member of a struct.

    `name`: its JSON key, "" for an inlined struct; `type`: the Go type, with the path of its package; `options`: those of the JSON tag;
    `default`: the value of its `+default` marker.
    """

    name: str
    type: str
    options: tuple[str, ...]
    default: Any


def read_package(folder: Path) -> dict[str, list[Member]]:
    """Returns the structs of a Go package by name."""
    texts = [path.read_text() for path in sorted(folder.glob("*.go")) if not path.name.startswith(("zz_", "generated"))]
    constants = {name: value for text in texts for name, value in _CONSTANT.findall(text)}
    structs: dict[str, list[Member]] = {}
    for text in texts:
        imports = {alias or path.rpartition("/")[2]: path for alias, path in _IMPORT.findall(text)}
        for match in _STRUCT.finditer(text):
            end = text.find("\n}", match.end())
            structs[match[1]] = list(_members(text[match.end() : end], constants, imports))
        for name, alias, original in _ALIAS.findall(text):
            structs[name] = [Member("", f"{imports[alias]}.{original}", ("inline",), None)]
    return structs


def _members(body: str, constants: dict[str, str], imports: dict[str, str]) -> Iterator[Member]:
    default = None
    for line in body.splitlines():
        text = line.strip()
        if text.startswith("//"):
            marker = re.match(r"//\s*\+default=(.*)", text)
            if marker:
                default = _default(marker[1], constants)
        elif match := _MEMBER.match(text):
            name, *options = match[3].split(",")
            if name != "-":
                alias, dot, rest = match[2].rpartition(".")
                stars = alias.count("*")
                yield Member(name, "*" * stars + imports.get(alias[stars:], alias[stars:]) + dot + rest, tuple(options), default)
            default = None


def _default(marker: str, constants: dict[str, str]) -> Any:
    reference = re.match(r"ref\((?:.*\.)?(\w+)\)", marker)
    return constants[reference[1]] if reference else json.loads(marker)


def type_entry(name: str, structs: dict[str, list[Member]], packages: dict[str, dict[str, list[Member]]]) -> Json:
    """Returns {"pointers", "kept", "omitzero", "defaults"} of a struct, without the empty ones."""
    entry: Json = {"pointers": [], "kept": [], "omitzero": [], "defaults": {}}
    for member in _flattened(name, structs, packages):
        if member.type.startswith("*"):
            entry["pointers"].append(member.name)
        if "omitempty" not in member.options and "omitzero" not in member.options:
            entry["kept"].append(member.name)
        if "omitzero" in member.options:
            entry["omitzero"].append(member.name)
        if member.default is not None:
            entry["defaults"][member.name] = member.default
    return {key: sorted(value) if isinstance(value, list) else value for key, value in entry.items() if value}


def _flattened(name: str, structs: dict[str, list[Member]], packages: dict[str, dict[str, list[Member]]]) -> Iterator[Member]:
    for member in structs[name]:
        if member.name:
            yield member
            continue
        path, _, inner = member.type.lstrip("*").rpartition(".")
        if inner != "TypeMeta":
            yield from _flattened(inner, packages["/".join(path.split("/")[-2:])] if path else structs, packages)


def read_version(cache: Path, minor: str) -> dict[str, dict[str, list[Member]]]:
    """Returns the structs of a minor version, by package ("core/v1") and name."""
    packages: dict[str, dict[str, list[Member]]] = {}
    folders: list[tuple[str, Path]] = []
    for module, (pattern, group) in PACKAGES.items():
        roots = sorted((cache / "k8s.io").glob(f"{module}@v0.{minor}.*"), key=lambda path: int(path.name.rpartition(".")[2]))
        if not roots:
            print(f"refresh_go_types: no k8s.io/{module}@v0.{minor}", file=sys.stderr)
            continue
        folders += [(group or folder.parent.name, folder) for folder in sorted(roots[-1].glob(pattern)) if folder.is_dir()]
    for group, folder in folders:
        packages[f"{group}/{folder.name}"] = read_package(folder)
    return packages


def main(arguments: list[str] | None = None) -> int:
    """Writes the file. Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cache", type=Path, metavar="DIR", help="Go module cache")
    options = parser.parse_args(arguments)
    minors = sorted(int(path.stem.split(".")[1]) for path in SCHEMAS.glob("kubernetes-1.*.json"))
    known: dict[str, Json] = {}
    versions: Json = {}
    for minor in minors:
        table = json.loads((SCHEMAS / f"kubernetes-1.{minor}.json").read_text())
        packages = read_version(options.cache, str(minor))
        changed: Json = {}
        missing = []
        for name in sorted(table["types"]):
            package, struct = name.split()
            if struct not in packages.get(package, ()):
                missing += [name] if name not in known else []
                continue
            entry = type_entry(struct, packages[package], packages)
            if known.get(name) != entry:
                known[name] = changed[name] = entry
        versions[f"1.{minor}"] = changed
        print(f"1.{minor}: {len(changed)} types; not found: {', '.join(missing) or 'none'}")
    (SCHEMAS / "go-types.json").write_text(json.dumps(versions, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
