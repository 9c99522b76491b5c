"""How charts are rendered. A small module: every run imports it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kcheck.text.record import NamedTuple

RELEASE = "release-name"
"""The name of releases, as in `helm template`."""

NAMESPACE = "default"


class ChartSettings(NamedTuple):
    """How a chart is rendered.

    Attributes:
        sets: sets of values, each a tuple of paths below the chart; None for `values.yaml` alone and each file in `ci`.
        set: values that are set in addition, such as `image.tag=1.2`.
        release: name of the release.
        namespace: namespace of the release.
    """

    sets: tuple[tuple[str, ...], ...] | None = None
    set: tuple[str, ...] = ()
    release: str = RELEASE
    namespace: str = NAMESPACE


def default_settings(folder: str) -> ChartSettings:
    """Return the settings of a chart that the config does not name."""
    return ChartSettings()


class Helm(NamedTuple):
    """How the charts of a run are rendered.

    Attributes:
        program: path of helm, None to search for it in PATH when the first chart is found.
        cache: folder of the cache, None to use none.
        jobs: number of processes.
        settings_of: returns the settings of a chart by its path.
        place: the working folder whose cached renderings are used, "" for the current folder.
    """

    program: str | None = None
    cache: Path | None = None
    jobs: int = 2
    settings_of: Callable[[str], ChartSettings] = default_settings
    place: str = ""
