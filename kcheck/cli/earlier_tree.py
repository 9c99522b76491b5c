"""An earlier revision of the input in a temporary folder: its findings and rendered charts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import NamedTuple

from kcheck.check.session import Session
from kcheck.check.time_limit import Budget
from kcheck.cli.input import Input, check_input, create_session
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.run.run import render_charts

Find = Callable[[Input, Config, Budget], Discovery]
"""Returns the files to check in the current folder."""


class EarlierTree(NamedTuple):
    """The files of a commit in a temporary folder.

    Attributes:
        root: The temporary folder.
        repository: The root of the repository.
        folder: The current folder in the repository.
    """

    root: str
    repository: str
    folder: str

    def moved(self, path: str) -> str:
        """Return the path of a file or folder in this tree for one in the repository. A path that only the repository has is kept."""
        full = os.path.realpath(os.path.join(self.folder, path))
        moved = self.moved_folder(full)
        if moved == full or not os.path.exists(moved):
            return full
        return moved if os.path.isabs(path) else path

    def moved_folder(self, full: str) -> str:
        """Return the path in this tree for an absolute path, whether it exists or not."""
        start = os.path.join(self.repository, "")
        return os.path.join(self.root, full[len(start) :]) if os.path.join(full, "").startswith(start) else full

    def findings(self, inputs: Input, config: Config, registry: Registry, find: Find) -> list[Finding]:
        """Check this tree with the settings of the repository and return all findings. Results share the cache of the repository."""
        with self._entered(inputs, config, registry) as (inputs, config, session):
            found = find(inputs, config, session.budget)
            return check_input(inputs, found, session, quiet=True, cache_place=self.folder).findings

    def rendered_charts(self, inputs: Input, config: Config, registry: Registry, find: Find) -> dict[str, str]:
        """Render the charts of this tree and return the texts by the paths that they have during a check."""
        with self._entered(inputs, config, registry) as (inputs, config, session):
            return render_charts(find(inputs, config, session.budget), session.without_rules())

    @contextmanager
    def _entered(self, inputs: Input, config: Config, registry: Registry) -> Iterator[tuple[Input, Config, Session]]:
        """Provide the settings of the repository for this tree.

        The current folder moves to the tree meanwhile, so that everything that reads files sees one consistent tree.
        """
        here = os.path.normpath(self.moved_folder(os.path.realpath(self.folder)))
        os.makedirs(here, exist_ok=True)
        with chdir(here):
            config = config._replace(
                folder=Path(self.moved_folder(str(config.folder))),
                schemas=tuple(Path(self.moved(str(path))) for path in config.schemas),
                provided=tuple(Path(self.moved(str(path))) for path in config.provided),
                policies=config.policies._replace(paths=tuple(Path(self.moved(str(path))) for path in config.policies.paths)),
                overrides=tuple(
                    each._replace(provided=each.provided and tuple(Path(self.moved(str(path))) for path in each.provided))
                    for each in config.overrides
                ),
            )
            inputs = inputs._replace(
                schemas=tuple(map(self.moved, inputs.schemas)),
                provided=tuple(map(self.moved, inputs.provided)),
                policies=tuple(map(self.moved, inputs.policies)),
                baseline=None,
                no_baseline=True,
                before=None,
            )
            session = create_session(inputs, config, registry)
            # A process that is not a fork would search for the config in the temporary folder.
            session.factory = None
            if session.helm is not None:
                session.helm = session.helm._replace(place=self.folder)
            yield inputs, config, session
