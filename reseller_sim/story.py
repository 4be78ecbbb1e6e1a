"""The story of a payment, and rows of the journal and of callbacks, as lines to read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reseller_sim.formats import printable, shown_time

Row = Mapping[str, Any]
TIME_CHARS = 29


@dataclass(frozen=True, repr=False)
class Story:
    """One payment from the first request to the last callback: `data` of the control API, `lines` for people."""

    data: Row

    @property
    def status(self) -> str:
        """The payment's latest status."""
        return str(self.data["status"])

    @property
    def lines(self) -> list[str]:
        """Two lines about the payment, then the events in order of time."""
        data = self.data
        names = [f"{name} {data[name]}" for name in ("trxid", "reseller", "rule") if data.get(name)]
        left_out = [
            f"  {data[f'{what}_left_out']} earlier {what} are left out"
            for what in ("requests", "callbacks")
            if data[f"{what}_left_out"]
        ]
        happened = [f"  {shown_time(event['at'] or ''):<{TIME_CHARS}}  {event['text']}" for event in data["events"]]
        bought = f"{data['product']} {money(data['amount'])} to {data['account']}"
        heading = f"{data['refid']}: {bought}, {data['status']} ({data['status_code']})"
        return [heading, "  " + ", ".join(names), *left_out, *happened]

    def __str__(self) -> str:
        return printable("\n".join(self.lines))

    def __repr__(self) -> str:
        return f"<Story of {self.lines[0]}>"


def request_line(row: Row) -> str:
    """Return a line about a row of the journal: number, request, status and explanation."""
    query = f"?{row['query']}" if row.get("query") else ""
    said = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no answer'}"]
    said += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    line = ", ".join(said)
    return f"{line}: {row['diagnosis']}" if row.get("diagnosis") else line


def callback_line(row: Row) -> str:
    """Return a line about an attempt of a callback: payment, status, receiver and outcome."""
    said = f"callback {row['payment_status']} to {row['url']}"
    return f"{row['refid']}: {said}, attempt {row['attempt']}: {outcome(row)}"


def outcome(attempt: Row) -> str:
    """Return the outcome of an attempt of a callback or a webhook."""
    answered = f"answered {attempt['status']}" if attempt.get("status") else ""
    return str(attempt.get("error") or answered or attempt.get("ending") or "under way")


def money(amount: float) -> str:
    """Return an amount as people read it: `9.75 MYR`."""
    return f"{amount:.2f} MYR"
