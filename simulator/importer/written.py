"""The scenario of an account, as a file with comments: what was read, what is ours, and what could not be kept."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from simulator import __version__
from simulator.domain.model.catalog import Catalog
from simulator.domain.model.network import NetworkStatus
from simulator.importer.account import Account
from simulator.importer.differences import list_differences, product_differences, tree_differences
from simulator.importer.fitting import fit_groups, fit_product
from simulator.importer.products import product as product_item
from simulator.importer.shapes import as_text, dicts
from simulator.importer.yaml import block, flow, scalar
from simulator.scenario.build import build_reseller
from simulator.scenario.reading.document import ScenarioError
from simulator.shortened import one_line

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
    yield from _comment([first, "", *OURS.splitlines()])
    if account.missing:
        yield "#"
        yield from _comment(["What the account did not answer:", *(f"- {one}" for one in account.missing)])
    yield ""
    yield from block({"scenario": "imported", "description": f"the catalog of {host}"})
    yield ""
    yield "resellers:"
    yield from _reseller(account, keep_urls=keep_urls)
    yield ""
    yield from _catalog(account)


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


def _catalog(account: Account) -> Iterator[str]:
    items = [(answers, item := product_item(answers), fit_product(item)) for answers in account.products]
    groups = [_group(group) for group in dicts(account.groups)]
    whole = fit_groups(groups, [found.code for _, _, found in items if found is not None])
    products = {found.code: found for _, _, found in items if found is not None}
    yield "catalog:"
    if whole is not None:
        yield from _comment(tree_differences(account.groups, whole), 2)
        yield from block({"groups": groups}, 2)
    else:
        yield from _comment(["The tree of the account cannot be written in a scenario."], 2)
    yield "  products:" if products else "  products: []"
    interrupted = {}
    for answers, item, found in items:
        code = one_line(as_text(answers.body.get("code")))
        if found is None:
            yield from _comment([f"The account's product {code!r} cannot be written in a scenario."], 4)
            continue
        lines = product_differences(answers, found)
        if whole is not None:
            lines += list_differences(answers, found, Catalog(whole.groups, products))
        if answers.network_status not in ("", *NetworkStatus):
            lines.append(
                one_line(f"networkstatus: the account has {scalar(answers.network_status)}, this file Healthy")
            )
        yield from _comment([*lines, *map(_unasked(code), answers.unasked)], 4)
        yield from block([item], 4)
        if answers.network_status == NetworkStatus.INTERRUPTION:
            interrupted[code] = str(NetworkStatus.INTERRUPTION)
    if interrupted:
        yield ""
        yield from block({"network": interrupted})


def _unasked(code: str) -> Callable[[str], str]:
    """What is said of a field whose options were not asked for."""
    return lambda field: (
        f"options of {one_line(field)} depend on an account number: import again with --account {code}=NUMBER"
    )


def _group(group: dict[str, Any]) -> dict[str, Any]:
    shown = {name: group.get(name) for name in ("id", "name", "icon_url") if group.get(name)}
    categories = [
        {name: one.get(name) for name in ("id", "name", "product_codes") if one.get(name)}
        for one in dicts(group.get("categories"))
    ]
    return shown | ({"categories": categories} if categories else {})


def _comment(lines: Iterable[str], indent: int = 0) -> Iterator[str]:
    for line in lines:
        yield f"{' ' * indent}# {line}".rstrip()
