"""The story of a payment as lines to read: from the first request to the last callback."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.cli.tables import clock_time

LATER = "\uffff"  # sorts behind every time
INDENT = "  "

Row = Mapping[str, Any]


def lines_of(story: Row) -> Iterator[str]:
    """A heading, then what happened in the order of time; `story` is as the control API answers it."""
    yield (
        f"{story['refid']}: {story['product']} {story['amount']} to {story['account']}, "
        f"{story['status']} ({story['status_code']})"
    )
    yield INDENT + ", ".join(f"{name} {story[name]}" for name in ("trxid", "reseller", "rule") if story[name])
    for what in ("requests", "callbacks"):
        if story[f"{what}_left_out"]:
            yield f"{INDENT}{story[f'{what}_left_out']} earlier {what} are left out"
    for at, _, text in sorted(_happened(story), key=lambda event: event[:2]):
        yield f"{INDENT}{clock_time(at if at != LATER else None):<19}  {text}"


def _happened(story: Row) -> Iterator[tuple[str, int, str]]:
    """Time, order within an instant, and text of all that belongs to a payment."""
    for row in story["requests"]:
        yield row["at"], 0, _request(row)
    for row in story["statuses"]:
        told = [f"{name} {row[name]}" for name in ("sn", "pin", "voucherlink", "remarks") if row.get(name)]
        yield row["at"], 1, ", ".join([f"status {row['status']} ({row['status_code']}) by {row['cause']}", *told])
    for row in story["entries"]:
        yield row["at"], 2, f"wallet {row['amount']:+.2f} MYR ({row['type']}), balance {row['balance']:.2f} MYR"
    for one in story["callbacks"]:
        yield from _callback(one)
    for one in story["cases"]:
        yield one["at"], 4, f"{one['kind']} {one['status']}: {one['message']}"
        if one["ended"]:
            yield one["ended"], 5, f"{one['kind']} {one['state']}"


def outcome(tried: Row) -> str:
    """What became of an attempt of a callback or a webhook."""
    return str(tried["error"] or (f"answered {tried['status']}" if tried["status"] else tried["ending"] or "under way"))


def _request(row: Row) -> str:
    query = f"?{row['query']}" if row["query"] else ""
    said = [f"request {row['n']} {row['method']} {row['path']}{query}: {row['status'] or 'no answer'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    return ", ".join(said) + (f": {row['diagnosis']}" if row["diagnosis"] else "")


def _callback(one: Row) -> Iterator[tuple[str, int, str]]:
    again = " again" if one["copy"] else ""
    what = f"callback {one['payment_status']}{again} to {one['url']}"
    for tried in one["attempts"]:
        yield tried["at"], 3, f"{what}, attempt {tried['number']}: {outcome(tried)}"
    if not one["attempts"]:
        yield LATER, 3, f"{what}: {one['state']}"
