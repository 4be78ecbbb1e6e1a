"""Reads an account with GET requests only, each sent once: its catalog, the options of each product, then the rest.

A state file has the answers from before an interruption. Its first line identifies the account, each further line is an
answer as JSON. A truncated line is requested again. The file never contains credentials.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from simulator.short_text import one_line
from simulator.staging.bodies import as_dict, as_list, as_text, by_code, decoded, dicts
from simulator.staging.service import TRIES_MAX, Answer, NoAnswer, Session, unix_seconds
from simulator.wire.formats import encode

API_VERSION = "2026-09-16"  # the shape with denominations and plan codes; the older shape follows from it (SPEC 9)
FORMAT = "reseller-sim import 1"
HEADERS = {"Accept": "application/json", "X-API-Version": API_VERSION}
WAIT_S_MAX = 300.0
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503
MEMBERS = {"target", "status", "body"}


class AccountRefused(Exception):
    """The account cannot be read; the text says why."""


class LongPause(Exception):
    """The service requests a longer pause than this client waits; the text says how long."""


class ForeignStateFile(Exception):
    """The state file belongs to another program, or cannot be used; the text says which."""


def fingerprint(base_url: str, key: str) -> str:
    """Return an identifier of an account that does not reveal its key."""
    return hashlib.sha256(f"{base_url.rstrip('/')}\n{key}".encode()).hexdigest()[:16]


class AnswerFile:
    """Answers by target, in a file; call `begin` first. `account` is a fingerprint; `mask` hides secrets."""

    def __init__(self, path: Path, account: str, mask: Callable[[str], str]) -> None:
        self._path, self._account, self._mask = path, account, mask
        self._found: dict[str, tuple[int, Any]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def begin(self, updated: str) -> None:
        """Load the answers of the same account and the same catalog update, and drop all others. Only the file's owner
        may read it. Raises `ForeignStateFile`."""
        header = self._line({"format": FORMAT, "account": self._account, "updated": updated})
        try:
            content = self._path.read_bytes() if self._path.exists() else b""
            first, _, rest = content.partition(b"\n")
            if first and as_dict(decoded(first)).get("format") != FORMAT:
                raise ForeignStateFile(
                    f"{str(self._path)!r} is not a state file of this command; name another with --state"
                )
            is_same = first + b"\n" == header
            if is_same:
                whole = [as_dict(decoded(line)) for line in rest.split(b"\n")[:-1]]
                self._found = {
                    answer["target"]: (answer["status"], answer["body"]) for answer in whole if answer.keys() >= MEMBERS
                }
            number = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(number, "wb") as file:
                file.write(content[: content.rfind(b"\n") + 1] if is_same else header)
        except OSError as error:
            raise self._unwritable(error) from None

    def get(self, target: str) -> tuple[int, Any] | None:
        """Return the status and the decoded body of an earlier answer."""
        return self._found.get(target)

    def put(self, target: str, status: int, body: Any) -> None:
        """Store an answer. Raises `ForeignStateFile` when the file cannot be written."""
        self._found[target] = (status, body)
        try:
            with self._path.open("ab") as file:
                file.write(self._line({"target": target, "status": status, "body": body}))
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> ForeignStateFile:
        return ForeignStateFile(f"the state file {str(self._path)!r} cannot be written: {error.strerror}")

    def _line(self, value: Any) -> bytes:
        return self._mask(encode(value).decode()).encode() + b"\n"

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


class Answers:
    """Sends each request to an account only once. `missing` describes unanswered requests for users."""

    def __init__(self, session: Session, state: AnswerFile) -> None:
        self.missing: list[str] = []
        self._session = session
        self._state = state

    def ask(self, target: str, *, is_stored: bool = True) -> Any:
        """Return the decoded body of a 200; None for other answers, which are noted in `missing`.

        Raises `AccountRefused` when the account cannot be read at all, and `NoAnswer` for a temporary failure.
        """
        found = self._state.get(target) if is_stored else None
        if found is None:
            found = self._request(target)
            if is_stored:
                self._state.put(target, *found)
        status, body = found
        if status != 200:
            self.missing.append(f"GET {target}: the answer was {status}")
        elif body is None:
            self.missing.append(f"GET {target}: the answer was not JSON")
        return body

    def _request(self, target: str) -> tuple[int, Any]:
        answer = self._get(target)
        if answer.status in (401, 403):
            raise AccountRefused(f"GET {target}: {answer.status} {answer.auth_code}".rstrip())
        if answer.status == TOO_MANY_REQUESTS or answer.status >= 500:
            raise NoAnswer(f"GET {target}: {answer.status}")
        return answer.status, decoded(answer.body) if answer.status == 200 else None

    def _get(self, target: str) -> Answer:
        """Repeat a request after a 429 or 503, when its Retry-After has passed, else after 1, 2, 4, 8 seconds. Return
        the last answer. Raises `LongPause`."""
        for tries in range(TRIES_MAX):
            answer = self._session.call("GET", target, headers=HEADERS)
            if answer.status not in (TOO_MANY_REQUESTS, UNAVAILABLE) or tries == TRIES_MAX - 1:
                break
            wait_s = retry_after(answer, self._session.clock.now()) or 2.0**tries
            if wait_s > WAIT_S_MAX:
                raise LongPause(f"the service asks for a pause of {wait_s:g} seconds")
            self._session.clock.wait(wait_s)
        return answer


def retry_after(answer: Answer, now: float) -> float | None:
    """Return the seconds in an answer's Retry-After, a number or a date; None without a usable value. `now` is in Unix
    seconds."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    date_s = unix_seconds(text)
    return None if date_s is None else max(0.0, date_s - now)


