"""A sandbox of a simulator: its credentials, time, rules and records."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode
from warnings import warn

from reseller_sim import evidence
from reseller_sim.control import REFUSED, TIMEOUT_S, NoAnswer, NotIdle, NotRunning, SimulatorError, below, given
from reseller_sim.exchange import Answer, Unanswered, Unreachable, encoded, exchange
from reseller_sim.formats import STATUSES, Duration, Moment, Money, check_path, check_status, moment, printable, seconds
from reseller_sim.identity import Records
from reseller_sim.receiver import Message

__tracebackhide__ = True  # pytest shows the line of the test
LONG_S = 600.0
NOT_FOUND = 404
NOTHING_DUE = 'advance() runs what is due now, and nothing is: to move time, give a duration such as advance("5s")'
BLOCKED = "did not answer in time, and this call blocks the event loop of the test: await it with async_sandbox"
BEYOND_S = 30.0  # the answer to a request that waits takes longer than the wait


def warn_of(texts: Iterable[str]) -> None:
    """Emit warnings at the line of the test, which is the first frame outside this package."""
    level = 2
    while sys._getframe(level - 1).f_globals.get("__package__") == __package__:
        level += 1
    for text in texts:
        warn(text, RuntimeWarning, stacklevel=level)


@dataclass(frozen=True)
class Hold(AbstractContextManager["Hold"]):
    """Answers and deliveries that rules keep with `hold: NAME`, oldest first. The end of `with` releases all."""

    _sandbox: Records = field(repr=False)
    name: str

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """The answers and deliveries that are held now."""
        return list(self._sandbox.ask("GET", "/holds", query={"name": self.name})["holds"])

    def wait(self, n: int = 1, *, timeout_s: float = 10) -> list[dict[str, Any]]:
        """Return the held answers and deliveries as soon as there are `n`. Raises `AssertionError` after `timeout_s`
        seconds."""
        query: dict[str, Any] = {"name": self.name, "wait_for": n, "timeout": timeout_s}
        answer = self._sandbox.ask("GET", "/holds", query=query, timeout_s=timeout_s + BEYOND_S)
        if not answer["complete"]:
            raise AssertionError(f"{len(answer['holds'])} of {n} were held in {self.name!r} within {timeout_s:g} s")
        return list(answer["holds"])

    def release(self, count: int | None = None) -> int:
        """Release the first `count`, by default all; return their number."""
        path = below("/holds", self.name, "release")
        return int(self._sandbox.ask("POST", path, given(count=count))["released"])

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with suppress(*[SimulatorError, NotRunning] if kind else []):  # the test's own exception says more
            self.release()


@dataclass(frozen=True)
class Rule:
    """A rule that was added; `remove` deletes it."""

    _sandbox: Records = field(repr=False)
    id: str

    def remove(self) -> None:
        """Delete it; payments that it decided continue."""
        self._sandbox.ask("DELETE", below("/rules", self.id))


class Sandbox(Records, AbstractContextManager["Sandbox"]):
    """A sandbox that `Simulator.sandbox` created, which `with` deletes, or that `Simulator.open` found. Calls raise
    `SimulatorError` when the control API refuses."""

    def call(self, method: str, path: str, json: Any = None, *, timeout_s: float = TIMEOUT_S) -> Answer:
        """Send one signed request as the first reseller; `path` has its query, percent-encoded. Every status is an
        answer. With `clock: {signature: sandbox}` it is signed at the sandbox's time. Raises `NoAnswer` when the
        connection ends without an answer and `NotRunning` when nothing listens."""
        check_path(path)
        method, body = method.upper(), b"" if json is None else encoded(json)
        at = self.now.timestamp() if self._signs_by_own_clock else None
        headers = self.auth.headers(method, path, body, at=at)
        headers |= {"Content-Type": "application/json"} if body else {}
        try:
            return exchange(method, self.url + path, body or None, headers, timeout_s)
        except Unreachable as error:
            raise self._control.not_running(error) from None
        except Unanswered as error:
            raise NoAnswer(f"{method} {path} got no complete response: {error}") from None

    def advance(self, by: Duration | None = None, *, to: Moment | None = None) -> dict[str, Any]:
        """Move the clock by a duration (`"90s"`, `90`, a timedelta) or to a time, and run everything that is due until
        then, callbacks included. Without arguments run everything that is due now. Return the events."""
        if by is not None and to is not None:
            raise ValueError("advance either by a duration or to a time")
        done = self._advance({"seconds": seconds(0 if by is None else by)} if to is None else {"to": moment(to)})
        if by is to is None and not (done["fired"] or done["idle"]):
            warn_of([NOTHING_DUE])
        return done

    def run_until_idle(self) -> dict[str, Any]:
        """Move the clock until no event is pending, and return the events. Raises `NotIdle` if there are always more,
        such as a payment that a receiver makes for each callback."""
        done = self._advance({"until": "idle"})
        if not done["idle"]:
            reason = done.get("reason") or "something is left to happen"
            text = f"the sandbox is not idle: {reason}; next: {evidence.due(self)}\n{evidence.happened(self)}"
            raise NotIdle(printable(text), done)
        return done

    def _advance(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        done = dict(self.ask("POST", "/clock/advance", wanted, timeout_s=LONG_S))
        late = sorted({one["url"] for one in done["fired"] if one.get("ending") == "timeout"})
        if late:
            import asyncio  # which most tests have no use for

            if asyncio._get_running_loop() is not None:
                done["warning"] = f"{', '.join(late)} {BLOCKED}"
                warn_of([done["warning"]])
        return done

    def rule(self, section: str, rule: Mapping[str, Any]) -> Rule:
        """Add a rule, written as in a scenario, before all others of its section. Warns of the findings of `check`."""
        made = self.ask("POST", "/rules", {"section": section, "rule": rule})
        warn_of(made.get("warnings", ()))
        return Rule(self, made["id"])

    def fault(self, rule: Mapping[str, Any]) -> Rule:
        """Add a fault: `{"when": {"path": "/v2/topup"}, "times": 1, "then": {"status": 500}}`."""
        return self.rule("faults", rule)

    def hold(self, name: str) -> Hold:
        """Return the hold of this name. Rules keep answers, callbacks and webhooks in it with `then: {"hold": name}`.
        Leaving `with` releases the remaining answers and deliveries."""
        return Hold(self, name)

    def deposit(self, amount: Money, reseller: str | None = None, description: str | None = None) -> dict[str, Any]:
        """Credit a wallet, by default the first reseller's; return the ledger entry."""
        body = given(amount=str(amount), description=description)
        return dict(self.ask("POST", below("/resellers", reseller or self.code, "deposits"), body))

    def set_callback(self, url: str, *, method: str = "POST") -> None:
        """Set the first reseller's callback URL to a URL, such as the address of a `Receiver`, or to `inbox:NAME`.
        Raises `ValueError` when the service refuses the URL."""
        answer = self.call("POST", f"/v2/callback-url?{urlencode({'url': url, 'method': method})}")
        if answer.status >= REFUSED:
            raise ValueError(f"the service refused {url!r} as callback URL: {answer.diagnosis or answer.text}")

    def replies(self, name: str, replies: Sequence[Mapping[str, Any]]) -> None:
        """Plan the answers of an inbox, in order: `[{"status": 500}, {"status": 200}]`. The last answer repeats. Warns
        of real waits under a manual clock."""
        warn_of(self.ask("PUT", below("/inbox", name), {"replies": replies}).get("warnings", ()))

    def reset(self) -> None:
        """Return to the start of the scenario."""
        self._describe(self.ask("POST", "/reset"))

    def mark(self, name: str) -> dict[str, Any]:
        """Name the present, to return to it; `n` is its place on the tape, `at` the time. Raises `SimulatorError`."""
        return dict(self.ask("POST", "/marks", {"name": name}))

    def rewind(self, mark: str | None = None, *, to: Moment | None = None, n: int | None = None) -> None:
        """Return to a mark, to a time, or to just after the nth entry of the tape."""
        self._describe(self.ask("POST", "/rewind", given(mark=mark, to=to and moment(to), n=n), timeout_s=LONG_S))

    def fork(
        self, mark: str | None = None, *, to: Moment | None = None, n: int | None = None, id: str | None = None
    ) -> "Sandbox":
        """Create a copy of this sandbox as it is now, or as it was at a moment. Leaving `with` deletes the copy."""
        place = given(of=self.id, mark=mark, to=to and moment(to), n=n)
        made = self._control.ask("POST", "/sandboxes", given(id=id, fork=place), timeout_s=LONG_S)
        return Sandbox(self._control, made, is_ours=True)

    def delete(self) -> None:
        """Delete it; of the default sandbox this is refused."""
        self.ask("DELETE")

    def wait_for_callback(
        self, refid: str | None = None, *, status: str | None = None, inbox: str = "callbacks", timeout_s: float = 10
    ) -> Message:
        """Return the first callback in an inbox with this refid and status, and wait for it up to `timeout_s` seconds.
        Under a manual clock callbacks only arrive with `advance`. Raises `AssertionError` with the events that happened
        instead."""
        check_status(status)
        for message in self._messages(inbox, timeout_s):
            if refid in (None, message.data.get("refid")) and status in (None, message.data.get("status")):
                return message
        raise AssertionError(evidence.no_callback(self, refid, status, inbox))

    def expect_status(self, refid: str, status: str) -> None:
        """Check the payment's present status. Raises `AssertionError` with its story."""
        check_status(status, STATUSES)
        found = self.transaction(refid)
        if found is None:
            raise AssertionError(evidence.no_payment(self, refid))
        if found["status"] != status:
            raise AssertionError(evidence.failed(self, f"{refid} is {found['status']}, not {status}", refid))

    def expect_balance(self, amount: Money, reseller: str | None = None) -> None:
        """Check a wallet, by default the first reseller's. Raises `AssertionError` with its payments."""
        try:
            wanted = Decimal(str(amount))
        except InvalidOperation:
            raise ValueError(f"amount must be a number such as 10.50, not {amount!r}") from None
        balance = self.balance(reseller)
        if balance != wanted:
            raise AssertionError(evidence.failed(self, f"the balance is {balance}, not {amount}"))

    def expect_callback(self, refid: str, *, status: str | None = None) -> dict[str, Any]:
        """Check that a receiver accepted a callback about the payment; return the attempt. Raises `AssertionError`."""
        check_status(status)
        for row in self.callbacks(refid=refid):
            if (row["status"] or 0) // 100 == 2 and status in (None, row["payment_status"]):
                return row
        raise AssertionError(evidence.no_callback(self, refid, status))

    def expect_no_refusals(self) -> None:
        """Check that no request was answered with a status from 400. Raises `AssertionError` with the reasons."""
        if refused := self.refused():
            lines = evidence.request_lines(self, refused)
            raise AssertionError(printable("\n  ".join(["refused requests:", *lines])))

    def expect_clean_audit(self) -> None:
        """Check that no obligation of a client was violated. Raises `AssertionError` with the violations and advice."""
        broken, _ = evidence.violations(self.audit())
        if broken:
            raise AssertionError(printable("\n".join(["violated obligations of a client:", *broken])))

    def __exit__(self, *error: object) -> None:
        if self._is_ours:
            with suppress(*[NotRunning] if any(error) else []):  # the test's own error says more
                self.close()

    def close(self) -> None:
        """Delete it, unless it is gone already."""
        try:
            self.delete()
        except SimulatorError as refused:
            if refused.status != NOT_FOUND:
                raise
