"""The audit of the console: each finding with its severity, advice, and the requests that show it."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


def test_a_violation_is_shown_with_its_advice_and_links_to_its_requests(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("audit")
    shown.get_by_text("nothing was exercised yet").wait_for()
    shared.call("GET", "/v2/balance?api_secret=abc")
    found = shown.locator("details[data-key=violated-no-credentials-in-query]", has_text="error")
    found.wait_for()
    assert "§ 5.1" in found.inner_text()
    assert "To do: Send the API key as X-Api-Key" in found.inner_text()
    found.get_by_role("link", name="#1").click()
    shown.wait_for_url("**/live?q=n%3A1")
    shared.row("GET /v2/balance").wait_for()


def test_the_state_that_is_shown_is_in_the_address(shared: Console) -> None:
    shared.new_sandbox()
    shared.call("GET", "/v2/balance")
    shown = shared.open("audit?state=met")
    shown.get_by_role("heading", name="met (", exact=False).wait_for()
    assert shown.get_by_role("heading", name="not exercised").count() == 0
    shown.get_by_role("button", name="not exercised").click()
    shown.wait_for_url("**/audit?state=not_exercised")
    shown.get_by_role("heading", name="not exercised").wait_for()


def test_an_obligation_that_time_alone_violates_is_shown_while_the_clock_runs(shared: Console) -> None:
    shared.new_sandbox({"extends": "default", "payments": [{"then": [{"status": "Accepted"}]}]})
    shared.pay("order-1")
    shown = shared.open("audit")
    shown.get_by_text("nothing is violated").wait_for()
    shared.mine("PUT", "clock", {"mode": "xN", "rate": 100})
    shown.locator("details[data-key=violated-polling-to-the-end]").wait_for()
