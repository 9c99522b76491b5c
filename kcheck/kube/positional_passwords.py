"""Passwords in command lines and scripts that only their position shows: mysql -pX, curl -u user:X, mc alias set NAME URL KEY X.

Sources: the manual pages of the programs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from kcheck.kube.credential_names import could_be_credential

# A word of a command line, also in quotes; and one that is the password. Passwords with variables of the shell are not recognized.
_WORD = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"';|&]+)"""
_PASSWORD = r"""["']?([^\s"'`;&|()$\\<>{}]+)(?![^\s"'`;&|)])"""
# Words up to the flag, also across continued lines, and any further flags. The limits keep the time linear.
_SKIP = r"(?:[^\n;|&]|\\\n){0,200}?"
_SPACE = r"(?:[ \t]|\\\n)+"
_FLAGS = rf"(?:--?[\w-]+(?:=\S+)?{_SPACE}){{0,5}}"


class _Command(NamedTuple):
    """`hint`: a text, in lower case, that every such command line contains; `form`: its regular expression, the password is group 1."""

    program: str
    hint: str
    form: str


_COMMANDS = (
    _Command("mysql", "mysql", rf"\bmysql(?:admin|dump|show|check|import)?\b{_SKIP}\s-p{_PASSWORD}"),
    _Command("mariadb", "mariadb", rf"\bmariadb(?:-admin|-dump|-show|-check|-import)?\b{_SKIP}\s-p{_PASSWORD}"),
    _Command("curl", "curl", rf"\bcurl\b{_SKIP}\s(?:-[a-zA-Z]*[uU]|--(?:proxy-)?user)(?:=|{_SPACE})?[\"']?[^\s:\"']{{0,100}}:{_PASSWORD}"),
    _Command("mc", "alias set", rf"\bmc{_SPACE}{_FLAGS}alias set{_SPACE}{_FLAGS}(?:{_WORD}{_SPACE}){{3}}{_PASSWORD}"),
    _Command("mc", "host add", rf"\bmc{_SPACE}{_FLAGS}config host add{_SPACE}{_FLAGS}(?:{_WORD}{_SPACE}){{3}}{_PASSWORD}"),
    _Command("sshpass", "sshpass", rf"\bsshpass\s+-p\s*{_PASSWORD}"),
    _Command("redis-cli", "redis-cli", rf"\bredis-cli\b{_SKIP}\s(?:-a|--pass){_SPACE}{_PASSWORD}"),
    _Command("mongo", "mongo", rf"\bmongo(?:sh|dump|restore|import|export)?\b{_SKIP}\s-p{_SPACE}{_PASSWORD}"),
    _Command("login", "login", rf"\b(?:docker|podman|nerdctl|buildah|skopeo|registry|az|oc){_SPACE}login\b{_SKIP}\s-p{_SPACE}{_PASSWORD}"),
    _Command("LDAP", "ldap", rf"\bldap(?:search|modify|add|delete|whoami|passwd|compare)\b{_SKIP}\s-w\s*{_PASSWORD}"),
    _Command("openssl", "pass:", rf"\s-pass(?:in|out)?{_SPACE}[\"']?pass:{_PASSWORD}"),
    _Command("sqlcmd", "sqlcmd", rf"\bsqlcmd\b{_SKIP}\s-P\s*{_PASSWORD}"),
    _Command("keytool", "keytool", rf"\bkeytool\b{_SKIP}\s-(?:src|dest)?(?:store|key)pass{_SPACE}{_PASSWORD}"),
    _Command("rabbitmqctl", "rabbitmqctl", rf"\brabbitmqctl\b{_SKIP}\s(?:add_user|change_password){_SPACE}{_WORD}{_SPACE}{_PASSWORD}"),
)  # fmt: skip
_HINTS = tuple(dict.fromkeys(each.hint for each in _COMMANDS))


def may_occur(low: str) -> bool:
    """Whether a text, in lower case, may contain such a password: a fast check before the search."""
    for hint in _HINTS:  # noqa: SIM110
        if hint in low:
            return True
    return False


def find(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """The program and the position of each such password. `low`: the text in lower case."""
    for command in _COMMANDS:
        if command.hint in low:
            for match in _compiled(command.form).finditer(text):
                if could_be_credential(match[1]):
                    yield command.program, *match.span(1)


def find_in_list(words: Sequence[str]) -> Iterator[tuple[str, int, int, int]]:
    """The program, the number of the word, and the position in it, of each such password in a command line given as a list of words."""
    if not may_occur(" ".join(words).lower()):
        return
    # Words with whitespace are scripts, which `find` searches; a line break separates commands.
    plain = [word if word.split() == [word] else "\n" for word in words]
    line = " ".join(plain)
    low = line.lower()
    starts = [0, *accumulate(len(word) + 1 for word in plain)]
    for program, start, end in find(line, low):
        number = bisect_right(starts, start) - 1
        yield program, number, start - starts[number], end - starts[number]


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)
