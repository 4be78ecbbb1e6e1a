"""What a refused request is known by, and the pieces of which a search makes the strings that a client may have
signed."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import msgspec

from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import QueryRules

BODY_BYTES_MAX = 64 * 1024  # of a longer body only the hash is looked at
QUERY_BYTES_MAX = 4096  # of a longer query only what costs little is tried


class Other(NamedTuple):
    """Another secret that may have been used. `name` is in words, such as `the key K of reseller R`; empty for one that
    was replaced or belongs to no key."""

    name: str
    secret: bytes


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came. `signature` is the whole value of X-Signature; `secret` is decoded, `hashed` is the body's
    hash by SPEC 5.1; `prefix` is the part of the path before `/v2`; `others` and `nonces` (of other requests) come from
    whoever knows them, since a stranger must not learn about them."""

    timestamp: bytes
    nonce: bytes
    method: bytes
    query: bytes
    body: bytes
    hashed: bytes
    signature: bytes
    secret: bytes
    path: bytes = b""
    prefix: bytes = b""
    host: bytes = b""
    api_key: bytes = b""
    rules: QueryRules = QueryRules()
    others: tuple[Other, ...] = ()
    nonces: tuple[bytes, ...] = ()


class Parts(NamedTuple):
    """The parts of a canonical string behind `v1`."""

    timestamp: bytes
    nonce: bytes
    method: bytes
    query: bytes
    hashed: bytes


class Variant(NamedTuple):
    """A part or the key as a client may have it, and the mistakes that make it so: none when it is right."""

    found: tuple[Found, ...]
    value: bytes


Join = Callable[[Parts], bytes]


class Joining(NamedTuple):
    """A way to make the string of the parts."""

    found: tuple[Found, ...]
    join: Join


def variant(name: str, value: bytes, shown: str = "") -> Variant:
    """A value that one mistake leads to."""
    return Variant(_found(name, shown), value)


def both(one: str, other: str, value: bytes) -> Variant:
    """A value that two mistakes in one place lead to."""
    return Variant((*_found(one, ""), *_found(other, "")), value)


@lru_cache(maxsize=1024)
def _found(name: str, shown: str) -> tuple[Found]:
    return (Found(name, shown),)
