"""One sandbox of a simulator: its credentials, its time, its rules, and what happened in it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from types import TracebackType
from typing import Any, Unpack

from reseller_sim.arguments import checked, did_you_mean
from reseller_sim.control import TIMEOUT_S, Control, Query, below
from reseller_sim.decoding import Row
from reseller_sim.durations import Duration, moment, seconds
from reseller_sim.errors import NoAnswer, NotIdle, NotRunning, SimulatorError
from reseller_sim.evidence import Evidence, violated
from reseller_sim.exchange import Answer, Unanswered, Unreachable, encoded, exchange
from reseller_sim.identity import Identity
from reseller_sim.inbox import Inbox
from reseller_sim.messages import Message
from reseller_sim.moments import wanted_moment
from reseller_sim.parameters import (
    Below,
    CallbackFilters,
    CallbackStatus,
    Method,
    Money,
    Name,
    PaymentStatus,
    RequestFilters,
    Seconds,
    Section,
    Target,
    TransactionFilters,
)
from reseller_sim.printable import printable
from reseller_sim.rule import Rule
from reseller_sim.story import Story

LONG_S = 600.0
REFUSED = 400
NOT_FOUND = 404


@checked
class Sandbox(Identity):
    """A sandbox as the control API describes it. `Simulator.sandbox` makes one, `Simulator.open` finds one; `with`
    deletes the one that was made."""

    def __init__(self, control: Control, described: Mapping[str, Any], *, is_ours: bool = False) -> None:
        super().__init__(control, Row(described))
        self._is_ours = is_ours

    def call(self, method: Method, path: Target, json: Any = None, *, timeout_s: Seconds = TIMEOUT_S) -> Answer:
        """Send one signed request as the first reseller; `path` has its query, percent-encoded. Every status is an
        answer. Raises `NoAnswer` when the connection ends without one, `NotRunning` when nobody listens, and
        `ValueError` for a path that would not arrive as it is written."""
        body = b"" if json is None else encoded(json)
        headers = self.auth.headers(method, path, body)
        if body:
            headers["Content-Type"] = "application/json"
        try:
            return exchange(method, self.url + path, body or None, headers, timeout_s)
        except Unreachable as error:
            raise self._control.not_running(error) from None
        except Unanswered as error:
            raise NoAnswer(f"{method} {path} got no complete response: {error}") from None

    def ask(
        self,
        method: Method,
        path: Below = "",
        json: Any = None,
        *,
        query: Query | None = None,
        timeout_s: Seconds = TIMEOUT_S,
    ) -> Any:
        """One request to the control API below this sandbox, for what has no method here. Raises `SimulatorError`."""
        return self._control.ask(method, self._path + path, json, query=query, timeout_s=timeout_s)

    # Time

    @property
    def now(self) -> datetime:
        """The sandbox's time."""
        return datetime.fromisoformat(self.clock()["now"])

    def clock(self) -> dict[str, Any]:
        """The clock: `mode`, `now`, how many events are `pending`, and when the `next_due` is."""
        return Row(self.ask("GET", "/clock"))

    def advance(self, by: Duration | None = None, *, to: Name | datetime | None = None) -> dict[str, Any]:
        """Move the clock by a duration (`"90s"`, `90`, a timedelta) or to a time, and run all that is due until then,
        callbacks included; nothing at all runs what is due now. Returns what happened. Raises `SimulatorError`."""
        if by is not None and to is not None:
            raise ValueError("advance either by a duration or to a time")
        wanted = {"seconds": seconds(0 if by is None else by)} if to is None else {"to": moment(to)}
        return self._advance(wanted)

    def run_until_idle(self) -> dict[str, Any]:
        """Move the clock until nothing is left to happen, and return what happened. Raises `NotIdle` when something
        always is, such as a payment that a receiver makes for each callback."""
        __tracebackhide__ = True  # pytest shows the line of the test
        done = self._advance({"until": "idle"})
        if not done["idle"]:
            raise NotIdle(printable(self.evidence.not_idle(done)), done)
        return done

    def _advance(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        return Row(self.ask("POST", "/clock/advance", wanted, timeout_s=LONG_S))

    # What it does

    def rule(self, section: Section, rule: Mapping[str, Any]) -> Rule:
        """Add a rule before all others of `payments`, `voids`, `disputes`, `bills` or `faults`, written as in a
        scenario. Raises `SimulatorError`."""
        made = self.ask("POST", "/rules", {"section": section, "rule": dict(rule)})
        return Rule(self._control, self._path, made["id"])

    def fault(self, rule: Mapping[str, Any]) -> Rule:
        """Add a fault: `{"when": {"path": "/v2/topup"}, "times": 1, "then": {"status": 500}}`."""
        return self.rule("faults", rule)

    def deposit(self, amount: Money, reseller: Name | None = None, description: Name | None = None) -> dict[str, Any]:
        """Credit a wallet, by default the first reseller's; returns the ledger entry."""
        body = {"amount": str(amount)} | ({} if description is None else {"description": description})
        path = below("/resellers", reseller or self.code, "deposits")
        return Row(self.ask("POST", path, body))

    def replies(self, name: Name, replies: Sequence[Mapping[str, Any]]) -> None:
        """What an inbox answers, in order, the last one repeated: `[{"status": 500}, {"status": 200, "delay": 1}]`."""
        self.ask("PUT", below("/inbox", name), {"replies": [dict(one) for one in replies]})

    def reset(self) -> None:
        """Return to the start of the scenario."""
        self._described.update(self.ask("POST", "/reset"))

    def mark(self, name: Name) -> dict[str, Any]:
        """Name the present, to return to it; `n` is its place on the tape, `at` the time. Raises `SimulatorError`."""
        return Row(self.ask("POST", "/marks", {"name": name}))

    def rewind(self, mark: Name | None = None, *, to: Name | datetime | None = None, n: int | None = None) -> None:
        """Return to a mark, to a time, or behind the nth entry of the tape. Raises `SimulatorError`."""
        wanted = wanted_moment(mark, to, n)
        self._described.update(self.ask("POST", "/rewind", wanted, timeout_s=LONG_S))

    def fork(
        self,
        mark: Name | None = None,
        *,
        to: Name | datetime | None = None,
        n: int | None = None,
        id: Name | None = None,
    ) -> "Sandbox":
        """Make a second sandbox, which begins as this one is now, or was at a moment, and which `with` deletes. Raises
        `SimulatorError`."""
        body: dict[str, Any] = {"fork": {"of": self.id, **wanted_moment(mark, to, n, may_be_now=True)}}
        body |= {} if id is None else {"id": id}
        made = self._control.ask("POST", "/sandboxes", body, timeout_s=LONG_S)
        return Sandbox(self._control, made, is_ours=True)

    def delete(self) -> None:
        """Delete it; of the default sandbox this is refused."""
        self.ask("DELETE")

    # What happened

    def balance(self, reseller: Name | None = None) -> Decimal:
        """The balance of a wallet, by default the first reseller's. Raises `LookupError` for an unknown code."""
        code = reseller or self.code
        balances = {one["code"]: Decimal(str(one["balance"])) for one in self.ask("GET")["resellers"]}
        if code not in balances:
            raise LookupError(f"there is no reseller {code!r}{did_you_mean(code, [*balances])}")
        return balances[code]

    def transaction(self, refid: Name) -> dict[str, Any] | None:
        """The payment with a refid, the latest one if resellers share it; None when there is none."""
        found = self.ask("GET", "/transactions", query={"refid": refid})["transactions"]
        return found[0] if found else None

    def transactions(self, **filters: Unpack[TransactionFilters]) -> list[dict[str, Any]]:
        """Payments, newest first; filters `refid`, `reseller`."""
        return self._listed("/transactions", "transactions", filters)

    def story(self, refid: Name) -> Story:
        """All that happened to a payment. Raises `LookupError` for a refid that no payment has."""
        found = self.transaction(refid)
        if found is None:
            raise LookupError(self.evidence.no_payment(refid))
        return Story(self.ask("GET", below("/transactions", found["trxid"])))

    def requests(self, **filters: Unpack[RequestFilters]) -> list[dict[str, Any]]:
        """The journal, newest first; filters `method`, `path`, `status`, `reseller`, `trxid`, `refid`, `rule`,
        `error`, and the others of the control API's list."""
        return self._listed("/requests", "requests", filters)

    def refused(self) -> list[dict[str, Any]]:
        """The requests that were answered with a status from 400, newest first, each with its `diagnosis`."""
        return [one for one in self.requests() if one["status"] >= REFUSED]

    def callbacks(self, **filters: Unpack[CallbackFilters]) -> list[dict[str, Any]]:
        """Every callback attempt and its outcome, oldest first; filters `refid`, `trxid`."""
        return self._listed("/callbacks", "callbacks", filters)

    def _listed(self, path: str, member: str, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All rows of a list."""
        return list(self._control.pages(self._path + path, member, filters))

    def audit(self) -> dict[str, Any]:
        """What the service asks of a client, and whether this one did it."""
        return Row(self.ask("GET", "/audit"))

    def inbox(self, name: Name = "callbacks") -> list[Message]:
        """What an inbox received, oldest first."""
        return list(Inbox(self, name).messages(0))

    def wait_for_callback(
        self,
        refid: Name | None = None,
        *,
        status: CallbackStatus | None = None,
        inbox: Name = "callbacks",
        timeout_s: Seconds = 10,
    ) -> Message:
        """The first callback in an inbox with this refid and status, waiting for it if it has not come yet.

        Under a manual clock callbacks come with `advance` and `run_until_idle`. Raises `AssertionError` with what did
        happen when it does not come in `timeout_s` seconds.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        for message in Inbox(self, inbox).messages(timeout_s):
            if refid in (None, message.data.get("refid")) and status in (None, message.data.get("status")):
                return message
        raise AssertionError(printable(self.evidence.no_callback(refid, status, inbox)))

    # What should have happened

    @property
    def evidence(self) -> Evidence:
        """What the texts of failed expectations are made of."""
        return Evidence(self)

    def expect_status(self, refid: Name, status: PaymentStatus) -> None:
        """The payment has this status now. Raises `AssertionError` with its story."""
        __tracebackhide__ = True  # pytest shows the line of the test
        found = self.transaction(refid)
        if found is None:
            raise AssertionError(printable(self.evidence.no_payment(refid)))
        if found["status"] != status:
            hint = self.evidence.hint()
            raise AssertionError(printable(f"{refid} is {found['status']}, not {status}{hint}\n{self.story(refid)}"))

    def expect_balance(self, amount: Money, reseller: Name | None = None) -> None:
        """A wallet has this balance, by default the first reseller's. Raises `AssertionError` with its payments."""
        __tracebackhide__ = True  # pytest shows the line of the test
        balance = self.balance(reseller)
        if balance != Decimal(str(amount)):
            text = f"the balance is {balance}, not {amount}{self.evidence.hint()}"
            raise AssertionError(printable(f"{text}\n{self.evidence.payments()}"))

    def expect_callback(self, refid: Name, *, status: CallbackStatus | None = None) -> dict[str, Any]:
        """A callback about the payment, with this status, was accepted by its receiver; returns the attempt. Raises
        `AssertionError` with the payment's story."""
        __tracebackhide__ = True  # pytest shows the line of the test
        for one in self.callbacks(refid=refid):
            if one["state"] == "delivered" and status in (None, one["payment_status"]):
                return one
        raise AssertionError(printable(self.evidence.no_callback(refid, status)))

    def expect_no_refusals(self) -> None:
        """No request was answered with a status from 400. Raises `AssertionError` with those that were, and why."""
        __tracebackhide__ = True  # pytest shows the line of the test
        refused = self.refused()
        if refused:
            raise AssertionError(printable(self.evidence.refusals(refused)))

    def expect_clean_audit(self) -> None:
        """Nothing that the service asks of a client was violated, but for warnings. Raises `AssertionError` with what
        was, and what to do."""
        __tracebackhide__ = True  # pytest shows the line of the test
        broken = violated(self.audit())
        if broken:
            raise AssertionError(printable(self.evidence.violations(broken)))

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            with suppress(*[NotRunning] if error is not None else []):  # the test's own error says more
                self.close()

    def close(self) -> None:
        """Delete it, unless it is gone already."""
        try:
            self.delete()
        except SimulatorError as refused:
            if refused.status != NOT_FOUND:
                raise
