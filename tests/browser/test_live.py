"""The live list: everything that happens, as it happens, found by the words of the API."""

import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.console import Console, console
from tests.support.processes import ask, run

pytestmark = pytest.mark.slow

PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"  # what was scrolled to


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def test_the_console_begins_with_what_happens_in_the_default_sandbox(shared: Console) -> None:
    shared.page.goto(f"{shared.url}/_sim")
    shared.page.wait_for_url("**/_sim/s/default/live")
    shared.page.locator("nav [aria-current=page]").wait_for()
    assert "Live · default" in shared.page.title()


def test_events_appear_in_the_list_as_they_happen(page: Console) -> None:
    page.open()
    page.row("you").first.wait_for()
    page.pay("order-7")
    row = page.row("POST /v2/topup")
    row.wait_for()
    assert "200" in row.inner_text()
    assert "rule: ordinary" in row.inner_text()
    page.mine("POST", "clock/advance", {"until": "idle"})
    took = page.row("callback Succesful").locator(".took")
    took.wait_for()
    assert re.fullmatch(r"[\d.,]+ (?:µs|ms|s)", took.inner_text())
    assert page.row("Succesful").locator("a", has_text="order-7").count() == 2


def test_the_filter_is_in_the_address_and_knows_the_words_of_the_api(page: Console) -> None:
    for number in (1, 2):
        page.pay(f"order-{number}")
    page.call("GET", "/v2/nowhere")
    shown = page.open("live?q=refid%3Aorder-2+-kind%3Aentry")
    page.row("order-2").first.wait_for()
    assert page.row("order-1").count() == 0
    assert page.row("wallet").count() == 0
    shown.keyboard.press("/")
    shown.keyboard.press("Control+A")
    shown.keyboard.type("refused")
    page.row("/v2/nowhere").wait_for()
    shown.wait_for_function("document.querySelectorAll('sim-list .rows .row').length === 1")
    assert re.search(r"\?q=refused$", shown.url)
    shown.get_by_label("Filter").fill("colour:red")
    shown.get_by_text("there is no colour: here").wait_for()


def test_a_star_alone_matches_any_value(page: Console) -> None:
    page.pay("order-1")
    ask(f"{page.url}/s/{page.sandbox}/v2/balance")
    shown = page.open()
    page.row("/v2/balance").wait_for()
    box = shown.get_by_label("Filter")
    paid, refused, made = "POST /v2/topup", "GET /v2/balance", "you: created"
    for word, having, lacking in (
        ("refid", paid, refused),
        ("trxid", paid, refused),
        ("product", paid, refused),
        ("status", paid, made),
        ("rule", paid, refused),
        ("method", paid, made),
        ("path", paid, made),
        ("reseller", paid, made),
        ("error", refused, paid),
        ("n", paid, made),
    ):
        box.fill(f"{word}:*")
        page.row(lacking).wait_for(state="detached")
        page.row(having).wait_for()
        box.fill(f"-{word}:*")
        page.row(having).wait_for(state="detached")
        page.row(lacking).wait_for()
    box.fill("-kind:*")
    shown.get_by_text("Nothing matches.").wait_for()


def test_a_pasted_book_is_no_filter(page: Console) -> None:
    page.pay("order-1")
    shown = page.open()
    page.row("order-1").first.wait_for()
    shown.get_by_label("Filter").focus()
    shown.evaluate("document.execCommand('insertText', false, 'x'.repeat(10_000_000))")
    shown.locator(".tools .mistake", has_text="this takes 2,000 characters at most").wait_for()
    shown.locator("sim-action-log", has_text="Filter: this takes 2,000 characters at most").wait_for()
    assert len(shown.url) < 2_200
    page.row("order-1").first.wait_for()
    shown.get_by_label("Filter").fill("refid:order-2")
    shown.get_by_text("Nothing matches.").wait_for()


