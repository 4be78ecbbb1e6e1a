"""From when until when certificates are valid, which Python's ssl tells of those alone that it has verified.

Of a certificate in DER (X.509) only what leads to the two times is read.
"""

import binascii
import re
import ssl
from datetime import UTC, datetime
from typing import Final, NamedTuple

_PEM: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE, _VERSION, _UTC_TIME, _TIME = 0x30, 0xA0, 0x17, 0x18
_BEFORE_VALIDITY: Final = 4  # of the fields: serial number, algorithm, issuer, validity
_LONG: Final = 0x80
_TIME_CHARS: Final = 15  # YYYYMMDDHHMMSSZ
_CENTURY_TURNS: Final = 50  # a year of two digits is one of 1950 to 2049


class Validity(NamedTuple):
    """The times of one certificate of a file; `place` is which of how many it is, empty for the only one."""

    begins: datetime
    ends: datetime
    place: str = ""

    def problem(self, now: datetime) -> str:
        """What is wrong with it now, to be read behind the name of its file; empty when nothing is."""
        which = f"certificate {self.place}" if self.place else "the certificate"
        if now >= self.ends:
            return f"{which} expired on {self.ends:%Y-%m-%d at %H:%M:%S} UTC"
        if now < self.begins:
            return f"{which} is not valid before {self.begins:%Y-%m-%d at %H:%M:%S} UTC"
        return ""


def validities(pem: bytes) -> tuple[Validity, ...]:
    """Those of the certificates in a file, in their order, as far as they can be read."""
    blocks = _PEM.findall(pem)
    found = []
    for number, block in enumerate(blocks, 1):
        place = f"{number} of {len(blocks)}" if len(blocks) > 1 else ""
        try:
            found.append(Validity(*_times(ssl.PEM_cert_to_DER_cert(block.decode("ascii"))), place))
        except (ValueError, IndexError, binascii.Error):  # OpenSSL has read what matters, or it says why not
            continue
    return tuple(found)


def _times(der: bytes) -> tuple[datetime, datetime]:
    certificate, _ = _element(der, _SEQUENCE)
    fields, _ = _element(certificate, _SEQUENCE)
    if fields[0] == _VERSION:
        _, fields = _element(fields)
    for _ in range(_BEFORE_VALIDITY):
        validity, fields = _element(fields)
    begins, rest = _time(validity)
    ends, _ = _time(rest)
    return begins, ends


def _time(data: bytes) -> tuple[datetime, bytes]:
    """The time at the beginning, and what is behind it."""
    kind = data[0]
    content, rest = _element(data)
    text = content.decode("ascii")
    if kind == _UTC_TIME:
        text = f"{'19' if int(text[:2]) >= _CENTURY_TURNS else '20'}{text}"
    elif kind != _TIME:
        raise ValueError("no time")
    if len(text) != _TIME_CHARS or not text.endswith("Z"):
        raise ValueError("no time in UTC")
    month, day, hour, minute, second = (int(text[start : start + 2]) for start in range(4, _TIME_CHARS - 1, 2))
    return datetime(int(text[:4]), month, day, hour, minute, second, tzinfo=UTC), rest


def _element(data: bytes, kind: int | None = None) -> tuple[bytes, bytes]:
    """The content of the element at the beginning, and what is behind it."""
    if kind is not None and data[0] != kind:
        raise ValueError("another element")
    length, start = data[1], 2
    if length & _LONG:
        start += length - _LONG
        length = int.from_bytes(data[2:start])
    return data[start : start + length], data[start + length :]
