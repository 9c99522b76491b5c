"""Names of Secrets in the text of manifests: a variable or key such as `TLS_SECRET` may hold one instead of a credential."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kcheck.kube.credential_names import is_password
from kcheck.text.pattern import pattern

_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_KIND = pattern(r"""["']?\bkind["']?: *["']?(?:Sealed|External)?Secret\b(?!\w)""")
_FIELDS = r"\w*[sS]ecretName|\w*[eE]xistingSecret|\w*[sS]ecret(?:Key)?Ref|imagePullSecrets"


def is_secret_name(variable: str, value: str, texts: Iterable[str]) -> bool:
    """Return whether the value of a variable or key is the name of a Secret, rather than a credential.

    Args:
        variable: name of the variable or key. Names such as DB_PASSWORD never mean a Secret.
        value: its value.
        texts: texts of manifests, in which the Secret is defined or a field refers to it.
    """
    if is_password(variable) or not _NAME.fullmatch(value):
        return False
    name = rf"""["']?{re.escape(value)}(?=["'\s,}}\]]|\Z)"""
    used = re.compile(rf"""\b(?:{_FIELDS})["']?:(?:[\s\[{{-]|["']?(?:key|optional)["']?: *[\w."'-]+,?)*(?:["']?name["']?: *)?{name}""")
    defined = re.compile(rf"""["']?\bname["']?: *{name}""")
    for text in texts:
        if value not in text:
            continue
        if used.search(text) or any(_KIND.search(part) and defined.search(part) for part in text.split("\n---")):
            return True
    return False
