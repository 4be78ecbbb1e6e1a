"""The form of a product: its fields, what they accept, and the options of select fields."""

from collections.abc import Mapping
from types import MappingProxyType

from simulator.domain.catalog import DataSource, FormField, Option
from simulator.scenario.accounts import refuse_repeats
from simulator.scenario.check import suggestion
from simulator.scenario.patterns import finder
from simulator.scenario.pricing import MYR, money
from simulator.scenario.reader import Reader

INPUT_MODES: Mapping[str, str] = {"text": "text", "number": "numeric", "select": "text", "money": "decimal"}


def form_field(form: Reader, product_code: str, place: int, ids: list[str]) -> FormField:
    """One field; `place` is its order unless it says another, `ids` are all fields of the product."""
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


def _check_options(form: Reader, kind: str) -> None:
    is_given = form["options"].is_given
    if is_given and kind != "select":
        form["options"].problem("misplaced", "only a select field has options", at_key=True)
    if form["data_source"].is_given and kind != "select":
        form["data_source"].problem("misplaced", "only a select field has a data source", at_key=True)
    is_reference = form["data_source"]["type"].text("reference") == "reference"
    if kind == "select" and is_reference and not is_given:
        form.problem("missing_key", "'options' is missing; a select field offers some")


def refuse_unknown_field(reader: Reader, ids: list[str]) -> None:
    """Report the name of a field that the product does not have."""
    if reader.text() and reader.text() not in ids:
        text = f"this product has no field {reader.text()!r}{suggestion(reader.text(), ids)}"
        reader.problem("unknown_field", text)


def _data_source(form: Reader, product_code: str, ids: list[str]) -> DataSource:
    """`product_code` and `field_id` are asked with always, as SPEC 2.1 calls typical."""
    item = form["data_source"]
    params: dict[str, Mapping[str, str]] = {
        "product_code": {"static": product_code},
        "field_id": {"static": form["id"].text()},
    }
    for name, entry in item["params"].entries():
        refuse_unknown_field(entry["from_field"], ids)
        params[name] = {kind: value.text() for kind, value in entry.entries()}
    depends_on = item["depends_on"].items()
    for entry in depends_on:
        refuse_unknown_field(entry, ids)
    return DataSource(
        item["type"].text("reference"), tuple(entry.text() for entry in depends_on), MappingProxyType(params)
    )


def options(form: Reader, product_code: str, currency: str) -> tuple[Option, ...]:
    """The items of a select field."""
    items = form["options"].items()
    refuse_repeats([item["code"] if item.is_mapping else item for item in items], "option")
    is_pricing = form["role"].text() == "pricing"
    return tuple(_option(item, product_code, currency, is_pricing) for item in items)


def _option(item: Reader, product_code: str, currency: str, is_pricing: bool) -> Option:
    if not item.is_mapping:
        if not is_pricing:
            item.problem("type", "must be an object with code and label; a plain number is for a pricing field")
        label = f"RM {item.text()}" if currency == MYR else f"{item.text()} {currency}"
        return Option(f"{product_code}-{item.text()}", label, item.amount())
    if is_pricing and not item["denomination"].is_given:
        item.problem("missing_key", "'denomination' is missing; an option of the pricing field needs one")
    if not is_pricing and item["denomination"].is_given:
        text = "only an option of the pricing field has a denomination"
        item["denomination"].problem("misplaced", text, at_key=True)
    code = item["code"].text()
    denomination = item["denomination"]
    return Option(
        code=code,
        label=item["label"].text(denomination.text(code)),
        denomination=denomination.optional_amount(),
        is_active=item["is_active"].boolean(True),
        description=item["description"].text() or None,
        validity=item["validity"].text() or None,
        features=tuple(feature.text() for feature in item["features"].items()),
        rrp=money(item["rrp"], currency),
    )