PAGE_ROWS_MAX = 25_000  # the largest page of options (SPEC 8)
ACCOUNT_NUMBER = "account_number"


@dataclass(frozen=True, slots=True)
class Offer:
    """The items of a select field for an account number; empty for all accounts. `inactive` items are not sold."""

    account: str
    active: Sequence[Any]
    inactive: Sequence[Any] = ()


@dataclass(slots=True)
class ProductAnswers:
    """A product and all answers about it. `unasked` are the fields whose options depend on inputs that the caller did
    not provide."""

    body: dict[str, Any]
    listed: dict[str, Any] = field(default_factory=dict)
    offers: dict[str, list[Offer]] = field(default_factory=dict)
    subproducts: dict[str, list[Any]] = field(default_factory=dict)  # by account number
    billers: list[Any] = field(default_factory=list)
    network_status: str = ""
    unasked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Account:
    """All answers of an account."""

    updated: str
    groups: list[Any]
    products: list[ProductAnswers]
    callback: dict[str, Any]
    webhook: dict[str, Any]
    missing: list[str]


def read_account(
    answers: Answers, state: AnswerFile, accounts: Mapping[str, Sequence[str]], progress: Callable[[str], None]
) -> Account:
    """Read the whole account. `accounts` are account numbers by product, for fields whose options depend on an account.

    Raises `AccountRefused`, and the errors of `Answers.ask`.
    """
    catalog = as_dict(answers.ask("/v2/catalog?include_inactive=true", is_stored=False))
    if not isinstance(catalog.get("products"), dict):
        raise AccountRefused(next(iter(answers.missing), "the answer to GET /v2/catalog is not a catalog"))
    updated = as_text(catalog.get("last_updated"))
    state.begin(updated)
    if len(state):
        progress(f"continuing: {len(state)} answers are known")
    listed = by_code(dicts(as_dict(answers.ask("/v2/product-list")).get("data")), "product_code")
    products = []
    bodies = _with_codes(answers, catalog["products"])
    billers = list(_rows(answers, "/v1/interbank/billers", {}, "data")) if any(map(biller_field, bodies)) else []
    for number, body in enumerate(bodies, 1):
        code = body["code"]
        product = ProductAnswers(body, listed.get(code, {}), billers=billers if biller_field(body) else [])
        _read_product(answers, product, accounts.get(code, ()))
        products.append(product)
        if number % 25 == 0 or number == len(bodies):
            progress(f"{number} of {len(bodies)} products")
    for unused in _unused(accounts, products):
        progress(unused)
    callback = as_dict(as_dict(answers.ask("/v2/callback-url", is_stored=False)).get("data"))
    webhook = as_dict(answers.ask("/v2/balance-webhook", is_stored=False))
    groups = as_list(as_dict(catalog.get("tree")).get("groups"))
    return Account(updated, groups, products, callback, webhook, answers.missing)


