"""Reads times: windows by the keys `time`, `weekday`, `since` and `until` of any object, times of day, and delays."""

import re
from collections.abc import Mapping
from datetime import time, timedelta
from typing import Any

from reseller_sim.formats import duration
from simulator.domain.model.draw import Delay, Spread
from simulator.domain.model.inbox_programs import TimeOfDay, Window
from simulator.scenario.reading.value_reader import ValueReader

WINDOW_KEYS = ("time", "weekday", "since", "until")
SPAN_KEYS = ("since", "until")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_CLOCK_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)


def read_window(item: ValueReader) -> Window | None:
    """Return the window of an object's keys; None without such keys, or if any is invalid, which is reported."""
    found = {key: entry for key, entry in item.entries() if key in WINDOW_KEYS}
    for key, entry in found.items():
        check_window(key, entry)
    if not all(entry.is_valid for entry in found.values()):
        return None
    return window_of({key: entry.plain for key, entry in found.items()})


def check_window(key: str, entry: ValueReader) -> None:
    """Report a span that is too long, which the schema cannot check."""
    if key in SPAN_KEYS:
        entry.optional_duration()
    for _, edge in entry.entries():
        edge.parsed(clock_time, "bad_clock_time")


def window_of(written: Mapping[str, Any]) -> Window | None:
    """Return the window of valid values; None without its keys."""
    if not any(key in written for key in WINDOW_KEYS):
        return None
    return Window(
        time_of_day(written["time"]) if "time" in written else None,
        weekdays(written["weekday"]) if "weekday" in written else None,
        *(duration(written[key]) if key in written else None for key in SPAN_KEYS),
    )


def clock_time(text: str) -> time:
    """Parse `12:00` or `23:59:30`. Raises `ValueError`."""
    match = _CLOCK_TIME.fullmatch(text)
    if match is None:
        raise ValueError("must be a time of day from 00:00 to 23:59:59")
    hour, minute, second = map(int, match.groups("0"))
    return time(hour, minute, second)


def time_of_day(written: Mapping[str, str]) -> TimeOfDay:
    """Parse `{from: "12:00", to: "12:10"}`; either may be absent."""
    return TimeOfDay(*(clock_time(written[key]) if key in written else None for key in ("from", "to")))


def weekdays(written: str | list[str]) -> frozenset[int]:
    """Parse `Sun`, or a list of days."""
    return frozenset(DAYS.index(day) for day in ([written] if isinstance(written, str) else written))


def delay(item: ValueReader) -> Delay:
    """Return a delay of 0 when it is absent. Impossible pairs are reported."""
    return (spread(item) or timedelta(0)) if item.is_mapping else item.duration()


def spread(item: ValueReader) -> Spread | None:
    """Return the distribution of `{median: 80ms, p99: 2s}`, None for an impossible distribution."""
    if not item["median"].is_given or not item["p99"].is_given:
        return None  # the schema has reported it
    median, p99 = item["median"].duration(), item["p99"].duration()
    if not median:
        text = "the median of a distribution is above 0; write 'delay: 0s' for no delay, or a median such as 1ms"
        item["median"].problem("out_of_range", text)
    elif p99 < median:
        text = f"p99 {item['p99'].text()}, which 99 of 100 delays stay below, is below the median"
        item["p99"].problem("out_of_range", f"{text} {item['median'].text()}")
    else:
        return Spread(median, p99)
    return None
