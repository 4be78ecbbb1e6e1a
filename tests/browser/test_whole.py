"""The page as a whole: addresses, phone, keys, hostile text, and thousands of rows."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

VIEWS = ("live", "payments", "wallet", "rules", "inbox", "webhooks", "catalog", "coverage", "audit", "sign")
SERVER_VIEWS = ("sandboxes", "scenarios")

# Each would run, or turn or hide what stands beside it, if it were ever more than text.
MARKUP = "<img src=x onerror=\"window.ran='img'\"><script>window.ran='script'</script>"
HOSTILE = {
    "markup": MARKUP,
    "attribute": '"\' onmouseover="window.ran=\'attribute\'" x="',
    "link": "javascript:window.ran='link'",
    "right-to-left": "abc‮lmth.exe‬⁦def",
    "controls": "a\x1b[31mb\x07c\x7fd",
}
FIRST_PAINT_ENTRIES = 10_000


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_an_address_a_tab_and_a_key(page: Console, view: str) -> None:
    shown = page.open("live")
    shown.locator("nav a").first.wait_for()
    tab = shown.locator(f"nav.tabs a[href='/_sim/s/{page.sandbox}/{view}']")
    shown.keyboard.press("g")
    shown.keyboard.press(str(tab.get_attribute("title")).removeprefix("g "))
    shown.wait_for_url(f"**/_sim/s/{page.sandbox}/{view}")
    shown.locator(f"main > sim-{view}").wait_for()
    shown.reload()
    shown.locator(f"main > sim-{view}").wait_for()
    assert tab.get_attribute("aria-current") == "page"


def test_no_view_is_wider_or_higher_than_a_phone(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.page
    shown.set_viewport_size({"width": 390, "height": 844})
    wide, high = {}, {}
    for view in (*VIEWS, f"payments/{trxid}"):
        page.open(view)
        shown.locator(f"main > sim-{view.partition('/')[0]}").wait_for()
        shown.wait_for_timeout(200)
        if (width := shown.evaluate("document.documentElement.scrollWidth")) > 390:
            wide[view] = width
        if (height := shown.evaluate("document.scrollingElement.scrollHeight")) > 844:
            high[view] = height
    shown.set_viewport_size({"width": 1280, "height": 720})
    assert (wide, high) == ({}, {})


def test_a_question_mark_lists_the_keys_that_work(page: Console) -> None:
    shown = page.open()
    page.row("created").wait_for()
    shown.keyboard.press("?")
    dialog = shown.get_by_role("dialog", name="Keys")
    for does in ("filter", "next row", "advance a minute", "Payments", "Sandboxes"):
        dialog.get_by_text(does, exact=True).first.wait_for()
    shown.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def test_the_keys_fit_a_usual_window_and_those_that_do_the_same_stand_on_a_line(page: Console) -> None:
    shown = page.open()
    page.row("created").wait_for()
    shown.keyboard.press("?")
    dialog = shown.get_by_role("dialog", name="Keys")
    dialog.get_by_text("next row", exact=True).wait_for()
    assert dialog.get_by_text("next row", exact=True).count() == 1
    assert dialog.evaluate("one => one.scrollHeight <= one.clientHeight")
    shown.keyboard.press("Escape")


@pytest.mark.parametrize("view", ["live", "payments"])
def test_the_keys_open_at_their_top_however_small_the_window(page: Console, view: str) -> None:
    shown = page.open(view)
    shown.locator(f"main > sim-{view}").wait_for()
    shown.set_viewport_size({"width": 1280, "height": 300})
    shown.keyboard.press("?")
    dialog = shown.get_by_role("dialog", name="Keys")
    dialog.wait_for()
    assert dialog.evaluate("one => one.scrollHeight > one.clientHeight && one.scrollTop === 0")
    shown.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    shown.set_viewport_size({"width": 1280, "height": 720})


def test_the_button_of_the_keys_stands_at_the_same_place_everywhere(page: Console) -> None:
    shown = page.page
    places = []
    for address in (f"s/{page.sandbox}/live", "ui/sandboxes", "ui/scenarios"):
        shown.goto(f"{page.url}/_sim/{address}")
        shown.locator("main > *").wait_for()
        shown.wait_for_timeout(300)
        places.append(shown.get_by_role("button", name="? keys").bounding_box())
    assert places == [places[0]] * 3


def test_the_foot_says_that_its_time_is_the_walls(page: Console) -> None:
    shown = page.open()
    page.row("created").wait_for()
    shown.keyboard.press("a")
    shown.locator("sim-action-log", has_text="wall clock").wait_for()


def test_text_from_outside_is_text_in_every_view(page: Console) -> None:
    rules = [{"name": text, "when": {"account": "0123456789"}, "times": 1, "then": "paid"} for text in (MARKUP,)]
    for rule in rules:
        page.mine(
            "POST", "rules", {"section": "payments", "rule": rule | {"then": [{"status": "Failed", "remarks": MARKUP}]}}
        )
    page.mine("PUT", "inbox/callbacks", {"replies": [{"status": 500, "body": MARKUP, "headers": {"X-Odd": MARKUP}}]})
    trxids = [page.pay(text) for text in HOSTILE.values()]
    page.mine("POST", "resellers/RS001/deposits", {"amount": "5.00", "description": MARKUP[:60]})
    for text in HOSTILE.values():
        page.inbox(
            "odd",
            text.encode(),
            {
                "X-Odd": text.encode("ascii", "ignore")
                .decode()
                .replace("\x1b", "")
                .replace("\x07", "")
                .replace("\x7f", "")
            },
        )
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.page
    views = [*VIEWS, "inbox/odd", "inbox/callbacks", *(f"payments/{trxid}" for trxid in trxids if trxid)]
    for view in [*views, *(f"live?at={number}" for number in range(2, 30, 3))]:
        page.open(view)
        shown.locator("main > *").first.wait_for()
        shown.wait_for_timeout(150)
        assert shown.evaluate("window.ran ?? null") is None, view
        assert shown.locator("main img[src=x], main script").count() == 0, view
        assert "\u202e" not in shown.locator("main").inner_text(), view


def test_thousands_of_entries_are_painted_at_once(page: Console) -> None:
    page.mine("POST", "resellers/RS001/deposits", {"amount": "100000.00"})

    def fill() -> None:
        for number in range(FIRST_PAINT_ENTRIES // 3):
            page.pay_only(f"order-{number}")

    with ThreadPoolExecutor(1) as beside:  # the browser's loop is in this thread
        beside.submit(fill).result()
    shown = page.open()
    page.row(f"order-{FIRST_PAINT_ENTRIES // 3 - 1}").first.wait_for()
    shown.get_by_text("10,0").first.wait_for()
    assert shown.locator("sim-list .rows .row").count() < 120
    shown.get_by_label("Filter").fill("refid:order-0")
    shown.get_by_text("3 of 10,0").wait_for()
    assert page.row("POST /v2/topup").count() == 1


@pytest.mark.parametrize("view", ["live?at=3", "inbox?at=1", "webhooks"])
def test_beside_an_open_row_no_column_is_cut_and_the_row_stays_marked_under_the_pointer(
    page: Console, view: str
) -> None:
    page.pay("order-7")
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    page.mine("POST", "resellers/RS001/deposits", {"amount": "5.00"})
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.open(view)
    page.row("").first.locator(".state").click()
    close = shown.get_by_role("button", name="Close the details")
    close.wait_for()
    heads = shown.locator("sim-list .head > *:visible")
    assert heads.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth)") == []
    assert shown.locator("sim-list .scroller").evaluate("one => one.scrollWidth <= one.clientWidth")
    row = shown.locator("sim-list .row[aria-selected=true]")
    row.hover()
    pointed = row.evaluate("one => getComputedStyle(one).backgroundColor")
    shown.mouse.move(0, 0)
    assert row.evaluate("one => getComputedStyle(one).backgroundColor") == pointed


def test_a_list_is_one_stop_of_tab_and_enter_opens_the_payment_of_its_row(page: Console) -> None:
    trxid = page.pay("order-7")
    shown = page.open("live?at=3")
    close = shown.get_by_role("button", name="Close the details")
    close.wait_for()
    shown.locator("sim-list .scroller").focus()
    shown.keyboard.press("Tab")
    assert shown.locator("sim-detail :focus").count() == 1
    page.open("wallet/ledger")
    page.row("order-7").locator(".type").click()
    shown.keyboard.press("Enter")
    shown.wait_for_url(f"**/payments/{trxid}")


@pytest.mark.parametrize("view", ["live?at=3", "inbox?at=1", "webhooks", "catalog/FP?q=FP"])
def test_on_a_phone_a_button_closes_what_is_open(page: Console, view: str) -> None:
    page.pay("order-7")
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    page.mine("POST", "resellers/RS001/deposits", {"amount": "5.00"})
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.page.set_viewport_size({"width": 390, "height": 844})
    shown = page.open(view)
    page.row("").first.locator("span").first.click()
    close = shown.get_by_role("button", name="Close the details")
    close.click()
    close.wait_for(state="hidden")
    assert ("q=FP" in shown.url) == ("q=FP" in view)  # the filter is kept
    page.page.set_viewport_size({"width": 1280, "height": 720})


def test_on_a_phone_the_numbers_of_cards_have_names_and_no_card_is_too_full(page: Console) -> None:
    page.pay("a-refid-of-fifty-characters-which-is-the-longest-1")
    page.page.set_viewport_size({"width": 390, "height": 844})
    for view, names in {
        "payments": ["amount MYR", "cost MYR"],
        "wallet/ledger": ["amount, MYR", "balance, MYR"],
    }.items():
        page.open(view)
        row = page.row("a-refid-of")
        row.wait_for()
        numbers = row.locator(".number")
        found = numbers.evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
        assert [name in text for name, text in zip(names, found, strict=True)] == [True, True], found
        assert row.evaluate("one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth")
    page.page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize("width", [390, 1280])
def test_the_buttons_of_a_story_stand_side_by_side(page: Console, width: int) -> None:
    trxid = page.pay("a-refid-of-fifty-characters-which-is-the-longest-1")
    page.page.set_viewport_size({"width": width, "height": 720})
    shown = page.open(f"payments/{trxid}")
    tops = []
    for name in ("copy refid", "send callback"):
        shown.get_by_role("button", name=name).wait_for()
        tops.append(shown.get_by_role("button", name=name).evaluate("one => one.getBoundingClientRect().top"))
    assert tops[0] == tops[1]
    page.page.set_viewport_size({"width": 1280, "height": 720})


def test_on_a_phone_the_first_steps_can_be_scrolled_and_the_foot_is_not_wider(page: Console) -> None:
    page.page.set_viewport_size({"width": 390, "height": 600})
    shown = page.open()
    link = shown.get_by_role("link", name="all magic accounts")
    link.wait_for()
    shown.keyboard.press("a")
    foot = shown.locator("sim-action-log")
    foot.get_by_role("button").first.wait_for()
    assert foot.evaluate("one => one.scrollWidth <= one.clientWidth")
    link.click()
    shown.wait_for_url("**/catalog?show=magic")
    page.page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize("view", VIEWS)
def test_on_a_phone_the_tab_of_the_view_is_in_sight_and_nothing_is_wider(page: Console, view: str) -> None:
    page.page.set_viewport_size({"width": 390, "height": 844})
    shown = page.open(view)
    tab = shown.locator(".tabs [aria-current]")
    tab.wait_for()
    shown.locator(f"main > sim-{view}").wait_for()
    box = tab.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 391
    assert shown.locator(f"sim-{view}").evaluate("view => view.scrollWidth <= view.clientWidth")
    tables = ".table, sim-list .scroller"
    assert shown.locator(tables).evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth)") == []
    page.page.set_viewport_size({"width": 1280, "height": 720})


def test_the_foot_takes_no_room_until_something_was_done(page: Console) -> None:
    shown = page.open()
    page.row("created").wait_for()
    foot = shown.locator("sim-action-log")
    assert foot.evaluate("one => one.offsetHeight") == 0
    shown.keyboard.press("a")
    foot.get_by_role("button").first.wait_for()
    assert foot.evaluate("one => one.offsetHeight") > 24


def test_the_focus_ring_of_a_list_is_above_its_rows(page: Console) -> None:
    page.pay("order-7")
    shown = page.open()
    page.row("order-7").first.wait_for()
    shown.keyboard.press("j")
    page.until("document.querySelector('sim-list .row[aria-selected=true]') !== null")
    shown.locator("sim-list .scroller").focus()
    shown.keyboard.press("j")  # a key shows the focus
    ring = shown.locator("sim-list").first.evaluate(
        "list => [getComputedStyle(list, '::after').outlineStyle, getComputedStyle(list, '::after').zIndex,"
        " getComputedStyle(list.querySelector('.row[aria-selected=true]')).zIndex]"
    )
    assert ring == ["solid", "1", "auto"]


@pytest.mark.parametrize("mode", ["manual", "real"])
def test_on_a_phone_the_bar_has_two_lines_and_its_panel_the_day(page: Console, mode: str) -> None:
    page.new_sandbox(mode=mode)
    page.page.set_viewport_size({"width": 390, "height": 844})
    page.pay("order-7")
    shown = page.open()
    idle = shown.locator("sim-clock").get_by_role("button", name="idle")
    idle.wait_for()
    buttons = shown.locator("sim-bar button:visible, sim-bar select:visible").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().toJSON())"
    )
    middles = sorted((box["top"] + box["bottom"]) / 2 for box in buttons)
    lines = [at for at, before in zip(middles, [-99, *middles], strict=False) if at - before > 10]
    assert len(lines) == 2, lines
    assert all(box["left"] >= 0 and box["right"] <= 390 and box["height"] >= 24 for box in buttons)
    assert shown.locator("sim-clock > time").inner_text().endswith("+08:00")
    shown.keyboard.press("t")
    day = str(page.mine("GET", "")["clock"]["now"])[:4]
    shown.locator("clock-panel").get_by_text(f"It is {day}").wait_for()
    page.page.set_viewport_size({"width": 1280, "height": 720})
