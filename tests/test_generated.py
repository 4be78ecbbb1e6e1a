"""Files that are generated: they say so, and they are what would be generated now."""

import pytest

from simulator.scenario.reading.check import schema
from tests.support.assume_section import NOTICE
from tests.support.generated import GENERATED, ROOT

PAGES = [name for name in GENERATED if name.endswith(".md")]


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_file_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == GENERATED[name](), f"{name} is stale: run make docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_says_so_in_its_first_line(name: str) -> None:
    first, second, third, *_ = (ROOT / name).read_text("utf-8").splitlines()
    assert first.startswith("<!-- Generated from contracts/")
    assert first.endswith(" by `make docs`; change it there. -->")
    assert (second, third[:2]) == ("", "# ")


def test_the_generated_section_of_the_schema_says_so() -> None:
    definitions = schema()["definitions"]
    assert [name for name, part in definitions.items() if part.get("$comment") == NOTICE] == ["assume"]
    assert next(iter(definitions["assume"])) == "$comment"


def test_no_page_says_it_is_generated_that_is_not() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    said = {str(page.relative_to(ROOT)) for page in pages if "Generated from" in page.read_text("utf-8").split("\n")[0]}
    assert said == set(PAGES)
