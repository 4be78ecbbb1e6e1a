"""The page as a whole: addresses, token, prefix, phone, keys, hostile text, and thousands of rows."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console
from tests.support.prefixed import prefixed

pytestmark = pytest.mark.slow

TOKEN = "let-me-in-please"
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
    with console("--control-token", TOKEN) as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def enter(page: Console, token: str = TOKEN) -> None:
    """Answer the page's question for the control token."""
    page.page.get_by_label("Token").fill(token)
    page.page.get_by_role("button", name="Continue").click()


def test_the_token_is_asked_for_once_and_kept_in_the_tab(page: Console) -> None:
    shown = page.open()
    enter(page, "a wrong one")
    shown.get_by_text("That is not this simulator's token.").wait_for()
    enter(page)
    page.row("created").wait_for()
    page.open("payments")
    shown.get_by_role("navigation").get_by_text("Payments").wait_for()
    page.open()
    page.row("created").wait_for()
    assert shown.locator("dialog[open]").count() == 0
    assert shown.evaluate("Object.keys(localStorage).length + document.cookie.length") == 0
    page.mistakes[:] = [one for one in page.mistakes if "401" not in one]


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_an_address_a_tab_and_a_key(page: Console, view: str) -> None:
    shown = page.open("live")
    shown.locator("nav a").first.wait_for()
    tab = shown.locator(f"nav a[href='/_sim/s/{page.sandbox}/{view}']")
    shown.keyboard.press("g")
    shown.keyboard.press(str(tab.get_attribute("title")).removeprefix("g "))
    shown.wait_for_url(f"**/_sim/s/{page.sandbox}/{view}")
    shown.locator(f"main > sim-{view}").wait_for()
    shown.reload()
    shown.locator(f"main > sim-{view}").wait_for()
    assert tab.get_attribute("aria-current") == "page"


def test_the_page_works_below_a_prefix(page: Console) -> None:
    with prefixed(page.url, "/tools/sim") as url:
        page.page.goto(f"{url}/_sim")
        enter(page)
        page.page.wait_for_url(f"{url}/_sim/s/default/live")
        page.page.goto(f"{url}/_sim/s/{page.sandbox}/live")
        page.row("created").wait_for()
        page.pay("order-7")
        page.row("order-7").first.locator("a").click()
        page.page.locator("main > sim-payments").wait_for()
        assert page.page.url.startswith(f"{url}/_sim/s/{page.sandbox}/payments/")
        page.page.goto("about:blank")
    page.mistakes[:] = [one for one in page.mistakes if "401" not in one]


def test_nothing_is_wider_than_a_phone(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.page
    shown.set_viewport_size({"width": 390, "height": 844})
    wide = {}
    for view in (*VIEWS, f"payments/{trxid}"):
        page.open(view)
        shown.locator(f"main > sim-{view.partition('/')[0]}").wait_for()
        shown.wait_for_timeout(200)
        if (width := shown.evaluate("document.documentElement.scrollWidth")) > 390:
            wide[view] = width
    shown.set_viewport_size({"width": 1280, "height": 720})
    assert wide == {}


def test_a_question_mark_lists_the_keys_that_work(page: Console) -> None:
    shown = page.open()
    page.row("created").wait_for()
    shown.keyboard.press("?")
    dialog = shown.get_by_role("dialog", name="Keys")
    for does in ("filter", "next row", "advance a minute", "Payments", "Sandboxes"):
        dialog.get_by_text(does, exact=True).first.wait_for()
    shown.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


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
    for number in range(FIRST_PAINT_ENTRIES // 3):
        page.pay_only(f"order-{number}")
    shown = page.open()
    page.row(f"order-{FIRST_PAINT_ENTRIES // 3 - 1}").first.wait_for()
    shown.get_by_text("10,0").first.wait_for()
    assert shown.locator("sim-list .rows .row").count() < 120
    shown.get_by_label("Filter").fill("refid:order-0")
    page.row("POST /v2/topup").wait_for()
