"""The names of the headers of SPEC 5 and 9: as clients write them, and in lower case, as they arrive."""

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
