"""One function finds what was probably meant."""

import pytest

from simulator.domain.model.likeness import nearest

MEANT = [
    ("low_balance", ("balance", "low_balance_threshold", "settings"), "low_balance_threshold"),
    ("low_balance", ("code", "balance", "api_keys"), "balance"),
    ("sequence", ("since", "until", "nth", "chance"), ""),
    ("webhook", ("webhooks", "balance_webhook"), "webhooks"),
    ("statusCod", ("status", "statusCode"), "statusCode"),
    ("statuss", ("status_min", "status"), "status"),
    ("bad-dya", ("bad-day", "balance-day"), "bad-day"),
    ("callback", ("callback_url", "callbacks"), "callbacks"),
    ("retry", ("retry_limit", "entry"), "retry_limit"),
    ("PAYMENTS", ("payments",), "payments"),
    ("fial", ("fail", "file"), "fail"),
    ("", ("a",), ""),
    ("in_time", ("in", "out"), ""),
    ("name", ("name_of_the_scenario",), "name_of_the_scenario"),  # four characters that begin it
    ("a-b-c-d", ("a_b_c_d",), "a_b_c_d"),  # the same parts, divided otherwise
    ("key", ("key_of_the_reseller",), ""),  # three are too few
]


@pytest.mark.parametrize(("word", "known", "meant"), MEANT)
def test_names_rank_by_their_likeness(word: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(word, known) == meant


@pytest.mark.parametrize(("length", "is_found"), [(64, True), (65, False)])
def test_a_name_of_up_to_64_characters_is_compared(length: int, is_found: bool) -> None:
    assert bool(nearest("x" * length, ("x" * (length - 1),))) is is_found


def test_names_that_begin_alike_are_compared_when_there_are_many() -> None:
    others = [f"payments_{number}" for number in range(200)]
    assert (
        nearest("callback_timeouts", (*others[:100], "callback_timeout", "call", *others[100:])) == "callback_timeout"
    )
