"""Price adjustments in another currency than their product's prices: they are added as if it were the same."""

from collections.abc import Iterator

from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.pricing import MYR


def lint_adjustments(root: Reader, source: str) -> None:
    """Report the adjustments of `source` whose currency is foreign to the prices of their product."""
    currencies = {item["code"].text(): item["currency"].text(MYR) for item in root["catalog"]["products"].items()}
    for code, adjustment in _adjustments(root):
        currency, known = adjustment["currency"], currencies.get(code, MYR)
        if currency.is_given and currency.text() not in ("", known) and currency.position.source == source:
            text = f"prices of {code} are in {known}: an adjustment in {currency.text()} is added without conversion"
            currency.problem("foreign_currency", text)


def _adjustments(root: Reader) -> Iterator[tuple[str, Reader]]:
    """Each price adjustment, with the code of its product."""
    for item in root["catalog"]["products"].items():
        yield item["code"].text(), item["price_adjustment"]
    for reseller in root["resellers"].items():
        for code, overlay in reseller["catalog"].entries():
            yield code, overlay["price_adjustment"]
    for planned in root["schedule"].items():
        yield planned["product"]["code"].text(), planned["product"]["set"]["price_adjustment"]
