"""Addresses of receivers as the control API shows them: without the credentials that are in them."""

import re
from typing import Final
from urllib.parse import quote

from simulator.control.masking import without_secret_value
from simulator.wire.secrets import MASKED

_HIDDEN: Final = quote(MASKED, safe="()")
_USERINFO: Final = re.compile(r"(?<=://)[^/?#]*@")


def shown_address(url: str) -> str:
    """A receiver's URL, or `inbox:NAME`, with userinfo and the values of parameters such as `token` hidden. The rest is
    as it was, so that receivers can be told apart."""
    whole, question, rest = _USERINFO.sub(f"{_HIDDEN}@", url, count=1).partition("?")
    query, mark, fragment = rest.partition("#")
    parts = (without_secret_value(part).replace(MASKED, _HIDDEN) for part in query.split("&"))
    return whole + question + "&".join(parts) + mark + fragment
