"""Days as history and statement are asked for them (SPEC 4.14), in the service's own zone."""

import re
from datetime import date

DASH = " - "

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def day_range(text: str) -> tuple[date, date]:
    """First and last day of `yyyy-MM-dd`, or of two of them with a dash between spaces.

    Raises `ValueError` with what is wrong, to follow the parameter's name.
    """
    days = text.split(DASH)
    if len(days) > 2 or not all(_DAY.fullmatch(day) for day in days):
        raise ValueError("must be a day such as 2026-11-21, or two with ' - ' between them")
    try:
        first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    except ValueError:
        raise ValueError("must be a day of the calendar") from None
    if last < first:
        raise ValueError("must not end before it begins")
    return first, last
