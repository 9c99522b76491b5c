"""Formats that the API server requires of names: one function per rule, which returns "" for a valid text, otherwise a Complaint.

The rules are those of Kubernetes 1.36 (k8s.io/apimachinery, util/validation and api/validate/content). Lengths count bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from kcheck.text.complaint import Complaint, help_of

Rule = Callable[[str], str]

_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_LABEL_1035 = "[a-z](?:[a-z0-9-]*[a-z0-9])?"
_SEARCH_PART = "_?[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?"
_SEARCH = rf"{_SEARCH_PART}(?:\.{_SEARCH_PART})*"
_NAME_PART = "(?:[A-Za-z0-9][A-Za-z0-9_.-]*)?[A-Za-z0-9]"
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
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
    return _check(text, _LABEL, 63, "a DNS label", "a-z, 0-9 and '-'", "a-z or 0-9", _repair_label)


def dns_subdomain(text: str) -> str:
    """RFC 1123 subdomain: the name of most objects."""
    return _check(text, _SUBDOMAIN, 253, "a DNS subdomain", "a-z, 0-9, '-' and '.'", "a-z or 0-9", _repair_subdomain)


def dns1035_label(text: str) -> str:
    """RFC 1035 label, which begins with a letter: plural and singular of a CRD, the version of an API."""
    return _check(text, _LABEL_1035, 63, "a DNS label (RFC 1035)", "a-z, 0-9 and '-'", "a-z", _repair_1035)


def wildcard_subdomain(text: str) -> str:
    """`*.` and a subdomain: a host of an Ingress that begins with '*'."""
    if text.startswith("*.") and len(text) <= 253 and _compiled(_SUBDOMAIN).fullmatch(text, 2):
        return ""
    if text.startswith("*."):
        wrong = dns_subdomain(text[2:])
        return Complaint(f"after '*.', {wrong}", help_of(wrong)) if wrong else _too_long(text, "a wildcard host", 253)
    return Complaint("a wildcard stands for the whole first part of a host and nowhere else", "write *.example.com")


def dns_search(text: str) -> str:
    """Subdomain that may contain '_': a search domain of dnsConfig."""
    return _check(text, _SEARCH, 253, "a search domain", "a-z, 0-9, '-', '_' and '.'", "a-z or 0-9 (or '_')", _repair_subdomain)


def fully_qualified(text: str, *, parts: int = 3) -> str:
    """Subdomain of at least `parts` parts: three for the name of a webhook, two for the group of a CRD."""
    wrong = dns_subdomain(text)
    if not wrong and text.count(".") < parts - 1:
        return Complaint(f"at least {parts} parts separated by dots are needed", f"write {text}.example.com")
    return wrong


def domain_name(text: str) -> str:
    """Domain of two parts or more, each a label, a final dot allowed: an address of an EndpointSlice of type FQDN, a signer's domain."""
    bare = text.removesuffix(".")
    return fully_qualified(bare, parts=2) or next(filter(None, map(dns_label, bare.split("."))), "")


def qualified_name(text: str, *, noun: str = "a qualified name") -> str:
    """[prefix/]name with a subdomain as prefix: label keys, annotation keys (in lower case), taints, resource names, conditions."""
    prefix, slash, name = text.rpartition("/")
    if (
        _compiled(_NAME_PART).fullmatch(name)
        and len(name) <= 63
        and (not slash or (len(prefix) <= 253 and _compiled(_SUBDOMAIN).fullmatch(prefix)))
    ):
        return ""
    if "/" in prefix:
        shorter = f"{_shown(text.split('/')[0]) or 'example.com'}/{_shown(name) or 'name'}"
        return Complaint(f"{noun} has one '/' at most, between its prefix and its name", f"write {shorter}")
    if slash and not prefix:
        return Complaint(f"{noun} cannot begin with '/'", f"name a domain before it, or write {_shown(name) or 'a name'} alone")
    if slash and (wrong := dns_subdomain(prefix)):
        return Complaint(f"the prefix of {noun} must be a DNS subdomain: {wrong}", help_of(wrong))
    return _check(name, _NAME_PART, 63, f"the name part of {noun}" if slash else noun, _WIDE, "a letter or digit", _repair_name)


def prefixed_name(text: str) -> str:
    """Qualified name that must have its prefix, such as example.com/gpu."""
    return qualified_name(text) or ("" if "/" in text else Complaint("a domain must stand before the name", f"write example.com/{text}"))


def domain_path(text: str) -> str:
    """Domain, '/' and any path: the controller of an IngressClass, the managedBy of a Job."""
    domain, slash, path = text.partition("/")
    if not (domain and slash and path):
        return Complaint("a domain, '/' and a path are needed", f"write example.com/{_shown(path or domain) or 'name'}")
    if wrong := dns_subdomain(domain):
        return Complaint(f"what stands before the '/' must be a DNS subdomain: {wrong}", help_of(wrong))
    return (
        ""
        if _compiled(_PATH).fullmatch(path)
        else Complaint("the path after the domain has a character that a URL cannot carry", "take it out")
    )


def path_segment(text: str) -> str:
    """Name that is only a part of a URL: Roles, bindings, and the custom names of a few other kinds. Colons are allowed."""
    return Complaint(f"{text!r} cannot be a name: it means a folder", "write another") if text in (".", "..") else path_segment_prefix(text)


def path_segment_prefix(text: str) -> str:
    """generateName where the name is a path segment: more text follows, so '.' may begin it."""
    found = next((char for char in "/%" if char in text), "")
    return (
        Complaint(f"{found!r} cannot stand in a name, which is part of a URL", f"write {_shown(text.replace('/', '-').replace('%', '-'))}")
        if found
        else ""
    )


