"""Departures of answers and notifications from the contract, and the payment of a message."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from simulator.contract.body import outline
from simulator.contract.openapi import OPENAPI, load
from simulator.contract.responses import ContractDeparture, body_departures, departures, path_item
from simulator.contract.schemas import schema
from simulator.staging.bodies import TEXT_CHARS_MAX, as_dict, callback_message, decoded, dicts, parameters, short
from simulator.staging.proxy.messages import value_of
from simulator.wire.formats import is_integer_when_whole
from simulator.wire.traffic import Headers

JUDGED_BYTES_MAX: Final = 1024 * 1024
"""The largest unpacked body that is compared with the contract."""

OUTLINE_BYTES_MAX: Final = 384 * 1024
"""The maximum size of a decoded body without its strings, as `contract.outline` counts it: about fifty milliseconds of
work."""

KEPT_OUTLINE_BYTES_MAX: Final = 2 * 1024 * 1024
"""The corresponding limit for bodies that are stored, and that the audit and a recorder may read."""

TOPUP_PATH = "/v2/topup"
HISTORY_PATH = "/v2/transactions"


def members(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON object; empty for other values, and for an object that is too large."""
    return as_dict(decoded(body)) if body and outline(body, OUTLINE_BYTES_MAX) is None else {}


def is_judged(body: bytes) -> bool:
    """Return whether a body is small enough to be compared with the contract."""
    return len(body) <= JUDGED_BYTES_MAX and outline(body, OUTLINE_BYTES_MAX) is None


def is_kept(body: bytes) -> bool:
    """Return whether a body can be read quickly."""
    return outline(body, KEPT_OUTLINE_BYTES_MAX) is None


def about(query: bytes, body: bytes, answer: bytes) -> tuple[str, str]:
    """Return the refid and the trxid of a call, by the request, else by the answer; empty when unknown."""
    sent = members(body) or parameters(query)
    result = as_dict(members(answer).get("data"))
    return short(sent.get("refid")) or short(result.get("refid")), short(sent.get("trxid"))


def result_of(answer: bytes) -> Mapping[str, Any]:
    """Return the payment result in an answer to `POST /v2/topup`, or in a callback's body (SPEC 2.3)."""
    data = as_dict(members(answer).get("data"))
    return data if isinstance(data.get("status"), str) else {}


def callback_result(query: bytes) -> Mapping[str, Any]:
    """Return the payment result in the query of a GET callback (SPEC 6.1)."""
    result = callback_message(query)
    return result if isinstance(result.get("status"), str) else {}


def records(answer: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a transaction history (SPEC 2.4)."""
    yield from dicts(members(answer).get("data"))


DEPARTURES_MAX = 50
"""The limit for a message. Further departures would repeat these for other items of a list."""

_CALLBACK_PARAMETERS = ("refid", "status", "price", "message")
_ERRORS_FROM = 400


def of_answer(method: str, path: str, status: int, headers: Headers, answer: bytes) -> Iterator[ContractDeparture]:
    """Yield departures of an answer whose body is unpacked. HEAD is exempt: the contract lacks it, and its answer has
    no body."""
    if method == "HEAD":
        return
    if path_item(load(OPENAPI), path) is None and status < _ERRORS_FROM:
        yield ContractDeparture("the path", "one that the contract has", path[:200])
        return
    content_type = value_of(headers, b"content-type").decode("latin-1")
    yield from departures(OPENAPI, method, path, status, content_type, answer)
    if path == TOPUP_PATH:
        yield from _of_amount(as_dict(decoded(answer)).get("data"), "data.")


def of_callback(method: str, query: bytes, body: bytes) -> Iterator[ContractDeparture]:
    """Yield departures of a transaction callback (SPEC 6.1)."""
    if method == "POST":
        yield from body_departures(schema("callback"), body)
        yield from _of_amount(as_dict(decoded(body)).get("data"), "data.")
    elif method == "GET":
        yield from _of_parameters(parameters(query))
    else:
        yield ContractDeparture("the method", "GET or POST", method)


def _of_parameters(sent: Mapping[str, str]) -> Iterator[ContractDeparture]:
    yield from (ContractDeparture(name, "a parameter", "absent") for name in _CALLBACK_PARAMETERS if name not in sent)
    message = sent.get("message", "").encode("utf-8", "surrogatepass")
    result = as_dict(decoded(message))
    if "message" in sent:
        for departure in (*body_departures(schema("callback-message"), message), *_of_amount(result, "")):
            yield departure._replace(field=f"message: {departure.field}")


def _of_amount(result: Any, where: str) -> Iterator[ContractDeparture]:
    """Yield a departure when a whole amount is no integer (SPEC 2.3), which no schema checks."""
    amount = result.get("amount") if isinstance(result, dict) else None
    if isinstance(amount, Decimal) and not is_integer_when_whole(amount, amount):
        yield ContractDeparture(f"{where}amount", "an integer when whole", str(amount)[:TEXT_CHARS_MAX])


def of_webhook(body: bytes) -> Iterator[ContractDeparture]:
    """Yield departures of a webhook event (SPEC 2.13, 6.4)."""
    name = "balance-added" if members(body).get("type") == "balance.added" else "catalog-event"
    yield from body_departures(schema(name), body)
