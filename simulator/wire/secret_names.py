"""The names of secrets in what clients send: of parameters, headers, and members of bodies. One list for all uses."""

import re
from typing import Final

MEMBERS: Final = (
    "password", "passwd", "secret", "client_secret", "webhook_secret", "refresh_token", "access_token", "id_token",
    "AccessToken", "RefreshToken", "IdToken", "access_key", "accessKey", "jwt", "bearer", "hmac",
)  # fmt: skip
"""Members of a body, where the others are business data: `token` is what somebody bought, `key` a field's name."""

_PART: Final = re.compile(
    r"token|passw|pwd|secret|signature|authori[sz]|credential|cookie|api.?key|access.?key|bearer|hmac", re.IGNORECASE
)
_WORD: Final = re.compile(r"(?:^|[_.-])(?:key|sig|auth|jwt|pass)$", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether the value of a parameter or header of this name is a secret."""
    return _PART.search(name) is not None or _WORD.search(name) is not None
