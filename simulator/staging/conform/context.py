"""The context of a check: session, payments, permissions and catalog; and the registry of checks and questions."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from simulator.contract.openapi import OPENAPI
from simulator.contract.responses import ContractDeparture, departures
from simulator.redaction import Secrets, redact
from simulator.staging.conform.findings import Departs, Departure, NotExercised
from simulator.staging.conform.payment_runner import Order, PaymentRunner, PlannedPayment
from simulator.staging.service import Answer, Session, recent_days, target

_NOT_SHOWN_400 = (
    "/v2/networkstatus|/v2/transactions|/v2/balance-statement|/v1/interbank/billers|/v2/low-balance-threshold|"
    "/v2/callback-url|/v2/balance-webhook.*"
)


_AMOUNTS = r"data\.\d+\.(amount|price)|meta\.(total_amount|total_price|profit)"
ASSUMED = (
    ("catalog-401", "/v2/catalog", 401, "error|metadata.*", False),
    ("product-min-max", "/v2/catalog", 200, r"products\.[^.]+\.(min|max)_amount.*", False),
    ("balance-record", "/v2/balance", 200, "(?!the header).*", False),
    ("history-amounts", "/v2/transactions", 200, _AMOUNTS, True),
    ("history-status-names", "/v2/transactions", 200, r"data\.\d+\.status_name", True),
    ("history-response-date", "/v2/transactions", 200, r"data\.\d+\.response_date", False),
    ("statement-types", "/v2/balance-statement", 200, r"data\.\d+\.type", True),
    ("statement-empty-page", "/v2/balance-statement", 200, r"meta\.(from|to)", False),
    ("bearer-401", ".*", 401, "error", True),
    ("parameter-400", _NOT_SHOWN_400, 400, ".*", False),
    ("delivery-404", "/v2/balance-webhook.*", 404, ".*", False),
)
"""Parts of the contract that SPEC does not show: assumption, path, status and field, and whether only text members are
concerned. A departure from such a part is only noted."""


def _assumption(answer: Answer, departure: ContractDeparture) -> str:
    """Return the assumption that a departure is about, or an empty text."""
    for assumption, path, status, field, is_text in ASSUMED:
        is_meant = answer.status == status and re.fullmatch(path, answer.request.path) and departure.expected != "JSON"
        if is_meant and re.fullmatch(field, departure.field) and (departure.actual.startswith("'") or not is_text):
            return assumption
    return ""


FINDINGS_MAX = 20  # notes, and departures, of a check

Need = Literal["", "payments", "configuration", "login"]


class Run:
    """The context of the checks, and the caller's permissions: `login` is a user's name and password, `bills` are
    accounts whose bills may be looked up. `note` records remarks that are no departures."""

    def __init__(
        self,
        session: Session,
        *,
        may_configure: bool = False,
        login: tuple[str, str] | None = None,
        bills: tuple[Order, ...] = (),
    ) -> None:
        self.session, self.may_configure, self.login, self.bills = session, may_configure, login, bills
        self.secrets = Secrets((session.secret, *(login or ())[1:]))
        self.paying: PaymentRunner | None = None  # makes the payments, if they are allowed
        self.tokens: Answer | None = None  # of the login
        self.voided: tuple[PlannedPayment, list[Answer], Decimal] | None = None  # payment, answers, balance before
        self._notes: list[str] = []

    def note(self, text: str) -> None:
        """Add a note to the result of the running check."""
        if text not in self._notes:
            self._notes.append(text)

    def hidden(self, text: str) -> str:
        """Return a text without the secrets of this run."""
        return redact(text, (self.secrets,))

    def take_notes(self) -> tuple[str, ...]:
        """Return and clear the notes."""
        taken, self._notes = self._notes, []
        more = len(taken) - FINDINGS_MAX
        return (*taken[:FINDINGS_MAX], f"and {more} more") if more > 0 else tuple(taken)

    def require(self, need: Need) -> None:
        """Raise `NotExercised` unless the caller allows what a check needs."""
        lacks = {"payments": self.paying is None, "configuration": not self.may_configure, "login": self.login is None}
        if lacks.get(need):
            raise NotExercised(MISSING[need])

    @property
    def runner(self) -> PaymentRunner:
        """Return the runner; only for checks that need payments."""
        assert self.paying is not None
        return self.paying

    def get(self, path: str, version: str = "", **query: Any) -> Answer:
        """Send a signed GET with a query; equal GETs are sent once in a run. Raises `NotExercised` for no answer."""
        headers = {"X-API-Version": version} if version else None
        return self.session.get(target(path, **query), headers)

    def good(self, path: str, version: str = "", **query: Any) -> Answer:
        """Send a signed GET that must return 200 for the check to continue. Raises `Departs`."""
        answer = self.get(path, version, **query)
        if answer.status != 200:
            raise Departs("the status", 200, str(answer))
        return answer

    def expected(self, answer: Answer, status: int) -> Iterator[Departure]:
        """Yield departures from the contract for an answer that should have this status, only the status if it differs.
        Unknown members, and departures from an assumption alone, are noted."""
        if answer.status != status:
            yield Departure("the status", str(status), str(answer))
            return
        request, content_type = answer.request, answer.headers.get("content-type", "")
        for departure in departures(OPENAPI, request.method, request.path, answer.status, content_type, answer.body):
            if departure.is_unknown:
                self.note(f"{request.method} {request.path}: {departure.field} is not in the contract")
            elif assumption := _assumption(answer, departure):
                values = f"expected {departure.expected}, got {departure.actual}"
                self.note(f"{departure.field} is not as assumed ({assumption}): {values}")
            else:
                yield Departure(departure.field, f"what the contract says: {departure.expected}", departure.actual)

    @cached_property
    def products(self) -> dict[str, Any]:
        """Return the active products by code. Raises `Departs` for an invalid catalog."""
        products = self.good("/v2/catalog").at("products")
        if not isinstance(products, dict) or not all(isinstance(product, dict) for product in products.values()):
            raise Departs("products", "an object of products by code", products)
        return products

    @cached_property
    def days(self) -> str:
        """Return the range of days to query: the last month, and tomorrow, in case the clocks differ."""
        return recent_days(self.session.clock.now())


CheckFunction = Callable[[Run], Iterable[Departure]]
QuestionFunction = Callable[[Run], tuple[Any, str]]

MISSING: dict[Need, str] = {
    "payments": "it pays, which needs --allow-payments and --pay",
    "configuration": "it changes the configuration for a moment, which needs --allow-configuration",
    "login": "it logs in, which needs --username and --password",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A single requirement of SPEC. `function` yields departures, or raises `Departs` or `NotExercised`."""

    id: str
    section: str
    title: str
    needs: Need
    function: CheckFunction


