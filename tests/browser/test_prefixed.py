"""Inbox, catalog, webhooks and rules below a prefix, as with a team's gateway: each click takes effect."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.console import Console, console
from tests.support.prefixed import prefixed
from tests.support.processes import ask

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(server: Console) -> Console:
    """A fresh sandbox, whose page is opened below the prefix."""
    server.new_sandbox()
    return server


@pytest.fixture
def root(page: Console) -> Iterator[str]:
    with prefixed(page.url, "/tools/sim") as url:
        yield f"{url}/_sim"
        page.page.goto("about:blank")


def opened(page: Console, root: str, view: str) -> "Page":
    page.page.goto(f"{root}/s/{page.sandbox}/{view}")
    return page.page


def test_replies_of_an_inbox_are_programmed_below_a_prefix(page: Console, root: str) -> None:
    shown = opened(page, root, "inbox/mine")
    shown.locator(".program summary").click()
    program = shown.get_by_role("form", name="Program the replies")
    program.get_by_label("replies, in order").fill("503, 200")
    program.get_by_role("button", name="set replies").click()
    shown.get_by_text("next: 503, then 200, then the last repeats").wait_for()
    said = shown.locator("sim-action-log")
    said.get_by_text("inbox mine --reply 503,200").wait_for()
    assert ask(f"{page.url}/_sim/inbox/{page.sandbox}/mine", "POST", b"one").status == 503
    shown.get_by_role("navigation", name="Inboxes").get_by_role("link", name="mine 1").wait_for()
    shown.get_by_text("next: 200").wait_for()


def test_the_catalog_is_switched_below_a_prefix(page: Console, root: str) -> None:
    shown = opened(page, root, "catalog/RELOAD")
    shown.get_by_role("button", name="take off sale").click()
    shown.get_by_role("button", name="put on sale").wait_for()
    shown.get_by_role("button", name="interrupt its network").click()
    shown.get_by_role("button", name="heal its network").wait_for()
    assert "Interruption" in page.call("GET", "/v2/networkstatus?product=RELOAD").body.decode()
    assert shown.url.startswith(f"{root}/s/{page.sandbox}/catalog")


def test_probes_are_sent_and_their_verdicts_are_shown_below_a_prefix(page: Console, root: str) -> None:
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:hooks"})
    shown = opened(page, root, "webhooks/probes")
    shown.get_by_role("button", name="send probes").click()
    verdicts = shown.get_by_role("table", name="Verdicts")
    verdicts.get_by_role("row").filter(has_text="webhook-unsigned").wait_for()
    shown.get_by_role("link", name="Configuration").click()
    shown.get_by_role("cell", name="inbox:hooks").wait_for()


def test_a_rule_is_added_taken_home_and_found_in_the_editor_below_a_prefix(
    page: Console, root: str, tmp_path: Path
) -> None:
    shown = opened(page, root, "rules")
    shown.locator(".member").first.wait_for()
    shown.get_by_role("button", name="504", exact=True).click()
    shown.get_by_role("button", name="Add it to the sandbox").click()
    shown.get_by_role("button", name="Remove gateway gave up", exact=True).wait_for()
    with shown.expect_download() as got:
        shown.locator("sim-rule-maker").get_by_role("button", name="download").click()
    got.value.save_as(tmp_path / "rule.yaml")
    assert (tmp_path / "rule.yaml").read_text().startswith("extends: default\n")
    shown.get_by_role("row", name="ordinary").get_by_role("link", name="default.yaml:").click()
    shown.wait_for_url(f"{root}/ui/scenarios/default?line=*")
    page.until("document.querySelector('sim-scenarios textarea')?.selectionEnd > 0")
