"""docs/service.md has every section that code, contract and documentation cite, and every assumption in its section."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.contract.register import Assumption, assumptions
from simulator.contract.schemas import names
from tests.support.our_files import our_files
from tests.support.schema_tables import fields_table
from tests.support.service_page import anchors, sections, written

ROOT = Path(__file__).parent.parent
CITING = ("simulator", "contracts", "docs", "scenarios", "tests", "bench", "campaign")
CITATION = re.compile(r"\bSPEC ([1-9](?:\.\d+)?(?:(?:, | and | or | to )[1-9](?:\.\d+)?(?![\d.]*\w))*)")
NUMBER = re.compile(r"[1-9](?:\.\d+)?")
MARKS = ("*documented*", "*assumed*", "*observed*")
PAGE = written()
SECTIONS = sections(PAGE)
WITHOUT_TEXT = {"2", "3", "5", "6"}  # whose subsections say everything


def citing_files() -> Iterator[Path]:
    for folder in CITING:
        yield from our_files(ROOT / folder, ".py", ".md", ".yaml", ".json")
    yield from ROOT.glob("*.md")


def cited(text: str) -> set[str]:
    """The numbers that a text names; a citation may go on in the next line, after a comment sign."""
    lines = re.sub(r"\s*\n\s*#?\s*", " ", text)
    return {number for found in CITATION.findall(lines) for number in NUMBER.findall(found)}


def test_citations_are_found_in_lists_and_across_lines() -> None:
    assert cited("(SPEC 4.2, 4.3, 5.4): … SPEC 5 and 9: a\n# SPEC\n    # 6.1) SPEC 2.8, 2.11;") == {
        *("4.2", "4.3", "5.4", "5", "9", "6.1", "2.8", "2.11")
    }


def test_each_section_that_is_cited_is_a_heading_of_the_page() -> None:
    unknown = {
        str(path.relative_to(ROOT)): wrong
        for path in citing_files()
        if (wrong := cited(path.read_text("utf-8")) - set(SECTIONS))
    }
    assert unknown == {}


def test_the_code_cites_the_page() -> None:
    of_code = [cited(path.read_text("utf-8")) for path in (ROOT / "simulator").rglob("*.py")]
    assert len(set().union(*of_code)) > 40


@pytest.mark.parametrize("one", assumptions(), ids=lambda one: one.id)
def test_each_assumption_is_in_the_section_that_it_belongs_to(one: Assumption) -> None:
    assert f"(assumptions.md#{one.id})" in SECTIONS[one.spec]


def test_what_a_citation_quotes_is_in_its_section() -> None:
    quoted = {
        found
        for path in citing_files()
        for found in re.findall(r"SPEC ([1-9](?:\.\d+)?), \"(\w[^\"…]+)\"", path.read_text("utf-8"))
    }
    assert quoted
    assert [(number, words) for number, words in quoted if f"**{words}**" not in SECTIONS[number]] == []


def test_the_numbered_rules_that_the_register_names_are_there() -> None:
    assert "\n2. A plan code is checked" in SECTIONS["4.11"]
    assert "\n3. A caller that sends an amount without a code" in SECTIONS["4.11"]


def test_sections_are_in_order_and_unique() -> None:
    numbers = re.findall(r"^##+ ([1-9](?:\.\d+)?)\.? ", PAGE, re.MULTILINE)
    assert sorted(numbers, key=lambda number: [int(part) for part in number.split(".")]) == numbers
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("number", SECTIONS)
def test_each_section_begins_with_a_mark(number: str) -> None:
    text = SECTIONS[number].strip()
    if number in WITHOUT_TEXT:
        assert not text
    for part in re.split(r"^#### .+$", text, flags=re.MULTILINE):
        assert number in WITHOUT_TEXT or part.strip().startswith(MARKS), part[:80]


def test_links_within_the_page_and_to_it_lead_to_a_heading() -> None:
    known = set(anchors(PAGE).values())
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= known
    for path in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        assert set(re.findall(r"service\.md#([\w-]+)\)", path.read_text("utf-8"))) <= known, path


def test_links_to_assumptions_lead_to_an_entry() -> None:
    assert set(re.findall(r"\(assumptions\.md#([^)]+)\)", PAGE)) == {one.id for one in assumptions()}


REPRESENTED = {  # the page has another table with the same fields
    "callback": "payment-result",
    "callback-message": "payment-result",
    "payment-answer": "payment-result",
    "payment-fields": "payment-result",
    "payment-refusal": "payment-result",
    "bill-refusal": "bill-answer",
    "auth-error": "section 5.2",
    "catalog-unauthorized": "section 5.2",
    "parameter-error": "section 7.1",
    "service-error": "section 7.1",
    "token-answer": "token-answer#result",
    "balance-answer": "balance-answer#wallet",
    "webhook-enabled-answer": "webhook-enabled-request",
    "webhook-secret-answer": "webhook-put-answer",
}


def test_each_schema_of_the_reseller_api_has_its_table() -> None:
    shown = set(re.findall(r"<!-- generated: fields (\S+) -->", PAGE))
    openapi = (ROOT / "contracts" / "openapi.yaml").read_text("utf-8")
    used = {name for name in names() if f"schemas/{name}.json" in openapi}
    assert used - shown - set(REPRESENTED) == set()
    assert {table for table in REPRESENTED.values() if not table.startswith("section ")} <= shown


def test_a_table_has_the_fields_of_what_a_schema_extends() -> None:
    table = fields_table("payment-result").splitlines()
    form = "a time in the form yyyy-MM-dd HH:mm:ss"
    assert f"| **`timestamp`** | {form} | Time of the status, GMT+8, yyyy-MM-dd HH:mm:ss. |" in table
    assert any(row.startswith("| **`refid`** | string |") for row in table)


def test_a_table_says_a_bound_once() -> None:
    request, query = fields_table("topup-request"), fields_table("options-query")
    assert "| **`refid`** | text without control characters |" in request
    assert "queries the same payment. At most 50 characters. |" in request
    assert "| **`field_id`** | text of 1 to 100 characters | Which select field's. |" in query


def test_a_table_has_inline_objects_and_names_what_has_a_table_of_its_own() -> None:
    table = fields_table("catalog-answer#product")
    assert "| **`fields`** | list of field |" in table
    assert "| **`min_amount`** | money or null |" in table
    assert "| **`meta.total`** | string" not in table
    assert "| **`data.Outstanding`** | number or null |" in fields_table("bill-answer")
