"""HMAC-SHA256 for keys that come again and again: each is set up once and copied for a text."""

import hmac
from functools import lru_cache


def hmac_sha256(key: bytes, text: bytes) -> bytes:
    """The 32 bytes that `hmac.digest(key, text, "sha256")` gives."""
    mac = _keyed(key).copy()
    mac.update(text)
    return mac.digest()


@lru_cache(maxsize=1024)
def _keyed(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")
