"""One sandbox of a simulator: its credentials, its time, its rules, and what happened in it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from time import monotonic
from types import TracebackType
from typing import Any

from reseller_sim import shapes
from reseller_sim.checking import Shape
from reseller_sim.control import CONTROL_PATH, TIMEOUT_S, Control, Query, below, wrong_answer
from reseller_sim.durations import Duration, moment, seconds
from reseller_sim.errors import NoAnswer, NotRunning, SimulatorError
from reseller_sim.evidence import Evidence, violated
from reseller_sim.exchange import Answer, Unanswered, Unreachable, check_target, encoded, exchange
from reseller_sim.identity import Identity
from reseller_sim.messages import Message, from_inbox
from reseller_sim.moments import wanted_moment
from reseller_sim.printable import printable
from reseller_sim.rule import Rule
from reseller_sim.statuses import check_callback, check_payment
from reseller_sim.story import Story

LONG_S = 600.0
REFUSED = 400
NOT_FOUND = 404
Money = str | int | float | Decimal


class Sandbox(Identity):
    """A sandbox as the control API describes it. `Simulator.sandbox` makes one, `Simulator.open` finds one; `with`
    deletes the one that was made."""

    def __init__(self, control: Control, described: Mapping[str, Any], *, is_ours: bool = False) -> None:
        super().__init__(control, dict(described))
        self._is_ours = is_ours

    # Requests

    def call(self, method: str, path: str, json: Any = None, *, timeout_s: float = TIMEOUT_S) -> Answer:
        """Send one signed request as the first reseller; `path` has its query, percent-encoded. Every status is an
        answer. Raises `NoAnswer` when the connection ends without one, `NotRunning` when nobody listens, and
        `ValueError` for a path that would not arrive as it is written."""
        check_target(path)
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
        method: str,
        path: str = "",
        json: Any = None,
        *,
        query: Query | None = None,
        timeout_s: float = TIMEOUT_S,
        shape: Shape = shapes.ANYTHING,
    ) -> Any:
        """One request to the control API below this sandbox, for what has no method here. Raises `SimulatorError`."""
        return self._control.ask(method, self._path + path, json, query=query, timeout_s=timeout_s, shape=shape)

    # Time

    @property
    def now(self) -> datetime:
        """The sandbox's time."""
        return datetime.fromisoformat(self.clock()["now"])

    def clock(self) -> dict[str, Any]:
        """The clock: `mode`, `now`, how many events are `pending`, and when the `next_due` is."""
        found: dict[str, Any] = self.ask("GET", "/clock", shape=shapes.CLOCK)
        return found

    def advance(self, by: Duration | None = None, *, to: str | datetime | None = None) -> dict[str, Any]:
        """Move the clock by a duration (`"90s"`, `90`, a timedelta) or to a time, and run all that is due until then,
        callbacks included; nothing at all runs what is due now. Returns what happened. Raises `SimulatorError`."""
        if by is not None and to is not None:
            raise ValueError("advance either by a duration or to a time")
        wanted = {"seconds": seconds(0 if by is None else by)} if to is None else {"to": moment(to)}
        return self._advance(wanted)

    def run_until_idle(self) -> dict[str, Any]:
        """Move the clock until nothing is left to happen, and return what happened; with `"idle": false` and a `reason`
        when something always is."""
        return self._advance({"until": "idle"})

    def _advance(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = self.ask("POST", "/clock/advance", wanted, timeout_s=LONG_S, shape=shapes.ADVANCED)
        return done

    # What it does

    def rule(self, section: str, rule: Mapping[str, Any]) -> Rule:
        """Add a rule before all others of `payments`, `voids`, `disputes`, `bills` or `faults`, written as in a
        scenario. Raises `SimulatorError`."""
        made = self.ask("POST", "/rules", {"section": section, "rule": dict(rule)}, shape=shapes.MADE_RULE)
        return Rule(self._control, self._path, made["id"])

    def fault(self, rule: Mapping[str, Any]) -> Rule:
        """Add a fault: `{"when": {"path": "/v2/topup"}, "times": 1, "then": {"status": 500}}`."""
        return self.rule("faults", rule)

    def deposit(self, amount: Money, reseller: str | None = None, description: str | None = None) -> dict[str, Any]:
        """Credit a wallet, by default the first reseller's; returns the ledger entry."""
        body = {"amount": str(amount)} | ({} if description is None else {"description": description})
        path = below("/resellers", reseller or self.code, "deposits")
        entry: dict[str, Any] = self.ask("POST", path, body, shape=shapes.ENTRY)
        return entry

    def replies(self, name: str, replies: Sequence[Mapping[str, Any]]) -> None:
        """What an inbox answers, in order, the last one repeated: `[{"status": 500}, {"status": 200, "delay": 1}]`."""
        self.ask("PUT", below("/inbox", name), {"replies": [dict(one) for one in replies]})

    def reset(self) -> None:
        """Return to the start of the scenario."""
        self._described.update(self.ask("POST", "/reset", shape=shapes.SANDBOX))

    def mark(self, name: str) -> dict[str, Any]:
        """Name the present, to return to it; `n` is its place on the tape, `at` the time. Raises `SimulatorError`."""
        made: dict[str, Any] = self.ask("POST", "/marks", {"name": name}, shape=shapes.MARK)
        return made

    def rewind(self, mark: str | None = None, *, to: str | datetime | None = None, n: int | None = None) -> None:
        """Return to a mark, to a time, or behind the nth entry of the tape. Raises `SimulatorError`."""
        wanted = wanted_moment(mark, to, n)
        self._described.update(self.ask("POST", "/rewind", wanted, timeout_s=LONG_S, shape=shapes.SANDBOX))

    def fork(
        self, mark: str | None = None, *, to: str | datetime | None = None, n: int | None = None, id: str | None = None
    ) -> "Sandbox":
        """Make a second sandbox, which begins as this one is now, or was at a moment, and which `with` deletes. Raises
        `SimulatorError`."""
        body: dict[str, Any] = {"fork": {"of": self.id, **wanted_moment(mark, to, n, may_be_now=True)}}
        body |= {} if id is None else {"id": id}
        made = self._control.ask("POST", "/sandboxes", body, timeout_s=LONG_S, shape=shapes.SANDBOX)
        return Sandbox(self._control, made, is_ours=True)

    def delete(self) -> None:
        """Delete it; of the default sandbox this is refused."""
        self.ask("DELETE")

    # What happened

    def balance(self, reseller: str | None = None) -> Decimal:
        """The balance of a wallet, by default the first reseller's. Raises `LookupError` for an unknown code."""
        code = reseller or self.code
        for one in self.ask("GET", shape=shapes.SANDBOX)["resellers"]:
            if one["code"] == code:
                return Decimal(str(one["balance"]))
        raise LookupError(f"there is no reseller {code!r}")

    def transaction(self, refid: str) -> dict[str, Any] | None:
        """The payment with a refid, the latest one if resellers share it; None when there is none."""
        found = self.ask("GET", "/transactions", query={"refid": refid}, shape=shapes.PAYMENTS_PAGE)["transactions"]
        return found[0] if found else None

    def transactions(self, /, **filters: Any) -> list[dict[str, Any]]:
        """Payments, newest first; filters `refid`, `reseller`."""
        return self._listed("/transactions", "transactions", shapes.PAYMENT, filters)

    def story(self, refid: str) -> Story:
        """All that happened to a payment. Raises `LookupError` for a refid that no payment has."""
        found = self.transaction(refid)
        if found is None:
            raise LookupError(self.evidence.no_payment(refid))
        return Story(self.ask("GET", below("/transactions", found["trxid"]), shape=shapes.STORY))

    def requests(self, /, **filters: Any) -> list[dict[str, Any]]:
        """The journal, newest first; filters `method`, `path`, `status`, `reseller`, `trxid`, `refid`, `rule`,
        `error`."""
        return self._listed("/requests", "requests", shapes.REQUEST, filters)

    def refused(self) -> list[dict[str, Any]]:
        """The requests that were answered with a status from 400, newest first, each with its `diagnosis`."""
        return [one for one in self.requests() if one["status"] >= REFUSED]

    def callbacks(self, /, **filters: Any) -> list[dict[str, Any]]:
        """Every callback attempt and its outcome, oldest first; filters `refid`, `trxid`."""
        return self._listed("/callbacks", "callbacks", shapes.CALLBACK, filters)

    def _listed(self, path: str, member: str, row: Shape, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All rows of a list."""
        return list(self._control.pages(self._path + path, member, row, filters))

    def audit(self) -> dict[str, Any]:
        """What the service asks of a client, and whether this one did it."""
        found: dict[str, Any] = self.ask("GET", "/audit", shape=shapes.AUDIT)
        return found

    def inbox(self, name: str = "callbacks") -> list[Message]:
        """What an inbox received, oldest first."""
        items = self._listed(below("/inbox", name), "items", shapes.RECEIVED, {})
        return [from_inbox(one, self._address(name)) for one in items]

    def _address(self, inbox: str) -> str:
        """The path at which an inbox receives."""
        return f"{CONTROL_PATH}/inbox/{self.id}/{inbox}"

    def wait_for_callback(
        self, refid: str | None = None, *, status: str | None = None, inbox: str = "callbacks", timeout_s: float = 10
    ) -> Message:
        """The first callback in an inbox with this refid and status, waiting for it if it has not come yet.

        Under a manual clock callbacks come with `advance` and `run_until_idle`. Raises `AssertionError` with what did
        happen when it does not come in `timeout_s` seconds.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        check_callback(status)
        ends, cursor = monotonic() + timeout_s, 0
        while True:
            left = max(0.0, ends - monotonic())
            query = {"cursor": cursor, "wait_for": 1, "timeout": round(left, 3)}
            path = below("/inbox", inbox)
            page = self.ask("GET", path, query=query, timeout_s=left + TIMEOUT_S, shape=shapes.RECEIVED_PAGE)
            for item in page["items"]:
                if item["n"] <= cursor:
                    raise wrong_answer("GET", self.control_url + path, "an earlier message again")
                cursor = item["n"]
                message = from_inbox(item, self._address(inbox))
                if refid in (None, message.data.get("refid")) and status in (None, message.data.get("status")):
                    return message
            if not page["items"] and left == 0:
                raise AssertionError(printable(self.evidence.no_callback(refid, status, inbox)))

    # What should have happened

    @property
    def evidence(self) -> Evidence:
        """What the texts of failed expectations are made of."""
        return Evidence(self)

    def expect_status(self, refid: str, status: str) -> None:
        """The payment has this status now. Raises `AssertionError` with its story."""
        __tracebackhide__ = True  # pytest shows the line of the test
        check_payment(status)
        found = self.transaction(refid)
        if found is None:
            raise AssertionError(printable(self.evidence.no_payment(refid)))
        if found["status"] != status:
            raise AssertionError(printable(f"{refid} is {found['status']}, not {status}\n{self.story(refid)}"))

    def expect_balance(self, amount: Money, reseller: str | None = None) -> None:
        """A wallet has this balance, by default the first reseller's. Raises `AssertionError` with its payments."""
        __tracebackhide__ = True  # pytest shows the line of the test
        balance = self.balance(reseller)
        if balance != Decimal(str(amount)):
            raise AssertionError(printable(f"the balance is {balance}, not {amount}\n{self.evidence.payments()}"))

    def expect_callback(self, refid: str, *, status: str | None = None) -> dict[str, Any]:
        """A callback about the payment, with this status, was accepted by its receiver; returns the attempt. Raises
        `AssertionError` with the payment's story."""
        __tracebackhide__ = True  # pytest shows the line of the test
        check_callback(status)
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
        if not self._is_ours:
            return
        with suppress(*[NotRunning] if error is not None else []):  # the test's own error says more
            self.close()

    def close(self) -> None:
        """Delete it, unless it is gone already."""
        try:
            self.delete()
        except SimulatorError as refused:
            if refused.status != NOT_FOUND:
                raise
