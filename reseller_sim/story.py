"""What happened to one payment, as lines to read: the same for the client, the plugin and the command."""

from collections.abc import Iterator, Mapping
from typing import Any

from reseller_sim.arguments import checked
from reseller_sim.printable import printable

Row = Mapping[str, Any]
Event = tuple[str, int, int, str]  # time, order within an instant, order within that, and text

LATER = "\uffff"  # sorts behind every time
INDENT = "  "
TIME_CHARS = 23

# What follows from what where times are equal, as they are while a clock stands: the request that made the payment and
# its consequences, what was due then, and at last requests about a payment that is there with what they caused.
FIRST_REQUEST, CREATION, DEBIT, DUE, DUE_ENTRY, DUE_CALLBACK, REQUEST, CASE, CAUSED, CAUSED_ENTRY, CAUSED_CALLBACK = (
    range(11)
)
BY_REQUEST = ("requery", "void")  # causes of a status


class Story:
    """One payment from the first request to the last callback: `data` is the control API's JSON, `lines` and `str()`
    are for people."""

    @checked
    def __init__(self, data: Row) -> None:
        self.data = data

    @property
    def status(self) -> str:
        """The payment's latest status."""
        return str(self.data["status"])

    @property
    def lines(self) -> list[str]:
        """Two lines about the payment, then what happened, in the order of time."""
        data = self.data
        names = [f"{name} {data[name]}" for name in ("trxid", "reseller", "rule") if data.get(name)]
        left_out = [
            f"{INDENT}{count} earlier {what} are left out"
            for what in ("requests", "callbacks")
            if (count := data.get(f"{what}_left_out"))
        ]
        happened = [f"{INDENT}{_time(at):<{TIME_CHARS}}  {text}" for at, _, _, text in sorted(_Happened(data))]
        heading = f"{data['refid']}: {data['product']} {money(data['amount'])} to {data['account']}, {_status(data)}"
        return [heading, INDENT + ", ".join(names), *left_out, *happened]

    def __str__(self) -> str:
        return printable("\n".join(self.lines))

    def __repr__(self) -> str:
        return f"<Story of {self.lines[0]}>"


def request_line(row: Row) -> str:
    """One row of the journal: number, request, status and what explains it."""
    query = f"?{row['query']}" if row.get("query") else ""
    said = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no answer'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    line = ", ".join(said)
    return f"{line}: {row['diagnosis']}" if row.get("diagnosis") else line


def attempt_line(row: Row, status: str, url: str, *, is_copy: bool = False) -> str:
    """One attempt of a callback: what it said, where to, and what became of it."""
    number = row.get("number") or row.get("attempt")
    return f"{_callback(status, url, is_copy)}, attempt {number}: {outcome(row)}"


def outcome(attempt: Row) -> str:
    """What became of an attempt of a callback or a webhook."""
    answered = f"answered {attempt['status']}" if attempt.get("status") else ""
    return str(attempt.get("error") or answered or attempt.get("ending") or "under way")


def money(amount: float) -> str:
    """An amount as people read it: `9.75 MYR`."""
    return f"{amount:.2f} MYR"


class _Happened:
    """Everything in a story, to be sorted."""

    def __init__(self, data: Row) -> None:
        self._data = data
        self._created_at = next((one["at"] for one in data["statuses"] if one["cause"] == "creation"), "")
        self._by_request = {(one["at"], one["status"]) for one in data["statuses"] if one["cause"] in BY_REQUEST}
        self._due_at = {one["at"] for one in data["statuses"] if one["cause"] not in (*BY_REQUEST, "creation")}

    def __iter__(self) -> Iterator[Event]:
        yield from self._requests()
        yield from self._statuses()
        yield from self._entries()
        yield from self._callbacks()
        yield from self._cases()

    def _requests(self) -> Iterator[Event]:
        rows = sorted(self._data["requests"], key=lambda row: int(row["n"]))
        for at, row in enumerate(rows):
            is_first = at == 0 and not self._data["requests_left_out"]
            yield row["at"], FIRST_REQUEST if is_first else REQUEST, row["n"], request_line(row)

    def _statuses(self) -> Iterator[Event]:
        order = dict.fromkeys(BY_REQUEST, CAUSED) | {"creation": CREATION}
        for number, row in enumerate(self._data["statuses"]):
            told = [f"{name} {row[name]}" for name in ("sn", "pin", "voucherlink", "remarks") if row.get(name)]
            text = ", ".join([f"status {_status(row)} by {row['cause']}", *told])
            yield row["at"], order.get(row["cause"], DUE), number, text

    def _entries(self) -> Iterator[Event]:
        caused_at = {at for at, _ in self._by_request}
        for number, row in enumerate(self._data["entries"]):
            order = CAUSED_ENTRY if row["at"] in caused_at and row["at"] not in self._due_at else DUE_ENTRY
            order = DEBIT if number == 0 and row["at"] == self._created_at else order
            remarks = f": {row['remarks']}" if row.get("remarks") else ""
            changed = f"wallet {row['amount']:+.2f} MYR ({row['type']}), balance {money(row['balance'])}"
            yield row["at"], order, number, changed + remarks

    def _callbacks(self) -> Iterator[Event]:
        for number, one in enumerate(self._data["callbacks"]):
            status, url, is_copy = one["payment_status"], one["url"], bool(one.get("copy"))
            for row in one["attempts"]:
                order = CAUSED_CALLBACK if (row["at"], status) in self._by_request else DUE_CALLBACK
                yield row["at"], order, number, attempt_line(row, status, url, is_copy=is_copy)
            if not one["attempts"]:
                yield LATER, DUE_CALLBACK, number, f"{_callback(status, url, is_copy)}: {one['state']}"

    def _cases(self) -> Iterator[Event]:
        for number, one in enumerate(self._data["cases"]):
            yield one["at"], CASE, number, f"{one['kind']} {one['status']}: {one['message']}"
            if one["ended"]:
                yield one["ended"], CAUSED_CALLBACK, number, f"{one['kind']} {one['state']}"


def _status(row: Row) -> str:
    return f"{row['status']} ({row['status_code']})"


def _callback(status: str, url: str, is_copy: bool) -> str:
    return f"callback {status}{' again' if is_copy else ''} to {url}"


def _time(at: str) -> str:
    """An instant in UTC, to the millisecond; blank for what is still to come."""
    return f"{at[:10]} {at[11:23]}" if at != LATER else ""
