"""HMAC-SHA256 (RFC 2104) for keys that come again and again.

The two hash states that depend on the key alone are kept, so that a request costs two copies of them: less than half
of `hmac.digest`, which sets the key up anew each time.
"""

import hashlib
from functools import lru_cache

_BLOCK_BYTES = 64


def hmac_sha256(key: bytes, text: bytes) -> bytes:
    """The 32 bytes that `hmac.digest(key, text, "sha256")` gives."""
    keyed_inner, keyed_outer = _states(key)
    inner = keyed_inner.copy()
    inner.update(text)
    outer = keyed_outer.copy()
    outer.update(inner.digest())
    return outer.digest()


@lru_cache(maxsize=1024)
def _states(key: bytes) -> "tuple[hashlib._Hash, hashlib._Hash]":
    if len(key) > _BLOCK_BYTES:
        key = hashlib.sha256(key).digest()
    padded = key.ljust(_BLOCK_BYTES, b"\0")
    return (
        hashlib.sha256(bytes(byte ^ 0x36 for byte in padded)),
        hashlib.sha256(bytes(byte ^ 0x5C for byte in padded)),
    )
