"""JSON that somebody else wrote."""

import json
from typing import Any

from reseller_sim.arguments import did_you_mean
from reseller_sim.errors import WrongAnswer


class Row(dict[str, Any]):
    """An object of an answer of the control API."""

    def __missing__(self, name: str) -> Any:
        """Raise `MissingMember`."""
        raise MissingMember(f"the simulator's answer has no member {name!r}{did_you_mean(str(name), [*self])}")


class MissingMember(WrongAnswer, KeyError):
    """The answer has no member of this name; the text has those that it has."""


def decoded(text: str | bytes, kind: type[dict[str, Any]] = dict) -> Any:
    """The value, with objects of this kind. Raises `ValueError` when it is no JSON, or nested deeper than Python
    reads."""
    try:
        return json.loads(text, object_hook=None if kind is dict else kind)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
