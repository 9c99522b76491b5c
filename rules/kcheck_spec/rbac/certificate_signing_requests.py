"""CertificateSigningRequests. Source: pkg/apis/certificates/validation, ValidateSignerName (pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, base64, constraint, declare, fields, help_of, names, remove
from kcheck_spec._support import pem
from kcheck_spec.objects.common_constraints import in_range, not_supported, require

certificate_request = declare(
    "invalid-certificate-signing-request",
    "Invalid CertificateSigningRequest (request, signerName, usages, expirationSeconds)",
    fixable=True,
)

_LABEL = "CERTIFICATE REQUEST"
_LEGACY = "kubernetes.io/legacy-unknown"
_MAX_DOMAIN = 253
# A domain, '/', and a name of an object in a namespace.
_MAX_SIGNER = _MAX_DOMAIN + 1 + 63 + 1 + 253
_USAGES = (
    "signing", "digital signature", "content commitment", "key encipherment", "key agreement", "data encipherment", "cert sign", "crl sign",
    "encipher only", "decipher only", "any", "server auth", "client auth", "code signing", "email protection", "s/mime", "ipsec end system",
    "ipsec tunnel", "ipsec user", "timestamping", "ocsp signing", "microsoft sgc", "netscape sgc",
)  # fmt: skip


@constraint(certificate_request, of_absent=True)
def _signer(node: Node) -> Iterator[Problem]:
    """A domain and a name under it, such as example.com/my-signer."""
    name = node.text
    domain, slash, path = name.partition("/")
    if not name:
        help = "add signerName, such as kubernetes.io/kube-apiserver-client"
        yield require(node, Complaint('missing required field "signerName"', help))
    elif name == _LEGACY:
        message = f'signerName "{_LEGACY}" is not allowed in certificates.k8s.io/v1'
        yield Problem(node, message, help="use the signer that issues the certificate", reason="Invalid")
    elif not slash or "/" in path:
        message = f'signerName "{name}" is not of the form domain/name'
        yield Problem(node, message, help="use a name such as example.com/my-signer", reason="Invalid")
    elif len(domain) > _MAX_DOMAIN or len(name) > _MAX_SIGNER:
        message = f"signerName has {len(name)} bytes, but at most {_MAX_SIGNER} are allowed, {_MAX_DOMAIN} of them for the domain"
        yield Problem(node, message, help="shorten signerName", reason="TooLong")
    elif wrong := _first_wrong(name, domain.split("."), names.dns_label) or _needs_dot(domain):
        yield Problem(node, f"invalid domain in signerName: {wrong}", help=help_of(wrong), reason="Invalid")
    elif wrong := _first_wrong(name, path.split("."), names.dns_subdomain):
        yield Problem(node, f"invalid name in signerName: {wrong}", help=help_of(wrong), reason="Invalid")


def _needs_dot(domain: str) -> str:
    return "" if "." in domain else Complaint(f'"{domain}" has only one part', f"use a full domain, such as {domain}.example.com")


@constraint(certificate_request, of_absent=True, closed=True)
def _usages(node: Node) -> Iterator[Problem]:
    """Known usages of the certificate, each once."""
    if not len(node):
        yield require(node, Complaint('missing required field "usages"', "add usages, such as [client auth]"))
    seen: set[str] = set()
    for each in node:
        if each.text not in _USAGES:
            yield not_supported(each, _USAGES)
        if each.text in seen:
            yield Problem(each, f'duplicate usage "{each.text}"', help=remove(), reason="Duplicate")
        seen.add(each.text)


@constraint(certificate_request, of_absent=True)
def _request(node: Node) -> Problem | None:
    """A PEM block with a PKCS #10 certificate request. Its signature is not verified."""
    if node and node.value.__class__ is not str:
        return None
    try:
        text = base64.decode(node.text)
    except base64.BadBase64:
        return None
    label, block = next(pem.blocks(text), ("", b""))
    if label != _LABEL:
        message = f"spec.request contains a {label} instead of a {_LABEL}" if label else "spec.request does not contain a PEM block"
        help = f"use the base64 encoding of a file that begins with -----BEGIN {_LABEL}-----"
        return Problem(node, message, help=help, reason="Invalid")
    if not _is_request(block):
        message = "spec.request does not contain a valid PKCS #10 certificate request"
        return Problem(node, message, help="create the certificate request again and encode the file with base64 -w0", reason="Invalid")
    return None


def _is_request(block: bytes) -> bool:
    """Whether the bytes are one DER value of a signed request: version, name, key and attributes; algorithm; signature."""
    try:
        (tag, content), *rest = pem.parts(block)
        signed, algorithm, signature = pem.parts(content)
        version, subject, key, *_ = pem.parts(signed[1])
    except (pem.BadDer, ValueError):
        return False
    sequences = (tag, signed[0], algorithm[0], subject[0], key[0])
    return not rest and set(sequences) == {pem.SEQUENCE} and version[0] == pem.INTEGER and signature[0] == pem.BITS


tables = [
    fields(
        "certificates/v1 CertificateSigningRequestSpec",
        request=_request,
        signerName=_signer,
        usages=_usages,
        expirationSeconds=in_range(600, None, certificate_request),
    ),
]


def _first_wrong(name: str, parts: list[str], rule: names.Rule) -> str:
    """What is wrong with the first invalid part of a signerName, with help for the whole name; "" if all are valid."""
    for part in parts:
        if wrong := rule(part):
            return Complaint(wrong, names.help_within(name, part, wrong))
    return ""
