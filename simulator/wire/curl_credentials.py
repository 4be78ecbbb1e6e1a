"""The Authorization header that curl 7.88 makes of a user, of a bearer token, or of the userinfo of a URL."""

import os
import re
from base64 import b64encode
from typing import Final
from urllib.parse import unquote_to_bytes

BY_EXCHANGE: Final = ("--digest", "--ntlm", "--ntlm-wb", "--negotiate", "--anyauth", "--aws-sigv4")
"""Options with which curl makes credentials of its own, which depend on what the server answers or on the time."""
FROM_FILE: Final = ("--netrc", "--netrc-optional", "--netrc-file")
_AUTHORITY: Final = re.compile(r"(https?://)([^/?]*)@")


class NoHeader(ValueError):
    """Curl sends no such header; the text says why."""


def without_userinfo(target: str) -> tuple[str, str | None]:
    """A URL as its server sees it, and the userinfo that it had, None for none. Raises `NoHeader`."""
    found = _AUTHORITY.match(target)
    if found is None:
        return target, None
    if "@" in found[2] or "%00" in found[2]:
        raise NoHeader("curl refuses a URL with two @, or %00, before its host: write @ in a password as %40")
    return found[1] + target[found.end() :], found[2]


def authorization(user: str | None, token: str | None, userinfo: str | None, *, is_basic: bool) -> str | None:
    """The line of the header, of the values of `--user` and `--oauth2-bearer` and of a URL's userinfo, None for none.
    `is_basic` says that `--basic` was given. Raises `NoHeader`."""
    if token is not None:
        if is_basic:
            raise NoHeader("curl sends no credentials for --basic beside --oauth2-bearer: give one of them")
        if "\n" in token or "\r" in token:
            raise NoHeader("the token of --oauth2-bearer has a line end: give it as one line")
        return f"Authorization: Bearer {token}"
    if user is not None:
        if ":" not in user:
            raise NoHeader("curl asks for the password of --user: give --user NAME:PASSWORD")
        return _basic(os.fsencode(user))
    if userinfo is not None:
        name, _, password = os.fsencode(userinfo).partition(b":")
        return _basic(unquote_to_bytes(name) + b":" + unquote_to_bytes(password))
    return None


def _basic(pair: bytes) -> str:
    return f"Authorization: Basic {b64encode(pair).decode()}"
