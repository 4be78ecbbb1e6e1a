"""What happened to one payment, as lines to read: the same for the client, the plugin and the command."""

from collections.abc import Iterator, Mapping
from typing import Any

from reseller_sim.arguments import checked
from reseller_sim.times import shown_time

Row = Mapping[str, Any]
Event = tuple[str, int, int, str]  # time, rank within an instant, order within the rank, and text

LATER = "\uffff"  # sorts behind every time
INDENT = "  "
TIME_CHARS = 29
LINE_CHARS_MAX = 300

# What follows from what where times are equal, as they are while a clock stands: the request that made the payment and
# its consequences, what was due then, and at last requests about a payment that is there with what they caused.
FIRST_REQUEST, CREATION, DEBIT, DUE, DUE_ENTRY, DUE_CALLBACK, REQUEST, CASE, CAUSED, CAUSED_ENTRY, CAUSED_CALLBACK = (
    range(11)
)
BY_REQUEST = ("requery", "void")  # causes of a status


def printable(text: str) -> str:
    """Return the text with a backslash escape for each character that does not print; lines stay lines."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


def one_line(text: str) -> str:
    """Return the text as one line of at most 300 characters and an ellipsis, its own ends of lines escaped as well."""
    shown = printable(text[:LINE_CHARS_MAX]).replace("\n", "\\n")
    return shown + "…" * (len(text) > LINE_CHARS_MAX)


class Story:
    """One payment from the first request to the last callback: `data` of the control API, `lines` for people."""

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
        happened = [f"{INDENT}{_time(at):<{TIME_CHARS}}  {text}" for at, _, _, text in sorted(_events(data))]
        heading = f"{data['refid']}: {data['product']} {money(data['amount'])} to {data['account']}, {_status(data)}"
        return [heading, INDENT + ", ".join(names), *left_out, *happened]

    def __str__(self) -> str:
        return printable("\n".join(self.lines))

    def __repr__(self) -> str:
        return f"<Story of {self.lines[0]}>"


def request_line(row: Row) -> str:
    """Return one row of the journal: number, request, status and what explains it."""
    query = f"?{row['query']}" if row.get("query") else ""
    said = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no answer'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    line = ", ".join(said)
    return f"{line}: {row['diagnosis']}" if row.get("diagnosis") else line


def attempt_line(row: Row, status: str, url: str, *, is_copy: bool = False) -> str:
    """Return one attempt of a callback: what it said, where to, and its outcome."""
    number = row.get("number") or row.get("attempt")
    return f"{_callback(status, url, is_copy)}, attempt {number}: {outcome(row)}"


def callback_line(row: Row) -> str:
    """Return the same for a row of all attempts, with the payment's refid."""
    return f"{row['refid']}: {attempt_line(row, row['payment_status'], row['url'])}"


def outcome(attempt: Row) -> str:
    """Return the outcome of an attempt of a callback or a webhook."""
    answered = f"answered {attempt['status']}" if attempt.get("status") else ""
    return str(attempt.get("error") or answered or attempt.get("ending") or "under way")


def money(amount: float) -> str:
    """Return an amount as people read it: `9.75 MYR`."""
    return f"{amount:.2f} MYR"


def _events(data: Row) -> Iterator[Event]:
    """Yield everything in a story, to be sorted."""
    statuses = data["statuses"]
    created_at = next((row["at"] for row in statuses if row["cause"] == "creation"), "")
    by_request = {(row["at"], row["status"]) for row in statuses if row["cause"] in BY_REQUEST}
    caused_at = {at for at, _ in by_request} - {
        row["at"] for row in statuses if row["cause"] not in (*BY_REQUEST, "creation")
    }
    for n, row in enumerate(sorted(data["requests"], key=lambda row: int(row["n"]))):
        is_first = n == 0 and not data["requests_left_out"]
        yield row["at"], FIRST_REQUEST if is_first else REQUEST, n, request_line(row)
    for n, row in enumerate(statuses):
        rank = CAUSED if row["cause"] in BY_REQUEST else CREATION if row["cause"] == "creation" else DUE
        given = [f"{name} {row[name]}" for name in ("sn", "pin", "voucherlink", "remarks") if row.get(name)]
        yield row["at"], rank, n, ", ".join([f"status {_status(row)} by {row['cause']}", *given])
    for n, row in enumerate(data["entries"]):
        rank = DEBIT if n == 0 and row["at"] == created_at else DUE_ENTRY
        rank = CAUSED_ENTRY if rank == DUE_ENTRY and row["at"] in caused_at else rank
        changed = f"wallet {row['amount']:+.2f} MYR ({row['type']}), balance {money(row['balance'])}"
        yield row["at"], rank, n, f"{changed}: {row['remarks']}" if row.get("remarks") else changed
    for n, callback in enumerate(data["callbacks"]):
        status, url, is_copy = callback["payment_status"], callback["url"], bool(callback.get("copy"))
        for row in callback["attempts"]:
            rank = CAUSED_CALLBACK if (row["at"], status) in by_request else DUE_CALLBACK
            yield row["at"], rank, n, attempt_line(row, status, url, is_copy=is_copy)
        if not callback["attempts"]:
            yield LATER, DUE_CALLBACK, n, f"{_callback(status, url, is_copy)}: {callback['state']}"
    for n, case in enumerate(data["cases"]):
        yield case["at"], CASE, n, f"{case['kind']} {case['status']}: {case['message']}"
        if case["ended"]:
            yield case["ended"], CAUSED_CALLBACK, n, f"{case['kind']} {case['state']}"


def _status(row: Row) -> str:
    return f"{row['status']} ({row['status_code']})"


def _callback(status: str, url: str, is_copy: bool) -> str:
    return f"callback {status}{' again' if is_copy else ''} to {url}"


def _time(at: str) -> str:
    """Return an instant to the millisecond, with its offset; blank for what is still to come."""
    return shown_time(at) if at != LATER else ""
