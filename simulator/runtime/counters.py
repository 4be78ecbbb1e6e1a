"""A sandbox's counters: each kind of answer, and the calls that its scenario expects.

An expectation tests the facts of a call, a payment, a callback or a webhook, by their names in scenarios (`of_call`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

import msgspec

from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.expectations import Expectation, ExpectationKind, continued
from simulator.domain.model.rules import Fields
from simulator.domain.model.transactions import PaymentResult, Transaction
from simulator.domain.model.webhooks import Delivery, DeliveryState
from simulator.domain.state import State
from simulator.runtime.journal import Exchange, Journal
from simulator.runtime.operations import BOUNDS_US, ServerCounts
from simulator.runtime.value_counts import SHOWN_MAX, ExpectationBudget, KeptCounts, MatchingCall, ValueCounts
from simulator.wire.payment_answers import CALLBACK_STATUS_NAMES, STATUS_NAMES

SENT = frozenset({"refid", "account", "product", "trxid"})
"""The facts that are in the body of a call, or in its query."""

KEY_CHARS_SHOWN = 8
_API_KEY = b"x-api-key"


def of_call(exchange: Exchange) -> Fields:
    """Return the facts of a call. A connection closed without an answer has the status 0. The body of a fault may have
    its own error."""
    return {
        "method": exchange.method,
        "path": exchange.path,
        "status": str(exchange.status),
        "error": str(exchange.error) or _own_error(exchange),
        "reseller": exchange.reseller,
        "refid": exchange.refid,
    }


def of_payment(transaction: Transaction, results: tuple[PaymentResult, ...]) -> Fields:
    """Return the facts of a payment with the last of these results."""
    return {
        "reseller": transaction.reseller,
        "product": transaction.product,
        "account": transaction.account,
        "amount": transaction.amount,
        "refid": transaction.refid,
        "extras": transaction.extras,
        "status": STATUS_NAMES[results[-1].kind.status],
        "statusCode": str(results[-1].kind.code),
    }


def of_callback(callback: Callback, state: CallbackState) -> Fields:
    """Return the facts of a callback in this state."""
    return {
        "reseller": callback.reseller,
        "product": callback.transaction.product,
        "account": callback.transaction.account,
        "refid": callback.transaction.refid,
        "status": CALLBACK_STATUS_NAMES[callback.result.kind.status],
        "statusCode": str(callback.result.kind.code),
        "state": state.value,
    }


def of_webhook(delivery: Delivery, state: DeliveryState) -> Fields:
    """Return the facts of a delivery in this state."""
    return {"reseller": delivery.reseller, "type": delivery.event.type, "state": state.value}


def is_unseen(exchange: Exchange) -> bool:
    """Return whether a request announced a body that is unknown: too large, incomplete, or never read."""
    if exchange.body:
        return False
    headers = {name.lower(): value for name, value in exchange.headers}
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0").strip(b"0") != b""


def sent_value(exchange: Exchange, name: str) -> str:
    """Return a fact that distinguishes calls, as the client sent it, whether or not its request was accepted; empty if
    absent."""
    match name:
        case "":
            return ""
        case "reseller" | "method" | "path":
            return str(getattr(exchange, name))
        case "address":
            return exchange.client
        case "key":
            return _recognizable(api_key(exchange))
    found = _sent(exchange).get(name, "")
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text or (exchange.refid if name == "refid" else "")


def api_key(exchange: Exchange) -> bytes:
    """Return the API key that a request names; empty if absent."""
    return next((value for header, value in exchange.headers if header.lower() == _API_KEY), b"")


def _recognizable(key: bytes) -> str:
    """Return the beginning of a key and a digest: enough to recognize it, since it may be a misplaced secret."""
    text = key.decode("latin-1")
    return text if len(text) <= KEY_CHARS_SHOWN else f"{text[:KEY_CHARS_SHOWN]}…{sha256(key).hexdigest()[:8]}"


def _sent(exchange: Exchange) -> Mapping[str, Any]:
    """Return the members of the body; without a body, the parameters of the query, the first of repeated ones as in
    `when`."""
    if exchange.body:
        return _members(exchange.body)
    sent = parse_qs(exchange.query.decode("latin-1"), keep_blank_values=True)
    return {name: values[0] for name, values in sent.items()}


def _own_error(exchange: Exchange) -> str:
    if not exchange.fault or b'"error"' not in exchange.content:
        return ""
    error = _members(exchange.content).get("error")
    return error if isinstance(error, str) else ""


def _members(content: bytes) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# Method, path as the contract writes it, status, error, ending of the connection; the domain's `AnswerKind`.
AnswerKey = tuple[str, str, int, str, str]


class Counters:
    """Counters that are updated when the journal is written. `answers` counts by kind, `calls` by
    the index of the expectation in `expected`; `first` has the first requests, `values` the counts of expectations that
    distinguish calls by a value, and `notes` what a count misses. `served` counts for the whole server. When `calls` is
    empty, no request needs to be tested. `needs_bodies` is set when calls are distinguished by a value in their body.
    """

    def __init__(self, expected: Iterable[Expectation] = (), state: State | None = None) -> None:
        self.answers: dict[AnswerKey, int] = {}
        self.server_counts = ServerCounts()
        self.calls: dict[int, int] = {}
        self.values: dict[int, ValueCounts] = {}
        self.notes: dict[int, str] = {}
        self.first: dict[int, list[int]] = {}
        self._budget = ExpectationBudget()
        self.expected: tuple[Expectation, ...] = ()
        self._state = state
        self.follow(expected)

    def follow(self, expected: Iterable[Expectation], journal: Journal | None = None) -> None:
        """Count for these expectations from now on. Unchanged expectations keep their counts; a new expectation begins
        with the contents of the journal."""
        old, calls, values, notes = self._of(ExpectationKind.CALLS), self.calls, self.values, self.notes
        first = self.first
        self.expected = tuple(expected)
        self.calls, self.values, self.notes, self.first = {}, {}, {}, {}
        self.needs_bodies = any(expectation.per in SENT for expectation in self.expected)
        self._tests = [
            (place, one.test) for place, one in enumerate(self.expected) if one.kind is ExpectationKind.CALLS
        ]
        new = self._of(ExpectationKind.CALLS)
        goes_on = continued(old, new)
        self._budget.taken = sum(values[before].size for before in goes_on.values() if before in values)
        for place, one in new.items():
            before = goes_on.get(place)
            if before is not None:
                self.calls[place], self.first[place] = calls[before], first[before]
                self.notes |= {place: notes[before]} if before in notes else {}
                if before in values:
                    self.values[place] = values[before]
                    values[before].expectation = one  # whose place in the file may be another
            else:
                self._begin(place, one, journal)

    @property
    def values_taken(self) -> int:
        """Return the number of distinct values that the expectations use together."""
        return self._budget.taken

    def restore(
        self,
        answers: Mapping[AnswerKey, int],
        calls: dict[int, int],
        first: dict[int, list[int]],
        notes: dict[int, str],
        values_taken: int,
        values: Mapping[int, KeptCounts],
    ) -> None:
        """Restore the counts of these expectations from a snapshot."""
        self.answers, self.calls, self.first, self.notes = dict(answers), calls, first, notes
        self._budget.taken = values_taken
        for place, value in values.items():
            self.values[place].restore(value)

    def _of(self, kind: ExpectationKind) -> dict[int, Expectation]:
        return {place: expectation for place, expectation in enumerate(self.expected) if expectation.kind is kind}

    def _begin(self, place: int, expectation: Expectation, journal: Journal | None) -> None:
        """Begin to count the calls of an expectation, starting with the contents of the journal."""
        self.calls[place], self.first[place] = 0, []
        if expectation.has_values:
            self.values[place] = ValueCounts(expectation, self._budget)
        for exchange in journal or ():
            self._note(place, expectation.test, of_call(exchange), exchange)
        if journal is not None and journal.left_out:
            first = journal.last_n - len(journal) + 1
            self.notes[place] = f"counted from request {first} on, since it was added while the sandbox ran"

    @property
    def has_reached_endpoint(self) -> bool:
        """Return whether any request reached an endpoint of the contract in an existing sandbox."""
        return any("*" not in key[:2] and key[3] != "unknown_sandbox" for key in self.answers)

    def count(self, exchange: Exchange, ending: str, documented: Callable[[str, str], tuple[str, str]]) -> None:
        """Count one answer. `documented` finds the method and path of the contract; unknown paths share a key, so that
        clients cannot grow the table."""
        answers = self.answers
        key = (exchange.method, exchange.path, exchange.status, exchange.error, ending)
        count = answers.get(key)
        if count is None:  # only new keys need normalizing to the names of the contract
            key = (*documented(exchange.method, exchange.path), *key[2:])
            count = answers.get(key, 0)
        answers[key] = count + 1
        durations = self.server_counts.answers.get(key) or self.server_counts.begin(key)
        durations[bisect_left(BOUNDS_US, exchange.duration_us)] += 1
        durations[-1] += exchange.duration_us
        if self.calls:
            self.note_call(of_call(exchange), exchange)

    def note_call(self, about: Fields, exchange: Exchange | None = None) -> None:
        """Count a call for each expectation that it matches."""
        for place, test in self._tests:
            self._note(place, test, about, exchange)

    def _note(self, place: int, test: Callable[[Fields], bool], about: Fields, exchange: Exchange | None) -> None:
        if not test(about):
            return
        self.calls[place] += 1
        if exchange is None:
            return
        if len(first := self.first[place]) < SHOWN_MAX:
            first.append(exchange.n)
        if (values := self.values.get(place)) is not None:
            per = self.expected[place].per
            if per in SENT and is_unseen(exchange):
                values.add_unseen()
                return
            values.add(sent_value(exchange, per), MatchingCall(exchange.at, exchange.n), self._sender(exchange, per))

    def _sender(self, exchange: Exchange, per: str) -> str:
        """Return the sender of a value: the API key for a refid, even of a refused request; "" for other values."""
        if per != "refid" or exchange.reseller or self._state is None:
            return exchange.reseller if per == "refid" else ""
        owner = self._state.keys.get(api_key(exchange).decode("latin-1"))
        return owner[0].code if owner else ""
