"""A scenario that says nothing: the limits that the service documents, and ours."""

from datetime import timedelta

import pytest

from simulator.domain.model.scenario import ClockStart, Limits, Scenario
from simulator.domain.model.webhooks import WebhookPolicy

MIB = 1_048_576

LIMITS: list[tuple[str, object]] = [
    ("requests_per_interval", 30_000),
    ("rate_limit_interval", timedelta(minutes=5)),
    ("rate_limit_block", timedelta(hours=4)),
    ("nonce_window", timedelta(minutes=10)),
    ("nonces", 500_000),
    ("timestamp_tolerance", timedelta(minutes=5)),
    ("token_lifetime", timedelta(hours=1)),
    ("refresh_token_lifetime", timedelta(days=30)),
    ("integration_timeout", timedelta(seconds=29)),
    ("settings_delay", timedelta(minutes=5)),
    ("callback_timeout", timedelta(seconds=30)),
    ("callback_timeout_manual", timedelta(seconds=5)),
    ("callbacks", 20_000),
    ("callbacks_bytes", 64 * MIB),
    ("deliveries", 10_000),
    ("deliveries_bytes", 64 * MIB),
    ("notifications", 5_000),
    ("journal", 4_000),
    ("journal_bytes", 64 * MIB),
    ("tape", 100_000),
    ("tape_bytes", 48 * MIB),
    ("inbox", 10_000),
    ("inbox_bytes", 64 * MIB),
    ("inboxes", 1_000),
    ("inboxes_bytes", 64 * MIB),
    ("rules", 2_000),
    ("resellers", 1_000),
    ("api_keys", 2_000),
]


@pytest.mark.parametrize(("name", "value"), LIMITS)
def test_a_limit_has_its_documented_value(name: str, value: object) -> None:
    assert getattr(Limits(), name) == value


def test_the_table_has_every_limit() -> None:
    assert {name for name, _ in LIMITS} == {*Limits.__struct_fields__} - {"callback_retry"}


def test_a_scenario_that_says_nothing_runs_in_staging_by_the_wall_clock_with_short_payment_times() -> None:
    scenario = Scenario("plain")
    assert (scenario.environment, scenario.seed, scenario.realistic_times) == ("staging", 0, False)
    assert scenario.clock == ClockStart("real", 1.0, None, timedelta(0), "wall")
    assert not scenario.accepts_any_certificate


def test_scenarios_with_the_same_values_are_equal_wherever_they_were_written() -> None:
    assert Scenario("plain", written=lambda: {"name": "plain"}) == Scenario("plain")


def test_the_document_has_all_keys_but_the_file_that_it_extends() -> None:
    assert Scenario("plain", written=lambda: {"name": "plain", "extends": "other"}).document == {"name": "plain"}


@pytest.mark.parametrize(("retry", "wait_s"), [(1, 10), (2, 60), (3, 300), (4, 300), (9, 300)])
def test_an_event_is_sent_again_three_times_and_the_last_wait_repeats(retry: int, wait_s: int) -> None:
    assert WebhookPolicy().retry_limit == 3
    assert WebhookPolicy().wait(retry) == timedelta(seconds=wait_s)
