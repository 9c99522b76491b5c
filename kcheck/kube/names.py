"""Formats that the API server requires of names: one function per rule, which returns "" for a valid text, otherwise a Complaint.

The rules are those of Kubernetes 1.36 (k8s.io/apimachinery, util/validation and api/validate/content). Lengths count bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from kcheck.kube import placeholders
from kcheck.kube.suggestions import did_you_mean
from kcheck.text.complaint import Complaint, help_of

Rule = Callable[[str], str]

_SUGGESTED = r'did you mean "([^"]*)"\?'
# The host is group 1 or 2: with a scheme, or with a dot and a port or path.
_URL_OR_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]*://([^/:]+)(?::\d+)?(?:/.*)?|([^/:]+\.[^/:]+)(?::\d+(?:/.*)?|/.*)"
# Without backtracking: most runs compare tens of thousands of names.
_LABEL = "(?!-)[a-z0-9-]++(?<!-)"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL}|)*+"
_LABEL_1035 = "[a-z](?:[a-z0-9-]*[a-z0-9])?"
_SEARCH_PART = "_?[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?"
_SEARCH = rf"{_SEARCH_PART}(?:\.{_SEARCH_PART})*"
_NAME_PART = "(?![_.-])[A-Za-z0-9_.-]++(?<![_.-])"
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_NOT_ENV = "[^ -<>-~]"
_ENV_STRICT = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"
_DECIMAL = "0|-?[1-9][0-9]*"
# Compiled on first use: most runs need few of the patterns.
_compiled = cache(re.compile)
_CEL_WORDS = "as break const continue else false for function if import in let loop namespace null package return true var void while"
_CEL_RESERVED = frozenset(_CEL_WORDS.split())
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})

# The API server truncates generateName to this length and appends five random characters.
GENERATED_BASE = 58


def dns_label(text: str) -> str:
    """RFC 1123 label: names of Namespaces, containers, volumes."""
    return _check(text, _LABEL, 63, "DNS label", 'a-z, 0-9 and "-"', "a-z or 0-9", _repair_label)


def dns_subdomain(text: str) -> str:
    """RFC 1123 subdomain: the name of most objects."""
    return _check(text, _SUBDOMAIN, 253, "DNS subdomain", 'a-z, 0-9, "-" and "."', "a-z or 0-9", _repair_subdomain)


def dns1035_label(text: str) -> str:
    """RFC 1035 label, which begins with a letter: plural and singular of a CRD, the version of an API."""
    return _check(text, _LABEL_1035, 63, "DNS label (RFC 1035)", 'a-z, 0-9 and "-"', "a-z", _repair_1035)


def wildcard_subdomain(text: str) -> str:
    """`*.` and a subdomain: a host of an Ingress that begins with '*'."""
    if text.startswith("*.") and len(text) <= 253 and _compiled(_SUBDOMAIN).fullmatch(text, 2):
        return ""
    if text.startswith("*."):
        wrong = dns_subdomain(text[2:])
        return (
            Complaint(f'"*." must be followed by a DNS subdomain: {wrong}', help_of(wrong))
            if wrong
            else _too_long(text, "wildcard host", 253)
        )
    return Complaint(f'{_cited(text)} is not a valid wildcard host: "*" must be the whole first part', "use the form *.example.com")


def dns_search(text: str) -> str:
    """Subdomain that may contain '_': a search domain of dnsConfig."""
    return _check(text, _SEARCH, 253, "search domain", 'a-z, 0-9, "-", "_" and "."', 'a-z, 0-9 or "_"', _repair_subdomain)


def fully_qualified(text: str, *, parts: int = 3) -> str:
    """Subdomain of at least `parts` parts: three for the name of a webhook, two for the group of a CRD."""
    wrong = dns_subdomain(text)
    if not wrong and text.count(".") < parts - 1:
        message = f"{_cited(text)} must have at least {parts} parts separated by dots"
        return Complaint(message, f"use a qualified name such as {_shown(text)}.example.com")
    return wrong


def domain_name(text: str) -> str:
    """Domain of two parts or more, each a label, a final dot allowed: an address of an EndpointSlice of type FQDN, a signer's domain."""
    bare = text.removesuffix(".")
    return fully_qualified(bare, parts=2) or next(filter(None, map(dns_label, bare.split("."))), "")


