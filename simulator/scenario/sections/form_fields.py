"""The form of a product: its fields, their validation, and the sources of select fields' options."""

from collections.abc import Mapping
from types import MappingProxyType

from simulator.domain.model.catalog import DataSource, FormField
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.patterns import finder
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.pricing import MYR

INPUT_MODES: Mapping[str, str] = {"text": "text", "number": "numeric", "select": "text", "money": "decimal"}


def form_field(form: Reader, product_code: str, place: int, ids: list[str]) -> FormField:
    """One field; `place` is its default order, `ids` are all fields of the product."""
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


SELECT_ONLY: Mapping[str, str] = {
    "options": "only a select field has options",
    "data_source": "only a select field has a data source",
    "options_for": "only a select field has options",
    "generate": "only a select field has options",
}


def _check_options(form: Reader, kind: str) -> None:
    if kind != "select":
        for key, text in SELECT_ONLY.items():
            if form[key].is_given:
                form[key].problem("misplaced", text, at_key=True)
        return
    is_reference = form["data_source"]["type"].text("reference") == "reference"
    if is_reference and not form["options"].is_given and not form["generate"].is_given:
        form.problem("missing_key", "'options' is missing; a select field offers some")
    if is_reference and form["options_for"].is_given:
        text = "only a dynamic field has options for an account number"
        form["options_for"].problem("misplaced", text, at_key=True)


def refuse_unknown_field(reader: Reader, ids: list[str]) -> None:
    """Report a field that the product does not have."""
    if reader.text() and reader.text() not in ids and not reader.report.is_full:
        text = f"this product has no field {reader.text()!r}{suggestion(reader.text(), ids)}"
        reader.problem("unknown_field", text)


def _data_source(form: Reader, product_code: str, ids: list[str]) -> DataSource:
    """`product_code` and `field_id` are always sent, which SPEC 2.1 calls typical."""
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
