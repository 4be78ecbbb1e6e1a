"""Render the generated parts of docs/service.md: contents, tables of fields, tables of assumptions.

A part between `<!-- generated: KIND NAME -->` and `<!-- end -->` is generated; everything else is written by hand.
"""

import re
from collections.abc import Mapping

from simulator.contract.files import data_dir
from simulator.contract.register import Assumption, assumptions
from simulator.staging.conform.run import all_questions
from tools.pages.schema_tables import fields_table
from tools.tables import markdown

PATH = data_dir("contracts").parent / "docs" / "service.md"
_HEADING = re.compile(r"^##+ (([1-9](?:\.[0-9]+)?)\.? .+)$", re.MULTILINE)
_GENERATED = re.compile(r"(<!-- generated: (\w+) ?(\S*) -->\n).*?(<!-- end -->)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=\.) ")
_CELL_LENGTH = 300

# Assumptions, by table and field, about fields that the documentation omits or describes in less detail.
ASSUMED_FIELDS = {
    "delivery-answer": {
        "status": "delivery-under-way",
        "retryCount": "retry-count",
        "completedAt": "delivery-under-way",
        "responseCode": "delivery-no-answer",
        "responseStatusCode": "delivery-no-answer",
        "responseBody": "delivery-no-answer",
    },
    "transaction-history-answer": {
        "data[].status_name": "history-status-names",
        "data[].response_date": "history-response-date",
        "meta.total_amount": "history-meta",
        "meta.total_price": "history-meta",
    },
    "billers-answer#biller": {"min": "biller-limits", "max": "biller-limits"},
    "balance-answer#wallet": {"balance": "balance-record", "currency": "balance-record"},
    "replay-bulk-answer": {"results[].newJobId": "bulk-item-error", "results[].error": "bulk-item-error"},
    "deliveries-query": {"from": "deliveries-from-to", "to": "deliveries-from-to", "cursor": "deliveries-cursor"},
    "catalog-event": dict.fromkeys(
        ("type", "version", "id", "created_at", "data", "data.product_code", "data.field_id"), "catalog-events"
    ),
}


def written() -> str:
    """Return the page as it is in the repository."""
    return PATH.read_text("utf-8")


def as_markdown() -> str:
    """Return the page with current generated parts."""
    page = written()
    return _GENERATED.sub(lambda found: found[1] + _content(page, found[2], found[3]) + "\n" + found[4], page)


def sections(page: str) -> dict[str, str]:
    """Map the number of each section to its text, without its heading and subsections."""
    parts = _HEADING.split(page)
    return dict(zip(parts[2::3], parts[3::3], strict=True))


def anchors(page: str) -> dict[str, str]:
    """Map the number of each section to its fragment, as GitHub makes it."""
    return {number: _slug(heading) for heading, number in _HEADING.findall(page)}


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _content(page: str, kind: str, name: str) -> str:
    if kind == "fields":
        return _marked(fields_table(name), ASSUMED_FIELDS.get(name, {}))
    return _contents(page) if kind == "contents" else _assumed(name)


def _marked(table: str, assumed: Mapping[str, str]) -> str:
    """Return a table whose assumed fields are marked with their assumption."""
    for field, id_ in assumed.items():
        row = re.compile(rf"^(\| (?:\*\*)?`{re.escape(field)}`(?:\*\*)? \|.*) \|$", re.MULTILINE)
        table, count = row.subn(rf"\1 *Assumed*: [{id_}](assumptions.md#{id_}). |", table)
        assert count == 1, field
    return table


def _contents(page: str) -> str:
    return "\n".join(
        f"{'  ' * ('.' in number)}- [{heading}](#{_slug(heading)})" for heading, number in _HEADING.findall(page)
    )


def _assumed(number: str) -> str:
    seen = {question.id for question in all_questions()}
    rows = [_row(one, one.id in seen) for one in assumptions() if one.spec == number]
    return "*assumed*\n\n" + markdown([("id", "left open", "the simulator", "knob", "*observed*"), *rows])


def _row(one: Assumption, is_seen: bool) -> tuple[str, ...]:
    """Return an assumption in brief, and whether `conform` can see it."""
    knob = f"`{one.knob}`" if one.knob else "none"
    link = f"[{one.id}](assumptions.md#{one.id})"
    seen = "by `conform`" if is_seen else ""
    return link, plain(one.question), plain(_beginning(one.choice)), knob, seen


def _beginning(text: str) -> str:
    """Return as many whole sentences as fit into a cell, at least one."""
    begun, *others = _SENTENCE_END.split(text)
    for sentence in others:
        if len(begun) + len(sentence) > _CELL_LENGTH:
            return f"{begun} …"
        begun += f" {sentence}"
    return begun


def plain(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, also in a table."""
    return re.sub(r"([<|])", r"\\\1", text)
