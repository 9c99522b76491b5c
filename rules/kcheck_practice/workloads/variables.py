"""References to environment variables in env, command and args. Sources: the Kubernetes documentation pages "Define Dependent Environment
Variables" and "Define a Command and Arguments for a Container", and third_party/forked/golang/expansion/expand.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Node, Problem, pattern, rule

_GROUPS = ("workloads",)
# $$ is an escaped $. Kubernetes expands $(NAME) and leaves references to undefined variables unchanged.
_REFERENCE = pattern(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_SHELL_REFERENCE = pattern(r"\$\$|\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))")
# Names of programs, which a script calls by $(name), are in lower case; the kubelet adds variables with the addresses of Services.
_VARIABLE = pattern(r"[A-Z_][A-Z0-9_]*")
_OF_SERVICE = pattern(r".+_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_.+)?)")
_SHELLS = frozenset(
    ("sh", "bash", "ash", "dash", "zsh", "ksh", "busybox", "env", "envsubst", "eval", "pwsh", "powershell", "cmd", "python", "python3")
)


@rule(
    "undefined-env-var",
    "$(VAR) in env, command or args refers to an environment variable that is undefined or defined later",
    groups=_GROUPS,
    fields=("env", "command", "args"),
)
def undefined_variable(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each $(VAR) that Kubernetes leaves unchanged."""
    if not container.is_complete or len(container["envFrom"]):
        return
    # Controllers of custom resources may add variables.
    known = container.resource.built_in
    names = [entry["name"].text for entry in container["env"]]
    for number, entry in enumerate(container["env"]):
        value = entry["value"]
        for name in _references(value):
            if name in names[number:] and name not in names[:number]:
                where = "itself" if name == entry["name"].text else f'"{name}", which is defined later'
                message = f'environment variable "{entry["name"].text}" refers to {where}, so $({name}) is not replaced'
                yield Problem(value, message, help=f'define "{name}" before "{entry["name"].text}"')
            elif known and name not in names and _is_variable(name):
                yield _undefined(value, name, container)
    lines = [*container["command"], *container["args"]]
    if known and not _runs_shell(lines):
        for node in lines:
            for name in _references(node):
                if name not in names and _is_variable(name):
                    yield _undefined(node, name, container)


@rule(
    "shell-variable-in-args",
    "command or args contain ${VAR} of an environment variable without a shell that expands it",
    groups=(*_GROUPS, "placeholders"),
    fields="env",
)
def unexpanded_variable(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each ${VAR} and $VAR of a variable in env: only a shell expands these forms."""
    lines = [*container["command"], *container["args"]]
    if not any("$" in node.text for node in lines) or _runs_shell(lines):
        return
    names = {entry["name"].text for entry in container["env"]}
    for node in lines:
        for match in _SHELL_REFERENCE.finditer(node.text):
            name = match[1] or match[2]
            if name in names:
                message = f'{match[0]} is passed to container "{container.name}" unchanged, because no shell expands it'
                yield Problem(node, message, help=f"use $({name}), which Kubernetes expands")


def _references(node: Node) -> Iterator[str]:
    """Yields the names in $(NAME), without escaped ones, each once."""
    text = node.text
    if "$(" in text:
        yield from dict.fromkeys(match[1] for match in _REFERENCE.finditer(text) if match[1])


def _is_variable(name: str) -> bool:
    return bool(_VARIABLE.fullmatch(name)) and not _OF_SERVICE.fullmatch(name)


def _undefined(node: Node, name: str, container: Container) -> Problem:
    message = f'environment variable "{name}" is not defined in container "{container.name}", so $({name}) is not replaced'
    return Problem(node, message, help=f'add "{name}" to env')


def _runs_shell(lines: list[Node]) -> bool:
    """Whether a shell or another interpreter may read a command line."""
    words = [node.text for node in lines]
    if any(word.rpartition("/")[2] in _SHELLS or word.endswith((".sh", ".bash")) for word in words):
        return True
    return any("\n" in word or "; " in word or "&&" in word for word in words) or any(
        word.startswith("-") and word.endswith("c") and len(word) <= 4 for word in words
    )
