"""Values come back from a snapshot exactly as they were."""

from typing import Any

import msgspec
import pytest

from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.transactions import Step
from simulator.persistence.snapshot import document
from simulator.persistence.snapshot.document import ENCODER, log_parts, log_rows, special
from simulator.scenario.library import load_scenario


def back(value: Any, kind: Any) -> Any:
    """A value that was written and read."""
    return msgspec.msgpack.decode(ENCODER.encode(value), type=kind, dec_hook=special)


def test_all_products_and_timelines_of_a_scenario_come_back() -> None:
    for name in ("default", "bad-day"):
        scenario = load_scenario(name)
        for product in scenario.catalog.products.values():
            found = back(product, Product)
            assert found == product
            assert all(isinstance(each, OptionList) for each in found.options.values())
            for text, same in zip(product.fulfilled.texts.values(), found.fulfilled.texts.values(), strict=True):
                facts = {"seed": 1, "trxid": "t", "refid": "r", "account": "1", "product": "P", "amount": 1}
                assert text(facts) == same(facts)
        for timeline in scenario.timelines.values():
            assert back(timeline, tuple[Step, ...]) == timeline


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="a snapshot has no values of"):
        ENCODER.encode(object())


def test_the_rows_of_a_long_log_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "SIZE", 3)
    parts = dict(log_parts("log", list(range(40)), str))
    assert len(parts) == 14
    assert list(log_rows({**parts, "log/other": b"", "logs/1": b""}, "log", str)) == [str(one) for one in range(40)]
    assert dict(log_parts("log", [])) == {}
