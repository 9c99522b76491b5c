"""Certificates and private keys of TLS Secrets. The API server warns about mismatches: warningsForSecret, tls.X509KeyPair of Go.

Only the public keys of RSA and elliptic-curve pairs are compared. Keys of other kinds are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Node, Problem, declare, validator
from kcheck_spec._support import pem
from kcheck_spec.storage.config_maps_and_secrets import contents

key_pair = declare("tls-key-pair-mismatch", "Certificate and private key of a kubernetes.io/tls Secret do not match", severity=WARNING)

_VERSION, _POINT = 0xA0, 0xA1


@validator("core/v1 Secret", rule=key_pair)
def certificate_fits_key(secret: Node) -> Iterator[Problem]:
    """Yield certificates and keys that are not PEM, and keys of another certificate than the first one of the chain."""
    held = contents(secret)
    certificate, private = held.get("tls.crt"), held.get("tls.key")
    if secret["type"].text != "kubernetes.io/tls" or certificate is None or private is None:
        return
    wrong = _compare(certificate, private)
    if wrong:
        key, message = wrong
        entry = secret["stringData"][key]
        yield Problem(entry if entry.exists else secret["data"][key], message, at="key")


def _compare(certificate: bytes, key: bytes) -> tuple[str, str] | None:
    """The key of the Secret with an invalid value, and a message; None where both match or their public keys are unknown."""
    chain = [block for label, block in pem.blocks(certificate) if label == "CERTIFICATE"]
    if not chain:
        return "tls.crt", Complaint("tls.crt contains no PEM certificate", "use a certificate that begins with -----BEGIN CERTIFICATE-----")
    private = next(((label, block) for label, block in pem.blocks(key) if label.endswith("PRIVATE KEY")), None)
    if private is None:
        return "tls.key", Complaint("tls.key contains no PEM private key", "use a key that begins with -----BEGIN PRIVATE KEY-----")
    try:
        public = _public_key(chain[0])
    except pem.BadDer:
        return "tls.crt", Complaint("the first certificate of tls.crt is not valid DER", "encode the certificate again")
    try:
        own = _own_public_key(*private)
    except pem.BadDer:
        return "tls.key", Complaint("the private key of tls.key is not valid DER", "encode the key again")
    if own is not None and own != public:
        return "tls.key", Complaint("tls.key does not match the first certificate of tls.crt", "use the private key of this certificate")
    return None


def _public_key(certificate: bytes) -> bytes:
    """The public key of a certificate: the modulus of RSA, the point of an elliptic curve."""
    signed = pem.parts(pem.only(pem.only(certificate, pem.SEQUENCE), pem.SEQUENCE))
    # Version (where given), serial number, algorithm, issuer, validity, subject, key.
    fields = signed[1:] if signed and signed[0][0] == _VERSION else signed
    if len(fields) < 6:
        raise pem.BadDer
    key = pem.parts(fields[5][1])
    if len(key) < 2 or key[1][0] != pem.BITS:
        raise pem.BadDer
    bits = key[1][1][1:]
    return _modulus(bits, 0) if bits[:1] == bytes([pem.SEQUENCE]) else bits


def _own_public_key(label: str, key: bytes) -> bytes | None:
    """The public key that a private key contains, None where it contains none."""
    parts = pem.parts(pem.only(key, pem.SEQUENCE))
    if label == "PRIVATE KEY":
        if len(parts) < 3 or parts[2][0] != pem.OCTETS:
            raise pem.BadDer
        inner = parts[2][1]
        return _own_public_key("", inner) if inner[:1] == bytes([pem.SEQUENCE]) else None
    if len(parts) > 2 and parts[1][0] == pem.INTEGER:
        return _modulus(key, 1)
    point = next((value for tag, value in parts if tag == _POINT), None)
    return pem.only(point, pem.BITS)[1:] if point is not None else None


def _modulus(key: bytes, place: int) -> bytes:
    """An RSA modulus, the integer at an index of a sequence."""
    parts = pem.parts(pem.only(key, pem.SEQUENCE))
    if len(parts) <= place or parts[place][0] != pem.INTEGER:
        raise pem.BadDer
    return parts[place][1].lstrip(b"\0")
