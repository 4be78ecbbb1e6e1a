"""The payment of a student loan of the default scenario."""

from typing import Any

IC = "900101145678"


def loan(account: str = "1029384756", **extras: Any) -> dict[str, Any]:
    named = {"subproduct_code": "K", "ic_number": IC} | extras
    kept = {name: value for name, value in named.items() if value is not ...}
    return {"product": "STUDENTLOAN", "account": account, "amount": "50", "extras": kept}
