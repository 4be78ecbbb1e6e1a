"""An audit as people and CI servers read it. Rows are obligations as the control API answers them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.reports.cases import Case, Suite

CODE, WARNING, NOTHING = "audit", "audit_warning", "audit_of_nothing"
NOT_EXERCISED = "not exercised"

Row = Mapping[str, Any]


def mark(row: Row) -> str:
    """What became of an obligation, in one word."""
    if row["state"] == "violated":
        return "VIOLATED" if row["severity"] == "error" else "warning"
    return "ok" if row["state"] == "met" else "-"


def lines_of(row: Row) -> Iterator[str]:
    """One obligation: its line, and below it what violates it and what to do."""
    yield f"{mark(row):<8}  {row['section']:<5} {row['id']}: {row['title']}"
    if row["state"] == "violated":
        yield from (f"            {text}" for text in row["findings"])
        more = row["violations"] - len(row["findings"])
        if more > 0:
            yield f"            and {more} more"
        yield f"            do: {row['advice']}"


def ending(made: Mapping[str, Any]) -> Iterator[str]:
    """The counts in a line, and what the logs have lost."""
    states = [row["state"] for row in made["obligations"]]
    words = {"met": "met", "violated": "violated", "not_exercised": NOT_EXERCISED}
    yield ", ".join(f"{states.count(state)} {word}" for state, word in words.items())
    if made["left_out"]:
        yield f"{made['left_out']} older requests and notifications were evicted, and are not judged"


NO_REQUEST: Final = "no sandbox got a request; does the command send to RESELLER_BASE_URL?"
NO_ENDPOINT: Final = (
    "nothing was exercised: requests came, but only for unknown paths or sandboxes; "
    "does the command send to RESELLER_BASE_URL and the paths of the service?"
)
_BEST_TO_WORST: Final = (NOT_EXERCISED, "met", "warning", "violated")


class Totals:
    """What became of the obligations in all sandboxes of a run: of each, the worst."""

    def __init__(self) -> None:
        self._worst: dict[str, int] = {}
        self._sandboxes = 0
        self._unreached = 0
        self._passed_over = 0

    def add(self, cases: Iterable[Case], *, has_reached_endpoint: bool) -> None:
        """Count the obligations of one more sandbox, which has got a request. Requests that reach no endpoint exercise
        nothing, though some obligations are about every request."""
        self._sandboxes += has_reached_endpoint
        self._unreached += not has_reached_endpoint
        for one in cases:
            found = _BEST_TO_WORST.index(_state(one))
            self._worst[one.name] = max(found, self._worst.get(one.name, 0))

    def pass_over(self) -> None:
        """Count one more that has got a request, and that its maker wants not to be judged."""
        self._passed_over += 1

    @property
    def of_nothing(self) -> list[Suite]:
        """A case that is not ok when nothing was exercised: an audit of nothing shows nothing."""
        if self._sandboxes:
            return []
        name = "a sandbox was judged" if self._passed_over or self._unreached else "a sandbox got a request"
        return [Suite("audit", (Case(name=name, ok=False, message=self._why_nothing, code=NOTHING),))]

    @property
    def _why_nothing(self) -> str:
        if self._unreached:
            return NO_ENDPOINT
        if not self._passed_over:
            return NO_REQUEST + proxy_hint(os.environ)
        those = "the only sandbox" if self._passed_over == 1 else f"all {self._passed_over} sandboxes"
        were = "was" if self._passed_over == 1 else "were"
        return f"nothing was judged: {those} that got a request {were} made with audit: false"

    @property
    def text(self) -> str:
        """The counts in a line."""
        if not self._sandboxes:
            return self._why_nothing
        states = list(self._worst.values())
        met, warned, violated = (states.count(_BEST_TO_WORST.index(name)) for name in ("met", "warning", "violated"))
        warnings = [f"{warned} {'warning' if warned == 1 else 'warnings'}"] if warned else []
        counts = [f"{met} met", f"{violated} violated", *warnings, f"{states.count(0)} {NOT_EXERCISED}"]
        many = "sandbox" if self._sandboxes == 1 else "sandboxes"
        passed_over = [f"{self._passed_over} passed over (audit: false)"] if self._passed_over else []
        return ", ".join([*counts, f"{self._sandboxes} {many}", *passed_over])


def _state(case: Case) -> str:
    if case.skipped:
        return NOT_EXERCISED
    return "violated" if not case.ok else "warning" if case.message else "met"


def cases_of(rows: Iterable[Row]) -> Iterator[Case]:
    """Obligations as cases: only an error that is violated is not ok."""
    for row in rows:
        is_violated, is_error = row["state"] == "violated", row["severity"] == "error"
        first, *others = row["findings"] or [""]
        message = f"SPEC {row['section']}: {first}" if is_violated else ""
        yield Case(
            name=f"{row['id']}: {row['title']}",
            ok=not (is_violated and is_error),
            message=message,
            details=(*others, f"do: {row['advice']}") if is_violated else (),
            code=CODE if is_error else WARNING,
            skipped=NOT_EXERCISED if row["state"] == "not_exercised" else "",
        )
