"""The settings of a run, from options and config. CheckOptions take precedence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from kcheck.check.session import Clusters, KubernetesCluster, PolicySettings, Session
from kcheck.check.substitution import Substitution
from kcheck.config.config import AssignedRoles, Config, Overrides, PolicySources
from kcheck.config.search import SeveralConfigs, find
from kcheck.engine.error import Error, InvalidConfig, InvalidOption
from kcheck.engine.options import CheckOptions
from kcheck.facts.facts import Facts
from kcheck.finding.role import INCLUDES
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.schema.builtin.definitions import UnknownVersion, load, newest
from kcheck.schema.store import Store
from kcheck.text.source import Source


class FileSettings:
    """The settings of each file, depending on the overrides that match it."""

    def __init__(self, config: Config, registry: Registry, select: Sequence[str], ignore: Sequence[str]) -> None:
        self._config = config
        self._overrides = Overrides(config)
        self._registry = registry
        self._select = select
        self._ignore = ignore
        self._chosen: dict[tuple[int, ...], RuleSet] = {}

    def rules_for(self, file: str) -> RuleSet:
        """Returns the rule set of a file: the same object for files with the same overrides."""
        numbers = self._overrides.of(file)
        if numbers not in self._chosen:
            settings = self._overrides.settings(numbers)
            self._chosen[numbers] = choose(self._registry, self._select, self._ignore, settings, self._config.preset)
        return self._chosen[numbers]

    def cluster_overrides(self, file: str) -> tuple[int, ...]:
        """Returns the overrides that determine the cluster of a file."""
        return tuple(number for number in self._overrides.of(file) if self._config.overrides[number].changes_cluster)

    def config_for(self, numbers: Iterable[int]) -> Config:
        """Returns the config for files that these overrides match."""
        return self._overrides.applied(numbers)


def find_config(options: CheckOptions, registry: Registry, foreign: Callable[[Path], None] | None = None) -> Config:
    """Returns the config that the options name, otherwise the nearest config in the current folder and its parents.

    Adds the rules of its plug-ins to the registry. `foreign`: called for config files that are ignored because they belong to other users.
    Raises InvalidConfig.
    """
    if options.config is not None and options.isolated:
        raise InvalidOption("--config and --isolated cannot be combined")
    if options.config_text is not None:
        from kcheck.config.file import read_text
        from kcheck.config.mistake import BadConfig

        try:
            return read_text(options.config_text, "<config>", Path(os.path.realpath(".")), registry, options.local_rules)
        except BadConfig as error:
            raise InvalidConfig("\n".join(map(str, error.mistakes))) from None
    try:
        file = Path(options.config) if options.config is not None else None if options.isolated else find(Path("."), foreign)
    except SeveralConfigs as error:
        raise InvalidConfig(str(error)) from None
    if file is None:
        return Config(Path(os.path.realpath(".")))
    # Imported late: most runs have no config file.
    from kcheck.config.file import read
    from kcheck.config.mistake import BadConfig

    try:
        return read(file, registry, options.local_rules)
    except BadConfig as error:
        raise InvalidConfig("\n".join(map(str, error.mistakes))) from None


def create_session(options: CheckOptions, config: Config, registry: Registry) -> Session:
    """Returns a session with the selected rules, versions and schemas. Raises Error for unknown or invalid values."""
    select, ignore = known_names(options.select, registry, "--select"), known_names(options.ignore, registry, "--ignore")
    config = config._replace(preset=options.preset or config.preset)
    schemas = (*registry.schemas, *(map(Path, options.schemas) if options.schemas else config.schemas))
    stores = Stores(config, schemas)
    files = FileSettings(config, registry, select, ignore)
    session = Session(
        registry,
        choose(registry, select, ignore, config.settings, config.preset),
        stores.of(_versions(options, config)),
        config.complete if options.complete is None else options.complete,
        files.rules_for if any(each.settings for each in config.overrides) else None,
        schemas,
        partial(recreate_session, options),
        judges_placeholders=_judges_placeholders(options.placeholders, select, config),
        substitution=Substitution(config.variables) if config.variables else None,
        included_roles=frozenset[str]().union(*(INCLUDES[each] for each in options.include or config.include)),
        judges_as_server=_selects_verdict(select),
        roles=AssignedRoles(config).of if config.roles else None,
        complete_units=config.complete_units if options.complete is None else (),
        docs_url=config.docs_url,
    )
    provided = options.provided or config.provided
    sources: list[Source] = []
    if provided:
        # Imported late: few runs have this option.
        from kcheck.engine.provided import facts_of, load_provided

        sources = load_provided(provided)
        session.provided = facts_of(sources, session)
    if options.before is not None:
        # Imported late: few runs have this option.
        from kcheck.engine.before import read_before

        session.before = read_before(options.before)
    texts = tuple((each.path, each.text) for each in sources)
    session.policy_settings = _policy_settings(options, config, session)._replace(provided=texts)
    if any(each.changes_cluster for each in config.overrides):
        session.clusters = _clusters(options, config, files, stores, session)
    return session


def _policy_settings(options: CheckOptions, config: Config, session: Session) -> PolicySettings:
    """Returns where policies come from. Raises Error for files that cannot be read, and for short rules with errors."""
    sources, paths = config.policies, options.policies or config.policies.paths
    if not paths and sources == PolicySources():
        return PolicySettings()
    # Imported late: few runs have this option.
    from kcheck.engine.policy_files import read_policy_files

    files, rule_files = read_policy_files(paths, sources.rules, session.stores[-1])
    return PolicySettings(sources.from_input, files, sources.username, sources.groups, rule_files)


def recreate_session(options: CheckOptions) -> Session:
    """Returns the session of these options in a process that was not forked from the main process."""
    registry = Registry.load()
    return create_session(options, find_config(options, registry), registry)


def _clusters(options: CheckOptions, config: Config, files: FileSettings, stores: Stores, session: Session) -> Clusters:
    """Returns the clusters of the overrides. CheckOptions of the command line apply to all of them."""
    # Read now, so that errors are reported before anything is checked.
    found: dict[tuple[Path, ...], tuple[Facts, ...]] = {}
    for each in config.overrides:
        stores.of(_versions(options, config._replace(kubernetes=each.kubernetes or config.kubernetes)))
        if each.provided and each.provided not in found and not options.provided:
            from kcheck.engine.provided import facts_of, load_provided

            found[each.provided] = facts_of(load_provided(each.provided), session)

    def make(numbers: tuple[int, ...]) -> KubernetesCluster:
        own = files.config_for(numbers)
        provided = session.provided if options.provided or own.provided == config.provided else found.get(own.provided, ())
        complete = own.complete if options.complete is None else options.complete
        return KubernetesCluster(stores.of(_versions(options, own)), complete, provided)

    return Clusters(files.cluster_overrides, make, (), stores.all)


class Stores:
    """Schema stores by Kubernetes version, with the schemas of options, config and plug-ins."""

    def __init__(self, config: Config, schemas: Sequence[Path]) -> None:
        self._config = config
        self._schemas = schemas
        self._by_version: dict[str, Store] = {}
        self._lists: dict[tuple[str, ...], list[Store]] = {}

    @property
    def all(self) -> list[Store]:
        """All stores."""
        return list(self._by_version.values())

    def of(self, versions: tuple[str, ...]) -> list[Store]:
        """Returns a store for each of these versions: the same objects for the same versions. Raises Error for invalid schemas."""
        if versions not in self._lists:
            missing = {version: Store(load(version)) for version in versions if version not in self._by_version}
            for store in missing.values():
                store.pods = self._config.pods
            self._add_schemas(list(missing.values()))
            self._by_version |= missing
            self._lists[versions] = [self._by_version[version] for version in versions]
        return self._lists[versions]

    def _add_schemas(self, stores: list[Store]) -> None:
        if not self._schemas or not stores:
            return
        # Imported late: few runs have additional schemas, and the module takes long to load.
        from kcheck.schema.external.catalog import BadSchemas, read_schemas

        try:
            for path in self._schemas:
                schemas_in_path = read_schemas(path)
                for store in stores:
                    schemas_in_path.add_to(store)
        except BadSchemas as error:
            raise Error(f"schemas: {error}") from None


def _versions(options: CheckOptions, config: Config) -> tuple[str, ...]:
    """Returns the Kubernetes versions to check, the newest last."""
    if not options.kubernetes:
        return config.kubernetes or (newest(),)
    from kcheck.config.versions import parse_versions

    try:
        return parse_versions(options.kubernetes)
    except UnknownVersion as error:
        raise InvalidOption(f"--kubernetes: {error}") from None


def known_names(words: Iterable[str], registry: Registry, flag: str) -> tuple[str, ...]:
    """Returns the rule ids and groups of an option that accepts lists and may be repeated. Raises InvalidOption for unknown names."""
    names = [name for word in words for part in word.split(",") if (name := part.strip())]
    for name in names:
        if registry.find(name) is None and name not in registry.groups:
            raise InvalidOption(f"{flag}: {unknown_name(name, registry)}")
    return tuple(names)


def unknown_name(name: str, registry: Registry) -> str:
    """Returns the message for a name that is neither a rule nor a group."""
    near = nearest(name, [*registry.rules, *registry.groups])
    if near:
        return f'unknown rule or group "{name}"; {did_you_mean(near)}'
    if "/" in name:
        return f'unknown rule or group "{name}"; check that its plug-in is installed'
    return f'unknown rule or group "{name}"; see kcheck rules and kcheck rules --groups'


def _judges_placeholders(option: str | None, select: tuple[str, ...], config: Config) -> bool:
    """Whether rules judge placeholders. With --select spec, the result is that of the API server for the files as they are."""
    if option is not None:
        return option == "check"
    return _selects_verdict(select) if config.judges_placeholders is None else config.judges_placeholders


def _selects_verdict(select: tuple[str, ...]) -> bool:
    """Whether the result is that of the API server for the files as they are: with --select spec."""
    return set(select) == {"spec"}
