"""Held messages are shown above the live list and in the story of their payment, with buttons that release them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

SIZES = [(1280, 720), (390, 844)]
ANSWERS = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "hold": "topup"}}
STEPS = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture(params=SIZES, ids=["wide", "phone"])
def page(shared: Console, request: pytest.FixtureRequest) -> Console:
    width, height = request.param
    shared.page.set_viewport_size({"width": width, "height": height})
    payments = [{"when": {}, "then": STEPS, "callbacks": {"hold": "told"}}]
    shared.new_sandbox({"extends": "default", "faults": [ANSWERS], "payments": payments})
    return shared


def assert_fits(page: Console) -> None:
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_live_view_releases_held_answers_in_order_of_arrival(page: Console) -> None:
    shown = page.open()
    held = shown.get_by_role("list", name="held").get_by_role("listitem")
    with ThreadPoolExecutor() as threads:
        answers = []
        for number, refid in enumerate(("order-1", "order-2", "order-3")):
            answers.append(threads.submit(page.call, "POST", "/v2/topup", _payment(refid)))
            page.mine("GET", f"holds?wait_for={number + 1}&timeout=60")
        held.nth(2).wait_for()
        assert page.row("held").count() == 3
        texts = [" ".join(one.partition("since")[0].split()) for one in held.all_inner_texts()]
        assert texts == [f"○ held in topup answer POST /v2/topup order-{number}" for number in (1, 2, 3)]
        assert_fits(page)
        held.nth(1).get_by_role("button", name="release the first 2").click()
        shown.locator("sim-action-log", has_text="2 released from topup, 1 still held").wait_for()
        page.row("order-2").first.wait_for()
        assert [one.result().status for one in answers[:2]] == [200, 200]
        assert not answers[2].done()
        held.get_by_role("button", name="release", exact=True).click()
        assert answers[2].result().status == 200
    held.first.wait_for(state="detached")


def test_the_story_releases_what_its_own_payment_waits_for(page: Console) -> None:
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(page.call, "POST", "/v2/topup", _payment(refid)) for refid in ("order-1", "order-2")]
        page.mine("GET", "holds?wait_for=2&timeout=60")
        page.mine("POST", "holds/topup/release")
        assert [one.result().status for one in answers] == [200, 200]
    page.mine("POST", "clock/advance", {"seconds": 1})
    page.mine("GET", "holds?name=told&wait_for=2&timeout=60")
    found = page.mine("GET", "transactions?refid=order-1")["transactions"]
    shown = page.open(f"payments/{found[0]['trxid']}")
    held = shown.get_by_role("list", name="held").get_by_role("listitem")
    held.first.wait_for()
    (text,) = held.all_inner_texts()
    assert "held in told" in text
    assert "callback Succesful" in text
    assert "order-1" in text
    assert_fits(page)
    held.get_by_role("button").click()
    shown.locator("button.thing[data-id^=callback-]").wait_for()
    held.first.wait_for(state="detached")


def _payment(refid: str) -> dict[str, object]:
    return {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}
