"""The coverage of the console: what was met and what never, each met thing a link to where it is seen."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


def test_covered_rows_link_to_their_requests_and_uncovered_rows_say_so(shared: Console) -> None:
    shared.new_sandbox()
    shared.pay("order-7")
    shown = shared.open("coverage")
    row = shown.get_by_role("row").filter(has=shown.get_by_role("cell", name="POST /v2/topup"))
    row.get_by_role("link", name="200 ×1").wait_for()
    assert "401" in row.inner_text()
    shown.get_by_text("1 of 27 met").wait_for()
    row.get_by_role("link", name="200 ×1").click()
    shown.wait_for_url("**/live?q=*")
    shared.row("order-7").wait_for()
    assert shared.row("POST /v2/topup").count() == 1


def test_the_switch_for_what_is_missing_is_in_the_address(shared: Console) -> None:
    shared.new_sandbox()
    shared.pay("order-7")
    shown = shared.open("coverage")
    shown.get_by_role("link", name="ordinary").wait_for()
    shown.get_by_role("button", name="only what is missing").click()
    shown.wait_for_url("**/coverage?missing=1")
    shown.get_by_role("link", name="ordinary").wait_for(state="detached")
    shown.reload()
    shown.get_by_role("cell", name="never void approved").wait_for()
    assert shown.get_by_role("link", name="ordinary").count() == 0


def test_the_coverage_is_refreshed_after_an_event(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("coverage")
    shown.get_by_text("0 of 27 met").wait_for()
    shared.call("GET", "/v2/balance")
    shown.get_by_text("1 of 27 met").wait_for()


def test_the_name_of_a_rule_is_text(shared: Console) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202e"
    rule = {"name": hostile, "when": {"product": "FP"}, "then": [{"status": "Succesful"}]}
    shared.new_sandbox()
    shared.mine("POST", "rules", {"section": "payments", "rule": rule})
    shown = shared.open("coverage")
    shown.get_by_text("<img src=x onerror=alert(1)>⟨202E⟩").wait_for()
    assert shown.locator("sim-coverage img").count() == 0
