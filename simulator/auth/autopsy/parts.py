"""Mistakes in the timestamp, the nonce and the method of the signed string."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from simulator.auth.autopsy.facts import Facts, Variant, variant

_USUAL_METHODS = (b"GET", b"POST")
_METHODS = (b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS")
_NEAR_S = 2
_FAR_S = 300
_HALF_HOURS = 28  # half hours in the largest offset of a time zone
_DIGITS_MAX = 11  # the year 5138
_MILLISECONDS_DIGITS = 13


def _second(timestamp: bytes) -> int:
    """The number, 0 when it is none of this age."""
    is_number = timestamp.isdigit() and len(timestamp) <= _DIGITS_MAX
    return int(timestamp) if is_number else 0


def _moment(second: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


def timestamps(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    sent = facts.timestamp
    yield variant("timestamp-in-milliseconds", sent + b"000")
    if len(sent) == _MILLISECONDS_DIGITS and sent.isdigit():
        yield variant("timestamp-in-seconds", sent[:-3])
        yield variant("timestamp-in-seconds", b"%d" % round(int(sent) / 1000))
    yield variant("timestamp-missing", b"")
    second = _second(sent)
    for off in range(-_NEAR_S, _NEAR_S + 1) if second else ():
        yield variant("timestamp-another", b"%d" % (second + off))
    if second:
        moment = _moment(second)
        for pattern in ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.000Z"):
            yield variant("timestamp-as-date", moment.strftime(pattern).encode())


def rare_timestamps(facts: Facts) -> Iterator[Variant]:
    """Dates and fractions."""
    sent = facts.timestamp
    if not (second := _second(sent)):
        return
    yield variant("timestamp-with-fraction", sent + b".0")
    moment = _moment(second)
    for pattern in ("%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%d %H:%M:%S"):
        yield variant("timestamp-as-date", moment.strftime(pattern).encode())
    yield variant("timestamp-as-date", format_datetime(moment, usegmt=True).encode())


def dear_timestamps(facts: Facts) -> Iterator[Variant]:
    """Each millisecond of the second and of those beside it, each second of ten minutes, and time zones."""
    if not (second := _second(facts.timestamp)):
        return
    yield from milliseconds(facts)
    as_date = variant("timestamp-as-date", b"").found
    for off in (0, -1, 1):
        text = _moment(second + off).strftime("%Y-%m-%dT%H:%M:%S").encode()
        for millisecond in range(1000):
            yield Variant(as_date, b"%s.%03dZ" % (text, millisecond))
    for off in range(-_FAR_S, _FAR_S + 1):
        yield variant("timestamp-another", b"%d" % (second + off))
    for half_hours in range(-_HALF_HOURS, _HALF_HOURS + 1):
        yield variant("timestamp-another", b"%d" % (second + half_hours * 1800))


def milliseconds(facts: Facts) -> Iterator[Variant]:
    """Each millisecond of the second, and after that of those beside it."""
    second = _second(facts.timestamp)
    found = variant("timestamp-in-milliseconds", b"").found
    for millisecond in (*range(1000), *range(-1, -1001, -1), *range(1000, 2000)) if second else ():
        yield Variant(found, b"%d" % (second * 1000 + millisecond))


def nonces(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    sent = facts.nonce
    yield variant("nonce-in-lower-case", sent.lower())
    yield variant("nonce-in-upper-case", sent.upper())
    yield variant("nonce-missing", b"")
    yield variant("nonce-without-dashes", sent.replace(b"-", b""))


def rare_nonces(facts: Facts) -> Iterator[Variant]:
    """Other spellings, and nonces of other requests."""
    sent = facts.nonce
    yield variant("nonce-encoded", b64encode(sent))
    yield variant("nonce-encoded", sent.hex().encode())
    yield variant("nonce-quoted", b'"' + sent + b'"')
    for nonce in facts.nonces:
        yield variant("nonce-another", nonce)


def methods(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    sent = facts.method
    yield variant("method-in-lower-case", sent.lower())
    yield variant("method-capitalised", sent.capitalize())
    for method in _USUAL_METHODS:
        yield variant("method-another", method)
    yield variant("method-missing", b"")


def rare_methods(facts: Facts) -> Iterator[Variant]:
    """Methods that the API has not, and others in lower case."""
    for method in _METHODS:
        yield variant("method-another", method)
    for method in (*_USUAL_METHODS, *_METHODS):
        yield variant("method-another", method.lower())
