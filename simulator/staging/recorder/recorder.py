"""Records what passes between a client and the service, and makes a scenario of it that plays it again."""

from collections.abc import Callable, Mapping
from datetime import datetime

from simulator.staging.recorder.account import Account
from simulator.staging.recorder.bills import Bills
from simulator.staging.recorder.bodies import in_utc, seconds
from simulator.staging.recorder.cases import Cases
from simulator.staging.recorder.catalogs import Catalogs
from simulator.staging.recorder.failures import Failures
from simulator.staging.recorder.payments import Payments
from simulator.staging.recorder.written import Record, written
from simulator.wire.traffic import Call, Notification

_OK = 200
_SUCCESSES = range(200, 300)
_Note = Callable[["Recorder", Call], None]


class Recorder:
    """Takes calls and notifications in the order of their times, in bounded memory, whatever they have in them.

    `names_accounts` allows account numbers in the rules, where an account's outcomes differ from those of its product;
    without it such outcomes are played in the order in which they came.
    """

    def __init__(self, *, names_accounts: bool = True) -> None:
        self._names_accounts = names_accounts
        self._start: datetime | None = None
        self._catalogs = Catalogs()
        self._payments = Payments()
        self._account = Account()
        self._bills = Bills()
        self._voids = Cases("voids")
        self._disputes = Cases("disputes")
        self._failures = Failures()
        self._calls = self._notifications = 0
        self._end: datetime | None = None

    def note_call(self, call: Call) -> None:
        """Take a request and its answer."""
        self._begin(call.at)
        self._calls += 1
        self._failures.note(call)
        note = _NOTES.get((call.method, call.path))
        if note is not None:
            note(self, call)

    def note_notification(self, one: Notification) -> None:
        """Take an attempt of a callback or a webhook."""
        start = self._begin(one.at)
        self._notifications += 1
        if one.kind == "callback":
            self._payments.note_callback(one)
        else:
            self._account.note_event(one, start)

    def scenario_text(self) -> str:
        """The scenario so far, as YAML that `check` accepts; the same for the same traffic."""
        record = Record(
            catalogs=self._catalogs,
            payments=self._payments,
            account=self._account,
            bills=self._bills,
            voids=self._voids,
            disputes=self._disputes,
            failures=self._failures,
            calls=self._calls,
            notifications=self._notifications,
            start=self._start,
            end=self._end,
        )
        return "\n".join([*written(record, names_accounts=self._names_accounts), ""])

    def _begin(self, at: datetime) -> datetime:
        at = in_utc(at)
        if self._start is None:
            self._start = at
        self._end = at if self._end is None else max(self._end, at)
        return self._start

    def _note_topup(self, call: Call) -> None:
        before = len(self._payments.followed)
        self._payments.note_topup(call)
        if call.status in (_OK, 400):
            self._account.note_payment(call, is_new=len(self._payments.followed) > before)

    def _note_void(self, call: Call) -> None:
        if call.status == _OK:
            self._voids.note(call, self._payments)

    def _note_dispute(self, call: Call) -> None:
        if call.status == _OK:
            self._disputes.note(call, self._payments)

    def _note_network(self, call: Call) -> None:
        if call.status == _OK:
            self._catalogs.note_network(call, seconds(in_utc(call.at) - self._begin(call.at)))


def _when_ok(pick: Callable[[Recorder], Callable[[Call], None]]) -> _Note:
    """What takes a call that succeeded, 201 and 204 included; other answers have nothing in them."""

    def note(recorder: Recorder, call: Call) -> None:
        if call.status in _SUCCESSES:
            pick(recorder)(call)

    return note


_NOTES: Mapping[tuple[str, str], _Note] = {
    ("GET", "/v2/catalog"): _when_ok(lambda to: to._catalogs.note_catalog),
    ("GET", "/v2/options"): _when_ok(lambda to: to._catalogs.note_options),
    ("GET", "/v1/interbank/billers"): _when_ok(lambda to: to._catalogs.note_billers),
    ("GET", "/v2/subproducts"): _when_ok(lambda to: to._catalogs.note_subproducts),
    ("GET", "/v2/product-list"): _when_ok(lambda to: to._catalogs.note_product_list),
    ("GET", "/v2/networkstatus"): Recorder._note_network,
    ("GET", "/v2/balance"): _when_ok(lambda to: to._account.note_balance),
    ("GET", "/v2/balance-statement"): _when_ok(lambda to: to._account.note_statement),
    ("POST", "/v2/low-balance-threshold"): _when_ok(lambda to: to._account.note_threshold),
    ("GET", "/v2/callback-url"): _when_ok(lambda to: to._account.note_callback_url),
    ("POST", "/v2/callback-url"): _when_ok(lambda to: to._account.note_callback_url),
    ("GET", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_webhook),
    ("PUT", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_webhook),
    ("DELETE", "/v2/balance-webhook"): _when_ok(lambda to: to._account.note_no_webhook),
    ("PATCH", "/v2/balance-webhook/enabled"): _when_ok(lambda to: to._account.note_webhook_enabled),
    ("POST", "/v2/topup"): Recorder._note_topup,
    ("GET", "/v2/transactions"): _when_ok(lambda to: to._payments.note_history),
    ("GET", "/v2/bill-presentment"): lambda to, call: to._bills.note(call),
    ("POST", "/v2/transactions/void"): Recorder._note_void,
    ("POST", "/v2/transactions/check"): Recorder._note_dispute,
}
