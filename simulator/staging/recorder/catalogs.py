"""The observed catalog: the latest answer about each product, and the pages of options combined into lists.

Answers in the older shape are converted to `X-API-Version: 2026-09-16`, from which the importer makes a scenario.
"""

from dataclasses import dataclass, field
from typing import Any

from simulator.domain.model.money import cents, parse_amount, parse_number
from simulator.domain.model.schedule import NetworkStatus
from simulator.staging.bodies import as_dict, as_list, by_code, dicts, short
from simulator.staging.importer.account_answers import Offer, ProductAnswers
from simulator.staging.recorder.traffic_values import DecodedCall, format_duration

OPTIONS_MAX = 100_000  # of all products together
LAST = 10**9
_OLD_PATH, _NEW_PATH = "price.amount", "denomination"


@dataclass(slots=True)
class SeenOptions:
    """The options of a field, for all accounts or for a single account: items by their place in the whole list."""

    active: dict[int, dict[str, Any]] = field(default_factory=dict)
    inactive: dict[int, dict[str, Any]] = field(default_factory=dict)


class Catalogs:
    """All answers about the catalog."""

    def __init__(self) -> None:
        self.groups: list[Any] = []
        self.network: dict[str, list[tuple[float, str]]] = {}
        self.options: dict[tuple[str, str, str], SeenOptions] = {}
        self._bodies: dict[str, dict[str, Any]] = {}
        self._order: list[str] = []
        self._tree_rank = (-1, -1)
        self._room = OPTIONS_MAX

    @property
    def is_empty(self) -> bool:
        """Return True if no catalog was observed."""
        return not self._bodies

    def note_catalog(self, call: DecodedCall) -> None:
        """Record `GET /v2/catalog`, with any filters."""
        answer, query = call.answer, call.query
        products = [item for item in as_dict(answer.get("products")).values() if short(as_dict(item).get("code"))]
        for body in products:
            _convert_amount(body)
            self._bodies[body["code"]] = body
        if len(products) > len(self._order):
            self._order = [body["code"] for body in products]
        rank = (int(query.get("include_inactive") == "true"), int(query.get("is_active") != "false"))
        if "product_code" not in query and rank >= self._tree_rank and isinstance(answer.get("tree"), dict):
            self.groups, self._tree_rank = as_list(answer["tree"].get("groups")), rank

    def note_options(self, call: DecodedCall) -> None:
        """Record `GET /v2/options`, a page of them."""
        answer, query = call.answer, call.query
        key = (short(answer.get("product_code")), short(answer.get("field_id")), short(query.get("account_number")))
        if not key[0] or not key[1] or query.get("biller_code"):  # a part of the list, at other places
            return
        seen = self.options.setdefault(key, SeenOptions())
        items = seen.inactive if query.get("is_active") == "false" else seen.active
        meta = as_dict(answer.get("meta"))
        page, size, first = meta.get("current_page"), meta.get("per_page"), 0
        if isinstance(page, int) and isinstance(size, int) and 0 < page < LAST and 0 < size < LAST:
            first = (page - 1) * size
        for place, item in enumerate(dicts(answer.get("items")), first):
            if place not in items:
                if self._room <= 0:
                    return
                self._room -= 1
            items[place] = item

    def note_network(self, call: DecodedCall) -> None:
        """Record `GET /v2/networkstatus`."""
        code, status = short(call.data.get("product_code")), short(call.data.get("network_status"))
        if code and status in set(NetworkStatus):
            changes = self.network.setdefault(code, [])
            if not changes or changes[-1][1] != status:
                changes.append((max(0.0, call.at_s), status))

    def products(self) -> list[ProductAnswers]:
        """Return the products in the order of the fullest catalog, as the importer takes them."""
        order = dict.fromkeys([*(code for code in self._order if code in self._bodies), *self._bodies])
        return [self._product(code) for code in order]

    def _product(self, code: str) -> ProductAnswers:
        body = self._bodies[code]
        found = ProductAnswers(body)
        for (product, field_id, account), seen in self.options.items():
            if product == code:
                lists = (_whole(items, body, field_id) for items in (seen.active, seen.inactive))
                found.offers.setdefault(field_id, []).append(Offer(account, *lists))
        return found


def pricing_form(body: dict[str, Any]) -> dict[str, Any]:
    """Return the field of a product that sets the amount; empty without any."""
    forms = (form for form in dicts(body.get("fields")) if form.get("role") == "pricing" and form.get("id"))
    return next(forms, {})


def _convert_amount(body: dict[str, Any]) -> None:
    """Convert the source of the amount, which is null in the older shape where its price would pay something else."""
    fulfillment, form = as_dict(body.get("fulfillment")), pricing_form(body)
    amount = fulfillment.get("amount", {})
    if as_dict(amount).get("path") == _OLD_PATH:
        amount["path"] = _NEW_PATH
    elif amount is None and form:
        path = {"path": _NEW_PATH} if form.get("type") == "select" else {}
        fulfillment["amount"] = {"from_field": form["id"], **path}


def _whole(items: dict[int, dict[str, Any]], body: dict[str, Any], field_id: str) -> list[dict[str, Any]]:
    """Return the items in order. Pricing items of the older shape get a denomination computed from their price."""
    found = by_code((items[place] for place in sorted(items, reverse=True)), "code")
    forms = {form.get("id"): form for form in dicts(body.get("fields"))}
    is_pricing = as_dict(forms.get(field_id)).get("role") == "pricing"
    return [_with_denomination(item, body) if is_pricing else item for item in reversed(found.values())]


def _with_denomination(item: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    if _NEW_PATH in item:
        return item
    found = _denomination(item, body)
    if found is None:
        return item
    before = {name: item[name] for name in ("code", "label") if name in item}
    return {**before, _NEW_PATH: found, **item}


def _denomination(item: dict[str, Any], body: dict[str, Any]) -> Any:
    """Return the denomination of an item with only a price: the price without the account's adjustment (SPEC 2.1)."""
    pricing = as_dict(body.get("pricing"))
    price, unit = (
        parse_amount(as_dict(item.get("price")).get("amount")),
        parse_number(body.get("denomination_unit_price")),
    )
    adjustment = as_dict(pricing.get("price_adjustment"))
    value = parse_number(adjustment.get("value"))
    if price is None:
        return None
    if value is not None and adjustment.get("type") == "fixed":
        price -= value
    elif value:
        price /= value
    found = cents(price / unit if unit else price)
    return int(found) if found == found.to_integral_value() else found


def network_item(changes: list[tuple[float, str]]) -> Any:
    """Return the item of `network`: a status, or several with their times."""
    if len(changes) == 1:
        return changes[0][1]
    return [
        {"at": "0s" if n == 0 else format_duration(at_s), "status": status} for n, (at_s, status) in enumerate(changes)
    ]
