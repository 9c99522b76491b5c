"""Reads `.kcheck.yaml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcheck.config.config import Config, Override, PolicySources, extend
from kcheck.config.extended import ConfigPlace, place_of, read_extends
from kcheck.config.mistake import BadConfig
from kcheck.config.rules import read_rules
from kcheck.config.values import Values, quoted, shown
from kcheck.config.versions import parse_versions
from kcheck.finding.report import DOCS_URL, is_docs_url
from kcheck.finding.role import ASSIGNABLE, INCLUDES
from kcheck.finding.severity import WARNING, Severity
from kcheck.helm.settings import ChartSettings
from kcheck.kube.suggestions import suggest
from kcheck.rule.presets import DEFAULT
from kcheck.rule.registry import Registry
from kcheck.schema.builtin.definitions import UnknownVersion
from kcheck.text.complaint import concise
from kcheck.text.mistake import Mistake
from kcheck.text.source import Source, Undecodable
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_KEYS = (
    "extends", "kubernetes", "schemas", "complete", "provided", "pods", "placeholders", "substitute", "rules", "overrides", "roles",
    "charts", "include", "exclude", "baseline", "fail-on", "plugins", "policies", "docs-url",
)  # fmt: skip
PLACEHOLDER_MODES = ("skip", "check")
_OVERRIDE_KEYS = ("files", "rules", "kubernetes", "complete", "provided")


def read(path: Path, registry: Registry, local_rules: bool | None = None) -> Config:
    """Returns the config in a file, with those that it extends. Raises BadConfig with all errors in it.

    `local_rules`: whether the Python files of `plugins` may run; None if the user did not decide. Their rules are added to the registry.
    """
    return _read(place_of(path), registry, local_rules)


def read_text(text: str, name: str, folder: Path, registry: Registry, local_rules: bool | None = None) -> Config:
    """Returns the config in a text. `name`: shown in errors; `folder`: paths and globs are relative to it."""
    return _read_source(Source(name, text), place_of(folder / name), registry, local_rules)._replace(file=None)


def _read(place: ConfigPlace, registry: Registry, local_rules: bool | None) -> Config:
    path = place.path
    name = os.path.relpath(path)
    name = str(path) if name.startswith("..") else name
    try:
        source = Source.decode(name, path.read_bytes())
    except OSError as error:
        raise BadConfig([Mistake(name, 1, 1, f"cannot be read: {error.strerror or error}")]) from None
    except Undecodable as error:
        raise BadConfig([Mistake(name, error.line, 1, f"not a text file: {error}")]) from None
    return _read_source(source, place, registry, local_rules)


def _read_source(source: Source, place: ConfigPlace, registry: Registry, local_rules: bool | None) -> Config:
    reader = _ConfigReader(source, place, registry, local_rules)
    config = reader.read(parse(source))
    if reader.values.mistakes:
        raise BadConfig(reader.values.mistakes)
    return config


class _ConfigReader:
    """Reads one config file."""

    def __init__(self, source: Source, place: ConfigPlace, registry: Registry, local_rules: bool | None) -> None:
        self.values = Values(source)
        self.source = source
        self.place = place
        self.path = place.path
        self.folder = Path(os.path.realpath(place.path.parent))
        self.registry = registry
        self.local_rules = local_rules

    def read(self, documents: list[Document]) -> Config:
        for document in documents:
            self.check_syntax(document)
        root = documents[0].root if documents else Node(None, 0, 0)
        if root and not root.is_map:
            self.values.wrong(root, f"the config must be a map with the keys {', '.join(_KEYS)}, not {shown(root)}")
        entries = dict(self.values.entries(root, _KEYS))
        empty = Node(None, 0, 0)
        base, preset = self.bases(entries["extends"]) if "extends" in entries else (None, "")
        origins = {key: self.values.place(node) for key, node in entries.items() if key != "extends" or preset}
        # Rules of plug-ins must be known before settings of rules are read.
        plugins = self.plugins(entries.get("plugins", empty))
        rules = read_rules(entries.get("rules", empty), self.values, self.registry)
        config = Config(
            file=self.path,
            folder=self.folder,
            kubernetes=self.versions(entries["kubernetes"]) if "kubernetes" in entries else (),
            schemas=self.existing_paths(entries.get("schemas", empty)),
            complete="complete" in entries and not entries["complete"].is_list and self.values.flag(entries["complete"]),
            complete_units=self.complete_units(entries.get("complete", empty)),
            provided=self.existing_paths(entries.get("provided", empty)),
            pods=self.pods(entries["pods"]) if "pods" in entries else {},
            baseline=self.baseline(entries["baseline"]) if "baseline" in entries else None,
            fail_on=self.threshold(entries["fail-on"]) if "fail-on" in entries else WARNING,
            include=self.includes(entries.get("include", empty)),
            roles=self.roles(entries.get("roles", empty)),
            charts=self.charts(entries["charts"]) if "charts" in entries else (),
            exclude=self.values.globs(entries.get("exclude", empty)),
            preset=preset or DEFAULT,
            judges_placeholders=self.judges_placeholders(entries["placeholders"]) if "placeholders" in entries else None,
            variables=self.variables(entries["substitute"]) if "substitute" in entries else {},
            settings=rules.settings,
            overrides=self.overrides(entries.get("overrides", empty)),
            plugins=plugins,
            policies=self.policies(entries["policies"]) if "policies" in entries else PolicySources(),
            origins=origins,
            rule_origins=rules.origins,
            docs_url=self.docs_url(entries["docs-url"]) if "docs-url" in entries else DOCS_URL,
        )
        return config if base is None else extend(base, config)

    def bases(self, node: Node) -> tuple[Config | None, str]:
        """Returns the config of the files that this one extends, None if there are none, and the preset that it names."""
        extended = read_extends(node, self.values, self.place)
        base: Config | None = None
        for place in extended.files:
            try:
                config = _read(place, self.registry, self.local_rules)
            except BadConfig as error:
                self.values.mistakes += error.mistakes
                continue
            config = config._replace(extended=(*config.extended, place.path))
            base = config if base is None else extend(base, config)
        return base, extended.preset

    def plugins(self, node: Node) -> tuple[Path, ...]:
        """Returns the Python files with rules, after adding their rules to the registry if they may run."""
        paths = self.existing_paths(node)
        if paths:
            # Imported late: few configs have this key.
            from kcheck.config.plugins import add_plugins

            add_plugins(list(zip(self.values.texts(node), paths, strict=True)), self.values, self.registry, self.local_rules)
        return paths

    def check_syntax(self, document: Document) -> None:
        """Reports YAML errors: syntax, several documents and duplicate keys."""
        if document.fault is not None:
            self.values.wrong_at(Span(document.fault.start, document.fault.end), concise(document.fault.message))
        elif document.index:
            self.values.wrong(document.root, "the config must be a single document; remove '---' and everything after it")
        if document.trailing is not None:
            self.values.wrong_at(Span(document.trailing, document.end), "content after the end of the document is ignored; remove it")
        for entry, first in document.duplicates:
            line = self.source.position(first.key_span.start).line
            self.values.wrong(entry, f"duplicate key {quoted(entry.name)} (first defined on line {line}); remove one", at="key")

    def versions(self, node: Node) -> tuple[str, ...]:
        # YAML reads an unquoted 1.30 as the number 1.3, so the source text is used instead.
        number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        text = self.source.text[node.start : node.end] if number else node.text
        if not text:
            self.values.wrong(node, f'kubernetes must be a version such as "1.36" or a range such as "1.30-1.37", not {shown(node)}')
            return ()
        try:
            return parse_versions(text)
        except UnknownVersion as error:
            self.values.wrong(node, str(error))
            return ()

    def complete_units(self, node: Node) -> tuple[str, ...]:
        return tuple(each.text for each in self.values.texts(node)) if node.is_list else ()

    def existing_paths(self, node: Node) -> tuple[Path, ...]:
        paths = []
        for each in self.values.texts(node):
            path = self.path.parent / each.text
            if not os.path.exists(path):
                self.values.wrong(each, f"no such file or folder: {path}")
            paths.append(path)
        return tuple(paths)

    def pods(self, node: Node) -> Mapping[tuple[str, str], Any]:
        # Imported late: few configs have this key.
        from kcheck.config.pods import read_pods

        return read_pods(node, self.values)

    def policies(self, node: Node) -> PolicySources:
        # Imported late: few configs have this key.
        from kcheck.config.policies import read_policy_sources

        return read_policy_sources(node, self.values, self.path.parent)

    def baseline(self, node: Node) -> Path | None:
        if not node.text:
            self.values.wrong(node, f"baseline must be the path of a file, not {shown(node)}")
            return None
        # The file need not exist yet: kcheck baseline create writes it.
        return self.path.parent / node.text

    def judges_placeholders(self, node: Node) -> bool:
        if node.text not in PLACEHOLDER_MODES:
            self.values.wrong(node, f"placeholders must be {' or '.join(PLACEHOLDER_MODES)}, not {shown(node)}")
        return node.text == "check"

    def variables(self, node: Node) -> Mapping[str, str]:
        # Imported late: few configs have this key.
        from kcheck.config.substitute import read_substitute

        return read_substitute(node, self.values, self.path.parent)

    def charts(self, node: Node) -> tuple[tuple[str, ChartSettings], ...]:
        # Imported late: few configs have this key.
        from kcheck.config.charts import read_charts

        return read_charts(node, self.values)

    def includes(self, node: Node) -> tuple[str, ...]:
        names = self.values.texts(node)
        for each in names:
            if each.text not in INCLUDES:
                self.values.wrong(each, f"unknown value {quoted(each.text)}; {suggest(each.text, INCLUDES)}")
        return tuple(each.text for each in names)

    def roles(self, node: Node) -> tuple[tuple[str, str], ...]:
        if node and not node.is_map:
            self.values.wrong(node, f"roles must be a map from globs to roles, not {shown(node)}")
            return ()
        for glob, role in node.entries:
            if ".." in glob.split("/"):
                self.values.wrong(
                    role, f"{quoted(glob)} leaves the folder of this file; globs match files in this folder and below", at="key"
                )
            if role.text not in ASSIGNABLE:
                self.values.wrong(role, f"unknown role {shown(role)}; {suggest(role.text, ASSIGNABLE)}")
        return tuple((glob, role.text) for glob, role in node.entries)

    def threshold(self, node: Node) -> Severity:
        try:
            if node.text == node.text.lower():
                return Severity.parse(node.text)
        except ValueError:
            pass
        self.values.wrong(node, f"fail-on must be info, warning or error, not {shown(node)}")
        return WARNING

    def docs_url(self, node: Node) -> str:
        if not is_docs_url(node.text):
            self.values.wrong(node, f"docs-url must begin with https:// or http://, not {shown(node)}")
        return node.text.rstrip("/")

    def overrides(self, node: Node) -> tuple[Override, ...]:
        if not node:
            return ()
        if not node.is_list:
            self.values.wrong(node, f"overrides must be a list of maps with files and settings, not {shown(node)}")
            return ()
        return tuple(self.override(each) for each in node)

    def override(self, node: Node) -> Override:
        if not node.is_map:
            self.values.wrong(node, f"an override must be a map with files and settings, not {shown(node)}")
            return Override((), {})
        entries = dict(self.values.entries(node, _OVERRIDE_KEYS))
        files = self.values.globs(entries["files"]) if "files" in entries else ()
        if "files" not in entries or not entries["files"]:
            self.values.wrong(entries.get("files", node), "files is required in an override; add a list of globs")
        elif entries["files"].is_list and not entries["files"].value:
            self.values.wrong(entries["files"], "files is empty, so the override applies to no file; add globs or remove the override")
        if entries.keys() <= {"files"}:
            self.values.wrong(node, f"the override changes nothing; add {', '.join(_OVERRIDE_KEYS[1:-1])} or {_OVERRIDE_KEYS[-1]}")
        rules = read_rules(entries.get("rules", Node(None, 0, 0)), self.values, self.registry)
        return Override(
            files,
            rules.settings,
            self.versions(entries["kubernetes"]) if "kubernetes" in entries else (),
            self.values.flag(entries["complete"]) if "complete" in entries else None,
            self.existing_paths(entries["provided"]) if "provided" in entries else None,
            {key: self.values.place(child) for key, child in entries.items() if key not in ("files", "rules")},
            rules.origins,
            self.glob_positions(entries.get("files", node)),
        )

    def glob_positions(self, node: Node) -> tuple[str, ...]:
        """Returns the positions of the globs of an override."""
        return tuple(map(self.values.position, node.value if node.is_list else [node]))
