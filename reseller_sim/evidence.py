"""What happened in a sandbox, as lines to read: the story of a payment, requests, callbacks, and all of it for the text
of a failed expectation."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from reseller_sim.control import REFUSED, NotRunning, SimulatorError, below
from reseller_sim.formats import Row, one_line, outcome, printable, request_line, shown_time

if TYPE_CHECKING:
    from reseller_sim.identity import Records

__tracebackhide__ = True  # pytest shows the line of the test
LINES_MAX = 12
STORIES_MAX = 3
STORY_LINES_MAX = (8, 22)  # from its beginning, and up to its end
DUE_MAX = 3
FINDINGS_MAX = 3
RECENT = 1000  # requests, and payments, that are looked at
EXPLAINED_MAX = 10  # the number of refused signatures whose autopsy is requested, since each autopsy is a search
TIMEOUT_S = 10.0  # a simulator that hangs holds up no run
TIME_CHARS = 29
WRONG_SIGNATURE = frozenset({"invalid_signature", "invalid_signature_format"})
LEFT_OUT = "... "


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
        counts = {what: data[f"{what}_left_out"] for what in ("requests", "callbacks")}
        left_out = [f"  {count} earlier {what} are left out" for what, count in counts.items() if count]
        happened = [f"  {shown_time(event['at'] or ''):<{TIME_CHARS}}  {event['text']}" for event in data["events"]]
        bought = f"{data['product']} {data['amount']:.2f} MYR to {data['account']}"
        heading = f"{data['refid']}: {bought}, {data['status']} ({data['status_code']})"
        return [heading, "  " + ", ".join(names), *left_out, *happened]

    def __str__(self) -> str:
        return printable("\n".join(self.lines))


def callback_line(row: Row) -> str:
    """Return a line about an attempt of a callback: payment, status, receiver and outcome."""
    sent = f"callback {row['payment_status']} to {row['url']}"
    return f"{row['refid']}: {sent}, attempt {row['attempt']}: {outcome(row)}"


def sections(sandbox: "Records") -> Iterator[tuple[str, list[str]]]:
    """Yield titles, each with the latest lines of it: stories of payments, requests that were refused, callbacks."""
    payments, requests = latest_payments(sandbox), recent(sandbox, "requests")
    for payment in payments[:STORIES_MAX]:
        story = Story(sandbox.ask("GET", below("/transactions", payment["trxid"])))
        yield f"story of {payment['refid']}", shortened(story.lines, *STORY_LINES_MAX)
    if others := [f"{one['refid']} {one['status']}" for one in payments[STORIES_MAX:]]:
        yield f"{len(others)} more payments", shortened(others, LINES_MAX)
    refused = [row for row in requests if row["status"] >= REFUSED]
    if shown := refused or ([] if payments else requests):
        yield "refused requests" if refused else "requests", request_lines(sandbox, shown)
    if callbacks := sandbox.callbacks():
        yield "callbacks", shortened(list(map(callback_line, callbacks)), 0, LINES_MAX)


def recent(sandbox: "Records", name: str) -> list[dict[str, Any]]:
    """Return the latest rows of a list, newest first."""
    return list(sandbox.ask("GET", f"/{name}", query={"limit": RECENT}, timeout_s=TIMEOUT_S)[name])


def latest_payments(sandbox: "Records") -> list[dict[str, Any]]:
    """Return the latest payments: unsuccessful payments, then successful payments, each newest first."""
    return sorted(recent(sandbox, "transactions"), key=lambda one: bool(one["status"] == "Succesful"))


def shortened(lines: list[str], first: int, last: int = 0) -> list[str]:
    """Return the first and the last lines, with the number of those between them."""
    left_out = len(lines) - first - last
    return [*lines[:first], f"{LEFT_OUT}{left_out} more", *lines[first + left_out :]] if left_out > 0 else lines


def request_lines(sandbox: "Records", rows: Iterable[Row]) -> list[str]:
    """Return lines about the latest of some requests, which are newest first, oldest first."""
    return shortened(list(map(request_line, explained(sandbox, rows)))[::-1], 0, LINES_MAX)


def failed(sandbox: "Records", text: str, refid: str | None = None) -> str:
    """Return the text of a failed expectation, with what is pending and held, and what happened instead."""
    return printable(f"{text}{pending(sandbox)}{held(sandbox, refid)}\n{happened(sandbox, refid)}")


def happened(sandbox: "Records", refid: str | None = None) -> str:
    """Return the story of a payment, or without one all that happened."""
    if refid and sandbox.transaction(refid):
        return str(sandbox.story(refid))
    return "\n".join("\n  ".join([f"{title}:", *lines]) for title, lines in sections(sandbox))


def no_payment(sandbox: "Records", refid: str) -> str:
    """Return a text about a missing payment, with what happened instead."""
    return failed(sandbox, f"no payment has the refid {refid!r}", refid)


def no_callback(sandbox: "Records", refid: str | None, status: str | None, inbox: str | None = None) -> str:
    """Return a text about a missing callback, in an inbox or at any receiver."""
    if refid and sandbox.transaction(refid) is None:
        return no_payment(sandbox, refid)
    where = "was accepted"
    if inbox:
        where = f"came to the inbox {inbox!r}{inbox_hint(sandbox.ask('GET', '/resellers')['resellers'], inbox)}"
    about = "".join([f" about {refid!r}" if refid is not None else "", f" with status {status!r}" if status else ""])
    latest = (sandbox.callbacks(refid=refid) if refid else sandbox.callbacks())[-1:]
    refused = "".join(f"; the latest attempt: {callback_line(row)}" for row in latest if row["state"] != "delivered")
    return failed(sandbox, f"no callback{about} {where}{refused}", refid)


def held(sandbox: "Records", refid: str | None = None) -> str:
    """Return the end of a sentence: what holds keep of a payment, or of all payments; empty when they keep nothing."""
    rows = [row for row in sandbox.ask("GET", "/holds")["holds"] if refid in (None, row["refid"])]
    texts = [f"{row['kind']} {row['what']} in {row['name']!r}" for row in rows[:LINES_MAX]]
    return f"; held until a release: {', '.join(texts)}" if texts else ""


def inbox_hint(resellers: Iterable[Row], inbox: str) -> str:
    """Return the end of a sentence about an inbox that no callback and no webhook of these resellers uses; empty for an
    inbox in use."""
    urls = [url["url"] or "" for row in resellers for url in (row["callback"], *row["webhooks"])]
    used = [url.replace(":", "/").rpartition("/")[2] for url in urls if "inbox" in url]
    targets = ", ".join(dict.fromkeys(filter(None, urls))) or "no address"
    return "" if inbox in used else f", which no callback uses: they go to {targets}"


def pending(sandbox: "Records") -> str:
    """Return the end of a sentence: the pending events, and the method to call; empty without pending events."""
    clock = sandbox.clock()
    if not clock["pending"]:
        return ""
    verb = "is" if clock["pending"] == 1 else "are"
    count = f"{clock['pending']} {verb} pending ({due(sandbox)})"
    if clock["mode"] != "manual":
        return f"; {count}"
    left = datetime.fromisoformat(clock["next_due"] or clock["now"]) - datetime.fromisoformat(clock["now"])
    by = f'"{ceil(left.total_seconds())}s"' if left.total_seconds() > 0 else ""
    return f"; the clock is manual and {count}: call advance({by}) or run_until_idle() first"


def due(sandbox: "Records") -> str:
    """Return the next pending events."""
    rows = sandbox.ask("GET", "/due", query={"limit": DUE_MAX})["due"]
    return "; ".join(f"{row['about']} at {shown_time(row['at'])}" for row in rows)


def explained(sandbox: "Records", rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield rows of the journal; the first with a wrong signature have the autopsy's sentence as their `diagnosis`."""
    left = EXPLAINED_MAX
    for row in rows:
        found = None
        if row.get("error") in WRONG_SIGNATURE and left:
            left -= 1
            with suppress(SimulatorError, NotRunning):  # the journal has it no more, or the test has a worse error
                found = sandbox.ask("GET", below("/requests", str(row["n"])), timeout_s=TIMEOUT_S).get("autopsy")
        yield {**row, "diagnosis": f"{found['sentence']}; {found['fix']}"} if found and found["mistakes"] else dict(row)


def violations(audit: Row) -> tuple[list[str], list[str]]:
    """Return the violated obligations of an audit as texts: (errors, warnings of one line)."""
    errors, warnings = [], []
    for row in audit["obligations"]:
        if row["state"] != "violated":
            continue
        if row["severity"] == "warning":
            warnings.append(one_line(f"{row['id']}: {row['findings'][0]}"))
            continue
        evidence = ", ".join(f"#{number}" for number in row["evidence"][:LINES_MAX])
        title = f"{row['id']}: {row['title']} (SPEC {row['section']}, {row['log']} {evidence})"
        findings = [f"  {text}" for text in row["findings"][:FINDINGS_MAX]]
        errors.append("\n".join(map(one_line, [title, *findings, f"  What to do: {row['advice']}"])))
    return errors, warnings
