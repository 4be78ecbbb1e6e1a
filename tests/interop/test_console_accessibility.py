"""The console before axe-core: every view, light and dark, wide and on a phone, conforms to WCAG AA."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.console import Console, console
from tests.support.programs import required

pytestmark = pytest.mark.slow

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = [
    *("live", "live?at=2", "payments", "payments/{trxid}", "payments/{trxid}?with={other}", "wallet", "wallet/ledger"),
    *("rules", "inbox", "inbox/callbacks", "webhooks", "catalog", "catalog/FP", "coverage", "audit", "sign"),
]
SERVER_VIEWS = ["sandboxes", "scenarios", "scenarios/default"]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
FOUND = """async (tags) => {
  const found = await axe.run(document, { runOnly: tags });
  const where = (one) => one.nodes.slice(0, 3).map((node) => node.html).join(" | ");
  return found.violations.map((one) => `${one.id}: ${one.help}: ${where(one)}`);
}"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    required("interop-tools", AXE.exists())
    with console() as shown:
        shown.new_sandbox()
        shown.pay("order-1")
        shown.pay("order-2", account="0123456748")
        shown.call("GET", "/v2/nowhere")
        shown.mine("POST", "clock/advance", {"until": "idle"})
        yield shown


def found_in(page: Any) -> list[str]:
    page.wait_for_timeout(600)
    page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(FOUND, RULES)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_what_wcag_forbids(shared: Console, scheme: Any) -> None:
    trxids = [one["trxid"] for one in shared.mine("GET", "transactions")["transactions"]]
    page = shared.page
    page.emulate_media(color_scheme=scheme)
    addresses = [f"s/{shared.sandbox}/{view.format(trxid=trxids[0], other=trxids[1])}" for view in VIEWS]
    found = {}
    for address in [*addresses, *(f"ui/{view}" for view in SERVER_VIEWS)]:
        page.goto(f"{shared.url}/_sim/{address}")
        if mistakes := found_in(page):
            found[address] = mistakes
    assert found == {}


def test_forbidden_elements_are_found(shared: Console) -> None:
    page = shared.open("live")
    page.evaluate("() => document.body.append(document.createElement('button'))")
    assert any(one.startswith("button-name") for one in found_in(page))
