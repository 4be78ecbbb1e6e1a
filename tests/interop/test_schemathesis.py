"""Schemathesis over both documents, all phases and checks: every finding is a defect or a documented refusal."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import ROOT, Serving, serving
from tools.fuzzing.bounded_bodies import bounded
from tools.fuzzing.reasons import REASONS, Reason, explained, is_valid_without_nulls
from tools.fuzzing.run import SERVER_ARGUMENTS, SETTINGS, Run, findings, prepare, schemathesis, started

pytestmark = pytest.mark.slow

ALL_CHECKS = {
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance"),
    *("response_schema_conformance", "negative_data_rejection", "positive_data_acceptance", "missing_required_header"),
    *("unsupported_method", "allow_header_conformance", "use_after_free", "ensure_resource_availability"),
    *("ignored_auth", "object_level_authorization"),
}
PHASES = {"examples", "coverage", "fuzzing", "stateful"}


def _run(document: str, folder: Path, examples: int, seed: int) -> Run:
    with serving(*SERVER_ARGUMENTS) as server:
        prepare(server)
        (run,) = schemathesis(server, document, folder, seed=seed, examples=examples)
        return run


@pytest.mark.slow
def test_the_reseller_api_does_what_its_document_says(tmp_path: Path) -> None:
    run = _run("reseller", tmp_path, 12, seed=3)
    assert findings(run) == []
    assert set(run.counts["checks"]) == ALL_CHECKS
    assert set(run.counts["phases"]) == PHASES
    payments = run.counts["payments"]
    assert sum(count for what, count in payments.items() if what.startswith("created")) >= 8, payments
    assert payments["re-queried"] >= 2, payments
    assert payments["voidPayment, Success"] >= 1, payments
    answers = run.counts["answers"]
    assert min(answers[each] for each in ("putBalanceWebhook 200", "listDeliveries 200", "replayDeliveries 200")) >= 3
    assert {"requery", "void"} <= _followed(run)


@pytest.mark.slow
def test_the_control_api_does_what_its_document_says(tmp_path: Path) -> None:
    run = _run("control", tmp_path, 2, seed=5)
    assert findings(run) == []
    assert set(run.counts["checks"]) == ALL_CHECKS
    assert set(run.counts["phases"]) == PHASES
    answers = run.counts["answers"]
    assert answers["createSandbox 201"], answers
    assert min(answers["addDeposit 201"], answers["listSandboxDeliveries 200"]) >= 2
    assert len(_followed(run)) >= 2


def _followed(run: Run) -> set[str]:
    """The names of the links that led to a success."""
    return {
        found[1]
        for one in run.counts["links"]
        if (found := re.fullmatch(r".*\] (\w+) -> \w+ \S+ 2\d\d", one)) is not None
    }


ANSWERS = {
    "/_sim/health": (200, b'{"status": "ok", "version": "1", "extra": true}'),
    "/_sim/assumptions": (418, b'{"error": "teapot", "message": "", "path": ""}'),
    "/_sim/sandboxes": (500, b'{"error": "unexpected", "message": "", "path": ""}'),
}


class _Damaged(QuietHandler):
    """Answers as `ANSWERS` say, and hands out the control API's contract."""

    def do_GET(self) -> None:
        status, body = ANSWERS.get(self.path.partition("?")[0], (404, b"{}"))
        self.respond(status, body, {"Content-Type": "application/json"})


class _Place(Serving):
    """A server that is no process."""

    def __init__(self, url: str) -> None:
        super().__init__(None, json.dumps({"url": url, "resellers": [{"api_key": "k", "api_secret": "c2VjcmV0"}]}))  # type: ignore[arg-type]


@contextmanager
def _damaged() -> Iterator[_Place]:
    with local_server(_Damaged) as url:
        yield _Place(url)


