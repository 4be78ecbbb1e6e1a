"""What a check may use: the session, the payments, what the caller allows, and the catalog."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from simulator.redaction import Secrets, redact
from simulator.staging.conform.findings import Departs, Departure
from simulator.staging.conform.held import expected
from simulator.staging.conform.payments import Payment, PaymentRunner
from simulator.staging.service import Answer
from simulator.staging.session import Session, recent_days, target

NOTES_MAX = 20

Need = Literal["", "payments", "configuration", "login"]


@dataclass(frozen=True, slots=True)
class Bill:
    """An account whose bill may be looked up."""

    product: str
    account: str
    more: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the caller allows beyond reading: `login` is a user's name and password."""

    configuration: bool = False
    login: tuple[str, str] | None = None
    bills: tuple[Bill, ...] = ()


class Run:
    """What a check gets. `note` keeps what is of interest and no departure."""

    def __init__(self, session: Session, permissions: Permissions | None = None) -> None:
        self.session = session
        self.permissions = permissions or Permissions()
        login = self.permissions.login or ()
        self.secrets = Secrets((session.secret, *login[1:]))
        self._runner: PaymentRunner | None = None
        self.tokens: Answer | None = None  # of the login
        self.voided: tuple[Payment, list[Answer], Decimal] | None = None  # payment, answers, balance before
        self._notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep this for the result of the check that is being made."""
        if text not in self._notes:
            self._notes.append(text)

    def hidden(self, text: str) -> str:
        """A text without the secrets of this run."""
        return redact(text, (self.secrets,))

    def take_notes(self) -> tuple[str, ...]:
        """The notes since the last time."""
        taken, self._notes = self._notes, []
        more = len(taken) - NOTES_MAX
        return (*taken[:NOTES_MAX], f"and {more} more") if more > 0 else tuple(taken)

    def allows(self, need: Need) -> bool:
        """Whether the caller allows what a check needs."""
        allowed = {
            "": True,
            "payments": self._runner is not None,
            "configuration": self.permissions.configuration,
            "login": self.permissions.login is not None,
        }
        return allowed[need]

    def allow_payments(self, runner: PaymentRunner) -> None:
        """Let checks make the payments of `runner`."""
        self._runner = runner

    @property
    def runner(self) -> PaymentRunner:
        """The payments; only for checks that need them."""
        assert self._runner is not None
        return self._runner

    def get(self, path: str, version: str = "", **query: Any) -> Answer:
        """A signed GET with a query; the same one is sent once in a run. Raises `NotExercised` for no answer."""
        headers = {"X-API-Version": version} if version else None
        return self.session.get(target(path, **query), headers)

    def good(self, path: str, version: str = "", **query: Any) -> Answer:
        """The same, which has to be a 200 for the check to go on. Raises `Departs`."""
        answer = self.get(path, version, **query)
        if answer.status != 200:
            raise Departs("the status", 200, str(answer))
        return answer

    def expected(self, answer: Answer, status: int) -> Iterator[Departure]:
        """What departs from the contract when this status should have come."""
        return expected(answer, status, self.note)

    @cached_property
    def products(self) -> dict[str, Any]:
        """The active products by code. Raises `Departs` when the catalog is no catalog."""
        products = self.good("/v2/catalog").at("products")
        if not isinstance(products, dict) or not all(isinstance(one, dict) for one in products.values()):
            raise Departs("products", "an object of products by code", products)
        return products

    @cached_property
    def days(self) -> str:
        """The range of days that is looked at: the last month, and tomorrow, in case the clocks differ."""
        return recent_days(self.session.clock.now())
