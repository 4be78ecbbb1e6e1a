"""Moments of a sandbox, to which it can be rewound and from which it can be forked."""

from datetime import datetime
from typing import Any

from reseller_sim.durations import moment


def wanted_moment(
    mark: str | None, to: str | datetime | None, n: int | None, *, may_be_now: bool = False
) -> dict[str, Any]:
    """One of the three, as the control API takes it; none of them is the present. Raises `ValueError`."""
    wanted = {"mark": mark, "to": None if to is None else moment(to), "n": n}
    given = {name: value for name, value in wanted.items() if value is not None}
    if len(given) > 1 or not (given or may_be_now):
        raise ValueError("a moment is one of a mark, a time and a number of entries" + ", or now" * may_be_now)
    return given