@pytest.mark.slow
def test_a_run_finds_planted_defects(tmp_path: Path) -> None:
    document = json.loads(json.dumps(bundled(CONTROL)))
    document["components"]["schemas"]["HealthAnswer"]["additionalProperties"] = False
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps(document))
    operations = ("getHealth", "getAssumptions", "listSandboxes")
    only = [part for operation in operations for part in ("--include-operation-id", operation)]
    with _damaged() as server:
        options = ("--url", server.ready["url"], "--phases", "fuzzing", *only)
        run = started(
            server, str(contract), tmp_path, SETTINGS.format(seed=1, examples=1, chains=1, payments=1), *options
        )
    assert {line.partition(" x ")[2].partition(":")[0] for line in findings(run)} == {
        "JsonSchemaError of getHealth, 200",
        "UndefinedStatusCode of getAssumptions, 418",
        "RejectedPositiveData of getAssumptions, 418",
        "ServerError of listSandboxes, 500",
        "RejectedPositiveData of listSandboxes, 500",
    }


def _documented() -> dict[str, str]:
    """The texts of the places that a reason may name."""
    service, control = ((ROOT / "docs" / name).read_text() for name in ("service.md", "control-api.md"))
    entries = re.split(r"^- id: (\S+)$", (ROOT / "contracts/assumptions.yaml").read_text(), flags=re.MULTILINE)
    places = {name: " ".join(text.split()) for name, text in zip(entries[1::2], entries[2::2], strict=True)}
    parts = re.split(r"^#+ ([0-9.]+) .*$", service, flags=re.MULTILINE)
    places |= {f"SPEC {number}": text for number, text in zip(parts[1::2], parts[2::2], strict=True)}
    parts = re.split(r"^## (.*)$", control, flags=re.MULTILINE)
    return places | dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.label)
def test_each_reason_names_a_place_that_documents_it(reason: Reason) -> None:
    assert reason.names in _documented()[reason.where]


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.label)
def test_no_reason_explains_a_made_up_refusal(reason: Reason) -> None:
    operations = {one["operationId"] for document in (OPENAPI, CONTROL) for one in _operations(bundled(document))}
    assert any(re.fullmatch(reason.operations, one) for one in operations)
    for said in ("", "a made-up refusal", "bad_request: must be green", "made_up: must be green", "url: must be green"):
        assert not any(reason.explains(operation, reason.status, said) for operation in operations)


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from (one for one in path.values() if isinstance(one, dict) and "operationId" in one)


def test_only_a_refusal_may_be_explained() -> None:
    body = b'{"error": "unknown_rule", "message": "X-Sim-Rule names \'x\', but the sandbox has no rule of that name."}'
    assert explained("RejectedPositiveData", "getBalance", 400, body)
    assert explained("ServerError", "getBalance", 500, body) is None
    assert explained("UndefinedStatusCode", "getBalance", 400, body) is None


def test_a_refusal_of_two_things_needs_two_reasons() -> None:
    both = b'{"errors": {"date": ["must be a day of the calendar"], "limit": ["is odd"]}}'
    assert explained("RejectedPositiveData", "listTransactions", 400, both) is None


@pytest.mark.parametrize(
    ("body", "only_nulls"),
    [
        ({"a": None}, True),
        ({"a": 1}, False),
        ({"a": "x"}, False),
        ({"a": "x", "b": None}, False),
        ({"a": None, "c": 1}, False),
    ],
)
def test_only_nulls_of_optional_members_are_a_leniency(body: dict[str, Any], only_nulls: bool) -> None:
    schema = {"$ref": "#/components/schemas/One"}
    one = {"type": "object", "properties": {"a": {"type": "string"}, "b": {}, "c": {"type": "string"}}}
    assert is_valid_without_nulls(body, schema, {"schemas": {"One": one}}) is only_nulls


def test_a_bounded_body_keeps_what_is_required_and_what_is_small() -> None:
    components = {"Deep": {"type": "object", "properties": {"x": {"type": "string"}}}, "Code": {"type": "string"}}
    whole = {
        "type": "object",
        "required": ["deep"],
        "properties": {
            "deep": {"$ref": "#/components/schemas/Deep"},
            "other": {"$ref": "#/components/schemas/Deep"},
            "code": {"$ref": "#/components/schemas/Code"},
        },
    }
    assert bounded(whole, components) == {
        "type": "object",
        "required": ["deep"],
        "properties": {"deep": components["Deep"], "code": components["Code"]},
    }
