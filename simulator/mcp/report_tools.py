"""The tools that read what happened in a sandbox."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from reseller_sim import Sandbox, Simulator
from reseller_sim.control import below
from reseller_sim.evidence import callback_line, explained, violations
from reseller_sim.formats import outcome, request_line, shown_time
from simulator.mcp.tools import LIMIT, N, ToolAnswer, members, text_schema, tool
from simulator.short_text import json_size

PAGE_BYTES_MAX: Final = 10_000
BODY_CHARS_MAX: Final = 4_000
PIECE_CHARS: Final = 1_000
UNAUTHORIZED: Final = 401
EXPLAINED: Final = ("canonical", "given_signature", "expected_signature", "curl", "autopsy", "diagnosis")
Json = dict[str, Any]


@tool(
    {"n": N, "offset": {"type": "integer", "minimum": 0, "description": "With n: begin bodies at this character."}}
    | members("requests-query", "method", "path", "status", "status_min", "refid", "error", "limit", "cursor")
)
def list_requests(
    simulator: Simulator, sandbox: str, n: int | None = None, offset: int = 0, **query: Any
) -> ToolAnswer:
    """List the requests that a sandbox received, newest first, with the reason of each refusal. `status_min` 400 lists
    the refused ones. With `n`, show one request and its response whole."""
    opened = simulator.open(sandbox)
    if n is not None:
        return exchange(opened, n, offset)
    if offset:
        raise ValueError("offset applies to a single request: pass n, too")
    page = _page(opened, "/requests", "requests", query)
    return _list_answer(page, "requests", map(request_line, explained(opened, page["requests"])))


def exchange(sandbox: Sandbox, n: int, offset: int = 0) -> ToolAnswer:
    """Return a request of the journal and its response. Their bodies begin at `offset`, and are cut to fit."""
    found: Json = sandbox.ask("GET", below("/requests", str(n)))
    lines, end, rest = [request_line(found)], offset + BODY_CHARS_MAX, ""
    for side in ("request", "response"):
        body = found[side]["body"]
        found[side]["body"] = shown = body[offset:end]
        lines += [f"{side} body: {shown[at : at + PIECE_CHARS]}" for at in range(0, len(shown), PIECE_CHARS)]
        rest = f"Pass n={n} and offset={end} to list_requests to get the rest." if len(body) > end else rest
    heading = f"Request {n}, status {found['status'] or 'none: it got no response'}."
    return ToolAnswer(heading, {"n": n, "status": found["status"]}, [*lines, *_autopsy(found["autopsy"])], found, rest)


def _page(sandbox: Sandbox, path: str, member: str, query: Json) -> Json:
    """Return a page that fits into an answer; the number of rows is halved until it does."""
    limit = query.pop("limit", LIMIT)
    while True:
        page: Json = sandbox.ask("GET", path, query={**query, "limit": limit})
        if len(page[member]) <= 1 or json_size(page[member]) <= PAGE_BYTES_MAX:
            return page
        limit = len(page[member]) // 2


def _list_answer(page: Json, member: str, lines: Iterable[str], heading: str = "") -> ToolAnswer:
    rows, cursor = page[member], page["cursor"] if page["has_more"] else None
    rest = f"Pass cursor={cursor} to get the next rows." if cursor else ""
    facts = {"count": len(rows), "cursor": cursor}
    return ToolAnswer(f"{heading}{member.capitalize()}: {len(rows)}.", facts, list(lines), rows, rest)


@tool({"refid": text_schema("The refid of the payment.")})
def payment_story(simulator: Simulator, sandbox: str, refid: str) -> ToolAnswer:
    """Tell all that happened to a payment: requests, statuses, wallet entries, callbacks, in the order of time."""
    story = simulator.open(sandbox).story(refid)
    data = {name: value for name, value in story.data.items() if name != "events"}  # the lines have them
    return ToolAnswer(f"The payment is {story.status}.", {"status": story.status}, story.lines, data)


@tool({"n": N} | members("explain-request", "method", "path", "headers", "body", "curl", "secret", "canonical"))
def explain_signature(simulator: Simulator, sandbox: str, n: int | None = None, **request: Any) -> ToolAnswer:
    """Say why the signature of a request is refused, and how to correct it. Pass `n` for a request that was received;
    otherwise the request as the client sends it, as method, path, headers and body, or as curl, which is not sent."""
    opened = simulator.open(sandbox)
    if n is None:
        found: Json = opened.ask("POST", "/explain", request)
        verdict, reason = found["verdict"], found["message"]
    else:
        found = opened.ask("GET", below("/requests", str(n)))
        is_signed = found["reseller"] and found["status"] != UNAUTHORIZED
        verdict, reason = "valid" if is_signed else found["error"] or "valid", request_line(found)
    data = {name: found[name] for name in EXPLAINED if found.get(name)}
    return ToolAnswer(f"The verdict is {verdict}.", {"verdict": verdict}, [reason, *_autopsy(found["autopsy"])], data)


def _autopsy(found: Json | None) -> Iterator[str]:
    if found is not None and not found["is_right"]:
        yield f"signature: {found['sentence']}"
        yield f"what to do: {found['fix']}"
        yield f"the string to sign: {found['expected']['canonical_string']}"


@tool(
    {
        "webhooks": {"type": "boolean", "description": "List deliveries of webhooks instead."},
        "inbox": text_schema("List the messages in this inbox of the simulator instead, such as callbacks."),
    }
    | members("callbacks-query", "refid", "limit", "cursor")
)
def list_callbacks(
    simulator: Simulator, sandbox: str, inbox: str = "", webhooks: bool = False, **query: Any
) -> ToolAnswer:
    """List the attempts of callbacks and what the receivers answered, oldest first."""
    opened = simulator.open(sandbox)
    if inbox:
        refid = query.pop("refid", None)
        page = _page(opened, below("/inbox", inbox), "items", query)
        rows = [item for item in page["items"] if refid in (None, item["refid"])]
        lines = [f"#{one['n']} {one['method']}, answered {one['status']}: {one['body']}" for one in rows]
        others = [one["name"] for one in opened.ask("GET", "/inbox")["inboxes"]]
        heading = "" if inbox in others else f"Nothing came to {inbox!r}; inboxes: {', '.join(others) or 'none'}. "
        return _list_answer(page | {"messages": rows}, "messages", lines, heading)
    if webhooks:
        page = _page(opened, "/deliveries", "deliveries", query)
        rows = [(delivery, attempt) for delivery in page["deliveries"] for attempt in delivery["attempts"]]
        lines = [f"{job['type']} to {job['url']}, attempt {row['number']}: {outcome(row)}" for job, row in rows]
        return _list_answer(page, "deliveries", lines)
    page = _page(opened, "/callbacks", "callbacks", query)
    return _list_answer(page, "callbacks", map(callback_line, page["callbacks"]))


@tool(members("ledger-query", "reseller", "type", "refid", "limit", "cursor"))
def show_wallet(simulator: Simulator, sandbox: str, **query: Any) -> ToolAnswer:
    """Show the balance of a wallet and its statement, newest entries first."""
    opened = simulator.open(sandbox)
    code = query.setdefault("reseller", opened.code)
    balance = opened.balance(code)
    page = _page(opened, "/ledger", "entries", query)
    lines = [
        f"{shown_time(one['at'])} {one['type']} {one['amount']:+.2f}, balance {one['balance']:.2f}: {one['remarks']}"
        for one in page["entries"]
    ]
    found = _list_answer(page, "entries", lines, f"The balance of {code} is {balance:.2f} MYR. ")
    return found._replace(facts={**found.facts, "balance": str(balance)})


@tool()
def audit_client(simulator: Simulator, sandbox: str) -> ToolAnswer:
    """Judge what a client does wrong, by the requests that it sent and by what its receivers answered. Requests of
    send_request count as the client's."""
    found = simulator.open(sandbox).audit()
    ids: dict[str, list[str]] = {"violated": [], "warned": [], "met": [], "not_exercised": []}
    for row in found["obligations"]:
        is_warning = row["state"] == "violated" and row["severity"] == "warning"
        ids["warned" if is_warning else row["state"]].append(row["id"])
    errors, warnings = violations(found)
    lines = "\n".join([*errors, *(f"warning: {warning}" for warning in warnings)]).splitlines()
    verdict = "The client passes the audit" if not errors else "The client does not pass the audit"
    if not (errors or warnings or ids["met"]):
        verdict = "There was nothing to judge, since no request of a client arrived"
    counts = ", ".join(f"{len(names)} {state.replace('_', ' ')}" for state, names in ids.items())
    data = [row for row in found["obligations"] if row["state"] == "violated"]
    return ToolAnswer(f"{verdict}: {counts}.", {"ok": not errors, **ids}, lines, data or None)


@tool()
def show_coverage(simulator: Simulator, sandbox: str) -> ToolAnswer:
    """Show which endpoints, outcomes and rules the requests have met, and which they never met."""
    found = simulator.open(sandbox).ask("GET", "/coverage")
    never = {
        "endpoints": [f"{one['method']} {one['path']}" for one in found["endpoints"] if not one["calls"]],
        "outcomes": [f"{row['group']}: {row['text']}" for row in found["outcomes"] if not row["met"]],
        "rules": [rule["name"] or rule["id"] for rule in found["rules"] if not rule["chosen"]],
        "magic": [f"account …{row['digits']}: {row['outcome']}" for row in found["magic"] if not row["met"]],
    }
    counts = ", ".join(f"{name} {row['met']} of {row['total']}" for name, row in found["summary"].items())
    lines = [f"never met, {name}: {about}" for name, texts in never.items() for about in texts]
    return ToolAnswer(f"Met: {counts}.", {"summary": found["summary"]}, lines, never)
