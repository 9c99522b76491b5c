"""Placeholders: values that a tool or a person fills in before the manifest is applied.

kcheck does not know the value that will be there, so no rule judges it. A placeholder is recognized by its shape (`${APP}`, `{{ app }}`,
`<name>`, `@@APP@@`, `CHANGEME`) and its context: `$(NAME)` is syntax of Kubernetes itself in commands and environment variables, `$HOME` is
part of a script there, `{{ $labels.pod }}` belongs to the text of an alert, and `NET_ADMIN` is a value of the API, unlike `PROJECT_ID` in a
name. In text that is read by another program only a value that is a placeholder as a whole counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kcheck.text.pattern import pattern
from kcheck.yaml.node import Absent, Node

# Shapes that mean a placeholder wherever they occur in a value of the API.
_SHAPES = r"""
    \$\{[^{}\n]{0,200}\}                              # envsubst, Flux, shells
    |(?<![\w$\\])\$(?!patch|retainKeys|setElementOrder|deleteFromPrimitiveList)[A-Za-z_]\w*  # envsubst, Argo CD; not kustomize
    |<%.{0,200}?%>|\{%.{0,200}?%\}                     # ERB, Jinja
    |(?<![?P\w])<[A-Za-z][\w./:\#\ -]{0,100}>          # documentation, vault plug-in of Argo CD
    |@@[\w.-]{1,100}@@|@[A-Z][A-Z0-9_]{1,100}@|%[A-Za-z_][\w-]{2,100}%
    |__[A-Z][A-Z0-9_]{0,100}__|\#\{[^{}\n]{0,200}\}
    |\(\(\s{0,9}[A-Za-z_][\w.-]{0,100}\s{0,9}\)\)      # Concourse, BOSH
    |\[[A-Z][A-Z0-9]{0,100}[_ -][A-Z0-9_ -]{0,100}\]    # documentation of Google Cloud
    |(?<![A-Za-z0-9])(?i:(?:change|replace|fill)[-_ ]?me|(?:change|replace)[-_ ]?this|replace[-_ ]with[-_ ]\w+|insert[-_ ]\w+[-_ ]here)
        (?![A-Za-z0-9])
    |(?:^|(?<=[/.:@= ]))(?:your[-_ ](?=[a-z])|YOUR[-_ ]?(?=[A-Z]))[\w -]*
"""
_ACTION = r"\{\{.{0,200}?\}\}"
_VARIABLE = r"\$\([^()\n]{1,200}\)"
# An expression of Chainsaw: ($namespace), (join('-', [$namespace, 'web'])).
_EXPRESSION = r"(?s:\((?:\s*[a-z_]+\(|(?=[^`]*`)|(?=[^$]*(?<!\w)\$[A-Za-z_])).*\))\Z"
_ANY = pattern(rf"{_SHAPES}|{_ACTION}|{_VARIABLE}|\A{_EXPRESSION}", re.VERBOSE)
_WHOLE = pattern(rf"(?:{_SHAPES})\Z", re.VERBOSE)
# Each of the shapes above contains one of these, in lower case, or begins with "(". These checks are faster than the patterns.
_SIGNS = ("$", "<", "{", "((", "@", "%", "__", "[", "change", "replace", "fill", "insert", "your")
_QUOTED = pattern(rf"{_SHAPES}|{_ACTION}|\A{_EXPRESSION}", re.VERBOSE)
# More than elsewhere in a place where the API expects a name: words in capitals, such as PROJECT_ID and gcr.io/IMAGE, and {name}.
_IN_NAME = pattern(
    r"\{[A-Za-z][\w -]*\}|(?<![A-Za-z0-9_])(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
    r"|IMAGE|PROJECT|REGISTRY|REPOSITORY|REPO|NAMESPACE|CLUSTER|REGION|ZONE|BUCKET|DOMAIN|HOST|HOSTNAME|NAME|TODO|TBD|FIXME|XXX+"
    r"|ENV|ENVIRONMENT|STAGE|TENANT|CUSTOMER|OWNER|ORG|SUFFIX|PREFIX)"
    r"(?![A-Za-z0-9_])"
)
_ONLY_CAPITALS = pattern(r"[A-Z][A-Z0-9]*(?:[_ -][A-Z0-9]+)*")
# More than elsewhere: in a credential, a sign at the start is more likely to be a reference than part of the value.
_UNFILLED_CREDENTIAL = pattern(
    r"(?:[a-z]{2,8}-)?[A-Z]+(?:[_ -][A-Z0-9]+)*"
    r"|(?is:\$.*|<.*>?|%.*%?|\{.*|\[.*|@.*|`.*|__.*__|!.*\ .*|.*\{\{.*|.*\$\{.*)"
    r"|(?is:.*change[-_ ]?(?:me|it|this).*|.*your.*|.*-placeholder|.*replace[-_ ]?(?:me|this|with).*|.*example.*|.*insert[-_ ].*)"
    r"|(?i:placeholder|tbd|todo)"
)
_TEMPLATE = pattern(r"\{\{|\{%")
# Expressions of Go templates, Jinja and Mustache, also over several lines. Strings in them may contain further expressions.
_EXPRESSION_OF_TEMPLATE = (
    r"(?>(?s:\{\{(?:\"[^\"\n]*+\"|[^\"}]|\}(?!\})|){0,2000}+\}\}|\{\{.{0,2000}?\}\}|\{%.{0,2000}?%\}|\{\#.{0,2000}?\#\}))"
)
_LINES_OF_EXPRESSIONS = pattern(rf"^[ \t]*(?>(?:{_EXPRESSION_OF_TEMPLATE}[ \t]*+)+)$", re.MULTILINE)
_CONTROL = pattern(r"\{%|\{\#|\{\{[-~]?\s{0,9}(?:(?:if|else|end|range|with|define|block|break|continue)\b|/|\#|\^|!|\$\w+\s{0,9}:?=)")
_EXPRESSIONS = pattern(_EXPRESSION_OF_TEMPLATE)
# Variables that make a document invalid YAML: a line that consists of one, in the place of several lines, and {name} as part of a value.
_LINES_OF_VARIABLES = pattern(r"^[ \t]*\$(?:[A-Z][A-Z0-9_]*|\{[A-Z][A-Z0-9_]*\})[ \t]*$", re.MULTILINE)
_NAMES_IN_BRACES = pattern(r"(?<=[ \t])\{[A-Za-z_]\w*\}(?=[^\s,\]}])")
_KEY = pattern(rf"\$\{{[^{{}}\n]*\}}|\A\$[A-Z][A-Z0-9_]*\Z|{_ACTION}|\A<[A-Za-z][\w -]*>\Z|@@[\w.-]+@@|\A~?\.?(?s:\(.*\)(?:->\w+)?)\Z")
# Strings in a message: quoted, with the noun before it, or after "=", as in a selector.
_STRING = pattern(r'(?:\b(?P<noun>[A-Z][A-Za-z]+|container|volume) )?"(?P<quoted>[^"]*)"|=(?P<plain>[^\s",]+)')

_NAME_FIELDS = pattern(
    r"(?:image|name|namespace|hosts?|hostnames?|domain|url|uri|server|endpoint|address|bucket|project|region|zone|repository|registry|account"
    r"|email|arn|id|cidr|class|replicas|port|size|count)$",
    re.IGNORECASE,
)
"""Fields whose values are names or numbers, in which words in capitals are placeholders."""
_NUMBER_FIELDS = pattern(r"(?:replicas|count|size|completions|parallelism|seconds|limit)$", re.IGNORECASE)
"""Fields whose values are numbers, so that any word in capitals is a placeholder. A port may have a name: only words such as `PORT` are."""
_PORT_WORD = pattern(r"(?:[A-Z0-9_ -]*[_ -])?PORT(?:_?(?:[0-9]+|NUMBER|NUM|NO))?")
_QUANTITIES = frozenset({"limits", "requests", "capacity", "hard"})
_TEXTS = frozenset((
    "command", "args", "script", "data", "stringData", "binaryData", "annotations", "description", "message", "title", "text", "body",
    "expr", "expression", "query", "pattern", "regex", "rego",
))  # fmt: skip
"""Fields with text for other programs, such as scripts, settings and expressions; also everything below them."""
_SETTINGS = frozenset({"values", "valuesObject", "config"})
"""The same, where they are maps: settings of a chart or program in a custom resource."""
_MAPS_OF_TEXT = frozenset({"data", "stringData"})
"""Maps whose values are strings, so that a list such as `[PROJECT_ID]` is meant as one."""
_EXPANDED = frozenset({"command", "args", "subPathExpr"})
"""Fields in which Kubernetes replaces `$(NAME)`; also the values of environment variables."""


def is_template(text: str) -> bool:
    """Return whether the text contains expressions of Go templates, as in Helm charts, or Jinja."""
    # Most files contain no brace.
    first = text.find("{")
    return first >= 0 and _TEMPLATE.search(text, first) is not None


def has_variables(text: str) -> bool:
    """Return whether the text contains variables in places where they make it invalid YAML."""
    return ("$" in text and _LINES_OF_VARIABLES.search(text) is not None) or ("{" in text and _NAMES_IN_BRACES.search(text) is not None)


def fill_in_template(text: str) -> str:
    """Return a template with words in the place of its expressions and variables, and without lines that consist only of them."""
    text = _NAMES_IN_BRACES.sub("x", _LINES_OF_VARIABLES.sub("", _LINES_OF_EXPRESSIONS.sub("", text)))
    return _EXPRESSIONS.sub(lambda found: "" if _CONTROL.match(found[0]) else "x", text)


def _may_contain(text: str) -> bool:
    """Return whether a text may contain one of the shapes: a fast check before the search."""
    low = text.lower()
    for sign in _SIGNS:
        if sign in low:
            return True
    return low.startswith("(")


def _find(text: str) -> re.Match[str] | None:
    """Return the first placeholder with a shape that means one wherever it occurs."""
    return _ANY.search(text) if _may_contain(text) else None


@lru_cache(maxsize=4096)
def in_name(text: str) -> str:
    """Return the first placeholder in a name, image or similar value, "" if there is none."""
    found = _find(text) or _IN_NAME.search(text)
    return found[0] if found is not None else ""


def in_node(node: Node) -> str:
    """Return the first placeholder in a scalar, or a list such as `[PROJECT_ID]` in a place for text; "" if there is none."""
    text = node.held
    if isinstance(text, list):
        only = (
            text[0].text if len(text) == 1 and node.style == "{" and node.parent is not None and node.parent.name in _MAPS_OF_TEXT else ""
        )
        return f"[{only}]" if only and _ONLY_CAPITALS.fullmatch(only) else ""
    if not isinstance(text, str):
        return ""
    found = _find(text)
    if found is not None:
        return found[0] if _counts(found[0], text, node) else _next(found, text, node)
    found = _IN_NAME.search(text)
    if found is not None and _is_name(node):
        return found[0]
    return text if _is_word_for_number(text, node.name) else ""


def in_key(node: Node) -> str:
    """Return the placeholder in the key of an entry, "" if there is none. Keys such as `$patch` are directives of kustomize."""
    found = _KEY.search(node.name)
    return found[0] if found is not None else ""


def is_unknown(node: Node) -> bool:
    """Return whether the value of a node is or depends on a placeholder: in the value, the key, or what would contain an absent node."""
    if in_node(node) or in_key(node):
        return True
    near = node.near if isinstance(node, Absent) else node
    if near is not node and (in_node(near) or in_key(near)):
        return True
    # An expression as a key represents entries that are not known.
    return near.is_map and any(in_key(entry) for entry in near)


def is_quoted(message: str) -> bool:
    """Return whether a message quotes a placeholder, other than in the title of an object or container."""
    if not (_may_contain(message) or '"(' in message or "=(" in message):
        return False
    for found in _STRING.finditer(message):
        text = "" if found["noun"] else found["quoted"] or found["plain"] or ""
        if _may_contain(text) and _QUOTED.search(text) is not None:
            return True
    return False


@lru_cache(maxsize=4096)
def in_text(text: str) -> str:
    """Return the first placeholder in a value that may contain words in capitals, such as a label; "" if there is none."""
    found = _find(text)
    return found[0] if found is not None else ""


def may_become(template: str, text: str) -> bool:
    """Return whether a name with placeholders may become another name when they are filled in."""
    if not in_name(template):
        return False
    # Without a regular expression, which would try each way to distribute the text among many placeholders.
    first, *between, last = _IN_NAME.sub("\0", _ANY.sub("\0", template)).split("\0")
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in between:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


@lru_cache(maxsize=4096)
def is_unfilled_credential(value: str) -> bool:
    """Return whether the value of a credential is a placeholder or a reference, such as `$PASSWORD`, `<token>` or `CLIENT SECRET`."""
    return _UNFILLED_CREDENTIAL.fullmatch(value) is not None or _find(value) is not None


def below(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the values and keys below a node that contain a placeholder, each with its placeholder."""
    found = in_key(node) or in_node(node)
    if found:
        yield node, found
    if node.is_map or (node.is_list and not found):
        for child in node:
            yield from below(child)


def _is_word_for_number(text: str, field: str) -> bool:
    """Return whether a value is a word in capitals in a field for a number or data, such as `replicas: REPLICAS` and `port: PORT`."""
    if not text.isupper() or not _ONLY_CAPITALS.fullmatch(text):
        return False
    if field == "caBundle":
        return True
    return _NUMBER_FIELDS.search(field) is not None or (field.lower().endswith("port") and _PORT_WORD.fullmatch(text) is not None)


def _next(found: re.Match[str], text: str, node: Node) -> str:
    """Return the first further placeholder that counts in its context."""
    return next((each[0] for each in _ANY.finditer(text, found.end()) if _counts(each[0], text, node)), "")


def _counts(found: str, text: str, node: Node) -> bool:
    """Return whether a shape in a text is a placeholder in the context of a node."""
    if found.startswith("$(") and _is_expanded(node):
        return False
    return not _is_text(node, text) or _WHOLE.match(text.strip()) is not None


def _is_text(node: Node, text: str) -> bool:
    """Return whether a value is text for another program."""
    if "\n" in text.strip():
        return True
    at: Node | None = node
    while at is not None and at.parent is not None:
        if at.name in _TEXTS:
            return not (at.name == "data" and at.parent["kind"].text == "Secret")
        if at.name in _SETTINGS and at.is_map:
            return True
        at = at.parent
    return False


def _is_expanded(node: Node) -> bool:
    """Return whether Kubernetes replaces `$(NAME)` in a value."""
    parent = node.parent
    if node.name in _EXPANDED or (parent is not None and parent.name in _EXPANDED):
        return True
    return node.name == "value" and parent is not None and parent.parent is not None and parent.parent.name == "env"


def _is_name(node: Node) -> bool:
    """Return whether a value is a name or quantity, so that words in capitals are placeholders."""
    holder = node if node.name else node.parent
    parent = holder.parent if holder is not None else None
    if holder is None or parent is None:
        return False
    if parent.name in _QUANTITIES:
        return True
    if holder.name == "name" and (
        "value" in parent or "valueFrom" in parent or (parent.parent is not None and parent.parent.name == "env")
    ):
        # An environment variable, header or parameter.
        return False
    return _NAME_FIELDS.search(holder.name) is not None and not _is_text(node, node.text)
