"""docs/service.md has every section that code, contract and documentation cite, and every assumption in its section."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from simulator.api.catalog_endpoints import LIMIT_MAX
from simulator.auth.signature import NONCE_BYTES_MAX, NONCE_BYTES_MIN
from simulator.contract.openapi import OPENAPI, load
from simulator.contract.register import Assumption, assumptions
from simulator.contract.schemas import names, schema
from simulator.domain.model.scenario import Limits
from simulator.domain.model.transactions import STATUS_CODES
from simulator.domain.model.webhooks import REPLAYS_MAX, RESPONSE_CHARS_MAX
from tests.support.our_files import our_files
from tests.support.played import METHODS
from tools.pages.schema_tables import fields_table
from tools.pages.service import ASSUMED_FIELDS, anchors, sections, written

ROOT = Path(__file__).parent.parent
CITING = ("simulator", "contracts", "docs", "scenarios", "tests", "tools", "bench", "campaign")
CITATION = re.compile(r"\bSPEC ([1-9](?:\.\d+)?(?:(?:, | and | or | to )[1-9](?:\.\d+)?(?![\d.]*\w))*)")
NUMBER = re.compile(r"[1-9](?:\.\d+)?")
PAGE = written()
SECTIONS = sections(PAGE)
WITHOUT_TEXT = {"2", "3", "5", "6"}  # whose subsections say everything


def citing_files() -> Iterator[Path]:
    for folder in CITING:
        yield from our_files(ROOT / folder, ".py", ".md", ".yaml", ".json")
    yield from ROOT.glob("*.md")


def cited(text: str) -> set[str]:
    """Return the numbers that a text names; a citation may continue in the next line, after a comment sign."""
    lines = re.sub(r"\s*\n\s*#?\s*", " ", text)
    return {number for found in CITATION.findall(lines) for number in NUMBER.findall(found)}


def test_citations_are_found_in_lists_and_across_lines() -> None:
    assert cited("(SPEC 4.2, 4.3, 5.4): … SPEC 5 and 9: a\n# SPEC\n    # 6.1) SPEC 2.8, 2.11;") == {
        *("4.2", "4.3", "5.4", "5", "9", "6.1", "2.8", "2.11")
    }


@pytest.mark.slow
def test_each_section_that_is_cited_is_a_heading_of_the_page() -> None:
    unknown = {
        str(path.relative_to(ROOT)): wrong
        for path in citing_files()
        if (wrong := cited(path.read_text("utf-8")) - set(SECTIONS))
    }
    assert unknown == {}


@pytest.mark.slow
def test_the_code_cites_the_page() -> None:
    of_code = [cited(path.read_text("utf-8")) for path in (ROOT / "simulator").rglob("*.py")]
    assert len(set().union(*of_code)) > 40


@pytest.mark.parametrize("one", assumptions(), ids=lambda one: one.id)
def test_each_assumption_is_in_the_section_that_it_belongs_to(one: Assumption) -> None:
    assert f"(assumptions.md#{one.id})" in SECTIONS[one.spec]


def test_the_quotation_of_a_citation_is_in_its_section() -> None:
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
        assert number in WITHOUT_TEXT or part.strip().startswith("*documented*\n"), part[:80]


@pytest.mark.parametrize("number", SECTIONS)
def test_the_other_marks_belong_to_generated_parts(number: str) -> None:
    """Every assumption is in the register, and observations of a deployment are not on this page."""
    is_assumed = any(one.spec == number for one in assumptions())
    by_hand = re.sub(r"<!-- generated: .+?<!-- end -->", "", SECTIONS[number], flags=re.DOTALL)
    parts = len(re.findall(r"^####? .+$", by_hand, re.MULTILINE)) + (not by_hand.strip().startswith("#### "))
    assert by_hand.count("*documented*") == (0 if number in WITHOUT_TEXT else parts)
    assert not re.search(r"\*(?:assumed|observed)\*", by_hand)
    assert (f"<!-- generated: assumed {number} -->" in SECTIONS[number]) == is_assumed
    assert SECTIONS[number].count("*observed*") == is_assumed


def test_assumptions_about_a_field_are_named_in_its_row() -> None:
    for table, fields in ASSUMED_FIELDS.items():
        section = next(text for text in SECTIONS.values() if f"<!-- generated: fields {table} -->" in text)
        rows = [line for line in section.splitlines() if "*Assumed*: [" in line]
        assert [row.split("`")[1] for row in rows if row.split("`")[1] in fields]
        for id_ in set(fields.values()):
            assert any(f"*Assumed*: [{id_}]" in row for row in rows)


def first_column(number: str) -> list[str]:
    """The first cells of a section's tables that are written by hand, headings left out."""
    by_hand = re.sub(r"<!-- generated: .+?<!-- end -->", "", SECTIONS[number], flags=re.DOTALL)
    rows = [line.strip("| ").split(" | ")[0] for line in by_hand.splitlines() if line.startswith("|")]
    return [row for place, row in enumerate(rows) if "---" not in row and "---" not in "".join(rows[place + 1 :][:1])]


