"""Which part of a list a request asks for: the days, and the size of a page."""

from datetime import date

from simulator.api.call import Call
from simulator.api.notes import note
from simulator.contract.query import whole
from simulator.wire.timestamps import day_range

LIMIT_DEFAULT = 100
EMPTY_DAY = date(1970, 1, 1)  # before every clock of a sandbox


def days_of(call: Call) -> tuple[tuple[date, date], dict[str, list[str]]]:
    """The first and the last day that a request asks for, and what is wrong with them."""
    try:
        first, last = day_range(call.fields["date"])
    except ValueError as bad:
        return (date.min, date.max), {"date": [str(bad)]}
    if first <= last:
        return (first, last), {}
    if call.sandbox.core.state.assumes("reversed-ranges", "empty"):
        note(call, f"date ends before it begins: there is nothing from {first} to {last}")
        return (EMPTY_DAY, EMPTY_DAY), {}
    return (first, last), {"date": ["must not end before it begins"]}


def page_size(call: Call, parameter: str, maximum: int, assumption: str) -> tuple[int, dict[str, list[str]]]:
    """The size of a page, at most `maximum`, and what is wrong with the parameter: too large a size is reduced and
    noted, or is a problem when `assumption` of the register says `reject`."""
    size = whole(call.fields, parameter, LIMIT_DEFAULT)
    if size <= maximum:
        return size, {}
    if call.sandbox.core.state.assumes(assumption, "reject"):
        return maximum, {parameter: [f"must be at most {maximum}"]}
    note(call, f"a {parameter} of {size} was reduced to {maximum}, the maximum of a page")
    return maximum, {}
