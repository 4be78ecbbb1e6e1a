"""Cursors of the delivery list: opaque, bound to one reseller and one set of filters, verified when they return."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import NamedTuple

from simulator.api.call import Call
from simulator.contract.body import BadJson, decode_any
from simulator.domain.model import draw
from simulator.wire.json import encode

TAG_BYTES = 16
_FOREIGN = "is not a cursor of this list; send it exactly as the previous page returned it"


class BadCursor(ValueError):
    """A cursor that does not belong to this list; the text says why."""


class Place(NamedTuple):
    """The end of a page: number and id of its last job, and the filters."""

    n: int
    job: str
    filters: dict[str, str]


def encode_cursor(call: Call, place: Place) -> str:
    """Encode a place as a cursor."""
    text = encode([place.n, place.job, place.filters])
    return urlsafe_b64encode(_tag(call, text) + text).decode().rstrip("=")


def decode_cursor(call: Call, cursor: str) -> Place:
    """Decode and verify a cursor. Raises `BadCursor`."""
    try:
        whole = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except (Base64Error, ValueError):
        raise BadCursor(_FOREIGN) from None
    tag, text = whole[:TAG_BYTES], whole[TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(call, text)):
        raise BadCursor(_FOREIGN)
    try:
        return Place(*decode_any(text))
    except BadJson as bad:
        raise AssertionError("we made what carries our tag") from bad


def _tag(call: Call, text: bytes) -> bytes:
    drawn_for = call.sandbox.spec.drawn_for or call.sandbox.id  # a fork gives what its original gave
    key = draw.secret(call.sandbox.seed, "cursor", drawn_for, call.owner.code)
    return hmac.digest(key, text, "sha256")[:TAG_BYTES]
