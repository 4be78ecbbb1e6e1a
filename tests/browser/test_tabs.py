"""Many tabs of the console, and one tab that is led through many addresses: browsers allow six connections to one
origin."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.browser import collect_mistakes
from tests.support.browser import page as opened_page
from tests.support.console import Console, console
from tests.support.processes import serving

pytestmark = pytest.mark.slow

VIEWS = ("live", "payments", "wallet", "rules", "inbox", "coverage", "audit", "live")

# A page at an address that is neither https nor loopback has no locks.
WITHOUT_LOCKS = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })"


@pytest.fixture
def server() -> Iterator[Console]:
    with console() as shown:
        shown.new_sandbox()
        yield shown


@contextmanager
def new_tab(server: Console, view: str = "live", script: str = "") -> Iterator[Console]:
    """Another tab of the same browser, with a view of the server's sandbox."""
    with server.page.context.new_page() as page:
        tab = Console(server.server, page, server.mistakes)
        tab.sandbox, tab.reseller = server.sandbox, server.reseller
        collect_mistakes(page, server.mistakes)
        if script:
            page.add_init_script(script)
        tab.open(view)
        yield tab


def wait_until_live(tab: Console) -> None:
    tab.page.get_by_text("● live", exact=True).wait_for()


def payments_of(tab: Console) -> list[str]:
    """The refids of the payments in the list of what happened, newest first."""
    return [re.findall(r"order-\d+", text)[0] for text in tab.row("POST /v2/topup").all_inner_texts()]


@pytest.mark.parametrize("script", ["", WITHOUT_LOCKS], ids=["with locks", "without locks"])
def test_eight_tabs_of_different_views_are_live(server: Console, script: str) -> None:
    with ExitStack() as stack:
        tabs = [stack.enter_context(new_tab(server, view, script)) for view in VIEWS]
        for tab in tabs:
            wait_until_live(tab)
        server.pay("order-7")
        server.mine("POST", "clock/advance", {"until": "idle"})
        live, payments, wallet, rules, inbox, coverage, audit, second = tabs
        for tab in (live, second):
            tab.row("callback Succesful").first.wait_for()
        payments.row("Succesful").get_by_text("order-7").wait_for()
        wallet.page.get_by_role("img", name="Payments by status").wait_for()
        rules.page.get_by_role("row").filter(has_text="ordinary").get_by_role(
            "cell", name="1", exact=True
        ).first.wait_for()
        inbox.row("order-7").first.wait_for()
        coverage.page.get_by_text("1 of 27 met").wait_for()
        audit.page.locator("sim-audit").wait_for()


def test_eight_tabs_of_eight_sandboxes_are_live(server: Console) -> None:
    with ExitStack() as stack:
        tabs = []
        for _ in VIEWS:
            server.new_sandbox()
            tabs.append(stack.enter_context(new_tab(server)))
        for tab in tabs:
            wait_until_live(tab)
            tab.pay("order-7")
        for tab in tabs:
            tab.row("POST /v2/topup").wait_for()


def test_eight_tabs_of_inboxes_leave_connections_to_others(server: Console) -> None:
    with ExitStack() as stack:
        tabs = [stack.enter_context(new_tab(server, "inbox/mine")) for _ in VIEWS]
        server.inbox("mine", b"hello", {})
        for tab in tabs:
            tab.page.get_by_text("1 arrived").wait_for()
        server.open("live")
        wait_until_live(server)


@pytest.mark.parametrize("closed", ["the first", "the last"])
def test_tabs_miss_no_events_when_a_tab_is_closed(server: Console, closed: str) -> None:
    with ExitStack() as stack:
        tabs = [stack.enter_context(new_tab(server)) for _ in range(3)]
        for tab in tabs:
            wait_until_live(tab)
        server.pay("order-1")
        for tab in tabs:
            tab.row("POST /v2/topup").wait_for()
        left = tabs.pop(0 if closed == "the first" else -1)
        server.pay("order-2")
        left.page.close()
        server.pay("order-3")
        for tab in tabs:
            tab.row("order-3").first.wait_for()
            assert payments_of(tab) == ["order-3", "order-2", "order-1"]


def test_the_stream_of_another_sandbox_does_not_hold_up_a_tab_when_the_reader_of_its_stream_is_closed(
    server: Console,
) -> None:
    first = server.sandbox
    with ExitStack() as stack:
        leader, follower = (stack.enter_context(new_tab(server)) for _ in range(2))
        server.new_sandbox()
        other = stack.enter_context(new_tab(server))
        for tab in (leader, follower, other):
            wait_until_live(tab)
        leader.page.close()
        follower.pay("order-7")
        follower.row("POST /v2/topup").wait_for()
        assert f"/s/{first}/" in follower.page.url


def test_a_tab_is_led_through_ten_addresses_back_and_forward() -> None:
    """With the cache of the back button, which Playwright switches off."""
    with serving("--port", "0", "--json") as process, opened_page(has_back_cache=True) as (page, mistakes):
        tab = Console(process, page, mistakes)
        tab.new_sandbox()
        for number in range(5):
            for view in ("live", "payments"):
                tab.open(f"{view}?q=refid:order-{number}")
                wait_until_live(tab)
        for _ in range(9):
            page.go_back(wait_until="commit")
            wait_until_live(tab)
        tab.pay("order-0")
        tab.row("POST /v2/topup").wait_for()
        for _ in range(9):
            page.go_forward(wait_until="commit")
            wait_until_live(tab)
        tab.pay("order-4")
        tab.row("order-4").wait_for()
        assert mistakes == []
