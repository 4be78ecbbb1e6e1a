"""The certificate that a server speaks TLS with, and its key: read from files, and until when clients accept it."""

import re
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from simulator.cli.usage import CannotStart
from simulator.whole_files import CannotRead, content_of

_CERTIFICATE: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
# The field of a certificate that has its two dates, each in one of two forms (RFC 5280 4.1.2.5).
_VALIDITY: Final = re.compile(rb"\x30.(?:\x17\x0d|\x18\x0f)(\d{12,14})Z(?:\x17\x0d|\x18\x0f)(\d{12,14})Z", re.DOTALL)


def context_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context for new connections, from two files in PEM: the certificate, followed by the certificates of
    its authorities, and its key. Raises `CannotStart`."""
    for path, what in ((certificate, "CERTIFICATE"), (key, "PRIVATE KEY")):
        if f"{what}-----".encode() not in (content := _content(path)):
            raise CannotStart(f"{path}: has no line -----BEGIN {what}-----: it must be in PEM")
    if b"ENCRYPTED" in content:
        raise CannotStart(f"{key}: has a passphrase; give the key without one, in a file that only you can read")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0  # a client that reconnects is shown the present certificate
    context.options |= ssl.OP_NO_TICKET
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        is_of_another = error.reason in ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH")
        why = "the key does not belong to the certificate" if is_of_another else f"they cannot be used ({error.reason})"
        raise CannotStart(f"{certificate} and {key}: {why}") from None
    except OSError as error:  # it went away meanwhile
        raise CannotStart(f"{certificate} and {key}: cannot be read ({error.strerror})") from None
    return context


class Validity(NamedTuple):
    """The interval in which all certificates of a file are valid."""

    begins: datetime
    ends: datetime

    def problem(self, now: datetime) -> str:
        """Return the problem at `now`, to follow the name of its file; empty for a valid certificate."""
        if now >= self.ends:
            return f"the certificate expired on {self.ends:%Y-%m-%d at %H:%M:%S} UTC"
        if now < self.begins:
            return f"the certificate is not valid before {self.begins:%Y-%m-%d at %H:%M:%S} UTC"
        return ""


def validity_of(certificate: Path) -> Validity:
    """Return the validity of the certificates in a file in PEM: the first one and its authorities. Raises
    `CannotStart`."""
    try:
        encoded = [ssl.PEM_cert_to_DER_cert(one.decode()) for one in _CERTIFICATE.findall(_content(certificate))]
        times = [tuple(map(_time_of, found.groups())) for found in map(_VALIDITY.search, encoded) if found]
    except ValueError as error:
        raise CannotStart(f"{certificate}: cannot be read as PEM ({error})") from None
    if not encoded or len(times) < len(encoded):
        raise CannotStart(f"{certificate}: cannot be read as PEM (no certificate has dates)")
    return Validity(max(begins for begins, _ in times), min(ends for _, ends in times))


def _time_of(text: bytes) -> datetime:
    """Return a time of RFC 5280: years up to 2049 have two digits."""
    year, rest = int(text[:-10]), text[-10:]
    month, day, hour, minute, second = (int(rest[at : at + 2]) for at in range(0, len(rest), 2))
    return datetime(year if year > 99 else 2000 + year, month, day, hour, minute, second, tzinfo=UTC)


def _content(path: Path) -> bytes:
    """Return the content of a file. Raises `CannotStart`."""
    try:
        return content_of(path)
    except CannotRead as wrong:
        why = f"cannot be read ({wrong.reason})" if wrong.reason else str(wrong)
        raise CannotStart(f"{path}: {why}") from None
