"""Scenarios in the console: the list, the editor that completes and underlines, and loading into a new sandbox."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.console import Console, console

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.slow

BUNDLED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
HOSTILE = "extends: default\nscenario: hostile\ndescription: \"<img src=x onerror='document.title=1'> \u202etxt\"\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("scenarios")
    (folder / "mine.yaml").write_text("extends: default\nscenario: of the folder\n")
    (folder / "hostile.yaml").write_text(HOSTILE)
    with console("--scenarios", str(folder)) as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.page.goto("about:blank")
    return shared


def editor(page: Console, name: str = "default") -> "Locator":
    """Open the editor with a scenario, and wait for its text."""
    page.page.goto(f"{page.url}/_sim/ui/scenarios/{name}")
    page.until("document.querySelector('sim-editor textarea')?.value")
    return page.page.get_by_role("combobox", name="The scenario as YAML")


def write(page: Console, text: str) -> "Locator":
    """Open the editor with this text, with the cursor at its end."""
    area = editor(page)
    area.fill("")
    page.page.keyboard.insert_text(text)
    return area


def completions(page: Console) -> list[str]:
    page.page.keyboard.press("Control+Space")
    page.page.locator(".choices li").first.wait_for()
    return [one.inner_text() for one in page.page.locator(".choices code").all()]


def test_a_scenario_that_does_not_exist_shows_one_error_and_no_editor(page: Console) -> None:
    page.page.goto(f"{page.url}/_sim/ui/scenarios/nope")
    page.page.get_by_text("there is no scenario 'nope'").wait_for()
    page.forgive(404)
    assert page.page.locator("sim-editor").is_hidden()
    assert page.page.get_by_role("button", name="Load into a new sandbox").is_hidden()
    editor(page).wait_for()


def test_bundled_scenarios_and_scenarios_of_the_folder_are_listed_and_open(page: Console) -> None:
    page.page.goto(f"{page.url}/_sim/ui/scenarios")
    page.page.get_by_role("link", name="lost-answers").wait_for()
    page.page.get_by_role("link", name="mine.yaml").click()
    area = page.page.get_by_role("combobox", name="The scenario as YAML")
    page.until("document.querySelector('sim-editor textarea').value.includes('of the folder')")
    assert page.page.url.endswith("/ui/scenarios/mine.yaml?source=folder")
    page.page.get_by_role("link", name="lost-answers").click()
    page.until("document.querySelector('sim-editor textarea').value.includes('made, 504')")
    assert area.input_value() == next(one for one in BUNDLED if one.stem == "lost-answers").read_text()


def test_problems_are_underlined_listed_and_mended(page: Console) -> None:
    write(page, "extends: default\npayments:\n  - when: { product: ELECTRIC, account: { sufix: '48' } }\n")
    problem = page.page.locator(".problems li", has_text="there is no key 'sufix' here")
    problem.wait_for()
    assert "sufix" in page.page.locator(".under .error").all_inner_texts()
    page.page.get_by_role("button", name="line 3, column 43").click()
    selected = "(() => { const a = document.activeElement; return a.value.slice(a.selectionStart, a.selectionEnd) })()"
    assert page.page.evaluate(selected) == "sufix"
    page.page.get_by_role("button", name="write suffix").click()
    page.until("document.querySelector('sim-editor textarea').value.includes('{ suffix:')")
    page.until("!document.querySelector('.problems').textContent.includes('sufix')")


def test_a_text_that_is_no_yaml_is_underlined_too(page: Console) -> None:
    write(page, "extends: [default\n")
    page.page.locator(".problems li").first.wait_for()
    assert page.page.get_by_text("no problems").count() == 0


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("exte", ["extends"]),
        ("payments:\n  - na", ["name"]),
        ("payments:\n  - name: x\n    whe", ["when"]),
        ("payments:\n  - when:\n      prod", ["product"]),
        ("payments:\n  - when: { account: { suf", ["suffix"]),
        ("payments:\n  - then:\n      - status: Suc", ["Succesful"]),
        ("payments:\n  - then: [{ status: Fai", ["Failed"]),
        ("faults:\n  - when: { method: POST }\n    then: { nonce", ["nonce_service"]),
        ("faults:\n- then:\n    disc", ["disconnect"]),
        ("extends: lost-a", ["lost-answers"]),
        ("payments:\n  - when: { product: REL", ["RELOAD"]),
        ("faults:\n  - when: { path: /v2/top", ["/v2/topup"]),
    ],
)
def test_matching_completions_are_offered_at_the_cursor(page: Console, text: str, offered: list[str]) -> None:
    write(page, text)
    assert completions(page) == offered


def test_the_keyboard_chooses_and_accepts(page: Console) -> None:
    area = write(page, "payments:\n  - ")
    names = completions(page)
    assert {"name", "when", "then", "callbacks"} <= set(names)
    assert area.get_attribute("aria-expanded") == "true"
    page.page.keyboard.press("ArrowDown")
    active = area.get_attribute("aria-activedescendant")
    assert page.page.locator(f"#{active} code").inner_text() == names[1]
    page.page.keyboard.press("Escape")
    assert area.get_attribute("aria-expanded") == "false"
    page.page.keyboard.type("the")
    page.page.get_by_role("option", name="then").wait_for()
    page.page.keyboard.press("Enter")
    assert area.input_value().endswith("  - then: ")


def test_enter_keeps_the_indentation(page: Console) -> None:
    area = write(page, "payments:")
    page.page.keyboard.press("Enter")
    page.page.keyboard.type("- x")
    assert area.input_value() == "payments:\n  - x"


def test_it_is_loaded_into_a_new_sandbox(page: Console) -> None:
    write(page, "extends: default\nscenario: tried\nseed: 11\n")
    form = page.page.get_by_role("form", name="Load it into a new sandbox")
    form.get_by_label("Id").fill("tried-1")
    form.get_by_label("Clock").select_option("manual")
    form.get_by_role("button", name="Load into a new sandbox").click()
    page.page.wait_for_url("**/_sim/s/tried-1/live")
    found = page.control("GET", "sandboxes/tried-1")
    assert (found["scenario"], found["seed"], found["clock"]["mode"]) == ("tried", 11, "manual")
    page.page.get_by_role("button", name="copy as curl").wait_for()
    line = page.page.get_by_role("button", name="copy as curl").get_attribute("title") or ""
    assert "'Content-Type: application/yaml' --data-binary" in line


def test_one_that_cannot_be_loaded_says_why(page: Console) -> None:
    write(page, "extends: default\npayments: 7\n")
    page.page.get_by_role("button", name="Load into a new sandbox").click()
    page.page.locator("form.short .mistake").filter(has_text="a list").wait_for()
    page.forget_refusals()


def test_a_draft_asks_before_it_is_left_and_survives_reloading(page: Console) -> None:
    area = editor(page, "lost-answers")
    area.press("Control+End")
    page.page.keyboard.insert_text("# mine\n")
    page.page.get_by_text("changed, not saved").wait_for()
    page.page.get_by_role("link", name="Sandboxes").click()
    dialog = page.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    assert page.page.url.endswith("/ui/scenarios/lost-answers")
    page.until("history.state?.draft?.endsWith('# mine\\n')")
    page.page.once("dialog", lambda asked: asked.accept())
    page.page.reload()
    page.until("document.querySelector('sim-editor textarea')?.value.endsWith('# mine\\n')")
    page.page.get_by_role("link", name="Sandboxes").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Leave it").click()
    page.page.wait_for_url("**/ui/sandboxes")


def test_it_is_taken_home(page: Console) -> None:
    write(page, "extends: default\n")
    with page.page.expect_download() as got:
        page.page.get_by_role("button", name="download").click()
    assert got.value.suggested_filename == "default.yaml"
    assert got.value.path().read_text() == "extends: default\n"


def test_the_content_of_a_file_is_shown_as_text(page: Console) -> None:
    page.page.goto(f"{page.url}/_sim/ui/scenarios/hostile.yaml?source=folder")
    page.until("document.querySelector('sim-editor textarea')?.value.includes('<img')")
    listed = page.page.get_by_role("link", name="hostile.yaml")
    listed.wait_for()
    assert "<img src=x" in listed.inner_text()
    page.page.get_by_role("combobox", name="The scenario as YAML").fill('"<b>\u202e": { "<i>x</i>": 1 }\n')
    page.page.locator(".problems li").first.wait_for()
    assert page.page.locator("sim-scenarios :is(img, i)").count() == 0
    assert page.page.title().startswith("hostile.yaml")


def test_a_scenario_is_saved_in_the_folder_under_a_new_name_and_again(page: Console) -> None:
    area = write(page, "extends: default\nseed: 5\n")
    page.page.get_by_label("File", exact=True).fill("saved.yaml")
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.wait_for_url("**/ui/scenarios/saved.yaml?source=folder")
    page.page.get_by_role("link", name="saved.yaml").wait_for()
    area.fill("extends: default\nseed: 6\n")
    page.page.get_by_text("changed, not saved").wait_for()
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.get_by_text("changed, not saved").wait_for(state="detached")
    assert page.control("GET", "scenarios/saved.yaml")["text"] == "extends: default\nseed: 6\n"


def test_a_file_that_changed_meanwhile_is_not_overwritten(page: Console) -> None:
    page.control("PUT", "scenarios/shared.yaml", {"text": "extends: default\n"})
    page.page.goto(f"{page.url}/_sim/ui/scenarios/shared.yaml?source=folder")
    page.until("document.querySelector('sim-editor textarea')?.value === 'extends: default\\n'")
    read = page.control("GET", "scenarios/shared.yaml")["revision"]
    page.control("PUT", "scenarios/shared.yaml", {"text": "extends: default\nseed: 8\n", "revision": read})
    page.page.get_by_role("combobox", name="The scenario as YAML").fill("extends: default\nseed: 9\n")
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.get_by_role("alert").filter(has_text="was changed after you read it").wait_for()
    page.forgive(409)
    assert page.control("GET", "scenarios/shared.yaml")["text"] == "extends: default\nseed: 8\n"


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_bundled_scenarios_have_no_problems_in_the_editor(page: Console, path: Path) -> None:
    editor(page, path.stem)
    page.page.get_by_text("● no problems").wait_for()
    assert page.page.locator(".under .error").count() == 0


def test_undo_and_tab_are_the_browsers_and_problems_are_announced(page: Console) -> None:
    area = write(page, "extends: default\npayments:\n  - the")
    page.page.get_by_role("option", name="then").wait_for()
    page.page.keyboard.press("Enter")
    assert area.input_value().endswith("- then: ")
    page.page.keyboard.press("Control+z")
    assert area.input_value().endswith("- the")
    page.page.keyboard.press("Control+Shift+z")
    assert area.input_value().endswith("- then: ")
    said = page.page.locator(f"#{area.get_attribute('aria-describedby')}")
    said.filter(has_text="problem").wait_for()
    assert said.get_attribute("role") == "status"
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.localName") != "textarea"


def test_a_pasted_megabyte_can_be_edited(page: Console) -> None:
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=page.url)
    area = editor(page)
    big = "\n".join(f"key_{number}: value_{number}" for number in range(45_000))
    page.page.evaluate("text => navigator.clipboard.writeText(text)", big)
    area.focus()
    page.page.keyboard.press("Control+A")
    page.page.keyboard.press("Control+V")
    page.page.keyboard.type("xyz")
    page.page.get_by_text("1 problem", exact=True).wait_for()
    assert area.evaluate("area => [area.value.length, area.value.slice(-3)]") == [len(big) + 3, "xyz"]


def test_underlines_stay_below_their_words_when_the_text_is_scrolled(page: Console) -> None:
    area = write(page, "extends: default\nsufix: 1\n" + "# a comment\n" * 200)
    wrong = page.page.locator(".under .error", has_text="sufix")
    wrong.wait_for()
    area.evaluate("area => { area.scrollTop = 0 }")
    page.until("document.querySelector('.under > div').style.transform.endsWith(' 0px)')")
    before = wrong.bounding_box()
    area.evaluate("area => { area.scrollTop = 18 }")
    page.until("document.querySelector('.under > div').style.transform.endsWith('-18px)')")
    after = wrong.bounding_box()
    assert before
    assert after
    assert before["y"] - after["y"] == 18
