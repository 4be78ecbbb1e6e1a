"""The page of all sandboxes: what they are, how to reach them, and making, resetting and deleting them."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    shared.page.goto(f"{shared.url}/_sim/ui/sandboxes")
    shared.page.get_by_role("link", name=shared.sandbox, exact=True).wait_for()
    return shared


def test_sandboxes_are_listed_and_lead_to_themselves(page: Console) -> None:
    row = page.page.get_by_role("row", name=page.sandbox)
    assert "manual" in row.inner_text()
    assert f"{page.url}/s/{page.sandbox}" in row.inner_text()
    row.get_by_role("link", name=page.sandbox).click()
    page.page.wait_for_url(f"**/_sim/s/{page.sandbox}/live")


def test_credentials_are_at_hand_and_secrets_shown_on_demand(page: Console) -> None:
    row = page.page.get_by_role("row", name=page.sandbox)
    row.locator("summary").first.click()
    secret = page.reseller["api_secret"]
    assert page.reseller["api_key"] in row.inner_text()
    assert secret not in row.inner_text()
    row.get_by_role("button", name="Show the api secret").click()
    assert secret in row.inner_text()
    row.get_by_role("button", name="Copy the api secret").click()
    page.page.get_by_text("the api secret").last.wait_for()


def test_one_is_made_and_the_page_goes_there_and_says_the_command(page: Console) -> None:
    made = f"{page.sandbox}-made"
    form = page.page.get_by_role("form", name="Create a sandbox")
    form.get_by_label("Id").fill(made)
    form.get_by_label("Scenario").select_option("lost-answers")
    form.get_by_label("Clock").select_option("x60")
    form.get_by_label("Seed").fill("7")
    form.get_by_label("Keys").select_option("unique")
    form.get_by_role("button", name="Create").click()
    page.page.wait_for_url(f"**/_sim/s/{made}/live")
    found = page.control("GET", f"sandboxes/{made}")
    assert (found["scenario"], found["seed"], found["clock"]["rate"]) == ("lost-answers", 7, 60)
    assert found["resellers"][0]["api_key"] != page.reseller["api_key"]
    line = f"reseller-sim sandbox new lost-answers --id {made} --clock x60 --seed 7 --unique"
    page.page.get_by_role("button", name=line).wait_for()


@pytest.mark.parametrize(("field", "text"), [("Id", "no blanks <b>"), ("Seed", "seven")])
def test_a_mistake_is_shown_next_to_its_field(page: Console, field: str, text: str) -> None:
    form = page.page.get_by_role("form", name="Create a sandbox")
    form.get_by_label(field).fill(text)
    form.get_by_role("button", name="Create").click()
    form.get_by_role("alert").filter(has_text=" ").wait_for()
    assert form.get_by_label(field).get_attribute("aria-invalid") == "true"
    page.forget_refusals()


def test_a_seed_that_a_browser_cannot_count_is_refused_in_its_field(page: Console) -> None:
    form = page.page.get_by_role("form", name="Create a sandbox")
    form.get_by_label("Id").fill(f"{page.sandbox}-seed")
    form.get_by_label("Seed").fill("9007199254740993")
    form.get_by_role("button", name="Create").click()
    form.get_by_role("alert").get_by_text("a browser counts to 9007199254740991: take a smaller seed").wait_for()
    assert form.get_by_label("Seed").get_attribute("aria-invalid") == "true"
    form.get_by_label("Seed").fill("9007199254740991")
    form.get_by_role("button", name="Create").click()
    page.page.wait_for_url(f"**/_sim/s/{page.sandbox}-seed/live")
    assert page.control("GET", f"sandboxes/{page.sandbox}-seed")["seed"] == 9007199254740991


def test_a_truncated_answer_is_reported_at_its_form(page: Console) -> None:
    page.page.evaluate("""() => {
        const broken = () => new ReadableStream({ pull: stream => stream.error(new TypeError('network error')) });
        window.fetch = async () => new Response(broken(), { status: 200 });
    }""")
    form = page.page.get_by_role("form", name="Create a sandbox")
    form.get_by_role("button", name="Create").click()
    form.get_by_role("alert").get_by_text("the simulator does not answer").wait_for()


def test_reset_asks_for_the_name_and_goes_back_to_the_start(page: Console) -> None:
    page.pay("order-7")
    assert page.mine("GET", "")["resellers"][0]["balance"] < 5000
    page.page.get_by_role("button", name=f"Reset {page.sandbox}").click()
    dialog = page.page.get_by_role("dialog")
    assert dialog.get_by_role("button", name="Reset").is_disabled()
    dialog.get_by_label("Type").fill("another")
    assert dialog.get_by_role("button", name="Reset").is_disabled()
    dialog.get_by_label("Type").fill(page.sandbox)
    dialog.get_by_role("button", name="Reset").click()
    page.page.get_by_text(f"reset sandbox {page.sandbox}").wait_for()
    assert page.mine("GET", "")["resellers"][0]["balance"] == 5000


def test_forgetting_asks_for_the_name_and_takes_it_from_the_list(page: Console) -> None:
    page.page.get_by_role("button", name=f"Delete {page.sandbox}").click()
    dialog = page.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    assert page.mine("GET", "")["id"] == page.sandbox
    page.page.get_by_role("button", name=f"Delete {page.sandbox}").click()
    dialog.get_by_label("Type").fill(page.sandbox)
    page.page.keyboard.press("Enter")
    page.page.get_by_role("button", name=f"reseller-sim sandbox rm {page.sandbox}").wait_for()
    page.page.get_by_role("link", name=page.sandbox, exact=True).wait_for(state="detached")
    assert page.page.get_by_role("button", name="Delete default").count() == 0


def test_the_name_of_a_scenario_is_shown_as_text(page: Console) -> None:
    hostile = '<img src=x onerror="document.title=1">\u202etxt'
    page.new_sandbox({"extends": "default", "scenario": hostile})
    page.page.reload()
    row = page.page.get_by_role("row", name=page.sandbox)
    row.wait_for()
    assert "<img src=x" in row.inner_text()
    assert "⟨202E⟩" in row.inner_text()
    assert page.page.locator("sim-sandboxes img").count() == 0