def test_the_codes_of_authentication_are_the_contracts() -> None:
    """`invalid_token` is what 5.4 assumes."""
    *codes, last = first_column("5.2")
    known = schema("auth-error")["properties"]["error"]["enum"]
    assert [code.strip("`") for code in codes] == [code for code in known if code != "invalid_token"]
    assert last == "503 without a code"


def test_the_status_codes_are_the_codes() -> None:
    assumed = next(one for one in assumptions() if one.id == "payment-status-codes").choice
    ours = {code for code in STATUS_CODES.values() if not re.search(rf"\b{code}\b", assumed)}
    assert {int(code) for code in first_column("7.3")} - ours <= {62}  # which a provider gives
    assert ours <= {int(code) for code in first_column("7.3")}
    statuses = {int(status) for status in first_column("7.2")}
    described = {
        int(status)
        for item in load(OPENAPI)["paths"].values()
        for method, operation in item.items()
        if method in METHODS
        for status in operation["responses"]
    }
    assert statuses == {400, 401, 403, 404, 429, 503, 504}
    assert statuses <= described


def minutes(time: timedelta | None) -> str:
    assert time is not None
    return f"{time.total_seconds() / 60:g} minutes"


def seconds(time: timedelta | None) -> str:
    assert time is not None
    return f"{time.total_seconds():g} seconds"


def test_the_limits_are_the_codes() -> None:
    usual = Limits()
    retry = usual.callback_retry
    refid = schema("topup-request")["properties"]["refid"]
    limit = schema("deliveries-query")["properties"]["limit"]
    jobs = schema("replay-bulk-request")["properties"]["job_ids"]
    url = schema("webhook-request")["properties"]["url"]
    wanted = {
        "requests": f"{usual.requests_per_interval:,} in {minutes(usual.rate_limit_interval)} from one address, "
        f"then that address gets 403 for {minutes(usual.rate_limit_block)}",
        "duration": f"{seconds(usual.integration_timeout)}, then 504",
        "timestamp": f"{minutes(usual.timestamp_tolerance)} before or after",
        "nonce": f"{NONCE_BYTES_MIN} to {NONCE_BYTES_MAX} characters; refused again for {minutes(usual.nonce_window)}",
        "`refid`": f"{refid['maxLength']} characters, unique within a reseller, idempotent for ever",
        "page of options": f"100 by default, {LIMIT_MAX:,} at most",
        "page of deliveries": "1 to 100, 50 by default",
        "bulk replay": f"{jobs['minItems']} to {jobs['maxItems']} jobs",
        "replays by hand": f"{REPLAYS_MAX} for an event",
        "webhook URL": f"{url['maxLength']} characters, HTTPS in production",
        "callback": f"{seconds(usual.callback_timeout)}, {retry.retries} retries, {seconds(retry.after)} apart",
        "topup with API keys only": f"takes effect within {minutes(usual.settings_delay)}",
    }
    rows = [line.strip("| ").split(" | ") for line in SECTIONS["8"].splitlines() if line.startswith("| ")]
    said = {row[0]: row[1] for row in rows}
    assert {name: said.get(name) for name in wanted} == wanted
    assert "1 to 100" in limit["x-must-be"]
    assert schema("delivery-answer")["properties"]["replayCount"]["maximum"] == REPLAYS_MAX
    assert schema("delivery-answer")["properties"]["responseBody"]["maxLength"] == RESPONSE_CHARS_MAX


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
