"""The headers of SPEC 5 and 9: their names as clients write them, and in lower case, as they arrive."""

from collections.abc import Iterable

WRITTEN_API_KEY = "X-Api-Key"
WRITTEN_TIMESTAMP = "X-Timestamp"
WRITTEN_NONCE = "X-Nonce"
WRITTEN_SIGNATURE = "X-Signature"
WRITTEN_AUTHORIZATION = "Authorization"
WRITTEN_API_VERSION = "X-API-Version"

API_KEY = WRITTEN_API_KEY.lower().encode()
TIMESTAMP = WRITTEN_TIMESTAMP.lower().encode()
NONCE = WRITTEN_NONCE.lower().encode()
SIGNATURE = WRITTEN_SIGNATURE.lower().encode()
AUTHORIZATION = WRITTEN_AUTHORIZATION.lower().encode()
API_VERSION = WRITTEN_API_VERSION.lower().encode()

# The headers that a signature requires beside the key.
SIGNATURE_HEADERS = (TIMESTAMP, NONCE, SIGNATURE)


def joined(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by their names in lower case; repeated headers are joined by a comma, which none of our formats
    accepts."""
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        lower = name.lower()
        headers[lower] = headers[lower] + b", " + value if lower in headers else value
    return headers