def test_rows_do_not_move_while_the_list_is_scrolled(page: Console) -> None:
    for number in range(40):
        page.pay(f"order-{number}")
    shown = page.open()
    page.row("order-39").first.wait_for()
    shown.locator("sim-list .scroller").evaluate("scroller => { scroller.scrollTop = 400 }")
    shown.evaluate(PAINTED)
    before = shown.locator("sim-list .rows .row").nth(20).inner_text()
    page.pay("order-later")
    shown.get_by_role("button", name="3 new").wait_for()
    assert shown.locator("sim-list .rows .row").nth(20).inner_text() == before
    assert page.row("order-later").count() == 0
    shown.get_by_role("button", name="3 new").click()
    page.row("order-later").first.wait_for()


def test_a_paused_list_freezes_and_resumes(page: Console) -> None:
    shown = page.open()
    page.row("you").first.wait_for()
    shown.keyboard.press("p")
    page.pay("order-7")
    shown.wait_for_timeout(300)
    assert page.row("order-7").count() == 0
    shown.keyboard.press("p")
    page.row("order-7").first.wait_for()


def test_keys_move_select_and_open(page: Console) -> None:
    trxid = page.pay("order-7")
    shown = page.open()
    page.row("order-7").first.wait_for()
    shown.keyboard.press("j")
    shown.wait_for_function("document.querySelectorAll('[aria-selected=true]').length === 1")
    assert "at=" in shown.url
    shown.keyboard.press("Enter")
    shown.wait_for_url(f"**/payments/{trxid}*")


def test_an_address_of_a_row_that_is_not_in_the_list_says_so(page: Console) -> None:
    page.pay("order-7")
    shown = page.open("live?at=999999")
    shown.get_by_text("there is no row 999999, the latest is ").wait_for()
    page.open("live?at=nonsense")
    shown.get_by_text("there is no row nonsense, the latest is ").wait_for()
    page.open("live?at=1&q=order-7")
    shown.get_by_text("row 1 does not match the filter").wait_for()


def test_the_clock_is_advanced_by_a_key_and_the_page_says_its_command(page: Console) -> None:
    page.pay("order-7")
    shown = page.open()
    page.row("order-7").first.wait_for()
    shown.keyboard.press("a")
    page.row("callback Succesful").wait_for()
    shown.get_by_role("button", name=f"reseller-sim advance 1m --sandbox {page.sandbox}").wait_for()


def test_an_empty_list_teaches_the_first_calls_and_names_your_actions(page: Console) -> None:
    shown = page.open()
    line = shown.locator("first-steps code").first
    line.wait_for()
    assert shown.locator("first-steps button").count() == 3
    verb, *words = shlex.split(line.inner_text())
    assert verb == "reseller-sim"
    done = run(*words)
    assert done.status == 0, done.err
    page.row("POST /v2/topup").wait_for()
    shown.locator("first-steps").wait_for(state="detached")
    page.mine("POST", "clock/advance", {"seconds": 60})
    page.row("callback Succesful").wait_for()
    assert page.row("you: clock advanced").count() == 0  # the times of the rows show it
    page.open("live?q=kind:action")
    page.row("you: clock advanced").wait_for()
    assert "+08:00, manual" in page.row("you: clock advanced").inner_text()


def order(page: Console) -> list[int]:
    """Return the numbers of the rows for a screen reader, in reading order."""
    found: list[int] = page.page.evaluate(
        "[...document.querySelectorAll('sim-list .rows .row')].map(row => Number(row.getAttribute('aria-rowindex')))"
    )
    return found


