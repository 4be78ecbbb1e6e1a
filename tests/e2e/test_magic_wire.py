"""Magic accounts that cost a client its connection, on real sockets."""

from typing import Any

import pytest

from tests.support.on_the_wire import sandbox_with
from tests.support.processes import Serving

pytestmark = pytest.mark.slow

PRODUCTS = [("RELOAD", "0120000", "10"), ("ELECTRIC", "210010000", "50"), ("GIFTCARD", "0000", "25")]
LOST = [("04", b"", 1, b"200"), ("05", b"", 0, b""), ("13", b"504", 0, b"504"), ("14", b"504", 1, b"200")]


@pytest.mark.parametrize(("product", "before", "amount"), PRODUCTS)
@pytest.mark.parametrize(("outcome", "first", "made", "second"), LOST)
def test_a_magic_account_loses_the_answer(
    server: Serving, outcome: str, first: bytes, made: int, second: bytes, product: str, before: str, amount: str
) -> None:
    body: dict[str, Any] = {"refid": "r", "product": product, "account": f"{before}0{outcome}", "amount": amount}
    sandbox = sandbox_with(server)
    found = [sandbox.pay(body, nonce * 16)[9:12] for nonce in "ab"]
    assert (found, sandbox.payments) == ([first, second], made)
