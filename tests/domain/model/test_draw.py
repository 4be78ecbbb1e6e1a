"""Draws by a seed: digits, ids, and delays from a distribution."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.commands import AddApiKey, SetWebhook
from simulator.domain.model import draw
from simulator.domain.model.draw import DELAY_MAX, Spread
from tests.support.worlds import START, sandbox


@given(st.integers(), st.text(), st.integers(1, 64))
def test_draws_depend_only_on_seed_and_identity(seed: int, identity: str, count: int) -> None:
    assert draw.digits(seed, count, identity) == draw.digits(seed, count, identity)
    assert len(draw.digits(seed, count, identity)) == count
    assert draw.digits(seed, count, identity).isdecimal()
    assert len(draw.alphanumeric(seed, count, identity)) == count
    assert 0 <= draw.fraction(seed, identity) < 1


def test_identities_do_not_run_into_each_other() -> None:
    assert draw.digits(1, 20, "a", "bc") != draw.digits(1, 20, "ab", "c")
    assert draw.digits(1, 20, "x") != draw.digits(2, 20, "x")
    assert draw.uuid(1, "x")[14] == "4"


def test_a_seed_draws_equal_values_in_every_version() -> None:
    """Scenarios, recorded runs and expectations of users rely on it."""
    assert draw.digits(7, 16, "a", "b") == "5385993489810884"
    assert draw.digits(7, 17, "a", "b") == "82570266848884352"
    assert draw.alphanumeric(7, 8, "a", "b") == "36KB9WFE"
    assert draw.fraction(7, "a", "b") == 0.43122076799159004
    assert draw.secret(7, "a").hex()[:16] == "a78218673cca4e3d"
    assert draw.uuid(7, "a") == "01637aad-2ad8-4097-8828-e63f1bce372f"
    assert draw.hexadecimal(7, 8, "a") == "60f0f4b8"
    assert draw.trxid(7, START, "R1", "ref-1") == "2611011375670247785367"
    box = sandbox()
    assert box.apply(AddApiKey("R1"), START).key == "rk_qsqrk2rjgdt463swucledjll"
    box.apply(SetWebhook("R1", "https://hook.example"), START)
    assert box.state.resellers["R1"].webhook.secret[:16] == "d5fb3a04e704d3d5"


def test_hexadecimal_digits_depend_on_seed_and_identity_and_are_not_all_zero() -> None:
    assert draw.hexadecimal(1, 32, "a") == draw.hexadecimal(1, 32, "a") != draw.hexadecimal(2, 32, "a")
    assert len(draw.hexadecimal(1, 16, "a")) == 16
    assert int(draw.hexadecimal(1, 16, "a"), 16) > 0


@pytest.mark.parametrize(
    ("at", "day"),
    [("2026-11-01T15:59:59Z", "261101"), ("2026-11-01T16:00:00Z", "261102"), ("2026-11-02T15:59:59Z", "261102")],
)
def test_a_transaction_id_begins_with_the_services_day_and_has_sixteen_digits_more(at: str, day: str) -> None:
    found = draw.trxid(1, datetime.fromisoformat(at), "R1", "ref-1")
    assert (found[:6], len(found), found.isdigit()) == (day, 22, True)
    assert found != draw.trxid(1, datetime.fromisoformat(at), "R2", "ref-1")


def test_the_day_of_a_transaction_id_does_not_depend_on_the_one_before() -> None:
    times = ("2026-11-02T16:00:00Z", "2026-11-01T15:59:59Z", "2026-11-01T16:00:00Z", "2026-11-02T16:00:00Z")
    found = [draw.trxid(1, datetime.fromisoformat(at), "R1", "ref-1")[:6] for at in times]
    assert found == ["261103", "261101", "261102", "261103"]


def test_half_are_at_most_the_median_and_99_of_100_at_most_p99() -> None:
    spread = Spread(timedelta(milliseconds=80), timedelta(seconds=2))
    found = [spread.at(number / 1000).total_seconds() for number in range(1000)]
    assert found == sorted(found)
    assert found[500] == pytest.approx(0.08)
    assert found[990] == pytest.approx(2, rel=1e-3)


def test_no_draw_is_without_an_end() -> None:
    widest = Spread(timedelta(milliseconds=1), DELAY_MAX)
    assert timedelta(0) <= widest.at(0.0) < widest.at(1.0) <= DELAY_MAX
