"""The algorithms that a signature may be made with, by the length of their digests; the right one and mistakes."""

import hashlib
import hmac
from collections.abc import Callable
from typing import NamedTuple

from simulator.auth.autopsy.mistakes import Found
from simulator.auth.form import DIGEST_BYTES
from simulator.auth.keyed import hmac_sha256

Algorithm = Callable[[bytes], Callable[[bytes], bytes]]
"""Takes a key, and then each string that it makes a digest of."""


class Reading(NamedTuple):
    """A digest that the header may stand for, made by an algorithm, and the mistakes that this supposes."""

    found: tuple[Found, ...]
    algorithm: Algorithm
    digest: bytes


def part_of_it(written: Callable[[bytes], bytes], count: int) -> Algorithm:
    """The first `count` bytes of what the right digest is written as."""

    def algorithm(key: bytes) -> Callable[[bytes], bytes]:
        digest_of = hmac_sha256(key)
        return lambda text: written(digest_of(text))[:count]

    return algorithm


def _hmac(name: str) -> Algorithm:
    return lambda key: lambda text: hmac.digest(key, text, name)


def _hash(mixed: Callable[[bytes, bytes], bytes]) -> Algorithm:
    return lambda key: lambda text: hashlib.sha256(mixed(key, text)).digest()


WITH_SECRET: tuple[tuple[str, Algorithm], ...] = (
    ("key-and-string-swapped", lambda key: lambda text: hmac.digest(text, key, "sha256")),
    ("hash-without-hmac", _hash(lambda key, text: key + text)),
    ("hash-without-hmac", _hash(lambda key, text: text + key)),
    ("hash-without-hmac", _hash(lambda key, text: key + b":" + text)),
    ("hash-without-hmac", _hash(lambda key, text: text + b":" + key)),
    ("sha3-256", _hmac("sha3_256")),
)
"""Mistakes with digests of the right length that only the owner of the secret can make."""

QUICK_ALGORITHMS = 3
"""So many of them are looked for before a request is refused."""

BY_LENGTH: dict[int, tuple[tuple[str, Algorithm], ...]] = {
    DIGEST_BYTES: (
        ("", hmac_sha256),
        *WITH_SECRET,
        ("hash-without-secret", _hash(lambda _, text: text)),
    ),
    20: (("sha-1", _hmac("sha1")),),
    64: (("sha-512", _hmac("sha512")),),
    48: (("sha-384", _hmac("sha384")),),
    16: (("md5", _hmac("md5")),),
}
"""By the length of their digests, with the ids of mistakes; the right one is the first of its length."""
