"""The register of assumptions: complete, and the same in the docs and in the scenario language."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
import yaml

from simulator.contract.files import data_dir
from simulator.contract.register import Assumption, assumptions, rows
from simulator.contract.validator import validator

SECTIONS = ("faults", "payments", "voids", "bills", "network", "catalog", "webhooks")
CHOICES = {
    "refid-reused-with-other-parameters": ("return_original", "reject"),
    "repeated-query-keys": ("either", "as_sent", "sorted"),
    "empty-query-values": ("either", "with", "without"),
    "duplicate-json-keys": ("last", "reject"),
    "nonce-scope": ("key", "reseller"),
    "callback-redirect": ("fail", "retry"),
    "callback-balance": ("own_entry", "at_sending"),
    "requery-balance": ("present", "own_entry"),
    "webhook-updated": ("changes", "requests"),
    "retry-count": ("retries", "attempts"),
    "payment-timestamp": ("status_change", "answer"),
    "token-answer": ("both", "wrapped", "flat"),
    "refreshed-token": ("original", "new"),
    "bearer-endpoints": ("all", "legacy"),
    "legacy-categories": ("names", "ids"),
    "subproduct-denomination": ("face_value", "price"),
    "deprecation-header": ("rfc9745", "draft", "none"),
    "balance-record": ("wrapped", "flat"),
    "failed-wallet": ("zero_cost", "keep_cost"),
    "plan-code-required": ("when_ambiguous", "always"),
    "unsupported-extras": ("ignore", "check_plan_code", "reject"),
    "extras-size": ("every", "stored"),
    "price-amount": ("refused", "taken"),
    "statement-commission": ("left_out", "in_deposits"),
    "suggested-category": ("exact", "any_case"),
    "refid-comparison": ("exact", "case_insensitive", "trimmed"),
    "insufficient-balance": ("cost", "face_value"),
    "staging-cases": ("run", "responses_only"),
    "history-offset": ("transactions", "pages"),
    "reversed-ranges": ("reject", "empty"),
    "callback-order": ("retry_stale", "skip_stale"),
    "old-fulfillment": ("payable", "absent", "price_amount", "denomination"),
    "content-type": ("checked", "ignored"),
    "option-account": ("Invalid_Account", "Invalid_Extras"),
    "webhook-credits": ("deposits", "deposits_and_commissions"),
    "catalog-overlay-events": ("published", "not_published"),
    "catalog-event-version": ("default", "newest"),
    "tree-products": ("answer", "whole"),
    "voided-cost": ("zero", "keep"),
    "case-lifecycle": ("once", "again_after_refusal"),
    "low-balance-at-setting": ("silent", "alert"),
    "history-meta": ("filter", "page"),
    "history-status-names": ("filter", "payment"),
    "history-category": ("name", "id"),
    "statement-summary": ("signed", "unsigned"),
    "statement-links": ("relative", "absolute", "unprefixed"),
    "biller-links": ("relative", "unprefixed"),
    "history-order": ("newest_first", "oldest_first"),
    "history-unknown-product": ("reject", "empty"),
    "statement-order": ("newest_first", "oldest_first"),
    "history-limit": ("cap", "reject"),
    "statement-limit": ("cap", "reject"),
    "options-page-size": ("clamp", "reject"),
    "options-active": ("active", "all"),
    "options-account-number": ("any", "validated"),
    "billers-product-code": ("ignore", "reject"),
    "version-switch-zone": ("service", "utc"),
}


def assumed() -> dict[str, Assumption]:
    return {one.id: one for one in assumptions() if one.knob == f"assume.{one.id}"}


def scenario_assume() -> dict[str, Any]:
    """The members of `assume` in the schema of scenario files."""
    schema = json.loads((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"))
    found = next(part for part in walk(schema) if "refid-reused-with-other-parameters" in part)
    return dict(found)


def walk(value: Any) -> Any:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from walk(member)


def test_each_entry_is_whole() -> None:
    assert {one.id: faults for one in assumptions() if (faults := list(faults_of(one)))} == {}


def faults_of(one: Assumption) -> Iterator[str]:
    is_whole = {
        "id": re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.id),
        "spec": re.fullmatch(r"[1-9](\.[0-9]+)?", one.spec),
        "question": one.question.endswith("?"),
        "choice": one.choice.endswith("."),
        "why": one.why.endswith("."),
        "values": (one.knob is None or one.knob in SECTIONS) == (not one.values),
    }
    return (member for member, holds in is_whole.items() if not holds)


def test_entries_are_unique_and_follow_the_specification() -> None:
    ids = [one.id for one in assumptions()]
    assert len(set(ids)) == len(ids)
    sections = [[int(number) for number in one.spec.split(".")] for one in assumptions()]
    assert sections == sorted(sections)


def test_choices_have_their_values_with_the_default_first() -> None:
    assert {id_: one.values for id_, one in assumed().items() if id_ in CHOICES} == CHOICES
    assert set(assumed()) - set(CHOICES) == {"payment-status-codes", "source-address"}


def test_the_scenario_language_knows_the_same_knobs_and_values() -> None:
    known = scenario_assume()
    assert set(known) == set(assumed())
    for id_, values in CHOICES.items():
        assert known[id_]["enum"] == list(values), id_
    (codes,) = assumed()["payment-status-codes"].values
    assert set(known["payment-status-codes"]["properties"]) == set(codes)


def test_descriptions_for_editors_come_from_the_register_only() -> None:
    members = {"id", "spec", "question", "choice", "why", "knob"}
    for row in rows():
        is_assumed = row["knob"] == f"assume.{row['id']}"
        optional = {"values"} | ({"description", "accepts"} if is_assumed else set())
        assert members <= set(row) <= members | optional, row["id"]
        assert not is_assumed or row["description"].endswith("."), row["id"]
        assert ("accepts" in row) == (is_assumed and len(row["values"]) == 1), row["id"]


def test_a_knob_accepts_its_values_and_an_object_each_of_its_members() -> None:
    known = scenario_assume()
    assert {"type": "string", "x-must-be": "an IP address, or rotate", "maxLength": 45}.items() <= known[
        "source-address"
    ].items()
    (codes,) = assumed()["payment-status-codes"].values
    for name, value in codes.items():
        assert known["payment-status-codes"]["properties"][name] == {
            "description": f"Of {name}; {value} by default.",
            "type": "integer",
            "minimum": 0,
            "maximum": 99999,
        }


def test_the_register_is_an_answer_of_the_control_api() -> None:
    body = json.loads(json.dumps({"assumptions": [asdict(one) for one in assumptions()]}))
    assert validator("assumptions-answer").problems(body) == {}


@pytest.mark.parametrize("one", assumptions(), ids=lambda one: one.id)
def test_a_knobs_values_are_spelled_as_a_scenario_writes_them(one: Assumption) -> None:
    assert tuple(yaml.safe_load(text) for text in one.spellings) == one.values
