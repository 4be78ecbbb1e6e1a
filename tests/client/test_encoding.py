"""What the Python client sends as JSON."""

from decimal import Decimal

import pytest

from reseller_sim.exchange import encoded


def test_a_decimal_keeps_its_digits() -> None:
    document = {"unit_price": Decimal("-0.30"), "amounts": [Decimal("10"), Decimal("1E+2")], "name": "0"}
    assert encoded(document) == b'{"unit_price":-0.30,"amounts":[10,100],"name":"0"}'


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), float("nan")])
def test_a_number_that_json_lacks_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"JSON|compliant"):
        encoded({"amount": value})
