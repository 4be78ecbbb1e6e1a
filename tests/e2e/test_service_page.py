"""The examples of docs/service.md, played in the page's order against one simulator that its scenario starts."""

from pathlib import Path

from simulator.api.routes import RESELLER_ROUTES
from tests.support.client import running
from tests.support.http_examples import examples, message, missing, play
from tests.support.pages import blocks
from tools.pages.service import written

SCENARIO, *PLAYED = blocks(written())
EXAMPLES = examples(PLAYED)


def test_each_request_of_the_page_gets_the_response_that_it_shows(tmp_path: Path) -> None:
    scenario = tmp_path / SCENARIO.name
    scenario.write_text(SCENARIO.text)
    known: dict[str, str] = {}
    with running(str(scenario), mode=None) as client:
        for example in EXAMPLES:
            try:
                play(client, example, known)
            except AssertionError as error:
                error.add_note(f"of {message(example.request).first}")
                raise


def test_each_endpoint_has_an_example() -> None:
    asked = {message(example.request).first.partition("?")[0].replace("{id}", "{jobId}") for example in EXAMPLES}
    assert {f"{method} {path}" for path, methods in RESELLER_ROUTES.items() for method in methods} - asked == set()


def test_the_outputs_of_the_page_are_compared() -> None:
    received = {"a": [1, 2], "text": "id 7", "none": None}
    assert list(missing({"a": [1, "…"], "text": "id …"}, received, "")) == []
    assert list(missing({"a": [1], "text": "…8", "none": "…", "b": 1}, received, "")) == [
        ".a has 2 items",
        ".text is 'id 7', not '…8'",
        ".none is None, not '…'",
        " has no b",
    ]
    assert list(missing({"a": [1, 2.0]}, received, "")) == [".a[1] is 2, not 2.0"]
