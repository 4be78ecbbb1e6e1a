"""The import of an account: requests its answers, and writes a commented scenario from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from simulator import __version__
from simulator.redaction import Secrets, redact, redact_urls
from simulator.scenario.build import build_reseller
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.yaml import block, comment, flow
from simulator.short_text import one_line
from simulator.staging.bodies import as_text
from simulator.staging.importer.account_answers import Account, AnswerFile, Answers, fingerprint, read_account
from simulator.staging.importer.catalog_items import catalog_lines, fit_catalog
from simulator.staging.service import HttpService, Session, SessionClock
from simulator.staging.signed_requests import Credentials, parse_address, secret_bytes

CODE = "IMPORTED"
KEY = "test_key_imported"
SECRET = "aW1wb3J0ZWQ6IGFueWJvZHkgbWF5IGtub3cgaXQ="  # noqa: S105  # anybody may know it
INBOX = "inbox:callbacks"

OURS = """\
The simulator answers GET /v2/catalog, /v2/options, /v2/subproducts, /v2/product-list, /v1/interbank/billers and
/v2/networkstatus as the account does, but for `last_updated`, which is the sandbox's, and for what comments below name.

No endpoint that only reads tells these, so they are ours:
- keys, secrets, users and the balance of the wallet;
- the low-balance threshold, which can be set but not read: `low_balance_threshold: 100`;
- which products present bills: `bill: {}` of a product; which billers want a second reference: `needs_ref2: true`;
- how payments end and how long they take: `payments`; what a successful one brings: `fulfilled`;
- hidden products, limits, and what the account overlays: prices and `is_active` are those that it sees."""


def scenario_lines(account: Account, host: str, *, keep_urls: bool) -> Iterator[str]:
    """Yield the lines of the file. With `keep_urls`, callbacks and webhooks go to the addresses of the account."""
    updated = one_line(account.updated) or "at an unknown time"
    first = (
        f"Imported by reseller-sim {__version__} from {host}: {len(account.products)} products, last updated {updated}."
    )
    yield from comment([first, "", *OURS.splitlines()])
    if account.missing:
        yield "#"
        yield from comment(["Requests that the account did not answer:", *(f"- {path}" for path in account.missing)])
    yield ""
    yield from block({"scenario": "imported", "description": f"the catalog of {host}"})
    yield ""
    yield "resellers:"
    yield from _reseller(account, keep_urls=keep_urls)
    yield ""
    fitted = fit_catalog(account.products, account.groups)
    yield from catalog_lines(fitted, "import again with --account {product}=NUMBER")
    if network := fitted.network:
        yield ""
        yield from block({"network": network})


def _reseller(account: Account, *, keep_urls: bool) -> Iterator[str]:
    key = {"key": KEY, "secret": SECRET}
    yield from block([{"code": CODE, "balance": "100000.00", "api_keys": [key]}], 2)
    url, method = as_text(account.callback.get("CallbackUrl")), as_text(account.callback.get("Method"))
    yield from _target("callback", url, {"method": method or "POST"}, keep_urls=keep_urls)
    url, enabled = as_text(account.webhook.get("webhook_url")), account.webhook.get("enabled") is not False
    yield from _target("balance_webhook", url, {"enabled": enabled}, keep_urls=keep_urls)


def _target(name: str, url: str, rest: dict[str, Any], *, keep_urls: bool) -> Iterator[str]:
    if not url:
        yield f"    # The account has no {name}."
        return
    own, inbox = {"url": url, **rest}, {"url": INBOX, **rest}
    if keep_urls and _is_usable(name, own):
        yield from block({name: own}, 4)
        return
    yield f"    # The account's own is {one_line(redact_urls(flow(own)), 2000)}; here the inbox receives in its place."
    yield from block({name: inbox if _is_usable(name, inbox) else {"url": INBOX}}, 4)


def _is_usable(name: str, value: dict[str, Any]) -> bool:
    try:
        build_reseller({"code": CODE, name: value})
    except ScenarioError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An import request. `accounts` are account numbers by product; for `keep_urls` see `scenario_lines`."""

    base_url: str
    credentials: Credentials = field(repr=False)
    state: Path
    accounts: Mapping[str, Sequence[str]]
    keep_urls: bool = False
    per_second: float = 2.0
    requests_max: int = 5000
    timeout_s: float = 60.0


def import_account(request: ImportRequest, clock: SessionClock, progress: Callable[[str], None]) -> str:
    """Return the text of the scenario. The state file is deleted after a complete import.

    Raises `AccountRefused`, `ForeignStateFile`, `NoAnswer`, `LongPause`, `CannotSign`, and `NotExercised` when the
    requests are used up.
    """
    host = parse_address(request.base_url).authority
    secret_bytes(request.credentials.secret)
    mask = masking(request.credentials)
    state = AnswerFile(request.state, fingerprint(request.base_url, request.credentials.key), mask)
    with closing(HttpService(request.base_url, request.timeout_s)) as service:
        session = Session(service, request.credentials, clock, request.per_second, request.requests_max)
        account = read_account(Answers(session, state), state, request.accounts, progress)
        text = mask("\n".join([*scenario_lines(account, host, keep_urls=request.keep_urls), ""]))
    state.remove()
    return text


def masking(credentials: Credentials) -> Callable[[str], str]:
    """Return a function that hides the key and the secret in a text."""
    return partial(redact, secrets=(Secrets(credentials),))
