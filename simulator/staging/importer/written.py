"""The scenario of an account, as a file with comments: what was read, what is ours, and what could not be kept."""

from collections.abc import Iterator
from typing import Any

from simulator import __version__
from simulator.scenario.build import build_reseller
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.yaml import block, comment, flow
from simulator.shortened import one_line
from simulator.staging.importer.account import Account
from simulator.staging.importer.catalog import catalog_lines, fit_catalog
from simulator.staging.importer.shapes import as_text

CODE = "IMPORTED"
KEY = "test_key_imported"
SECRET = "bm90LWEtc2VjcmV0LWZvci1hbi1pbXBvcnRlZC1vbmU="  # noqa: S105  # anybody may know it
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


def written(account: Account, host: str, *, keep_urls: bool) -> Iterator[str]:
    """The lines of the file. `keep_urls` makes callbacks and webhooks go to the addresses of the account."""
    updated = one_line(account.updated) or "at an unknown time"
    first = (
        f"Imported by reseller-sim {__version__} from {host}: {len(account.products)} products, last updated {updated}."
    )
    yield from comment([first, "", *OURS.splitlines()])
    if account.missing:
        yield "#"
        yield from comment(["What the account did not answer:", *(f"- {one}" for one in account.missing)])
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
    yield f"    # The account's own is {one_line(flow(own), 2000)}; here the inbox receives in its place."
    yield from block({name: inbox if _is_usable(name, inbox) else {"url": INBOX}}, 4)


def _is_usable(name: str, value: dict[str, Any]) -> bool:
    try:
        build_reseller({"code": CODE, name: value})
    except ScenarioError:
        return False
    return True