def test_rows_stand_in_the_document_as_on_the_screen_however_they_came(page: Console) -> None:
    for number in range(40):
        page.pay(f"order-{number}")
    shown = page.open()
    page.row("order-39").first.wait_for()
    page.until("document.querySelector('sim-list .scroller').getAttribute('aria-rowcount') === '122'")
    for top in (1500, 700, 2400, 0):
        shown.locator("sim-list .scroller").evaluate("(scroller, top) => { scroller.scrollTop = top }", top)
        shown.evaluate(PAINTED)
        assert order(page) == sorted(order(page))
        assert order(page)[0] <= top / 28 + 2 <= order(page)[-1]
    page.pay("order-later")
    page.row("order-later").first.wait_for()
    assert order(page)[0] == 2
    assert order(page) == sorted(order(page))
    tops = "[...document.querySelectorAll('sim-list .rows .row')].map(row => row.getBoundingClientRect().top)"
    assert shown.evaluate(tops) == sorted(shown.evaluate(tops))


def test_an_address_with_a_row_scrolls_to_it_though_it_is_old(page: Console) -> None:
    page.mine("POST", "resellers/RS001/deposits", {"amount": "1000.00"})
    for number in range(80):
        page.pay_only(f"order-{number}")
    shown = page.open("live?at=5")
    page.until("document.querySelector('#row-5')?.getAttribute('aria-selected') === 'true'")
    page.until("document.querySelector('sim-list .scroller').scrollTop > 3000")
    inside = """(() => {
        const box = (one) => document.querySelector(one).getBoundingClientRect();
        const [row, list] = [box('#row-5'), box('sim-list .scroller')];
        return row.top >= list.top && row.bottom <= list.bottom;
    })()"""
    page.until(inside)
    shown.locator("sim-live sim-detail h2").wait_for()


def test_escape_closes_the_detail_and_the_keys_continue_from_its_row(page: Console) -> None:
    page.pay("order-7")
    shown = page.open()
    page.row("order-7").first.wait_for()
    page.row("wallet").click()
    shown.locator("sim-live sim-detail h2", has_text="wallet").wait_for()
    number = shown.url.partition("at=")[2]
    shown.locator("sim-live sim-detail button").first.focus()
    shown.keyboard.press("Escape")
    shown.locator("sim-live sim-detail").wait_for(state="hidden")
    assert "at=" not in shown.url
    assert shown.evaluate("document.activeElement.getAttribute('aria-activedescendant')") == f"row-{number}"
    shown.keyboard.press("j")
    shown.wait_for_url(f"**at={int(number) - 1}")


def test_a_count_says_when_there_are_older_rows_than_it_counts(page: Console) -> None:
    page.mine("POST", "resellers/RS001/deposits", {"amount": "100000.00"})
    page.pay("order-1")
    shown = page.open()
    counts = shown.locator("sim-live .counts")
    page.row("order-1").first.wait_for()
    assert counts.inner_text().isdecimal()

    def fill() -> None:
        for number in range(3400):
            page.pay_only(f"more-{number}")

    with ThreadPoolExecutor(1) as beside:
        beside.submit(fill).result()
    shown.reload()
    counts.get_by_text("10,000 and older").wait_for()
    page.open("live?at=1")
    counts.get_by_text("row 1 was evicted").wait_for()


def test_the_details_close_without_a_keyboard(page: Console) -> None:
    page.new_sandbox()
    page.pay("order-7")
    shown = page.open()
    page.row("POST /v2/topup").click()
    shown.get_by_role("button", name="Close the details").click()
    shown.locator("sim-detail").wait_for(state="hidden")
    assert "at=" not in shown.url


def test_on_a_phone_the_row_whose_details_open_below_the_list_stays_in_sight(page: Console) -> None:
    for number in range(4):
        page.pay(f"order-{number}")
    page.page.set_viewport_size({"width": 390, "height": 844})
    try:
        shown = page.open()
        row = page.row("POST /v2/topup").filter(has_text="order-1")
        row.locator(".what").click()
        shown.locator("sim-detail h2").wait_for()
        shown.evaluate(PAINTED)
        box, room = row.bounding_box(), shown.locator("sim-list .scroller").bounding_box()
        assert box is not None
        assert room is not None
        assert room["y"] <= box["y"]
        assert box["y"] + box["height"] <= room["y"] + room["height"] + 1
    finally:
        page.page.set_viewport_size({"width": 1280, "height": 720})