def qualified_name(text: str, *, noun: str = "qualified name") -> str:
    """[prefix/]name with a subdomain as prefix: label keys, annotation keys (in lower case), taints, resource names, conditions."""
    prefix, slash, name = text.rpartition("/")
    if (
        _compiled(_NAME_PART).fullmatch(name)
        and len(name) <= 63
        and (not slash or (len(prefix) <= 253 and _compiled(_SUBDOMAIN).fullmatch(prefix)))
    ):
        return ""
    if "/" in prefix:
        fixed = f"{_repair_subdomain(text.split('/')[0]) or 'example.com'}/{_repair_name(name) or 'name'}"
        help = "" if qualified_name(fixed) else did_you_mean(fixed)
        return Complaint(f'{_cited(text)} is not a valid {noun}: it has more than one "/"', help)
    if slash and not prefix:
        help = f"add a domain before it, or use {_repair_name(name) or 'a name'} without a prefix"
        return Complaint(f'{_cited(text)} is not a valid {noun}: it begins with "/"', help)
    if slash and (wrong := dns_subdomain(prefix)):
        domain = _repair_subdomain(prefix)
        help = did_you_mean(f"{domain}/{name}") if not (dns_subdomain(domain) or qualified_name(name)) else help_of(wrong)
        return Complaint(f"{noun} {_cited(text)} has an invalid prefix: {wrong}", help)
    of = f"name segment of {'an' if noun[0] in 'aeiou' else 'a'} {noun}" if slash else noun
    return _check(name, _NAME_PART, 63, of, _WIDE, "a letter or digit", _repair_name, prefix + slash)


def prefixed_name(text: str) -> str:
    """Qualified name that must have its prefix, such as example.com/gpu."""
    help = f"add your domain, such as example.com/{text}"
    return qualified_name(text) or ("" if "/" in text else Complaint(f'"{text}" has no domain prefix', help))


def domain_path(text: str) -> str:
    """Domain, '/' and any path: the controller of an IngressClass, the managedBy of a Job."""
    domain, slash, path = text.partition("/")
    if not (domain and slash and path):
        message = f"{_cited(text)} must have the form domain/path"
        return Complaint(message, f"use a domain and a path, such as example.com/{_shown(path or domain) or 'name'}")
    if wrong := dns_subdomain(domain):
        fixed = _repair_subdomain(domain)
        help = did_you_mean(f"{fixed}/{path}") if fixed and _compiled(_PATH).fullmatch(path) else help_of(wrong)
        return Complaint(f'the part before "/" must be a DNS subdomain: {wrong}', help)
    if _compiled(_PATH).fullmatch(path):
        return ""
    return Complaint(f"path {_cited(path)} contains a character that is not allowed in a URL", "remove this character")


def path_segment(text: str) -> str:
    """Name that is only a part of a URL: Roles, bindings, and the custom names of a few other kinds. Colons are allowed."""
    return Complaint(f'"{text}" is not allowed as a name', "use another name") if text in (".", "..") else path_segment_prefix(text)


def path_segment_prefix(text: str) -> str:
    """generateName where the name is a path segment: more text follows, so '.' may begin it."""
    found = next((char for char in "/%" if char in text), "")
    if not found:
        return ""
    fixed = _shown(text.replace("/", "-").replace("%", "-"))
    return Complaint(f'{_cited(text)} is not a valid name: "{found}" is not allowed', did_you_mean(fixed))


def env_name(text: str) -> str:
    """Environment variable, relaxed as 1.36 reads `env[].name`, the prefix of envFrom and fileKeyRef keys: printable ASCII but '='."""
    if not text:
        return "environment variable name must not be empty"
    found = _compiled(_NOT_ENV).search(text)
    if found is None:
        return ""
    message = f"{_cited(text)} is not a valid environment variable name: {_quoted(found[0])} is not allowed"
    return Complaint(message, did_you_mean(_repair_env(text)))


