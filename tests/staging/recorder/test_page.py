"""docs/record.md is true."""

import re
from pathlib import Path

from simulator.staging.recorder import catalogs, payment_rules, recorder
from tests.support.client import running
from tests.support.traffic import get, pay, play

PAGE = (Path(__file__).parents[3] / "docs" / "record.md").read_text()


def test_the_rules_on_the_page_come_from_such_a_recording() -> None:
    shown = re.search(r"<!-- recorded: payments -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    steps = [
        get("/v2/catalog"),
        get("/v2/options?product_code=RELOAD&field_id=amount"),
        pay("a"),
        pay("b"),
        10,
        pay("a"),
    ]
    with running("default") as client:
        assert shown[1] in play(client, steps).recorded()


def test_its_limits_match_the_code() -> None:
    words = " ".join(PAGE.split())
    assert f"takes the first {recorder.MESSAGES_MAX:,} requests and notifications" in words
    assert f"{catalogs.OPTIONS_MAX:,} options" in words
    assert f"more than {payment_rules.IN_ORDER_MAX} exceptions" in words
