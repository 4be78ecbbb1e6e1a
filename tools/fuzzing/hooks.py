"""The hooks that Schemathesis loads (SCHEMATHESIS_HOOKS): sign requests, insert existing values, explain refusals,
count."""

import base64
import json
import os
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import strategies
from schemathesis.cli import EventHandler, handler
from schemathesis.engine.events import EngineFinished, ScenarioFinished

from tests.support.signing import sign
from tools.fuzzing.bounded_bodies import bound_bodies
from tools.fuzzing.reasons import LENIENT, NULL_MEMBERS, answered, explained, is_valid_without_nulls
from tools.fuzzing.values import (
    BILL_PRODUCTS,
    RULE,
    good_body,
    good_paths,
    good_query,
    not_waiting,
    one_of,
    sent_home,
)

KEY = os.environ["FUZZ_KEY"]
SECRET = base64.b64decode(os.environ["FUZZ_SECRET"])
TOKEN = os.environ["FUZZ_TOKEN"]
REPORT = Path(os.environ["FUZZ_REPORT"])

COUNTS: dict[str, Counter[str]] = {
    name: Counter() for name in ("phases", "checks", "answers", "links", "payments", "reasons", "unexplained")
}


STREAMS = frozenset({"streamEvents", "streamSandboxEvents"})

VOIDABLE: deque[str] = deque()
"""References of payments that succeeded and whose products can be refunded."""


class Signing:
    """Sign each request as it is sent (SPEC 5.1) with a new nonce, or add the token of the control API."""

    def __call__(self, request: Any) -> Any:
        """Take a request as `requests` has prepared it, and return it with its headers."""
        assert request.url
        if "/_sim/" in request.url or request.url.endswith("/openapi.json"):
            request.headers["Authorization"] = f"Bearer {TOKEN}"
            return request
        body = request.body or b""
        content = body.encode() if isinstance(body, str) else body
        assert isinstance(content, bytes)
        stamp, nonce = str(int(time.time())), os.urandom(16).hex()
        query = request.url.partition("?")[2]
        signature = sign(request.method or "", query, content, timestamp=stamp, nonce=nonce, secret=SECRET)
        request.headers.update({"X-Api-Key": KEY, "X-Timestamp": stamp, "X-Nonce": nonce, "X-Signature": signature})
        return request