def env_name(text: str) -> str:
    """Environment variable, relaxed as 1.36 reads `env[].name`, the prefix of envFrom and fileKeyRef keys: printable ASCII but '='."""
    if not text:
        return "an environment variable needs a name"
    found = next((char for char in text if not " " <= char <= "~" or char == "="), "")
    return Complaint(f"{found!r} cannot stand in the name of an environment variable", f"write {_repair_env(text)}") if found else ""


def env_name_strict(text: str) -> str:
    """Environment variable that every shell and older servers accept; most programs cannot read a key of envFrom that breaks this."""
    return _check(text, _ENV_STRICT, 0, "an environment variable", _WIDE, "a letter, '_', '-' or '.'", _repair_env) or _climbs(text)


def port_name(text: str) -> str:
    """IANA service name: the name of a port, and a port given by name."""
    if len(text) > 15:
        return _too_long(text, "the name of a port", 15)
    found = next((char for char in text if not (char.isascii() and (char.islower() or char.isdigit() or char == "-"))), "")
    if found:
        fixed = _repair_label(text)
        return Complaint(f"{found!r} cannot stand in the name of a port (only a-z, 0-9 and '-')", _write(text, fixed, port_name))
    if not any(char.islower() for char in text):
        number = " (a number stands without quotes)" if text.isdigit() else ""
        return f"the name of a port needs a letter a-z{number}"
    if "--" in text or text[0] == "-" or text[-1] == "-":
        fixed = re.sub("-+", "-", text).strip("-")
        return Complaint("'-' stands single and inside the name of a port", _write(text, fixed, port_name))
    return ""


def c_identifier(text: str) -> str:
    """Letters, digits and '_', no digit first: the attributes of a device."""
    return _check(text, _C_IDENTIFIER, 0, "an identifier", "letters, digits and '_'", "a letter or '_'", _repair_identifier)


def cel_identifier(text: str) -> str:
    """Name of a CEL variable: an identifier that is not reserved by the language."""
    if text in _CEL_RESERVED:
        return Complaint(f"{text} is a word of CEL", f"write {text}_")
    return c_identifier(text)


def config_key(text: str) -> str:
    """Key of a ConfigMap or Secret, which becomes a file name."""
    return _check(text, _CONFIG_KEY, 253, "a key", _WIDE, "", _repair_key) or _climbs(text)


def finalizer(text: str) -> str:
    """Name of a finalizer on any object."""
    return qualified_name(text, noun="a finalizer")


def standard_finalizer(text: str) -> str:
    """The additional rule of built-in kinds: a finalizer without a prefix must be one of Kubernetes itself."""
    if "/" in text or text in _STANDARD_FINALIZERS:
        return ""
    return Complaint("a finalizer of your own needs a domain", f"write example.com/{_repair_name(text) or 'name'}")


def http_header(text: str) -> str:
    """Header of a probe or lifecycle hook."""
    return _check(text, _HEADER, 0, "the name of a header", "letters, digits and '-'", "", _repair_header)


def decimal_integer(text: str) -> str:
    """Integer as text in its canonical form: the values of Gt and Lt in a toleration."""
    return (
        ""
        if _compiled(_DECIMAL).fullmatch(text)
        else Complaint("a whole number is needed, without sign '+', leading zeros or blanks", "write 10")
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


_WIDE = "letters, digits, '-', '_' and '.'"


def _check(text: str, pattern: str, most: int, noun: str, alphabet: str, first: str, repair: Callable[[str], str]) -> str:
    """The message for a text that `pattern` does not match or that has more than `most` bytes (0: any)."""
    rule = _compiled(pattern)
    fits = rule.fullmatch(text)
    if fits and (not most or len(text) <= most):
        return ""
    if not text:
        return f"{noun} cannot be empty"
    if fits or (most and len(text) > 4 * most):
        return _too_long(text, noun, most)

    def same(candidate: str) -> str:
        return "" if rule.fullmatch(candidate) and (not most or len(candidate) <= most) else "no"

    write = _write(text, repair(text), same)
    # A character is strange where it cannot even stand between two that may: the ends have rules of their own.
    found = next((char for char in text if not rule.fullmatch(f"a{char}a")), "")
    if found:
        return Complaint(f"{found!r} cannot stand in {noun} (only {alphabet})", write)
    if rule.fullmatch(f"{text}a"):
        return Complaint(f"{noun} ends with a letter or digit", write)
    if rule.fullmatch(f"a{text}"):
        return Complaint(f"{noun} begins with {first}", write)
    if rule.fullmatch(f"a{text}a"):
        return Complaint(f"{noun} begins and ends with a letter or digit", write)
    return Complaint(f"every part of {noun} between dots begins and ends with a letter or digit", write)


def _too_long(text: str, noun: str, most: int) -> str:
    return Complaint(f"{noun} has at most {most} bytes, this has {len(text.encode('utf-8', 'surrogatepass'))}", "shorten it")


def _shown(text: str) -> str:
    """A text for the inside of a message, which is one line."""
    return "".join(char for char in text if char.isprintable())


def _write(text: str, fixed: str, rule: Rule) -> str:
    return f"write {fixed}" if fixed and fixed != text and not rule(fixed) else ""


def _climbs(text: str) -> str:
    if text != "." and not text.startswith(".."):
        return ""
    rest = text.lstrip(".")
    return (
        Complaint("a file name that begins with '..' would leave its folder", f"write {rest}")
        if rest
        else Complaint(f"{text!r} is no name", "choose another")
    )


def _repair_label(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", _words(text)).strip("-")


def _repair_1035(text: str) -> str:
    return _repair_label(text).lstrip("0123456789-")


def _repair_subdomain(text: str) -> str:
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
    """Convert camel case to lower case words separated by "-"."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", text).lower()
