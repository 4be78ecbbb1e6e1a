"""Names of rules in the header `X-Sim-Rule`: what an answer prints can be sent back and finds the rule.

Printable ASCII stands for itself; anything else, blanks at either end, and a `%` that would look like an escape are
percent-encoded as UTF-8.
"""

import re
from functools import lru_cache
from urllib.parse import quote, unquote

_TO_ESCAPE = re.compile(r"[^ -~]+|^ +| +$|%(?=[0-9A-Fa-f]{2})")


@lru_cache(maxsize=1024)
def printed(name: str) -> bytes:
    """The name as a header can carry it."""
    return _TO_ESCAPE.sub(lambda found: quote(found[0], safe=""), name).encode("ascii")


def meant(sent: bytes) -> tuple[str, ...]:
    """The names that a header may mean, the likeliest first: as `printed` writes it, or as it stands."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        text = sent.decode("latin-1")
    return (text,) if "%" not in text else (unquote(text), text)
