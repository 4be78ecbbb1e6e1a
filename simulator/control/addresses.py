"""Addresses of receivers as the control API shows them: without the credentials in their query. None has userinfo."""

from typing import Final
from urllib.parse import quote

from simulator.control.masking import without_secret_value
from simulator.wire.secrets import MASKED

_HIDDEN: Final = quote(MASKED, safe="()")


def shown_address(url: str) -> str:
    """A receiver's URL, or `inbox:NAME`, with the values of parameters such as `token` hidden. The rest is as it was,
    so that receivers can be told apart."""
    whole, question, rest = url.partition("?")
    query, mark, fragment = rest.partition("#")
    parts = (without_secret_value(part).replace(MASKED, _HIDDEN) for part in query.split("&"))
    return whole + question + "&".join(parts) + mark + fragment
