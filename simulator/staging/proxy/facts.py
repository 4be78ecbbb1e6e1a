"""What a request, an answer or a callback is about, by SPEC's names: refid, trxid, and the payment's result."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

import msgspec

from simulator.contract.outline import outline

JUDGED_BYTES_MAX: Final = 1024 * 1024
"""Of an unpacked body that is held against the contract."""

OUTLINE_BYTES_MAX: Final = 384 * 1024
"""Of a body that is decoded, the bytes outside its strings, as `contract.outline` counts them: some fifty milliseconds'
work."""

KEPT_OUTLINE_BYTES_MAX: Final = 2 * 1024 * 1024
"""The same of a body that is kept, and that the audit and a recorder may read."""

TOPUP_PATH = "/v2/topup"
HISTORY_PATH = "/v2/transactions"
_REFERENCE_CHARS_MAX = 200


class About(NamedTuple):
    """The payment that something is about; empty where that is not known."""

    refid: str = ""
    trxid: str = ""


def members(body: bytes) -> Mapping[str, Any]:
    """The members of a JSON object; none for anything else, nor for one with too much in it."""
    if not body or outline(body, OUTLINE_BYTES_MAX) is not None:
        return {}
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_judged(body: bytes) -> bool:
    """Whether a body is small enough to be held against the contract."""
    return len(body) <= JUDGED_BYTES_MAX and outline(body, OUTLINE_BYTES_MAX) is None


def is_kept(body: bytes) -> bool:
    """Whether reading a body would not take long."""
    return outline(body, KEPT_OUTLINE_BYTES_MAX) is None


def first_parameters(query: bytes) -> dict[str, str]:
    """The parameters of a query, of a repeated one the first."""
    try:
        parsed = parse_qs(query.decode("latin-1"), keep_blank_values=True, max_num_fields=500)
    except ValueError:
        return {}
    return {name: values[0] for name, values in parsed.items()}


def about(query: bytes, body: bytes, answer: bytes) -> About:
    """What a call is about, by what was sent, else by the answer."""
    sent = members(body) or first_parameters(query)
    data = members(answer).get("data")
    result = data if isinstance(data, dict) else {}
    return About(reference(sent, "refid") or reference(result, "refid"), reference(sent, "trxid"))


def reference(found: Mapping[str, Any], name: str) -> str:
    """A reference, empty when there is none that a payment could have."""
    value = found.get(name)
    return value if isinstance(value, str) and len(value) <= _REFERENCE_CHARS_MAX else ""


def result_of(answer: bytes) -> Mapping[str, Any]:
    """The payment result in an answer to `POST /v2/topup`, or in a callback's body (SPEC 2.3)."""
    data = members(answer).get("data")
    return data if isinstance(data, dict) and isinstance(data.get("status"), str) else {}


def callback_result(query: bytes) -> Mapping[str, Any]:
    """The payment result in the query of a GET callback (SPEC 6.1)."""
    sent = first_parameters(query)
    result = members(sent.get("message", "").encode("utf-8", "surrogatepass"))
    return result if isinstance(result.get("status"), str) else {}


def records(answer: bytes) -> Iterator[Mapping[str, Any]]:
    """The records of a transaction history (SPEC 2.4)."""
    data = members(answer).get("data")
    yield from (one for one in (data if isinstance(data, list) else ()) if isinstance(one, dict))
