"""The form of a product and its prices: fields with their validation, options of select fields, listed or generated,
discounts and amounts."""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

from simulator.domain.model.catalog import Adjustment, DataSource, Discount, FormField, Money, Option, OptionList
from simulator.scenario.reading.patterns import finder
from simulator.scenario.reading.value_reader import ONE, ValueReader, refuse_repeats
from simulator.scenario.sections.templates import business

MYR = "MYR"


def discount(item: ValueReader) -> Discount:
    """Parse a discount: `{type: percentage, value: 2.5}` costs 2.5% less, `{type: fixed, value: 0.30}` 30 sen less."""
    value = item["value"].amount()
    if item["type"].text() == "fixed":
        return Discount("fixed", -value, item["shown"].text(f"{_short(value * 100)} sen"))
    if value > 100:
        item["value"].problem("out_of_range", f"a discount is at most 100 percent, not {value}")
    return Discount("percentage", 1 - value / 100, item["shown"].text(f"{_short(value)}%"))


def price_adjustment(item: ValueReader) -> Adjustment | None:
    """Return a selling price, or None if it is absent."""
    if not item.is_mapping:
        return None
    kind = item["type"].text()
    value = item["value"].amount()
    if kind == "percentage":
        if value <= 0:
            item["value"].problem("out_of_range", f"a percentage is a factor above 0 such as 1.03, not {value}")
        return Adjustment(kind, value)
    return Adjustment(kind, value, item["currency"].text(MYR))


def money(item: ValueReader, currency: str) -> Money | None:
    """Return an amount, by default in `currency`; None when absent or null."""
    if item.is_mapping:
        return Money(item["amount"].amount(), item["currency"].text(currency))
    amount = item.optional_amount()
    return None if amount is None else Money(amount, currency)


