"""The names in a CustomResourceDefinition.

Source: ValidateCustomResourceDefinition, ValidateCustomResourceDefinitionNames, validateAPIApproval (apiextensions-apiserver,
pkg/apis/apiextensions/validation) and SetDefaults_CustomResourceDefinitionSpec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Resource, declare, fields, help_of, names, urls, validator
from kcheck_spec.objects.common_constraints import one_of, require, required, text
from kcheck_spec.objects.engine import unsupported_value

crd_names = declare("invalid-crd-names", "CustomResourceDefinition has invalid names (metadata.name, spec.names, spec.group)", fixable=True)

DEFINITION = "apiextensions/v1 CustomResourceDefinition"
APPROVAL = "api-approved.kubernetes.io"
_MAX_KIND = 63
_PROTECTED = (".k8s.io", ".kubernetes.io")


def kind_name(text: str) -> str:
    """What is wrong with a kind; "" for a valid one, which is a DNS label (RFC 1035) that may have uppercase letters."""
    if not names.dns1035_label(text.lower()):
        return ""
    if len(text) > _MAX_KIND:
        return Complaint(f'kind "{text}" has {len(text)} characters, more than the maximum of {_MAX_KIND}', "shorten it")
    words = re.findall("[A-Za-z0-9]+", text)
    better = "".join(word[0].upper() + word[1:] for word in words).lstrip("0123456789")
    message = f'kind "{text}" is not valid: it must begin with a letter and have only letters, digits and "-"'
    return Complaint(message, f"use {better}" if better else "")


def _group(text: str) -> str:
    return names.fully_qualified(text, parts=2)


def _word_problems(words: Node) -> Iterator[Problem]:
    for word in words:
        if word.value.__class__ not in (str, type(None)):
            continue
        if wrong := names.dns1035_label(word.text):
            yield Problem(word, wrong, reason="Invalid")


_words = Constraint(crd_names, _word_problems)
_label = text(names.dns1035_label, crd_names)
_kind = text(kind_name, crd_names)

tables = [
    fields("apiextensions/v1 CustomResourceDefinition", spec=()),
    fields(
        "apiextensions/v1 CustomResourceDefinitionSpec",
        group=(required, text(_group, crd_names)),
        scope=(required, one_of("Cluster", "Namespaced", of=unsupported_value)),
        names=(),
    ),
    fields(
        "apiextensions/v1 CustomResourceDefinitionNames",
        plural=(required, _label),
        singular=_label,
        kind=(required, _kind),
        listKind=_kind,
        shortNames=_words,
        categories=_words,
    ),
]


@validator("apiextensions/v1 CustomResourceDefinitionSpec", rule=crd_names)
def names_come_from_kind(spec: Node) -> Iterator[Problem]:
    """Yield singular and listKind without a valid default, which comes from kind, and a listKind that equals kind."""
    kind, singular, listed = spec["names"]["kind"], spec["names"]["singular"], spec["names"]["listKind"]
    for key, each, ending in (("singular", singular, ""), ("listKind", listed, "List")):
        if each.text:
            continue
        if kind.value in (None, ""):
            yield require(each, Complaint(f"spec.names.kind is missing ({key} defaults from it)", "add kind"))
        elif wrong := kind_name(kind.text + ending):
            # The default of singular is the kind in lower case, and a kind that is fixed fixes both.
            help = help_of(kind_name(kind.text)) or help_of(wrong)
            yield Problem(kind, f"{key} defaults from kind: {wrong}", help=help, reason="Invalid", field=each)
    if kind.text and kind.text == listed.text:
        message = f'listKind "{listed.text}" is the same as kind'
        yield Problem(listed, message, help=f"set it to {kind.text}List, or remove it", reason="Invalid")


@validator(DEFINITION, rule=crd_names)
def name_is_plural_and_group(crd: Resource) -> Iterator[Problem]:
    """Yield names other than <plural>.<group>."""
    plural, group = crd["spec"]["names"]["plural"].text, crd["spec"]["group"].text
    wanted = f"{plural}.{group}"
    name, prefix = crd["metadata"]["name"], crd["metadata"]["generateName"]
    if not plural or not group:
        help = f"set spec.{'group' if plural else 'names.plural'} first"
    elif names.dns1035_label(plural) or _group(group):
        help = "set spec.names.plural and spec.group to valid names first"
    else:
        help = f"set metadata.name to {wanted}"
    if prefix.text and prefix.text != wanted:
        message = "generateName is not allowed: a CustomResourceDefinition must be named <plural>.<group>"
        yield Problem(prefix, message, help=f"remove generateName, and {help}", reason="Invalid", at="key")
        if not name.text:
            message = f'names that are generated from "{prefix.text}" are not valid: the name must be <plural>.<group>'
            yield Problem(prefix, message, help=help, reason="Invalid", field=name)
    if name.text and name.text != wanted and not names.dns_subdomain(name.text):
        message = f'metadata.name "{name.text}" is not valid: a CustomResourceDefinition must be named <plural>.<group>'
        yield Problem(name, message, help=help, reason="Invalid")


@validator(DEFINITION, rule=crd_names)
def protected_groups_are_approved(crd: Resource) -> Iterator[Problem]:
    """Yield definitions in a protected group of Kubernetes without a valid approval annotation."""
    group = crd["spec"]["group"].text
    if not f".{group}".endswith(_PROTECTED):
        return
    approval = crd["metadata"]["annotations"][APPROVAL]
    if not approval.text:
        help = f"use another group, or add the annotation {APPROVAL} with the URL of the pull request that approved the API"
        yield require(approval, Complaint(f'spec.group "{group}" is reserved for Kubernetes', help))
    elif not approval.text.startswith("unapproved") and not _is_link(approval.text):
        message = f'annotation {APPROVAL} "{approval.text}" is neither a URL nor begins with "unapproved"'
        yield Problem(approval, message, help="set it to the URL of the pull request that approved the API", reason="Invalid")


def _is_link(text: str) -> bool:
    try:
        url = urls.parse(text)
    except urls.BadUrl:
        return False
    return bool(url.scheme and url.host)
