"""Signs requests with an API key: a timestamp, a nonce, and an HMAC-SHA256 over what is sent."""

import time
from base64 import b64decode, b64encode
from hashlib import sha256
from hmac import digest
from secrets import token_hex


def signed_headers(key: str, secret: str, method: str, query: str, body: bytes) -> dict[str, str]:
    """The four headers of a request. The query is the text after `?` as it is sent, sorted by key.

    The secret is Base64: what it decodes to is the HMAC's key. Every call draws a new nonce, so that a request that is
    sent again is signed again.
    """
    timestamp, nonce = str(int(time.time())), token_hex(16)
    body_hash = b64encode(sha256(body).digest()).decode()
    text = f"v1:{timestamp}:{nonce}:{method}:{query}:{body_hash}"
    signature = b64encode(digest(b64decode(secret), text.encode(), "sha256")).decode()
    return {
        "X-Api-Key": key,
        "X-Timestamp": timestamp,
        "X-Nonce": nonce,
        "X-Signature": f"v1={signature}",
    }
