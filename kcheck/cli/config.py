"""`kcheck config [FILE...]`"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO

import click
from click.core import ParameterSource

from kcheck.check.session import Session
from kcheck.cli.checkout import require_output
from kcheck.cli.input import Input, create_session, input_options
from kcheck.cli.options import option, variable_of
from kcheck.cli.output import publish
from kcheck.cli.reporting import LEVELS
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import find_config
from kcheck.config.config import Config, Overrides
from kcheck.discovery.glob import Excludes
from kcheck.engine.settings import known_names
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry

VERSION = 1
"""Version of the JSON format. Increased when a field is removed or changes its meaning, not when a field is added."""

_DEFAULT = "default"
_COMMAND_LINE = "command line"


class _ShownSetting(NamedTuple):
    """A setting with its value, and where it comes from."""

    name: str
    value: Any
    origin: str


class _ShownRule(NamedTuple):
    """The setting of a rule. `severity`: None if the rule is off; `origins`: where it comes from; `chosen`: not by the preset."""

    id: str
    severity: str | None
    options: Mapping[str, Any]
    origins: tuple[str, ...]
    chosen: bool


class _Effective(NamedTuple):
    """The settings of a file."""

    file: str
    excluded: str | None
    settings: list[_ShownSetting]
    rules: list[_ShownRule]


@click.command(short_help="Show the settings of a file and where they come from.")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="Output format. [default: text]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the settings to a file instead of standard output.")
@click.option("--all", "shows_all", is_flag=True, help="List all rules, not only those that are not as in the preset (text output).")
@option("--fail-on", type=LEVELS, default=None, help="As in kcheck check.")
@input_options
def config(format: str, output: str | None, shows_all: bool, fail_on: str | None, **values: Any) -> None:
    """Show the effective settings of files, and where each of them comes from: the line of the config, the command line, the
    environment, the preset or the default.

    PATHS are files or folders; folders are not searched.

    Exit status: 0 success, 2 the settings are invalid.
    """
    inputs = Input.pop_from(values)
    registry = Registry.load()
    report_plugin_failures(registry)
    require_output(output)
    found = find_config(inputs.options, registry)
    session = create_session(inputs, found, registry)
    viewer = _Viewer(inputs, found, session, fail_on)
    effective = [viewer.view(path) for path in inputs.paths]

    def write(out: TextIO, colour: bool) -> None:
        if format == "json":
            _write_json(effective, found, out)
        else:
            _write_text(effective, found, shows_all, out)

    publish(output, "never", write)
    if registry.failures:
        click.get_current_context().exit(2)


class _Viewer:
    """Finds the settings of files."""

    def __init__(self, inputs: Input, config: Config, session: Session, fail_on: str | None) -> None:
        self.inputs = inputs
        self.config = config
        self.session = session
        self.fail_on = fail_on
        self.overrides = Overrides(config)
        exclude, root = (inputs.exclude, ".") if inputs.exclude else (config.exclude, str(config.folder))
        self.excludes = Excludes(exclude, root)
        registry = session.registry
        self.selected, self.ignored = (
            {id for name in known_names(names, registry, "") for id in ({name} if name in registry.rules else registry.groups[name])}
            for names in (inputs.select, inputs.ignore)
        )

    def view(self, path: str) -> _Effective:
        """Returns the settings of a file."""
        own = self.overrides.applied(self.overrides.of(path))
        return _Effective(
            path, self.excludes.match_with_folders(os.path.realpath(path)), list(self.settings(path, own)), list(self.rules(path, own))
        )

    def settings(self, path: str, own: Config) -> Iterator[_ShownSetting]:
        session, inputs = self.session, self.inputs
        cluster = session.cluster(session.cluster_number(path))
        versions = list(dict.fromkeys(store.definitions.version for store in cluster.stores))
        yield self.setting("extends", inputs.preset or own.preset, own, "preset")
        yield self.setting("kubernetes", versions[0] if len(versions) == 1 else f"{versions[0]}-{versions[-1]}", own)
        yield self.setting("complete", list(session.complete_units) or cluster.complete, own)
        yield self.setting("provided", list(map(_relative, inputs.provided or own.provided)), own)
        yield self.setting("schemas", list(map(_relative, inputs.schemas or own.schemas)), own)
        rules = [f"short rules in {path}" for path, _ in own.policies.rules]
        yield self.setting("policies", [*map(_relative, inputs.policies or own.policies.paths), *rules], own)
        pods = sorted(f"{group}/{kind}".lstrip("/") for group, kind in own.pods)
        yield self.setting("pods", pods, own)
        yield self.setting("placeholders", "check" if session.judges_placeholders else "skip", own)
        yield self.setting("substitute", sorted(own.variables), own)
        yield self.setting("roles", dict(own.roles), own)
        yield self.setting("include", list(inputs.include or own.include), own)
        yield self.setting("exclude", list(inputs.exclude or own.exclude), own)
        yield self.setting("fail-on", self.fail_on or own.fail_on.word, own)
        yield self.setting("plugins", list(map(_relative, own.plugins)), own)

    def setting(self, key: str, value: Any, own: Config, parameter: str = "") -> _ShownSetting:
        """Returns a setting with its origin. `parameter`: the name of its option, if it is not the key."""
        name = (parameter or key).replace("-", "_")
        source = click.get_current_context().get_parameter_source(name)
        flag = f"--{parameter or key}"
        if source is ParameterSource.COMMANDLINE:
            return _ShownSetting(key, value, f"{_COMMAND_LINE} ({flag})")
        if source is ParameterSource.ENVIRONMENT:
            return _ShownSetting(key, value, f"environment ({variable_of(flag)})")
        if key == "placeholders" and key not in own.origins and value == "check":
            return _ShownSetting(key, value, f"{_COMMAND_LINE} (--select spec)")
        return _ShownSetting(key, value, own.origins.get(key, _DEFAULT))

    def rules(self, path: str, own: Config) -> Iterator[_ShownRule]:
        active = self.session.rules_for(path)
        preset = f"preset {self.inputs.preset or own.preset}"
        for id, rule in sorted(self.session.registry.rules.items()):
            places = own.rule_origins.get(id, ())
            if id in self.ignored:
                places = (f"{_COMMAND_LINE} (--ignore)",)
            elif id in self.selected:
                places = (f"{_COMMAND_LINE} (--select)", *(places if id in active else ()))
            elif self.selected and id not in active:
                places = ()
            severity = active[id].severity.word if id in active else None
            values = active[id].options if id in active else {}
            options = {name.replace("_", "-"): value for name, value in values.items() if value != rule.options[name].default}
            yield _ShownRule(id, severity, options, places or (preset,), bool(places))


def _write_json(effective: list[_Effective], config: Config, out: TextIO) -> None:
    rows = [
        {
            "file": each.file,
            "excluded": each.excluded or None,
            "settings": {name: {"value": value, "from": origin} for name, value, origin in each.settings},
            "rules": {
                id: {"on": severity is not None, "severity": severity, "options": dict(options), "from": list(origins)}
                for id, severity, options, origins, _ in each.rules
            },
        }
        for each in effective
    ]
    files = [_relative(path) for path in (config.file, *config.extended) if path is not None]
    json.dump({"version": VERSION, "configs": files, "files": rows}, out, indent=2, default=str)
    out.write("\n")


def _write_text(effective: list[_Effective], config: Config, shows_all: bool, out: TextIO) -> None:
    visible = Glyphs.of(out).visible
    files = [_relative(path) for path in (config.file, *config.extended) if path is not None]
    out.write(visible(f"config: {', extends '.join(files)}" if files else "config: none") + "\n")
    for each in effective:
        out.write("\n" + visible(each.file + (f" (excluded by {each.excluded})" if each.excluded else "")) + "\n\n")
        _write_table(("SETTING", "VALUE", "FROM"), [(name, _shown(value), origin) for name, value, origin in each.settings], out)
        chosen = [rule for rule in each.rules if rule.chosen or shows_all]
        if chosen:
            out.write("\n")
            _write_table(("RULE", "SEVERITY", "OPTIONS", "FROM"), [_row(rule) for rule in chosen], out)
        on = sum(rule.severity is not None for rule in each.rules)
        out.write(f"\n{on} of {len(each.rules)} rules are on." + ("" if shows_all else " --all lists all rules.") + "\n")


def _relative(path: str | os.PathLike[str]) -> str:
    """Returns a path relative to the current folder, if it is in it."""
    name = os.path.relpath(path)
    return os.path.normpath(path) if name.startswith("..") else name


def _row(rule: _ShownRule) -> tuple[str, str, str, str]:
    options = ", ".join(f"{name}: {_shown(value)}" for name, value in rule.options.items())
    return rule.id, rule.severity or "off", options or "-", ", ".join(rule.origins)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items()) or "-"
    return (", ".join(map(str, value)) or "-") if isinstance(value, (list, tuple)) else str(value)


def _write_table(titles: tuple[str, ...], rows: list[Any], out: TextIO) -> None:
    visible = Glyphs.of(out).visible
    cells = [titles, *(tuple(map(visible, row)) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles) - 1)]
    for row in cells:
        out.write("  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1])) + "\n")
