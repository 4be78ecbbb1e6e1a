"""The "what if" view: the rules of a sandbox with their counts, a new rule from the form, settings and keys."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from simulator.contract.schemas import SCENARIO, schema
from tests.support.console import Console, console

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    shared.open("rules")
    shared.page.get_by_role("button", name="Remove ordinary").wait_for()
    shared.page.locator(".member").first.wait_for()
    return shared


def yaml(page: Console) -> "Locator":
    return page.page.get_by_role("combobox", name="The rule as YAML")


def until_yaml_has(page: Console, text: str) -> None:
    """Wait for the text, which the server writes."""
    fields = "[...document.querySelectorAll('textarea')]"
    page.until(f"{fields}.some(one => one.value.includes({json.dumps(text)}))")


def add(page: Console) -> None:
    page.page.get_by_role("button", name="Add it to the sandbox").click()


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        ("answer lost after commit", "answer lost"),
        ("hung payment", "hung"),
        ("callback dropped", "callback dropped"),
        ("slow", "slow"),
        ("504", "gateway gave up"),
        ("declined 48", "declined"),
    ],
)
def test_a_ready_rule_fills_the_form_and_is_added(page: Console, preset: str, name: str) -> None:
    page.page.get_by_role("group", name="Ready rules").get_by_role("button", name=preset, exact=True).click()
    assert page.page.get_by_label("name", exact=True).input_value() == name
    until_yaml_has(page, f"name: {name}")
    add(page)
    page.page.get_by_role("button", name=f"Remove {name}", exact=True).wait_for()
    assert name in [one["name"] for one in page.mine("GET", "rules")["rules"]]
    page.page.locator("sim-action-log .copy", has_text="reseller-sim rule add").wait_for()
    curl = page.page.locator("sim-action-log").get_by_role("button", name="copy as curl").bounding_box()
    assert curl is not None
    assert curl["x"] + curl["width"] <= 1280


def test_counts_are_live(page: Console) -> None:
    page.pay("order-7")
    row = page.page.get_by_role("row", name="ordinary")
    row.locator("td.number", has_text="1").first.wait_for()


def test_the_form_unfolds_and_writes_yaml(page: Console) -> None:
    shown = page.page
    shown.get_by_label("What the rule decides").select_option("faults")
    shown.get_by_label("name", exact=True).fill("too slow")
    shown.get_by_label("Add to when").select_option("product")
    shown.locator("[data-key=product] input").fill("RELOAD")
    shown.get_by_label("Add to then").select_option("delay")
    shown.locator("[data-key=delay] input").fill("5s")
    text = 'faults:\n  - { name: too slow, when: { product: RELOAD }, then: { status: 504, delay: "5s" } }\n'
    page.until(f"document.querySelector('sim-rule-maker textarea').value === {json.dumps(text)}")
    add(page)
    shown.get_by_role("button", name="Remove too slow").wait_for()


def test_yaml_by_hand_fills_the_form_and_stands_in_the_address(page: Console) -> None:
    yaml(page).fill("payments:\n  - name: mine\n    then: [{ status: Failed, statusCode: 48 }]\n")
    page.until("document.querySelector('[data-key=name] input').value === 'mine'")
    page.until("location.search.includes('mine')")
    page.page.reload()
    page.until("document.querySelector('sim-rule-maker textarea')?.value.includes('mine')")


def test_a_rule_that_cannot_be_is_refused_in_place(page: Console) -> None:
    yaml(page).fill("payments:\n  - then: [{ status: Done }]\n")
    add(page)
    page.page.locator("sim-rule-maker .mistake").filter(has_text="Done").or_(
        page.page.locator("sim-rule-maker .mistake").filter(has_text="status")
    ).first.wait_for()
    yaml(page).fill("payments: [")
    add(page)
    page.page.locator("sim-rule-maker .tools .mistake").filter(has_text="line 1").wait_for()
    page.forget_refusals()


def test_a_removed_rule_can_be_put_back(page: Console) -> None:
    page.page.get_by_role("button", name="Remove ordinary").click()
    page.page.get_by_role("button", name="put it back").click()
    page.page.get_by_role("button", name="Remove ordinary").wait_for()


def test_a_refused_removal_stays_on_the_page_when_the_rules_are_read_again(page: Console) -> None:
    shown = page.page
    gone = {"error": "no_such_rule", "message": "this sandbox has no such rule"}
    shown.route("**/rules/*", lambda route: route.fulfill(status=404, json=gone))
    shown.get_by_role("button", name="Remove ordinary").click()
    refusal = shown.get_by_role("alert").filter(has_text="no such rule")
    refusal.wait_for()
    with shown.expect_response("**/rules?*"):
        page.mine("POST", "clock/advance", {"seconds": 5})
        page.pay("order-1")
    shown.get_by_role("button", name="Remove ordinary").wait_for()
    assert refusal.is_visible()
    shown.unroute("**/rules/*")
    page.forget_refusals()


ALLOWED = "document.querySelector('form [name=addresses]').value"


def test_settings_are_changed_for_the_reseller_that_is_chosen(page: Console) -> None:
    page.mine("POST", "resellers", {"code": "RS002"})
    page.mine("PATCH", "resellers/RS002/settings", {"ip_allowlist": ["10.0.0.7"], "require_api_key_for_topup": True})
    shown = page.open("rules")
    settings = shown.get_by_role("form", name="Change settings")
    addresses = settings.get_by_label("Allowed addresses")
    settings.get_by_label("Reseller").select_option("RS002")
    page.until(f"{ALLOWED} === '10.0.0.7'")
    assert settings.get_by_label("Payments by").input_value() == "yes"
    addresses.fill("10.0.0.8, 10.0.0.0/30")
    settings.get_by_role("button", name="Change").click()
    shown.get_by_text("changed the settings of RS002").wait_for()
    settings.get_by_label("Reseller").select_option("RS001")
    page.until(f"{ALLOWED} === ''")
    settings.get_by_label("Reseller").select_option("RS002")
    page.until(f"{ALLOWED} === '10.0.0.8, 10.0.0.0/30'")
    addresses.fill("nowhere")
    settings.get_by_role("button", name="Change").click()
    settings.get_by_role("alert").get_by_text("ip_allowlist").wait_for()
    page.forget_refusals()


def test_settings_are_shown_as_others_left_them_until_they_are_changed_in_the_form(page: Console) -> None:
    page.mine("POST", "resellers", {"code": "RS002"})
    shown = page.open("rules")
    settings = shown.get_by_role("form", name="Change settings")
    addresses = settings.get_by_label("Allowed addresses")
    addresses.wait_for()
    page.mine("PATCH", "resellers/RS001/settings", {"ip_allowlist": ["10.9.9.9"]})
    page.mine("PATCH", "resellers/RS002/settings", {"ip_allowlist": ["10.0.0.7"]})
    page.until(f"{ALLOWED} === '10.9.9.9'")
    settings.get_by_label("Reseller").select_option("RS002")
    page.until(f"{ALLOWED} === '10.0.0.7'")
    addresses.fill("10.0.0.8")
    with shown.expect_response("**/rules?*"):
        page.mine("PATCH", "resellers/RS002/settings", {"ip_allowlist": []})
        page.pay("order-1")
    shown.wait_for_timeout(500)
    assert addresses.input_value() == "10.0.0.8"


def test_of_too_many_resellers_to_choose_from_a_typed_code_shows_its_settings(page: Console) -> None:
    many = [{"code": f"RS{n:03}"} for n in range(1, 502)]
    page.new_sandbox({"extends": "default", "resellers": many})
    page.mine("PATCH", "resellers/RS501/settings", {"ip_allowlist": ["10.0.0.7"]})
    shown = page.open("rules")
    settings = shown.get_by_role("form", name="Change settings")
    code, change = settings.get_by_label("Reseller"), settings.get_by_role("button", name="Change")
    code.fill("RS999")
    code.press("Enter")
    shown.get_by_role("alert").get_by_text("this sandbox has no reseller 'RS999'").wait_for()
    settings.get_by_role("alert").get_by_text("the settings of RS999 are not shown").wait_for()
    code.fill("RS501")
    code.press("Tab")
    page.until(f"{ALLOWED} === '10.0.0.7'")
    change.click()
    shown.get_by_text("changed the settings of RS501").wait_for()
    page.forget_refusals()


def test_a_key_is_created_and_revoked(page: Console) -> None:
    shown = page.page
    shown.get_by_role("button", name="New key").click()
    shown.get_by_role("button", name="Show the api secret").wait_for()
    revoke = shown.get_by_role("form", name="Revoke an API key")
    for key in (page.reseller["api_key"], None):
        if key is None:
            revoke.get_by_role("option", name=page.reseller["api_key"]).wait_for(state="detached")
            key = revoke.get_by_role("option").inner_text().split(" ")[0]
        revoke.get_by_role("button").click()
        dialog = shown.get_by_role("dialog")
        dialog.get_by_role("textbox").fill(key)
        dialog.get_by_role("button", name="Revoke").click()
        shown.locator("sim-action-log").get_by_text(f"revoked key {key}").wait_for()
    shown.get_by_text("No key is active.").wait_for()
    assert page.call("GET", "/v2/balance").status == 401


def test_a_name_is_text(page: Console) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202etxt"
    page.mine("POST", "rules", {"section": "payments", "rule": {"name": hostile, "then": [{"status": "Failed"}]}})
    row = page.page.get_by_role("row", name="<img src=x")
    row.wait_for()
    assert "⟨202E⟩" in row.inner_text()
    assert page.page.locator("sim-rules img").count() == 0


def test_an_empty_form_names_its_missing_parts(page: Console) -> None:
    page.page.get_by_text("empty: choose a ready rule").wait_for()
    assert page.page.locator("sim-rule-maker").get_by_text("no problems").count() == 0
    yaml(page).fill("payments: []\n")
    page.page.locator("sim-editor").get_by_text("there is no rule").wait_for()
    yaml(page).fill("payments:\n  - then: [{ status: Failed }]\n")
    page.page.get_by_text("● no problems").wait_for()


def test_several_rules_are_added_together_or_not_at_all(page: Console) -> None:
    before = [one["id"] for one in page.mine("GET", "rules")["rules"]]
    text = "payments:\n  - { then: [{ status: Done }] }\n  - { name: second, then: [{ status: Failed }] }\n"
    yaml(page).fill(text)
    add(page)
    page.page.locator("sim-rule-maker .tools .mistake").filter(has_text="status").wait_for()
    page.page.get_by_text("nothing is added").wait_for()
    assert [one["id"] for one in page.mine("GET", "rules")["rules"]] == before
    page.forget_refusals()


def test_a_rule_that_could_not_be_removed_again_is_reported(page: Console) -> None:
    page.page.route(
        "**/rules/*", lambda route: route.abort() if route.request.method == "DELETE" else route.continue_()
    )
    yaml(page).fill("payments:\n  - { then: [{ status: Done }] }\n  - { id: left, then: [{ status: Failed }] }\n")
    add(page)
    page.page.locator("sim-rule-maker .tools .mistake", has_text="not taken back: left (the simulator").wait_for()
    assert page.page.get_by_text("nothing is added").count() == 0
    page.page.get_by_role("button", name="Remove left").wait_for()
    page.page.unroute("**/rules/*")
    page.mistakes[:] = [one for one in page.mistakes if "net::ERR_FAILED" not in one]
    page.forget_refusals()


THEN = {
    "payments": "[{ status: Accepted }, { after: 2s, status: Failed }]",
    "faults": "{ status: 504 }",
    "voids": "{ status: Success, refund_after: 1h }",
    "disputes": "{ status: Failed }",
    "bills": "{ error: invalid_account }",
}
TYPED = {
    "id": "mine",
    "name": "mine",
    "since": "10m",
    "until": "20m",
    "nth": "2",
    "every": "2",
    "times": "2",
    "chance": "0.5",
}


@pytest.mark.parametrize("section", THEN)
def test_every_field_of_a_rule_is_entered_in_the_form_and_check_accepts_its_yaml(page: Console, section: str) -> None:
    rule = schema(SCENARIO)["definitions"][f"{section.removesuffix('s')}_rule"]
    for key in rule["properties"].keys() - {"then", "remove"}:
        counted = "    times: 1\n" if key == "per" else ""
        yaml(page).fill(f"{section}:\n  - then: {THEN[section]}\n{counted}")
        page.until("!document.querySelector('sim-rule-maker').follows")
        row = page.page.locator(f"sim-rule-maker .fields > .members > [data-key={key}]")
        if key not in ("name", "when"):
            page.page.get_by_label(f"Add to the rule of {section}").select_option(key)
        if key in TYPED:
            row.locator("input").fill(TYPED[key])
        elif key == "when":
            page.page.get_by_label("Add to when").select_option("reseller")
            page.page.locator("[data-key=reseller] input").fill("RS001")
        elif key == "callbacks":
            page.page.get_by_label("How callbacks is written").select_option("object")
            page.page.get_by_label("Add to callbacks").select_option("drop")
        for part in (f"{key}: ", {"when": "RS001", "callbacks": "drop"}.get(key, "")):
            page.until(f"document.querySelector('sim-rule-maker textarea').value.includes('{part}')")
        text = yaml(page).input_value()
        checked = page.control("POST", "scenarios/check", {"text": f"extends: default\n{text}"})
        assert checked["problems"] == [], (key, text)


def test_a_double_click_does_it_once(page: Console) -> None:
    shown = page.page
    shown.get_by_role("button", name="504", exact=True).click()
    shown.get_by_role("button", name="Add it to the sandbox").dblclick()
    shown.get_by_role("button", name="Remove gateway gave up", exact=True).first.wait_for()
    shown.wait_for_timeout(200)
    assert [one["name"] for one in page.mine("GET", "rules")["rules"]].count("gateway gave up") == 1


def test_a_ready_rule_is_kept_while_the_view_is_loading(page: Console) -> None:
    shown, held = page.page, []
    shown.route("**/scenario.schema.json", lambda route: held.append(route))
    shown.reload()
    shown.get_by_role("button", name="hung payment", exact=True).click()
    while not held:
        shown.wait_for_timeout(10)
    assert shown.locator("[data-key=name]").count() == 0
    held[0].continue_()
    page.until("document.querySelector('[data-key=name] input')?.value === 'hung'")
    until_yaml_has(page, "name: hung")
    shown.unroute("**/scenario.schema.json")


def test_a_left_view_sends_no_requests_while_the_next_view_loads(page: Console) -> None:
    shown, held, asked = page.page, [], []
    shown.route("**/sim-scenarios.js", lambda route: held.append(route))
    shown.get_by_role("row", name="ordinary").wait_for()
    shown.on("request", lambda request: asked.append(request.url))
    shown.evaluate("""
        document.querySelector('sim-rules').soon();  // as after an event
        document.querySelector('nav a[href*=scenarios]').click();
    """)
    asked.clear()
    shown.wait_for_timeout(600)
    assert shown.locator("sim-rules").count() == 0
    assert [url for url in asked if "/rules" in url] == []
    held[0].continue_()
    shown.locator("sim-scenarios").wait_for()
    shown.unroute("**/sim-scenarios.js")


def test_a_rule_leads_to_its_line_in_the_editor(page: Console) -> None:
    line = next(one["place"]["line"] for one in page.mine("GET", "rules")["rules"] if one["name"] == "ordinary")
    page.page.get_by_role("row", name="ordinary").get_by_role("link", name=f"default.yaml:{line}").click()
    page.until("document.querySelector('sim-scenarios textarea')?.selectionEnd > 0")
    selected = "(area => area.value.slice(area.selectionStart, area.selectionEnd))"
    text = page.page.evaluate(f"{selected}(document.querySelector('sim-scenarios textarea'))")
    assert "name: ordinary" in text
    assert "\n" not in text


def test_the_foot_shows_marks_of_direction_as_other_control_characters(page: Console) -> None:
    yaml(page).fill('payments:\n  - { name: "a\u202eb", then: [{ status: Succesful }] }\n')
    add(page)
    line = page.page.locator("sim-action-log .copy", has_text="⟨202E⟩")
    line.wait_for()
    assert "\u202e" not in page.page.locator("sim-action-log").inner_html()
