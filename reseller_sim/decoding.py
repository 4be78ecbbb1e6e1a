"""JSON that somebody else wrote."""

import json
from typing import Any


def decoded(text: str | bytes) -> Any:
    """The value. Raises `ValueError` when it is no JSON, or nested deeper than Python reads."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
