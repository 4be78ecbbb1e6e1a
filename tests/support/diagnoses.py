"""The diagnosis of a response, and payments that are refused."""

from typing import Any

from tests.support.client import Client, Response

DATA = {"product": "DATA", "account": "0123456789", "amount": "10"}


def code(plan: Any) -> dict[str, Any]:
    return {"extras": {"subproduct_code": plan}}


def topup(client: Client, body: dict[str, Any]) -> Response:
    return client.call("POST", "/v2/topup", {"refid": "new"} | body)


def diagnosis(client: Client, answer: Response) -> str:
    """Return the diagnosis in a response, and assert that the journal has the same apart from escapes."""
    header = answer.headers.get("x-sim-diagnosis", "")
    entry = client.sim("GET", f"/sandboxes/default/requests/{answer.headers['x-sim-request-id']}").json
    assert entry["diagnosis"].encode("unicode_escape").decode() == header
    return header
