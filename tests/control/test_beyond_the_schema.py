"""Requests that the schema allows and the server refuses: the list of the fuzzer explains each refusal."""

from typing import Any

import jsonschema_rs
import pytest

from simulator.contract.openapi import CONTROL, bundled
from tests.support.client import running
from tools.fuzzing.reasons import REFUSED, explained

ONE = "/sandboxes/default"
CASES = [
    ("addReseller", "POST", f"{ONE}/resellers", "ScenarioReseller", {"code": "b", "balance": "0.001"}),
    ("addReseller", "POST", f"{ONE}/resellers", "ScenarioReseller", {"code": "b", "balance": 0.001}),
    ("addReseller", "POST", f"{ONE}/resellers", "ScenarioReseller", {"code": "b", "low_balance_threshold": "1.001"}),
    ("advanceClock", "POST", f"{ONE}/clock/advance", "AdvanceRequest", {"to": "2199-12-31T23:59:00-14:00"}),
    ("advanceClock", "POST", f"{ONE}/clock/advance", "AdvanceRequest", {"to": "1990-01-01T00:00:00+14:00"}),
    ("advanceClock", "POST", f"{ONE}/clock/advance", "AdvanceRequest", {"to": "1990-01-01T00:00Z"}),
    ("advanceClock", "POST", f"{ONE}/clock/advance", "AdvanceRequest", {"to": "2031-02-31T00:00Z"}),
    ("setClock", "PUT", f"{ONE}/clock", "ClockRequest", {"now": "2199-12-31T23:59:00-14:00"}),
    ("setClock", "PUT", f"{ONE}/clock", "ClockRequest", {"now": "2031-02-31T00:00Z"}),
    ("setInboxReplies", "PUT", f"{ONE}/inbox/a", "InboxRepliesRequest", {"replies": [{"delay": "301s"}]}),
    ("setInboxReplies", "PUT", f"{ONE}/inbox/a", "InboxRepliesRequest", {"replies": [{"delay": "4m1m1ms"}]}),
    ("setInboxReplies", "PUT", f"{ONE}/inbox/a", "InboxRepliesRequest", {"replies": [{"delay": "999999999d"}]}),
    ("setInboxReplies", "PUT", f"{ONE}/inbox/a", "InboxRepliesRequest", {"during": [{"since": "1m", "delay": "6m"}]}),
]


@pytest.mark.parametrize(("operation", "method", "path", "schema", "body"), CASES)
def test_a_refusal_of_what_the_schema_allows_is_explained(
    operation: str, method: str, path: str, schema: str, body: dict[str, Any]
) -> None:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": bundled(CONTROL)["components"]}
    assert jsonschema_rs.Draft202012Validator(whole).is_valid(body)
    with running() as client:
        answer = client.sim(method, path, body)
    assert answer.status == 400
    assert explained(REFUSED, operation, 400, answer.body) is not None, answer.body


def test_contract_and_server_accept_the_same_event_ids() -> None:
    """The header has no pattern of its own, since HTTP takes the blanks around it away; it is read as the query is."""
    components = bundled(CONTROL)["components"]
    schema = {**components["parameters"]["AfterEvent"]["schema"], "components": components}
    allows = jsonschema_rs.Draft202012Validator(schema)
    with running() as client:
        begun = client.sim("GET", f"{ONE}/events?after=0&timeout=0").body.decode()
        known = next(line[4:] for line in begun.splitlines() if line.startswith("id: "))
        for text in (known, "0", "00", "x", "mine", "1", "0.1.1", f"{known}.1", known.upper(), "0" * 8 + ".1.1"):
            in_query = client.sim("GET", f"{ONE}/events?timeout=0&after={text}").status
            in_header = client.sim("GET", f"{ONE}/events?timeout=0", last_event_id=text).status
            assert (in_query == 200) == allows.is_valid(text), text
            assert in_header == in_query, text
