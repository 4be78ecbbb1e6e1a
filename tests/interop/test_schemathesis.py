"""Schemathesis over both documents, all phases and checks: whatever it finds is a defect, or a documented refusal."""

import re
from pathlib import Path

import pytest

from tests.support.fuzzing.reasons import REASONS, explained
from tests.support.fuzzing.run import SERVER_ARGUMENTS, Run, findings, prepare, schemathesis
from tests.support.processes import ROOT, serving

ALL_CHECKS = {
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance"),
    *("response_schema_conformance", "negative_data_rejection", "positive_data_acceptance", "missing_required_header"),
    *("unsupported_method", "allow_header_conformance", "use_after_free", "ensure_resource_availability"),
    *("ignored_auth", "object_level_authorization"),
}
PHASES = {"examples", "coverage", "fuzzing", "stateful"}


def _run(document: str, folder: Path, examples: int) -> Run:
    with serving(*SERVER_ARGUMENTS) as server:
        prepare(server)
        return schemathesis(server, document, folder, seed=1, examples=examples)


@pytest.mark.slow
def test_the_reseller_api_does_what_its_document_says(tmp_path: Path) -> None:
    run = _run("reseller", tmp_path, 6)
    assert findings(run) == []
    assert set(run.counts["checks"]) == ALL_CHECKS
    assert set(run.counts["phases"]) == PHASES
    payments = run.counts["payments"]
    created = sum(count for what, count in payments.items() if what.startswith("created"))
    assert created >= 10, payments
    assert payments["re-queried"] >= 2, payments
    assert sum(count for what, count in payments.items() if what.startswith("voidPayment")) >= 2, payments


@pytest.mark.slow
def test_the_control_api_does_what_its_document_says(tmp_path: Path) -> None:
    run = _run("control", tmp_path, 2)
    assert findings(run) == []
    assert set(run.counts["checks"]) == ALL_CHECKS
    assert PHASES - {"examples"} <= set(run.counts["phases"])
    assert sum(count for what, count in run.counts["answers"].items() if what == "createSandbox 201") >= 2


def test_each_reason_names_a_place_that_is_in_the_documentation() -> None:
    service = (ROOT / "docs/service.md").read_text()
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs/control-api.md").read_text(), re.MULTILINE)
    register = re.findall(r"^- id: (\S+)$", (ROOT / "contracts/assumptions.yaml").read_text(), re.MULTILINE)
    for reason in REASONS:
        section = reason.where.removeprefix("SPEC ")
        is_section = section != reason.where and re.search(rf"^#+ {re.escape(section)} ", service, re.MULTILINE)
        assert is_section or reason.where in (*headings, *register), reason


def test_only_a_refusal_may_be_explained() -> None:
    body = b'{"error": "unknown_rule", "message": "X-Sim-Rule names \'x\'"}'
    assert explained("RejectedPositiveData", "getBalance", 400, body)
    assert explained("ServerError", "getBalance", 500, body) is None
    assert explained("UndefinedStatusCode", "getBalance", 400, body) is None


def test_a_refusal_of_two_things_needs_two_reasons() -> None:
    both = b'{"errors": {"date": ["must be a day of the calendar"], "limit": ["is odd"]}}'
    assert explained("RejectedPositiveData", "listTransactions", 400, both) is None