def _short(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


INPUT_MODES: Mapping[str, str] = {"text": "text", "number": "numeric", "select": "text", "money": "decimal"}


def form_field(form: ValueReader, product_code: str, place: int, ids: list[str]) -> FormField:
    """Return a field; `place` is its default order, `ids` are all fields of the product."""
    kind = form["type"].text("text")
    validation = form["validation"]
    minimum, maximum = validation["min"].optional_amount(), validation["max"].optional_amount()
    if minimum is not None and maximum is not None and minimum > maximum:
        validation["max"].problem("out_of_range", f"max is below min, {minimum}")
    _check_options(form, kind)
    return FormField(
        id=form["id"].text(),
        type=kind,
        input_mode=form["input_mode"].text(INPUT_MODES.get(kind, "text")),
        label=form["label"].text(),
        placeholder=form["placeholder"].text(),
        required=form["required"].boolean(True),
        order=form["order"].integer(place),
        role=form["role"].text("none"),
        pattern=validation["pattern"].text() or None,
        accepts=validation["pattern"].parsed(finder, "bad_pattern"),
        message=validation["message"].text() or None,
        minimum=minimum,
        maximum=maximum,
        data_source=_data_source(form, product_code, ids) if kind == "select" else None,
        currency=form["currency"].text(MYR) if kind == "money" else None,
    )


SELECT_ONLY = ("options", "data_source", "options_for", "generate")


def _check_options(form: ValueReader, kind: str) -> None:
    if kind != "select":
        form.misplaced("only a select field has {!r}", *SELECT_ONLY)
    elif form["data_source"]["type"].text("reference") == "reference":
        if not form["options"].is_given and not form["generate"].is_given:
            form.problem("missing_key", "'options' is missing; a select field needs options")
        form.misplaced("only a dynamic field has options for an account number", "options_for")


def _data_source(form: ValueReader, product_code: str, ids: list[str]) -> DataSource:
    """Return the data source. `product_code` and `field_id` are always sent, which SPEC 2.1 calls typical."""
    item = form["data_source"]
    params: dict[str, Mapping[str, str]] = {
        "product_code": {"static": product_code},
        "field_id": {"static": form["id"].text()},
    }
    for name, entry in item["params"].entries():
        entry["from_field"].refuse_unknown("field", ids, "of this product")
        params[name] = {kind: value.text() for kind, value in entry.entries()}
    depends_on = item["depends_on"].items()
    for entry in depends_on:
        entry.refuse_unknown("field", ids, "of this product")
    return DataSource(
        item["type"].text("reference"), tuple(entry.text() for entry in depends_on), MappingProxyType(params)
    )


FIRST_GENERATED = 100_001
GENERATED_MAX = 100_000  # total over all fields of a catalog
# Keys valid only for options of a dynamic field, since they depend on the account number.
PERSONAL = ("share", "account_digits")


def options(form: ValueReader, product_code: str, currency: str) -> OptionList:
    """Return the options of a select field that are offered to all accounts, or drawn from."""
    written = _options(form["options"], form, product_code, currency)
    result = OptionList((*written, *_generated(form, {option.code for option in written})))
    if form["data_source"]["type"].text() != "dynamic":
        for item in form["options"].items():
            item.misplaced("only an option of a dynamic field depends on an account number", *PERSONAL)
    return result


def options_for(forms: list[ValueReader], product_code: str, currency: str) -> Mapping[tuple[str, str], OptionList]:
    """Return the lists for single account numbers, by field and number."""
    return MappingProxyType(
        {
            (form["id"].text(), number): _options(entry, form, product_code, currency)
            for form in forms
            for number, entry in form["options_for"].entries()
        }
    )


def varies_by_account(form: ValueReader) -> bool:
    """Return True if the options of a field vary by account number."""
    return any(item[key].is_given for item in form["options"].items() for key in PERSONAL)


def _options(items: ValueReader, form: ValueReader, product_code: str, currency: str) -> OptionList:
    refuse_repeats([item["code"] if item.is_mapping else item for item in items.items()], "option")
    is_pricing = form["role"].text() == "pricing"
    return OptionList(_option(item, product_code, currency, is_pricing) for item in items.items())


def _option(item: ValueReader, product_code: str, currency: str, is_pricing: bool) -> Option:
    if not item.is_mapping:
        if not is_pricing:
            item.problem("type", "must be an object with code and label; a plain number is for a pricing field")
        label = f"RM {item.text()}" if currency == MYR else f"{item.text()} {currency}"
        return Option(f"{product_code}-{item.text()}", label, item.amount())
    if is_pricing and not item["denomination"].is_given:
        item.problem("missing_key", "'denomination' is missing; each option of the pricing field needs a denomination")
    if not is_pricing:
        item.misplaced("only an option of the pricing field has a denomination", "denomination")
    code = item["code"].text()
    denomination = item["denomination"]
    option = Option(
        code=code,
        label=item["label"].text(denomination.text(code)),
        denomination=denomination.optional_amount(),
        is_active=item["is_active"].boolean(True),
        description=item["description"].text() or None,
        validity=item["validity"].text() or None,
        features=_lines(item["features"]),
        rrp=money(item["rrp"], currency),
        account_number=item["account_number"].text() or None,
        account_digits=item["account_digits"].integer(0),
        share=item["share"].amount(ONE),
        min_amount=money(item["min_amount"], MYR),
        max_amount=money(item["max_amount"], MYR),
        needs_ref2=item["needs_ref2"].boolean(),
        suggested_category=item["suggested_category"].text() or None,
        additional_description=_lines(item["additional_description"]),
    )
    _check_option(item, option)
    return option


def _check_option(item: ValueReader, option: Option) -> None:
    refuse_empty_range(item, option.min_amount, option.max_amount)
    if item["share"].is_given and not Decimal(0) <= option.share <= 1:
        item["share"].problem("out_of_range", f"a share is between 0 and 1, not {option.share}")
    if option.account_number and option.account_digits:
        item.misplaced("an option has 'account_number' or 'account_digits', not both", "account_digits")


def refuse_empty_range(item: ValueReader, low: Money | None, high: Money | None) -> None:
    """Report a maximum below the minimum."""
    if low and high and low.amount > high.amount:
        item["max_amount"].problem("out_of_range", "max_amount is below min_amount")


def _lines(item: ValueReader) -> tuple[str, ...]:
    return tuple(entry.text() for entry in item.items())


def refuse_too_many(forms: list[ValueReader]) -> None:
    """Report the field at which a catalog exceeds the limit of generated options."""
    total = 0
    for form in forms:
        total += form["generate"]["count"].integer(0)
        if total > GENERATED_MAX:
            text = f"a catalog generates at most {GENERATED_MAX} options, not {total}"
            form["generate"]["count"].problem("out_of_range", text)


def _generated(form: ValueReader, taken: set[str]) -> list[Option]:
    """Return `generate: {count: 25000}` options with sequential codes, for large catalogs."""
    item = form["generate"]
    if not item.is_mapping or not item.is_valid:
        return []
    if form["role"].text() == "pricing":
        form.misplaced("options of the pricing field cannot be generated: each needs a denomination", "generate")
    first, count = item["first"].integer(FIRST_GENERATED), item["count"].integer(0)
    if clash := taken & {str(number) for number in range(first, first + count)}:
        item.problem("duplicate", f"the option {min(clash)!r} exists already; choose another 'first'")
    low, high = money(item["min_amount"], MYR), money(item["max_amount"], MYR)
    refuse_empty_range(item, low, high)
    label, every = item["label"].text(), item["needs_ref2_every"].integer(0)
    categories = _lines(item["suggested_categories"]) or (None,)
    named = ((number, *_named(label, number)) for number in range(first, first + count))
    return [
        Option(
            code=str(number),
            label=name,
            description=address,
            min_amount=low,
            max_amount=high,
            needs_ref2=every > 0 and (number - first + 1) % every == 0,
            suggested_category=categories[(number - first) % len(categories)],
        )
        for number, name, address in named
    ]


def _named(label: str, number: int) -> tuple[str, str | None]:
    """Return the label and description of a generated option: the scenario's label, else a fictional business."""
    return (f"{label} {number}", None) if label else business(number)
