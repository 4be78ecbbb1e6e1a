"""The texts of expectations that failed: what happened instead."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reseller_sim.refusals import explained
from reseller_sim.story import attempt_line, money, request_line

if TYPE_CHECKING:
    from reseller_sim.sandbox import Sandbox

LINES_MAX = 20
DUE_MAX = 3
LATEST_MAX = 5
WARNING = "warning"


class Evidence:
    """What a sandbox knows, as text for people."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox = sandbox

    def no_payment(self, refid: str) -> str:
        """Why there is no payment with this refid: those that are there, and requests that were refused."""
        refused = self._sandbox.refused()
        reasons = (
            ["refused requests:", *_indented(map(request_line, explained(self._sandbox, refused)))] if refused else []
        )
        return "\n".join([f"no payment has the refid {refid!r}", self.payments(), *reasons])

    def payments(self) -> str:
        """A line for each payment, oldest first."""
        rows = [_payment(one) for one in reversed(self._sandbox.transactions())]
        return "\n".join(["payments:", *_indented(rows)]) if rows else "there are no payments"

    def no_callback(self, refid: str | None, status: str | None, inbox: str | None = None) -> str:
        """What came instead of a callback."""
        about = "".join([f" about {refid!r}" if refid else "", f" with status {status!r}" if status else ""])
        where = f"came to the inbox {inbox!r}" if inbox else "was accepted"
        found = None if refid is None else self._sandbox.transaction(refid)
        if refid is not None and found is None:
            happened = self.no_payment(refid)
        elif refid is not None:
            happened = str(self._sandbox.story(refid))
        else:
            happened = self._attempts()
        return "\n".join([f"no callback{about} {where}{self.hint()}", happened])

    def _attempts(self) -> str:
        rows = [
            f"{one['refid']}: {attempt_line(one, one['payment_status'], one['url'])}"
            for one in self._sandbox.callbacks()
        ]
        return "\n".join(["callbacks:", *_indented(rows)]) if rows else "there were no callbacks"

    def hint(self) -> str:
        """What a manual clock keeps pending, and what to call; empty when that explains nothing."""
        clock = self._sandbox.clock()
        if clock["mode"] != "manual" or not clock["pending"]:
            return ""
        due = "is" if clock["pending"] == 1 else "are"
        count = f"{clock['pending']} {due} pending ({'; '.join(self._due())})"
        return f"; the clock is manual and {count}: call advance() or run_until_idle() first"

    def _due(self) -> list[str]:
        """What happens next."""
        rows = self._sandbox.ask("GET", "/due", query={"limit": DUE_MAX})["due"]
        return [f"{row['about']} at {row['at']}" for row in rows]

    def not_idle(self, done: Mapping[str, Any]) -> str:
        """Why something is always left to happen, what happens next, and the latest payments."""
        reason = done.get("reason") or "something is left to happen"
        latest = [_payment(one) for one in self._sandbox.transactions()[:LATEST_MAX]]
        return "\n".join(
            [
                f"the sandbox is not idle: {reason}",
                "next:",
                *_indented(self._due()),
                "latest payments:",
                *_indented(latest),
            ]
        )

    def refusals(self, refused: Iterable[Mapping[str, Any]]) -> str:
        """A line for each refused request, oldest first."""
        rows = [request_line(one) for one in explained(self._sandbox, refused)][::-1]
        count = "1 request was" if len(rows) == 1 else f"{len(rows)} requests were"
        return "\n".join([f"{count} refused:", *_indented(rows)])

    def violations(self, broken: Sequence[Mapping[str, Any]]) -> str:
        """What an audit found, and what to do."""
        rows = [line for one in broken for line in _violation(one)]
        return "\n".join([f"obligations of a client that are violated: {len(broken)}", *_indented(rows, len(rows))])


def violated(audit: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The obligations of an audit that a client must meet and has violated; warnings are none."""
    return [one for one in audit["obligations"] if one["state"] == "violated" and one["severity"] != WARNING]


def _payment(one: Mapping[str, Any]) -> str:
    bought = f"{one['product']} {money(one['amount'])} to {one['account']}"
    return f"{one['refid']}: {bought}, cost {money(one['cost'])}, {one['status']}"


def _violation(one: Mapping[str, Any]) -> list[str]:
    numbers = ", ".join(f"#{number}" for number in one["evidence"][:LINES_MAX])
    return [
        f"{one['id']} ({one['severity']}, SPEC {one['section']}): {one['title']}",
        f"  violations: {one['violations']}; {one['log']} {numbers}",
        *(f"  {finding}" for finding in one["findings"][:LINES_MAX]),
        f"  {one['advice']}",
    ]


def _indented(rows: Iterable[str], most: int = LINES_MAX) -> list[str]:
    lines = [f"  {row}" for row in rows]
    more = [f"  … and {len(lines) - most} more"] if len(lines) > most else []
    return lines[:most] + more
