"""Rule names in the header `X-Sim-Rule`: a name that an answer contains selects the rule when it is sent back.

Printable ASCII is unchanged; anything else, leading and trailing blanks, and a `%` that would look like an escape are
percent-encoded as UTF-8.
"""

import re
from functools import lru_cache
from urllib.parse import quote, unquote

_TO_ESCAPE = re.compile(r"[^ -~]+|^ +| +$|%(?=[0-9A-Fa-f]{2})")


@lru_cache(maxsize=1024)
def encode_rule_name(name: str) -> bytes:
    """Encode the name for a header."""
    return _TO_ESCAPE.sub(lambda found: quote(found[0], safe=""), name).encode("ascii")


def decode_rule_names(sent: bytes) -> tuple[str, ...]:
    """The names that a header may mean, the most likely first: decoded, or verbatim."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        text = sent.decode("latin-1")
    return (text,) if "%" not in text else (unquote(text), text)
