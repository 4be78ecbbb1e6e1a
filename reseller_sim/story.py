"""What happened to one payment, as lines to read."""

from collections.abc import Iterable, Mapping
from typing import Any


class Story:
    """One payment from the first request to the last callback: `data` is the control API's JSON, `lines` and `str()`
    are for people."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @property
    def status(self) -> str:
        """The payment's latest status."""
        return str(self.data["status"])

    @property
    def lines(self) -> list[str]:
        """A heading, then what happened, in the order of time."""
        data = self.data
        heading = (
            f"{data['refid']} (trxid {data['trxid']}): {data['product']} {data['amount']} for {data['account']}, "
            f"{data['status']}"
        )
        happened = sorted(_happened(data), key=lambda event: (event[0], event[1]))
        left_out = [
            f"  ({count} earlier {what} left out)"
            for what in ("requests", "callbacks")
            if (count := data.get(f"{what}_left_out"))
        ]
        return [heading, *left_out, *(f"  {_clock(at)}  {text}" for at, _, text in happened)]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Story of {self.lines[0]}>"


def request_line(row: Mapping[str, Any]) -> str:
    """One row of the journal: number, request, status and what explains it."""
    query = f"?{row['query']}" if row.get("query") else ""
    said = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no response'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    line = ", ".join(said)
    return f"{line}: {row['diagnosis']}" if row.get("diagnosis") else line


def attempt_line(row: Mapping[str, Any], status: str, url: str) -> str:
    """One attempt of a callback: what it said, where to, and what became of it."""
    outcome = f"answered {row['status']}" if row.get("status") else row.get("error") or row["ending"]
    number = row.get("number") or row.get("attempt")
    return f"callback {status} to {url}, attempt {number}: {outcome}"


def _happened(data: Mapping[str, Any]) -> Iterable[tuple[str, int, str]]:
    """Time, order within an instant, and text of everything in a story."""
    for row in data["requests"]:
        yield row["at"], 0, request_line(row)
    for row in data["statuses"]:
        details = [f"{name} {row[name]}" for name in ("sn", "pin", "remarks") if row.get(name)]
        yield row["at"], 1, ", ".join([f"{row['status']} ({row['cause']})", *details])
    for row in data["entries"]:
        yield row["at"], 2, f"wallet {row['type']} {row['amount']:+}, balance {row['balance']}: {row['remarks']}"
    for callback in data["callbacks"]:
        for attempt in callback["attempts"]:
            yield attempt["at"], 3, attempt_line(attempt, callback["payment_status"], callback["url"])
        if not callback["attempts"]:
            yield "￿", 3, f"callback {callback['payment_status']} to {callback['url']}: {callback['state']}"
    for case in data.get("cases", ()):
        yield case.get("at") or case.get("created", "￿"), 4, ", ".join(f"{name} {text}" for name, text in case.items())


def _clock(at: str) -> str:
    """The time of day of an instant, in UTC, to the millisecond; blank for what is still to come."""
    return at[11:23] if at[:1].isdigit() else " " * 12