def env_name_strict(text: str) -> str:
    """Environment variable that every shell and older servers accept; most programs cannot read a key of envFrom that breaks this."""
    return _check(text, _ENV_STRICT, 0, "environment variable name", _WIDE, 'a letter, "_", "-" or "."', _repair_env) or _climbs(text)


def port_name(text: str) -> str:
    """IANA service name: the name of a port, and a port given by name."""
    if len(text) > 15:
        return _too_long(text, "port name", 15)
    found = next((char for char in text if not (char.isascii() and (char.islower() or char.isdigit() or char == "-"))), "")
    if found:
        fixed = _repair_label(text)
        message = f'{_cited(text)} is not a valid port name: {_quoted(found)} is not allowed (only a-z, 0-9 and "-")'
        return Complaint(message, _suggestion(text, fixed, port_name))
    if not any(char.islower() for char in text):
        help = f"use the number {text} without quotes" if text.isdigit() else ""
        return Complaint(f'"{text}" is not a valid port name: it must contain a letter a-z', help)
    if "--" in text or text[0] == "-" or text[-1] == "-":
        fixed = re.sub("-+", "-", text).strip("-")
        message = f'"{text}" is not a valid port name: "-" must not begin it, end it or be repeated'
        return Complaint(message, _suggestion(text, fixed, port_name))
    return ""


def c_identifier(text: str) -> str:
    """Letters, digits and '_', no digit first: the attributes of a device."""
    return _check(text, _C_IDENTIFIER, 0, "identifier", 'letters, digits and "_"', 'a letter or "_"', _repair_identifier)


def cel_identifier(text: str) -> str:
    """Name of a CEL variable: an identifier that is not reserved by the language."""
    if text in _CEL_RESERVED:
        return Complaint(f'"{text}" is a reserved word of CEL', did_you_mean(f"{text}_"))
    return c_identifier(text)


def config_key(text: str) -> str:
    """Key of a ConfigMap or Secret, which becomes a file name."""
    return _check(text, _CONFIG_KEY, 253, "key", _WIDE, "", _repair_key) or _climbs(text)


def finalizer(text: str) -> str:
    """Name of a finalizer on any object."""
    return qualified_name(text, noun="finalizer")


def standard_finalizer(text: str) -> str:
    """The additional rule of built-in kinds: a finalizer without a prefix must be one of Kubernetes itself."""
    if "/" in text or text in _STANDARD_FINALIZERS:
        return ""
    return Complaint(
        f"custom finalizer {_cited(text)} has no domain", f"add your domain, such as example.com/{_repair_name(text) or 'name'}"
    )


def http_header(text: str) -> str:
    """Header of a probe or lifecycle hook."""
    return _check(text, _HEADER, 0, "header name", 'letters, digits and "-"', "", _repair_header)


def decimal_integer(text: str) -> str:
    """Integer as text in its canonical form: the values of Gt and Lt in a toleration."""
    if _compiled(_DECIMAL).fullmatch(text):
        return ""
    return Complaint(
        f"{_cited(text)} is not an integer in canonical form", 'use decimal digits without "+", leading zeros or whitespace, such as "10"'
    )


def generate_name(rule: Rule, text: str) -> str:
    """generateName with the rule of its kind. The generated name is checked separately: see `generated`."""
    return path_segment_prefix(text) if rule is path_segment else rule(masked(text))


