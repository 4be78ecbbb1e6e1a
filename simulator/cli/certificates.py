"""The certificate that a server speaks TLS with, and its key: read from files, and until when clients accept it."""

import re
import ssl
from datetime import datetime
from pathlib import Path
from typing import Final

from simulator.cli.usage import CannotStart
from simulator.domain.model.instants import instant
from simulator.whole_files import CannotRead, content_of

_CERTIFICATE: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
# The field of a certificate that has its two dates, each in one of two forms (RFC 5280 4.1.2.5).
_VALIDITY: Final = re.compile(rb"\x30.(?:\x17\x0d|\x18\x0f)\d{12,14}Z(?:\x17\x0d|\x18\x0f)(\d{12,14})Z", re.DOTALL)


def context_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context for new connections, from two files in PEM: the certificate, followed by the certificates of
    its authorities, and its key. Raises `CannotStart`."""
    for path, what in ((certificate, "CERTIFICATE"), (key, "PRIVATE KEY")):
        if f"{what}-----".encode() not in (content := _content(path)):
            raise CannotStart(f"{path}: has no line -----BEGIN {what}-----: it must be in PEM")
    if b"ENCRYPTED" in content:
        raise CannotStart(f"{key}: has a passphrase; remove the passphrase, and let only your user read the file")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0  # a client that reconnects is shown the present certificate
    context.options |= ssl.OP_NO_TICKET
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # also of TLS
        reason = getattr(error, "reason", None) or error.strerror
        is_of_another = reason in ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH")
        why = "the key does not belong to the certificate" if is_of_another else f"they cannot be used ({reason})"
        raise CannotStart(f"{certificate} and {key}: {why}") from None
    return context


def expiry_of(certificate: Path) -> datetime:
    """Return the earliest expiry of the certificates in a file in PEM: the first one and its authorities. Raises
    `CannotStart`."""
    try:
        encoded = [ssl.PEM_cert_to_DER_cert(pem.decode()) for pem in _CERTIFICATE.findall(_content(certificate))]
        # Years up to 2049 have two digits.
        times = [f"20{found[1].decode()}"[-14:] for found in map(_VALIDITY.search, encoded) if found]
        ends = [instant(f"{text[:8]}T{text[8:]}Z") for text in times]
    except ValueError as error:
        raise CannotStart(f"{certificate}: cannot be read as PEM ({error})") from None
    if not encoded or len(ends) < len(encoded):
        raise CannotStart(f"{certificate}: cannot be read as PEM (no certificate has dates)")
    return min(ends)


def _content(path: Path) -> bytes:
    """Return the content of a file. Raises `CannotStart`."""
    try:
        return content_of(path)
    except CannotRead as wrong:
        raise CannotStart(f"{path}: {wrong}") from None