def _with_codes(answers: Answers, products: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the products of a catalog that have their own code; others are noted as missing."""
    found: dict[str, dict[str, Any]] = {}
    for key, product in products.items():
        code = as_text(as_dict(product).get("code"))
        if not code or code in found:
            answers.missing.append(f"the product {one_line(repr(key))} of the catalog has no code of its own")
        else:
            found[code] = product
    return list(found.values())


def _unused(accounts: Mapping[str, Sequence[str]], products: Sequence[ProductAnswers]) -> Iterator[str]:
    """Yield a line for each product whose account numbers were not used."""
    known = {product.body["code"]: product for product in products}
    for code in accounts:
        if code not in known:
            yield f"--account {code}: the catalog has no such product"
        elif not any(offer.account for offers in known[code].offers.values() for offer in offers):
            yield f"--account {code}: no options of this product depend on an account number alone"


def _read_product(answers: Answers, product: ProductAnswers, accounts: Sequence[str]) -> None:
    body = product.body
    for form in dicts(body.get("fields")):
        if form.get("type") == "select":
            _read_field(answers, product, form, accounts)
    sub = subproduct_field(body)
    if sub and body.get("is_active") is not False and sub != biller_field(body):
        for account in [offer.account for offer in product.offers.get(sub, ())]:
            query = {"product_code": body["code"]} | ({ACCOUNT_NUMBER: account} if account else {})
            found = as_dict(answers.ask(f"/v2/subproducts?{urlencode(query)}"))
            product.subproducts[account] = dicts(found.get("data"))
    status = as_dict(answers.ask(f"/v2/networkstatus?{urlencode({'product': body['code']})}"))
    product.network_status = as_text(as_dict(status.get("data")).get("network_status"))


def _read_field(answers: Answers, product: ProductAnswers, form: dict[str, Any], accounts: Sequence[str]) -> None:
    source, field_id = as_dict(form.get("data_source")), as_text(form.get("id"))
    query = {"product_code": product.body["code"], "field_id": field_id}
    entered = []
    for name, param in as_dict(source.get("params")).items():
        if as_text(as_dict(param).get("static")):
            query[name] = param["static"]
        elif as_dict(param).get("from_field"):
            entered.append(name)
    if product.body.get("is_active") is False:
        query["include_inactive"] = "true"
    if source.get("type") != "dynamic" or not entered:
        active, every = (
            list(_rows(answers, "/v2/options", query | {"is_active": text}, "items")) for text in ("true", "false")
        )
        codes = {repr(as_dict(item).get("code")) for item in active}  # a code may be of any type
        inactive = [item for item in every if repr(as_dict(item).get("code")) not in codes]
        product.offers[field_id] = [Offer("", active, inactive)]
    elif entered == [ACCOUNT_NUMBER] and accounts:
        product.offers[field_id] = [
            Offer(number, list(_rows(answers, "/v2/options", query | {ACCOUNT_NUMBER: number}, "items")))
            for number in accounts
        ]
    else:
        product.unasked.append(field_id)


def _rows(answers: Answers, path: str, query: Mapping[str, str], member: str) -> Iterator[Any]:
    """Yield the rows of all pages of a list."""
    for page in count(1):
        body = as_dict(answers.ask(f"{path}?{urlencode({**query, 'page': page, 'limit': PAGE_ROWS_MAX})}"))
        yield from as_list(body.get(member))
        last = as_dict(body.get("meta")).get("last_page")
        if not isinstance(last, int) or page >= last:
            return


def _field_of_extra(body: dict[str, Any], name: str) -> str:
    """Return the select field that feeds an extra; empty without any."""
    fulfillment = as_dict(body.get("fulfillment"))
    field_id = as_text(as_dict(as_dict(fulfillment.get("extras")).get(name)).get("from_field"))
    selects = [form.get("id") for form in dicts(body.get("fields")) if form.get("type") == "select"]
    return field_id if field_id in selects else ""


def biller_field(body: dict[str, Any]) -> str:
    """Return the field of a product that offers billers; empty without any."""
    return _field_of_extra(body, "biller_code")


def subproduct_field(body: dict[str, Any]) -> str:
    """Return the field of a product whose options the legacy endpoints call sub-products; empty without any."""
    return _field_of_extra(body, "subproduct_code") or biller_field(body)
