"""The texts of failed expectations, with the events that happened instead."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from reseller_sim.arguments import did_you_mean, nearest
from reseller_sim.control import NotRunning, SimulatorError, below
from reseller_sim.formats import one_line, shown_time
from reseller_sim.story import callback_line, money, request_line

if TYPE_CHECKING:
    from reseller_sim.identity import Records

LINES_MAX = 20
DUE_MAX = 3
LATEST_MAX = 5
FINDINGS_MAX = 3
EXPLAINED_MAX = 10  # the number of refused signatures whose autopsy is requested, since each autopsy is a search
EXPLAINING_S = 10.0
WRONG_SIGNATURE = frozenset({"invalid_signature", "invalid_signature_format"})


def no_payment(sandbox: "Records", refid: str) -> str:
    """Return a text about a missing payment: there is no payment with this refid, but other payments and refused
    requests."""
    refused = sandbox.refused()
    reasons = ["refused requests:", *_indented(map(request_line, explained(sandbox, refused)))] if refused else []
    return "\n".join([f"no payment has the refid {refid!r}{held(sandbox, refid)}", payments(sandbox), *reasons])


def payments(sandbox: "Records") -> str:
    """Return a line for each payment, oldest first."""
    rows = [_payment(row) for row in reversed(sandbox.transactions())]
    return "\n".join(["payments:", *_indented(rows)]) if rows else "there are no payments"


def no_callback(sandbox: "Records", refid: str | None, status: str | None, inbox: str | None = None) -> str:
    """Return a text about a missing callback: the messages that came to the inbox, or the attempts to any receiver."""
    about = "".join([f" about {refid!r}" if refid else "", f" with status {status!r}" if status else ""])
    where = f"came to the inbox {inbox!r}{inbox_hint(sandbox, inbox)}" if inbox else "was accepted"
    kept = held(sandbox, refid)
    if refid is None:
        attempts = [callback_line(row) for row in sandbox.callbacks()]
        happened = "\n".join(["callbacks:", *_indented(attempts)]) if attempts else "there were no callbacks"
    elif sandbox.transaction(refid) is None:
        happened, kept = no_payment(sandbox, refid), ""
    else:
        happened = str(sandbox.story(refid))
    return f"no callback{about} {where}{_refused_attempt(sandbox, refid)}{pending(sandbox)}{kept}\n{happened}"


def _refused_attempt(sandbox: "Records", refid: str | None) -> str:
    """Return the end of a sentence: the latest attempt, of a payment or of any, that a receiver did not accept; empty
    if it accepted the latest."""
    latest = (sandbox.callbacks() if refid is None else sandbox.callbacks(refid=refid))[-1:]
    return "".join(f"; the latest attempt: {callback_line(row)}" for row in latest if row["state"] != "delivered")


def held(sandbox: "Records", refid: str | None) -> str:
    """Return the end of a sentence: what holds keep of a payment, or of all payments; empty when they keep nothing."""
    rows = [row for row in sandbox.ask("GET", "/holds")["holds"] if refid in (None, row["refid"])]
    texts = [f"{row['kind']} {row['what']} in {row['name']!r}" for row in rows[:LINES_MAX]]
    return f"; held until a release: {', '.join(texts)}" if texts else ""


def inbox_hint(sandbox: "Records", inbox: str, *, only_likely: bool = False) -> str:
    """Return the end of a sentence about an inbox that no callback and no webhook uses; empty for an inbox in use."""
    return inbox_hint_of(sandbox.ask("GET", "/resellers")["resellers"], inbox, only_likely=only_likely)


def inbox_hint_of(rows: list[dict[str, Any]], inbox: str, *, only_likely: bool = False) -> str:
    """Return the text of `inbox_hint` for these resellers."""
    urls = [url["url"] or "" for row in rows for url in (row["callback"], *row["webhooks"])]
    used = [url.replace(":", "/").rpartition("/")[2] for url in urls if "inbox" in url]
    if inbox in used or (only_likely and not nearest(inbox, used)):
        return ""
    return f", which no callback uses{did_you_mean(inbox, used)}"


def pending(sandbox: "Records") -> str:
    """Return the end of a sentence: the pending events, and the method to call; empty without pending events."""
    clock = sandbox.clock()
    if not clock["pending"]:
        return ""
    due = "is" if clock["pending"] == 1 else "are"
    count = f"{clock['pending']} {due} pending ({'; '.join(_due(sandbox))})"
    if clock["mode"] != "manual":
        return f"; {count}"
    left = datetime.fromisoformat(clock["next_due"] or clock["now"]) - datetime.fromisoformat(clock["now"])
    by = f'"{ceil(left.total_seconds())}s"' if left.total_seconds() > 0 else ""
    return f"; the clock is manual and {count}: call advance({by}) or run_until_idle() first"


def _due(sandbox: "Records") -> list[str]:
    rows = sandbox.ask("GET", "/due", query={"limit": DUE_MAX})["due"]
    return [f"{row['about']} at {shown_time(row['at'])}" for row in rows]


def not_idle(sandbox: "Records", done: Mapping[str, Any]) -> str:
    """Return a text about a sandbox that never becomes idle: the reason, the next events, and the latest payments."""
    latest = [_payment(row) for row in sandbox.transactions()[:LATEST_MAX]]
    reason = f"the sandbox is not idle: {done.get('reason') or 'something is left to happen'}"
    return "\n".join([reason, "next:", *_indented(_due(sandbox)), "latest payments:", *_indented(latest)])


def blocked_receivers(done: Mapping[str, Any]) -> str:
    """Name the receivers that did not answer while a call blocked the event loop of its test; empty without."""
    late = sorted({one["url"] for one in done["fired"] if one.get("ending") == "timeout"})
    asyncio = sys.modules.get("asyncio")
    if not late or asyncio is None or asyncio._get_running_loop() is None:
        return ""
    return (
        f"{', '.join(late)} did not answer in time, and this call blocks the event loop of the test: if the receiver "
        "runs in it, await the call of AsyncSandbox (the fixture async_sandbox) instead"
    )


def refusals(sandbox: "Records", refused: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each refused request, oldest first."""
    rows = [request_line(row) for row in explained(sandbox, refused)][::-1]
    count = "1 request was" if len(rows) == 1 else f"{len(rows)} requests were"
    return "\n".join([f"{count} refused:", *_indented(rows)])


