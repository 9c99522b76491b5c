"""The options of a run that select files, rules and Kubernetes versions. CheckOptions take precedence over the config."""

from __future__ import annotations

from kcheck.text.record import NamedTuple


class CheckOptions(NamedTuple):
    """What a caller selects. Empty values, None and False mean: as in the config.

    Attributes:
        preset: Name of the preset.
        select: Rules and groups that replace the enabled ones.
        ignore: Rules and groups that do not run.
        kubernetes: A version or a range.
        schemas: Paths of schemas.
        complete: Whether the input contains all objects.
        provided: Paths of files with objects that the cluster already has.
        config: Path of the config.
        config_text: The config itself, instead of a file.
        isolated: Whether to ignore all config files.
        placeholders: "check" or "skip".
        exclude: Globs of files to skip.
        include: Names of `INCLUDES`.
        before: Path of a file or folder with the older versions of the objects.
        policies: Paths of files and folders with user-defined policies.
        local_rules: Whether the Python files that the config names in `plugins` may run; None if the caller did not decide.
    """

    preset: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kubernetes: str = ""
    schemas: tuple[str, ...] = ()
    complete: bool | None = None
    provided: tuple[str, ...] = ()
    config: str | None = None
    config_text: str | None = None
    isolated: bool = False
    placeholders: str | None = None
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    before: str | None = None
    local_rules: bool | None = None
    policies: tuple[str, ...] = ()