def masked(prefix: str) -> str:
    """Return a name prefix as the server checks it: a final "-" and the character before it are replaced with a letter."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def generated(prefix: str) -> str:
    """Return a name as the API server generates it from generateName."""
    return prefix[:GENERATED_BASE] + "x2x4x"


_WIDE = 'letters, digits, "-", "_" and "."'


def _check(text: str, pattern: str, most: int, noun: str, alphabet: str, first: str, repair: Callable[[str], str], prefix: str = "") -> str:
    """The Complaint about a text that `pattern` does not match or that has more than `most` bytes (0: no limit).

    `noun`: what the text should be, without an article; `prefix`: what precedes the text in the manifest, for the suggestion.
    """
    rule = _compiled(pattern)
    fits = rule.fullmatch(text)
    if fits and (not most or len(text) <= most):
        return ""
    if not text:
        return f"{noun} must not be empty"
    if fits or (most and len(text) > 4 * most):
        return _too_long(text, noun, most)

    def same(candidate: str) -> str:
        return "" if rule.fullmatch(candidate) and (not most or len(candidate) <= most) else "no"

    help = _suggestion(text, repair(text), same, prefix)
    message = f"{_cited(text)} is not a valid {noun}"
    # A character is not allowed at all if it is not valid between two letters: the ends have different rules.
    found = next((char for char in text if not rule.fullmatch(f"a{char}a")), "")
    if found:
        return Complaint(f"{message}: {_quoted(found)} is not allowed (only {alphabet})", help)
    if rule.fullmatch(f"{text}a"):
        return Complaint(f"{message}: it must end with a letter or digit", help)
    if rule.fullmatch(f"a{text}"):
        return Complaint(f"{message}: it must begin with {first}", help)
    if rule.fullmatch(f"a{text}a"):
        return Complaint(f"{message}: it must begin and end with a letter or digit", help)
    return Complaint(f"{message}: every part between dots must begin and end with a letter or digit", help)


def _too_long(text: str, noun: str, most: int) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    return Complaint(f"{noun} has {size} bytes, but at most {most} are allowed", f"shorten it to {most} bytes or less")


def _quoted(char: str) -> str:
    """A character as a message quotes it: an unprintable one as an escape."""
    return f'"{char}"' if char.isprintable() else repr(char)


def _shown(text: str) -> str:
    """The printable characters of a text: a message is one line."""
    return text if text.isprintable() else "".join(filter(str.isprintable, text))


def help_within(text: str, part: str, wrong: str) -> str:
    """The help of the Complaint about a part of a text, with a suggestion for the whole text."""
    match = _compiled(_SUGGESTED).fullmatch(help_of(wrong))
    return did_you_mean(text.replace(part, match[1], 1)) if match and part else help_of(wrong)


def _cited(text: str) -> str:
    """A text as a message quotes it, abbreviated where it is long."""
    shown = _shown(text)
    return f'"{shown}"' if len(shown) <= 80 else f'"{shown[:77]}..."'


def _suggestion(text: str, fixed: str, rule: Rule, prefix: str = "") -> str:
    """The help that suggests a repaired text, "" where the text cannot be repaired."""
    if placeholders.in_text(text):
        return "replace the placeholder with a value"
    return did_you_mean(f"{prefix}{fixed}") if fixed and fixed != text and not rule(fixed) else ""


def _climbs(text: str) -> str:
    if text != "." and not text.startswith(".."):
        return ""
    rest = text.lstrip(".")
    return (
        Complaint(f'{_cited(text)} is not a valid key: a file name must not begin with ".."', did_you_mean(rest))
        if rest
        else Complaint(f'"{text}" is not a valid key', "use another key")
    )


def _repair_label(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", _words(text)).strip("-")


def _repair_1035(text: str) -> str:
    return _repair_label(text).lstrip("0123456789-")


def _repair_subdomain(text: str) -> str:
    """Of a URL or an address, only the host remains."""
    if found := _compiled(_URL_OR_ADDRESS).fullmatch(text):
        text = found[1] or found[2]
    return ".".join(filter(None, (_repair_label(part) for part in text.split("."))))


def _repair_name(text: str) -> str:
    return re.sub("[^A-Za-z0-9_.-]+", "-", text).strip("-_.")


def _repair_env(text: str) -> str:
    fixed = re.sub("[^A-Za-z0-9_]+", "_", text).lstrip("0123456789")
    return fixed if fixed.strip("_") else "NAME"


def _repair_identifier(text: str) -> str:
    return re.sub("[^A-Za-z0-9_]+", "_", text).lstrip("0123456789")


def _repair_key(text: str) -> str:
    fixed = re.sub("[^A-Za-z0-9_.-]+", "-", text).strip("-")
    return "" if _climbs(fixed) else fixed


def _repair_header(text: str) -> str:
    return re.sub("[^A-Za-z0-9]+", "-", text).strip("-")


def _words(text: str) -> str:
    """Lower case, with a '-' before each word of camel case."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", text).lower()
