"""The names of secrets in what clients send: of parameters, headers, and members of bodies. One list for all uses."""

import re
from typing import Final

MEMBERS: Final = (
    "password", "passwd", "secret", "api_secret", "apiSecret", "client_secret", "webhook_secret", "refresh_token",
    "access_token", "id_token",
    "AccessToken", "RefreshToken", "IdToken", "access_key", "accessKey", "jwt", "bearer", "hmac",
    "passphrase", "passcode", "user_pass", "userPass", "webhook_key", "webhookKey", "shared_key", "sharedKey",
    "signing_key", "signingKey", "private_key", "privateKey", "auth_key", "authKey",
)  # fmt: skip
"""Members of a body, where the others are business data: `token` is what somebody bought, `key` a field's name."""

_PART: Final = re.compile(
    r"token|passw|pass[_.-]?(?:phrase|code)|pwd|secret|signature|authori[sz]|credential|cookie|bearer|hmac"
    r"|(?:api|access|webhook|shared|signing|private|auth)[_.-]?key",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"(?:^|[_.-])(?:key|sig|auth|jwt|pass)$", re.IGNORECASE)
_CAMEL_WORD: Final = re.compile(r"(?<=[a-z0-9])(?:Key|Sig|Auth|Jwt|Pass)$")
# That of OAuth (RFC 6749 4.1.2) is exchanged for a token; `product_code` is business.
_CODE: Final = re.compile(r"(?:o?auth[_.-]?)?code", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether the value of a parameter or header of this name is a secret."""
    return any(pattern.search(name) for pattern in (_PART, _WORD, _CAMEL_WORD)) or _CODE.fullmatch(name) is not None


HARMLESS_HEADERS: Final = frozenset({"x-api-key", "x-signature", "idempotency-key"})
"""The first two are useless without the secret; the last one opens nothing."""

FOREIGN_KEY_CHARS_SHOWN: Final = 8
"""Of an `X-Api-Key` that is none of the sandbox: enough to recognize it by. It may be a secret in the wrong place."""


def is_secret_header(name: str) -> bool:
    """Whether the whole value of a header of this name is a secret."""
    return is_secret_name(name) and name.lower() not in HARMLESS_HEADERS