def explained(sandbox: "Records", rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows of the journal; the first with a wrong signature have the autopsy's sentence as their `diagnosis`."""
    left = EXPLAINED_MAX
    for row in rows:
        found = None
        if row.get("error") in WRONG_SIGNATURE and left:
            left -= 1
            try:
                found = sandbox.ask("GET", below("/requests", str(row["n"])), timeout_s=EXPLAINING_S).get("autopsy")
            except SimulatorError:
                found = None  # the journal has it no more
            except NotRunning:
                left = 0
        said = f"{found['sentence']}; {found['fix']}" if found and found["mistakes"] else ""
        yield {**row, "diagnosis": said} if said else dict(row)


def violations(audit: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the violated obligations of an audit as texts: (errors, warnings)."""
    violated = [row for row in audit["obligations"] if row["state"] == "violated"]
    errors = [_violation(row) for row in violated if row["severity"] != "warning"]
    return errors, [_warning(row) for row in violated if row["severity"] == "warning"]


def _violation(row: Mapping[str, Any]) -> str:
    findings = [f"  {text}" for text in row["findings"][:FINDINGS_MAX]]
    more = row["violations"] - len(findings)
    findings += [f"  ... {more} more"] if more > 0 else []
    evidence = ", ".join(f"#{number}" for number in row["evidence"][:LINES_MAX])
    title = f"{row['id']}: {row['title']} (SPEC {row['section']}, {row['log']} {evidence})"
    return "\n".join(map(one_line, [title, *findings, f"  What to do: {row['advice']}"]))


def _warning(row: Mapping[str, Any]) -> str:
    more = f" (and {row['violations'] - 1} more)" if row["violations"] > 1 else ""
    return one_line(f"{row['id']}: {row['findings'][0]}{more}")


def _payment(row: Mapping[str, Any]) -> str:
    bought = f"{row['product']} {money(row['amount'])} to {row['account']}"
    return f"{row['refid']}: {bought}, cost {money(row['cost'])}, {row['status']}"


def _indented(rows: Iterable[str]) -> list[str]:
    lines = [f"  {row}" for row in rows]
    return lines[:LINES_MAX] + [f"  … and {len(lines) - LINES_MAX} more"] * (len(lines) > LINES_MAX)