@dataclass(frozen=True, slots=True)
class Question:
    """A choice that SPEC leaves open. `function` returns the value of the knob `assume.<id>` that matches the service,
    and the evidence; it raises `NotExercised` without evidence."""

    id: str
    needs: Need
    function: QuestionFunction


CHECKS: dict[str, Check] = {}
QUESTIONS: dict[str, Question] = {}


def check(section: str, title: str, needs: Need = "", *, id_: str = "") -> Callable[[CheckFunction], CheckFunction]:
    """Register a check. Its id is the function's name with hyphens, unless it is given."""

    def register(function: CheckFunction) -> CheckFunction:
        name = id_ or function.__name__.replace("_", "-")
        assert name not in CHECKS, name
        CHECKS[name] = Check(name, section, title, needs, function)
        return function

    return register


def question(needs: Need = "", *, knob: str = "") -> Callable[[QuestionFunction], QuestionFunction]:
    """Register a question about a knob of the register: the function's name with hyphens, unless it is given."""

    def register(function: QuestionFunction) -> QuestionFunction:
        name = knob or function.__name__.replace("_", "-")
        assert name not in QUESTIONS, name
        QUESTIONS[name] = Question(name, needs, function)
        return function

    return register


Field = dict[str, Any]


def products_of(run: Run) -> list[str]:
    """Return the codes of the active products. Raises `NotExercised` without any."""
    if not run.products:
        raise NotExercised("the catalog has no products")
    return list(run.products)


def selects(run: Run, role: str = "", kind: str = "") -> Iterator[tuple[dict[str, Any], Field]]:
    """Yield the products' select fields of a role, whose data source is of a kind."""
    for product in run.products.values():
        for field in product["fields"]:
            is_wanted = field["type"] == "select" and role in ("", field["role"])
            if is_wanted and kind in ("", field.get("data_source", {}).get("type", "")):
                yield product, field


def lists(run: Run, role: str = "") -> list[dict[str, str]]:
    """Return the queries of options that need no account number, for select fields of a role."""
    return [
        {"product_code": product["code"], "field_id": field["id"]} for product, field in selects(run, role, "reference")
    ]


def known_lists(run: Run, role: str = "") -> list[dict[str, str]]:
    """Return the queries of `lists`, and those for accounts that the caller specified for a payment."""
    found = lists(run, role)
    orders = run.paying.orders if run.paying is not None else ()
    for product, field in selects(run, role, "dynamic"):
        source = field["data_source"].get("params", {}).get("account_number", {}).get("from_field")
        account = product["fulfillment"]["account"]
        number = next((order.account for order in orders if order.product == product["code"]), "")
        if number and account and account["from_field"] == source:
            found.append({"product_code": product["code"], "field_id": field["id"], "account_number": number})
    return found


def an_option_list(run: Run, role: str = "") -> dict[str, str]:
    """Return the first query of `known_lists`. Raises `NotExercised` without any."""
    found = lists(run, role)
    if not found:
        raise NotExercised("no product of the catalog has a select field with static options")
    return found[0]


def a_dynamic_list(run: Run) -> tuple[dict[str, str], Field, dict[str, Any]]:
    """Return the query of options that depend on an account, without the account, with the field that the account is
    entered in, and the product. Raises `NotExercised`."""
    for product, field in selects(run, kind="dynamic"):
        source = field["data_source"].get("params", {}).get("account_number", {}).get("from_field")
        entered = next((field for field in product["fields"] if field["id"] == source), None)
        if entered is not None:
            return {"product_code": product["code"], "field_id": field["id"]}, entered, product
    raise NotExercised("no product of the catalog has options that depend on an account")


def categories(run: Run) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return group and category, in the order of the tree."""
    groups = run.good("/v2/catalog").at("tree.groups")
    return [(group, category) for group in groups for category in group["categories"]]
