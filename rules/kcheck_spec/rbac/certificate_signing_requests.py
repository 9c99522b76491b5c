"""CertificateSigningRequests. Source: pkg/apis/certificates/validation, ValidateSignerName (pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, base64, constraint, declare, fields, help_of, names
from kcheck_spec._support import pem
from kcheck_spec.objects.common_constraints import in_range, not_supported, require

certificate_request = declare(
    "invalid-certificate-signing-request", "Invalid CertificateSigningRequest (request, signerName, usages, expirationSeconds)"
)

_LABEL = "CERTIFICATE REQUEST"
_LEGACY = "kubernetes.io/legacy-unknown"
_LONGEST_DOMAIN = 253
# A domain, '/', and a name of an object in a namespace.
_LONGEST_SIGNER = _LONGEST_DOMAIN + 1 + 63 + 1 + 253
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
        yield require(node, Complaint("a request needs its signer", "add signerName, such as kubernetes.io/kube-apiserver-client"))
    elif name == _LEGACY:
        yield Problem(node, f"{_LEGACY} is of a former version", help="write the signer that is meant", reason="Invalid")
    elif not slash or "/" in path:
        yield Problem(node, f"{name} is no domain with one name under it", help="write example.com/my-signer", reason="Invalid")
    elif len(domain) > _LONGEST_DOMAIN or len(name) > _LONGEST_SIGNER:
        message = f"{len(name)} bytes are too many: {_LONGEST_DOMAIN} for the domain, {_LONGEST_SIGNER} in all"
        yield Problem(node, f"{message} at most", reason="TooLong")
    elif wrong := next(filter(None, map(names.dns_label, domain.split("."))), "") or _needs_dot(domain):
        yield Problem(node, f"what stands before the '/' is no domain: {wrong}", help=help_of(wrong), reason="Invalid")
    elif wrong := next(filter(None, map(names.dns_subdomain, path.split("."))), ""):
        yield Problem(node, f"what stands after the '/' is no name: {wrong}", help=help_of(wrong), reason="Invalid")


def _needs_dot(domain: str) -> str:
    return "" if "." in domain else Complaint("it needs two parts", f"write {domain}.example.com")


@constraint(certificate_request, of_absent=True, closed=True)
def _usages(node: Node) -> Iterator[Problem]:
    """What the certificate is for, each use once."""
    if not len(node):
        yield require(node, Complaint("a certificate needs a use", "add usages, such as [client auth]"))
    seen: set[str] = set()
    for each in node:
        if each.text not in _USAGES:
            yield not_supported(each, _USAGES)
        if each.text in seen:
            yield Problem(each, f"{each.text or 'an empty use'} stands in usages already", help="take it away", reason="Duplicate")
        seen.add(each.text)


@constraint(certificate_request, of_absent=True)
def _request(node: Node) -> Problem | None:
    """PEM, and in it a request as PKCS #10 has it. Whether its signature is right is left open."""
    if node and node.value.__class__ is not str:
        return None
    try:
        text = base64.decode(node.text)
    except base64.BadBase64:
        return None
    label, block = next(pem.blocks(text), ("", b""))
    if label != _LABEL:
        found = f"request holds a {label}" if label else "request holds no PEM"
        return Problem(node, f"{found}", help=f"write base64 of a file that begins with -----BEGIN {_LABEL}-----", reason="Invalid")
    if not _is_request(block):
        return Problem(node, "the request cannot be read", help="encode the file again", reason="Invalid")
    return None


def _is_request(block: bytes) -> bool:
    """Whether it is one DER value of a signed request: version, name, key and attributes; algorithm; signature."""
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
