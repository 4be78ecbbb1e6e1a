"""An answer held against the contract: departures from what SPEC documents, notes about the rest."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.contract.openapi import OPENAPI
from simulator.contract.responses import Departure as FromContract
from simulator.contract.responses import departures
from simulator.staging.conform.findings import Departure
from simulator.staging.service import Answer

_NOT_SHOWN_400 = (
    "/v2/networkstatus|/v2/transactions|/v2/balance-statement|/v1/interbank/billers|/v2/low-balance-threshold|"
    "/v2/callback-url|/v2/balance-webhook.*"
)


@dataclass(frozen=True, slots=True)
class Assumed:
    """A part of the contract that SPEC does not show: what departs from it there is worth a note. `is_text` limits this
    to members that are texts, since SPEC documents that."""

    assumption: str
    path: str
    status: int
    field: str = ".*"
    is_text: bool = False

    def covers(self, answer: Answer, found: FromContract) -> bool:
        """Whether the departure is about this part."""
        return (
            answer.status == self.status
            and found.expected != "JSON"
            and re.fullmatch(self.path, answer.request.path) is not None
            and re.fullmatch(self.field, found.field) is not None
            and (found.actual.startswith("'") or not self.is_text)
        )


_AMOUNTS = r"data\.\d+\.(amount|price)|meta\.(total_amount|total_price|profit)"
ASSUMED = (
    Assumed("catalog-401", "/v2/catalog", 401, "error|metadata.*"),
    Assumed("product-min-max", "/v2/catalog", 200, r"products\.[^.]+\.(min|max)_amount.*"),
    Assumed("balance-record", "/v2/balance", 200),
    Assumed("history-amounts", "/v2/transactions", 200, _AMOUNTS, is_text=True),
    Assumed("history-status-names", "/v2/transactions", 200, r"data\.\d+\.status_name", is_text=True),
    Assumed("history-response-date", "/v2/transactions", 200, r"data\.\d+\.response_date"),
    Assumed("statement-types", "/v2/balance-statement", 200, r"data\.\d+\.type", is_text=True),
    Assumed("statement-empty-page", "/v2/balance-statement", 200, r"meta\.(from|to)"),
    Assumed("bearer-401", ".*", 401, "error", is_text=True),
    Assumed("parameter-400", _NOT_SHOWN_400, 400),
    Assumed("delivery-404", "/v2/balance-webhook.*", 404),
)


def held(answer: Answer, note: Callable[[str], None]) -> Iterator[Departure]:
    """What departs. Members that the contract does not know, and what departs from an assumption alone, are noted."""
    request = answer.request
    content_type = answer.headers.get("content-type", "")
    found = departures(OPENAPI, request.method, request.path, answer.status, content_type, answer.body)
    for one in found:
        assumption = next((each.assumption for each in ASSUMED if each.covers(answer, one)), "")
        if one.is_unknown:
            note(f"{request.method} {request.path}: {one.field} is not in the contract")
        elif assumption:
            note(f"{one.field} is not as assumed ({assumption}): expected {one.expected}, got {one.actual}")
        else:
            yield Departure(one.field, f"what the contract says: {one.expected}", one.actual)


def expected(answer: Answer, status: int, note: Callable[[str], None]) -> Iterator[Departure]:
    """What departs when this status should have come; the body is only looked at if it did."""
    if answer.status == status:
        yield from held(answer, note)
    else:
        yield Departure("the status", str(status), str(answer))
