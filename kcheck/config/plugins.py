"""The `plugins` key of a config: Python files of the project with rules."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kcheck.config.values import Values
from kcheck.rule.registry import PluginFailure, Registry
from kcheck.yaml.node import Node

NOT_DECIDED = (
    "its code belongs to this repository and was not run; pass --allow-local-rules or set KCHECK_ALLOW_LOCAL_RULES=1 to run it, "
    "or pass --no-local-rules to check without its rules"
)


def add_plugins(files: Iterable[tuple[Node, Path]], values: Values, registry: Registry, allowed: bool | None) -> None:
    """Add the rules of these files to a registry.

    `allowed`: whether the files may run. None, if the user did not decide, counts as a failure, because a policy must not be off silently.
    """
    for node, path in files:
        name = f"{node.text} ({values.place(node)})"
        if not os.path.exists(path):
            # Reported already.
            continue
        if path.suffix != ".py" or not path.is_file():
            values.wrong(node, f"{node.text} is not a Python file")
        elif allowed:
            try:
                registry.add_local(path)
            except Exception as error:
                registry.failures.append(PluginFailure(name, f"{type(error).__name__}: {error}"))
        elif allowed is None:
            registry.failures.append(PluginFailure(name, NOT_DECIDED))
        else:
            registry.refuses_plugins = True
