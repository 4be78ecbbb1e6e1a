"""Where an answer or a notification departs from the contract."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from simulator.contract.body import BadJson, decode_any
from simulator.contract.openapi import OPENAPI, load
from simulator.contract.responses import Departure, body_departures, departures, path_item
from simulator.contract.schemas import schema
from simulator.staging.proxy.facts import TOPUP_PATH, first_parameters, members
from simulator.staging.proxy.fields import value_of
from simulator.staging.proxy.times import impossible_times
from simulator.wire.json import is_integer_when_whole
from simulator.wire.traffic import Headers

DEPARTURES_MAX = 50
"""Of one message; the rest would say the same of other items of a list."""

_CALLBACK_PARAMETERS = ("refid", "status", "price", "message")
_CODE = re.compile(r"[0-9]{1,5}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
_ERRORS_FROM = 400
_SHOWN_CHARS = 200


def of_answer(method: str, path: str, status: int, headers: Headers, answer: bytes) -> Iterator[Departure]:
    """Those of an answer whose body is unpacked. The contract has no HEAD, which an answer's body would be missing
    from."""
    if method == "HEAD":
        return
    if path_item(load(OPENAPI), path) is None and status < _ERRORS_FROM:
        yield Departure("the path", "one that the contract has", path[:200])
        return
    content_type = value_of(headers, b"content-type").decode("latin-1")
    found = list(departures(OPENAPI, method, path, status, content_type, answer))
    yield from found
    yield from _of_values(_decoded(answer), "data" if path == TOPUP_PATH else None, found)


def of_callback(method: str, query: bytes, body: bytes) -> Iterator[Departure]:
    """Those of a transaction callback (SPEC 6.1)."""
    if method == "POST":
        found = list(body_departures(schema("callback"), body))
        yield from found
        yield from _of_values(_decoded(body), "data", found)
    elif method == "GET":
        yield from _of_parameters(first_parameters(query))
    else:
        yield Departure("the method", "GET or POST", method)


def _of_parameters(sent: Mapping[str, str]) -> Iterator[Departure]:
    yield from (Departure(name, "a parameter", "absent") for name in _CALLBACK_PARAMETERS if name not in sent)
    message = sent.get("message", "").encode("utf-8", "surrogatepass")
    result = _decoded(message)
    if "refid" in sent:
        yield from _same("refid", sent["refid"], result.get("refid"))
    if "status" in sent and not _CODE.fullmatch(sent["status"]):
        yield Departure("status", "the numeric code", repr(sent["status"])[:_SHOWN_CHARS])
    elif "status" in sent:
        yield from _same("status", int(sent["status"]), result.get("statusCode"))
    if "price" in sent and not _NUMBER.fullmatch(sent["price"]):
        yield Departure("price", "a number", repr(sent["price"])[:_SHOWN_CHARS])
    elif "price" in sent:
        yield from _same("price", Decimal(sent["price"]), result.get("cost"))
    if "message" in sent:
        found = list(body_departures(schema("callback-message"), message))
        for one in (*found, *_of_values(result, "", found)):
            yield one._replace(field=f"message: {one.field}")


def _same(name: str, sent: str | int | Decimal, told: object) -> Iterator[Departure]:
    """A parameter that is not what the message has in its place; a message that lacks it is judged by itself."""
    is_known = isinstance(told, str) if isinstance(sent, str) else _is_number(told)
    if is_known and sent != told:
        yield Departure(name, f"as in message: {str(told)[:_SHOWN_CHARS]}", str(sent)[:_SHOWN_CHARS])


def _of_values(whole: Mapping[str, Any], payment: str | None, found: list[Departure]) -> Iterator[Departure]:
    """What no schema says: times that exist, and whole amounts as integers (SPEC 2.3), of the payment's result in the
    member `payment`, "" for `whole` itself. Of a member in `found` enough is said."""
    said = {one.field for one in found}
    for field, text in impossible_times(whole):
        if field not in said:
            yield Departure(field, "a time that exists", repr(text)[:_SHOWN_CHARS])
    result = whole if payment == "" else whole.get(payment or "")
    amount = result.get("amount") if isinstance(result, dict) and payment is not None else None
    if isinstance(amount, Decimal) and not is_integer_when_whole(amount, amount):
        yield Departure(f"{payment}.amount".lstrip("."), "an integer when whole", str(amount)[:_SHOWN_CHARS])


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _decoded(body: bytes) -> Mapping[str, Any]:
    """The members of a JSON object with exact numbers; none for anything else."""
    try:
        found = decode_any(body, outline_max=len(body))
    except BadJson:
        return {}
    return found if isinstance(found, dict) else {}


def of_webhook(body: bytes) -> Iterator[Departure]:
    """Those of a webhook event (SPEC 2.13, 6.4)."""
    name = "balance-added" if members(body).get("type") == "balance.added" else "catalog-event"
    found = list(body_departures(schema(name), body))
    yield from found
    yield from _of_values(_decoded(body), None, found)