schemathesis.openapi.format("ip-network", strategies.ip_addresses().map(str))
schemathesis.auth.set_from_requests(Signing())  # type: ignore[attr-defined]  # set on a function


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Put the bodies of links where Schemathesis reads them. If the run asks for it, bound the bodies of the coverage
    phase."""
    restore_link_bodies(raw_schema)
    if "FUZZ_BOUNDED" in os.environ:
        bound_bodies(raw_schema)


def restore_link_bodies(part: Any) -> None:
    """The contract is served with `x-request-body` for a body that is an object."""
    if isinstance(part, dict) and "operationId" in part and "x-request-body" in part:
        part["requestBody"] = part.pop("x-request-body")
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        restore_link_bodies(each)


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    """Insert existing objects in most cases; the value of a followed link takes precedence."""
    return good_paths(_operation(context), path_parameters, share=0.8) if path_parameters else path_parameters


@schemathesis.hook
def map_case(context: Any, case: Any) -> Any:
    """Insert existing values into the parts of a request that should be valid."""
    operation, phase = _operation(context), case.meta.phase.name.value
    valid = {location.value for location, part in case.meta.components.items() if part.mode.is_positive}
    if "path" in valid and case.path_parameters and phase in ("examples", "coverage"):
        case.path_parameters = good_paths(operation, case.path_parameters, share=1)
    if "query" in valid and case.query and phase != "stateful":
        case.query = good_query(operation, dict(case.query))
    if "body" in valid and isinstance(case.body, dict) and phase != "coverage":
        case.body = good_body(operation, case.body)
        if operation == "createSandbox" and "query" in valid:
            case.body = {name: value for name, value in case.body.items() if name == "scenario"}
            case.query = {}  # its parameters are beside YAML only
    if "header" in valid and (rule := (case.headers or {}).get("X-Sim-Rule")):
        case.headers["X-Sim-Rule"] = one_of(rule, [RULE, "", "", rule])
    return case


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Shorten waits, replace web addresses by loopback, and void payments that can be voided while there are any."""
    is_void = _operation(context) == "voidPayment" and isinstance(case.body, dict)
    if is_void and VOIDABLE and all(part.mode.is_positive for part in case.meta.components.values()):
        case.body = {name: value for name, value in case.body.items() if name != "trxid"} | {
            "refid": VOIDABLE.popleft()
        }
    if _operation(context) in STREAMS:  # they would not end
        case.query = {"timeout": 0} | dict(case.query or {})
    if case.query:
        case.query = sent_home(not_waiting(dict(case.query)))
    if isinstance(case.body, dict):
        case.body = sent_home(case.body)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Record payments that can be voided."""
    if _operation(context) == "createPayment" and response.status_code == 200:
        data = response.json()["data"]
        if data["status"] == "Succesful" and data["product"] in BILL_PRODUCTS:
            VOIDABLE.append(data["refid"])


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Drop failures that a reason explains."""
    check, operation = type(failure).__name__, _operation(context)
    if check == "JsonSchemaError" and response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
        return False  # Schemathesis checks events against the schema of the text; our own tests check all events
    if check == LENIENT and _is_valid_without_nulls(case):
        COUNTS["reasons"][f"{operation}, {NULL_MEMBERS}: null stands for an absent member"] += 1
        return False
    if check == "EnsureResourceAvailability" and b'"unknown_mark"' in response.content:
        COUNTS["reasons"][f"{operation}: a reset, a rewind or another removal came between"] += 1
        return False
    reasons = explained(check, operation, response.status_code, response.content)
    if reasons is None:
        for said in answered(response.content):
            COUNTS["unexplained"][f"{check} of {operation}, {response.status_code}: {said[:150]}"] += 1
        return True
    COUNTS["reasons"].update(reason.label for reason in reasons)
    return False


@handler()
class Counting(EventHandler):  # type: ignore[type-arg]
    """Count what was tried from the records of each scenario, and write the counts at the end."""

    def __init__(self, *args: Any, **params: Any) -> None:
        self._refids: set[str] = set()

    def handle_event(self, ctx: Any, event: Any) -> None:
        """Count a finished scenario."""
        if isinstance(event, ScenarioFinished):
            for case_id, checks in event.recorder.checks.items():
                COUNTS["phases"][event.phase.value] += 1
                COUNTS["checks"].update(check.name for check in checks)
                self._count(event.recorder.cases[case_id], event.recorder.interactions.get(case_id))
        if isinstance(event, EngineFinished):
            REPORT.write_text(json.dumps(COUNTS))

    def _count(self, node: Any, exchange: Any) -> None:
        if exchange is None or exchange.response is None:
            return
        operation, response = _operation(node.value), exchange.response
        COUNTS["answers"][f"{operation} {response.status_code}"] += 1
        if node.transition is not None and node.is_transition_applied:
            COUNTS["links"][f"{node.transition.id} {response.status_code}"] += 1
        if response.status_code == 200:
            self._count_payment(operation, response.content)

    def _count_payment(self, operation: str, content: bytes) -> None:
        if operation == "createPayment":
            data = json.loads(content)["data"]
            COUNTS["payments"]["re-queried" if data["refid"] in self._refids else f"created, {data['status']}"] += 1
            self._refids.add(data["refid"])
        if operation in ("voidPayment", "disputePayment"):
            COUNTS["payments"][f"{operation}, {json.loads(content)['data']['status']}"] += 1


def _is_valid_without_nulls(case: Any) -> bool:
    """Return True when the body alone makes a request invalid, and only by null for optional members."""
    others = (part for location, part in case.meta.components.items() if location.value != "body")
    if not all(part.mode.is_positive for part in others):
        return False
    document = case.operation.schema.raw_schema
    schema = case.operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
    return is_valid_without_nulls(case.body, schema, document["components"])


def _operation(owner: Any) -> str:
    """Return the operation id of a context or a case."""
    return str(owner.operation.definition.raw["operationId"])
