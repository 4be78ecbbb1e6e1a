"""What successful payments brought, by product: the shape of serial numbers and PINs, never themselves."""

from collections.abc import Mapping
from typing import Any

from simulator.staging.recorder.bodies import short

PRODUCTS_MAX = 5_000
LENGTH_MAX = 64
LINK = "https://vouchers.example.com/{trxid}/{alnum:12}"


class Receipts:
    """The shapes, of the first success of each product."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, str]] = {}

    def note(self, product: str, data: Mapping[str, Any]) -> None:
        """The result of a payment that succeeded."""
        if product in self._found or len(self._found) >= PRODUCTS_MAX:
            return
        shown = {name: _shape(short(data.get(name))) for name in ("sn", "pin")}
        shown["voucherlink"] = LINK if short(data.get("voucherlink")) else ""
        shown["valid_for"] = "365d" if short(data.get("expiry")) else ""
        self._found[product] = {name: text for name, text in shown.items() if text}

    def of(self, product: str) -> dict[str, str] | None:
        """`fulfilled` of a product; None when no success of it was seen."""
        return self._found.get(product)


def _shape(text: str) -> str:
    """`{digits:12}` for twelve digits."""
    if not 0 < len(text) <= LENGTH_MAX:
        return ""
    return f"{{{'digits' if text.isascii() and text.isdigit() else 'alnum'}:{len(text)}}}"
