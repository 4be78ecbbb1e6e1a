"""JSON of the proxy's log for its control API: in the simulator's shapes, without secrets."""

from typing import Any
from urllib.parse import quote

from simulator.control import render
from simulator.control.journal_endpoints import SAFE_IN_PATH, SAFE_IN_URL
from simulator.redaction import Mask
from simulator.staging.proxy.log import Payment, SeenCall, SeenDeparture, SeenNotification, SeenStatus
from simulator.staging.proxy.messages import value_of
from simulator.wire.traffic import Headers

SANDBOX = "default"
RECEIVER_BODY_CHARS_MAX = 16 * 1024


def request(seen: SeenCall, mask: Mask) -> dict[str, Any]:
    """Return a row of the journal."""
    call = seen.call
    return {
        "n": call.n,
        "at": render.moment(call.at),
        "method": call.method,
        "path": mask.path(call.path),
        "query": mask.query(call.path, call.query),
        "status": seen.status,
        "reseller": call.reseller,
        "client": seen.client,
        "rule": "",
        "fault": "",
        "error": mask.text(seen.error),
        "diagnosis": mask.text(call.diagnosis),
        "trxid": call.trxid,
        "duration_us": call.duration_us,
        "refid": mask.text(call.refid),
        "departed": len(seen.departures),
    }


def exchange(seen: SeenCall, mask: Mask) -> dict[str, Any]:
    """Return a call with its request and the service's response."""
    call = seen.call
    return request(seen, mask) | {
        "sandbox": SANDBOX,
        "request": _message(mask, call.path, call.headers, call.body, seen.body_bytes),
        "response": _message(mask, call.path, call.answer_headers, call.answer, seen.answer_bytes),
        "departures": [departure_of(found, mask) for found in seen.departures],
    }


def exported(url: str, seen: SeenCall, mask: Mask) -> dict[str, Any]:
    """Return a call as `har_parts` takes it, with the address at the proxy, which is at `url`."""
    sent = quote(target(seen, mask).decode("latin-1"), safe=SAFE_IN_URL, encoding="latin-1")
    return exchange(seen, mask) | {"url": url + sent, "unread": _unread(seen)}


def target(seen: SeenCall, mask: Mask) -> bytes:
    """Return the target as it was sent, without secrets."""
    path, query = seen.call.path, mask.query(seen.call.path, seen.call.query)
    sent_path = quote(mask.path(path), safe=SAFE_IN_PATH, encoding="latin-1")
    return (sent_path + (f"?{query}" if query else "")).encode("latin-1")


def _unread(seen: SeenCall) -> str:
    is_missing = seen.body_bytes > 0 and not seen.call.body
    return f"Its body of {seen.body_bytes} bytes was not kept." if is_missing else ""


def _message(mask: Mask, path: str, headers: Headers, body: bytes, body_bytes: int) -> dict[str, Any]:
    """Return a message as the simulator's journal shows it; `body_bytes` is the length on the wire."""
    named = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    shown = [[mask.text(name), mask.header(name, value)] for name, value in named]
    return {"headers": shown, "body": mask.body(path, body), "body_bytes": body_bytes}


def departure_of(found: Any, mask: Mask) -> dict[str, Any]:
    """Return a departure without its place."""
    return {
        "field": mask.text(found.field),
        "expected": mask.text(found.expected),
        "actual": mask.text(found.actual),
        "is_unknown": found.is_unknown,
    }


def departure(seen: SeenDeparture, mask: Mask) -> dict[str, Any]:
    """Return a row of the departures."""
    place = {
        "n": seen.n,
        "at": render.moment(seen.at),
        "request": seen.request or None,
        "callback": seen.callback or None,
        "operation": mask.text(seen.operation),
    }
    return place | departure_of(seen.departure, mask)


def notification(seen: SeenNotification, mask: Mask) -> dict[str, Any]:
    """Return a callback or webhook, and the receiver's answer."""
    message = seen.notification
    path, _, query = message.url.partition("?")
    shown_query = mask.query(path, query.encode("latin-1", "replace"))
    return {
        "n": message.n,
        "at": render.moment(message.at),
        "kind": message.kind,
        "refid": mask.text(message.refid),
        "trxid": message.trxid,
        "payment_status": mask.text(seen.reported),
        "signature": seen.signature,
        "method": message.method,
        "url": mask.text(path) + (f"?{shown_query}" if query else ""),
        "status": message.status or None,
        "error": mask.text(message.error),
        "body": mask.body("", message.answer[:RECEIVER_BODY_CHARS_MAX]),
        "duration_us": message.duration_us,
        "departures": [departure_of(each, mask) for each in seen.departures],
        "request": _message(mask, path, message.headers, message.body, len(message.body)),
        "content_type": value_of(message.answer_headers, b"content-type").decode("latin-1"),
    }


def payment(observed: Payment, mask: Mask) -> dict[str, Any]:
    """Return a payment as far as it was observed."""
    last = observed.statuses[-1] if observed.statuses else None
    return {
        "trxid": mask.text(observed.trxid),
        "refid": mask.text(observed.refid),
        "product": mask.text(observed.product),
        "account": mask.text(observed.account),
        "amount": observed.amount,
        "cost": observed.cost,
        "status": mask.text(last.status) if last else "",
        "status_code": last.status_code if last else None,
        "created": render.moment(observed.created),
        "updated": render.moment(observed.updated),
    }


def status(seen: SeenStatus, mask: Mask) -> dict[str, Any]:
    """Return an observed status; `source` and `n` name the message that reported it."""
    return {
        "at": render.moment(seen.at),
        "status": mask.text(seen.status),
        "status_code": seen.status_code,
        "source": seen.source,
        "n": seen.n,
    }
