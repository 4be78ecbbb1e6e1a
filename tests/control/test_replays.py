"""A request of the journal is sent once more: equal bytes with a new signature."""

import json
from typing import Any

import pytest

from tests.support.client import Client, Response, running

REQUESTS = "/sandboxes/default/requests"
LOST = [{"name": "lost", "when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, "disconnect": True}}]


def replay(client: Client, n: int, sandbox: str = "default") -> Any:
    """Return the outcome of a repeated request."""
    response = client.sim("POST", f"/sandboxes/{sandbox}/requests/{n}/replay")
    assert response.status == 201, response.body
    return response.json


def number(response: Response) -> int:
    return int(response.headers["x-sim-request-id"])


def whole(client: Client, n: int) -> Any:
    return client.sim("GET", f"{REQUESTS}/{n}").json


def test_a_payment_is_queried_again_by_its_own_bytes_with_a_nonce_and_timestamp_of_now() -> None:
    with running() as client:
        first = number(client.pay("order-1"))
        client.pass_time(3600)
        client.advance()
        found = replay(client, first)
        assert (found["status"], found["replay_of"], found["request_id"]) == (200, first, str(found["n"]))
        one, two = whole(client, first), whole(client, found["n"])
        assert two["request"]["body"] == one["request"]["body"]
        assert json.loads(two["response"]["body"])["data"]["status"] == "Succesful"
        changed = {name for name, value in two["request"]["headers"] if [name, value] not in one["request"]["headers"]}
        assert changed == {"x-timestamp", "x-nonce", "x-signature"}
        assert (two["replay_of"], "replay_of" in one) == (first, False)
        assert len(client.sim("GET", "/sandboxes/default/transactions").json["transactions"]) == 1


def test_a_request_with_a_query_is_signed_in_its_written_form() -> None:
    with running() as client:
        first = number(client.call("GET", "/v2/catalog?product_code=RELOAD"))
        assert replay(client, first)["status"] == 200


def test_a_request_whose_signature_was_wrong_is_signed_rightly_now() -> None:
    with running() as client:
        refused = client.call("GET", "/v2/balance", secret="d3Jvbmc=")
        assert refused.status == 401
        found = replay(client, number(refused))
        assert found["status"] == 200
        assert replay(client, found["n"])["replay_of"] == found["n"]


def test_a_request_with_a_bearer_token_has_the_same_token() -> None:
    with running() as client:
        user = client.live.scenario.resellers[0].users[0]
        form = f"username={user.username}&password={user.password}".encode()
        token = client.send("POST", "/v2/token", "", form, {"content-type": "application/x-www-form-urlencoded"})
        bearer = {"authorization": f"Bearer {token.json['AuthenticationResult']['IdToken']}"}
        first = number(client.send("GET", "/v1/interbank/billers", "", b"", bearer))
        assert replay(client, first)["status"] == 200
        assert replay(client, number(token))["status"] == 200


def test_a_request_without_credentials_is_refused_again() -> None:
    with running() as client:
        first = number(client.send("GET", "/v2/balance"))
        found = replay(client, first)
        assert found["status"] == 401
        assert whole(client, found["n"])["error"] == "missing_api_key"


def test_a_fault_meets_a_replay_as_any_request_and_a_closed_connection_is_reported() -> None:
    with running({"faults": LOST}) as client:
        assert client.call("GET", "/v2/balance").status == 200
        assert client.pay("order-1").status == 0
        lost = client.sim("GET", f"{REQUESTS}?path=/v2/topup").json["requests"][0]["n"]
        assert replay(client, lost)["status"] == 200
        client.sim("POST", "/sandboxes/default/rules", {"section": "faults", "rule": LOST[0] | {"name": "again"}})
        found = replay(client, lost)
        assert found["status"] == 0
        assert whole(client, found["n"])["fault"] == "again"


def test_a_request_of_another_sandbox_goes_there() -> None:
    with running() as client:
        client.sandbox({"extends": "default", "clock": {"mode": "manual"}}, "other")
        first = number(client.pay("order-1", sandbox="other"))
        assert replay(client, first, "other")["status"] == 200
        assert client.sim("GET", "/sandboxes/other/requests").json["requests"][0]["replay_of"] == first
        assert client.sim("GET", REQUESTS).json["requests"] == []


def test_a_refused_request_at_the_root_goes_to_the_sandbox_of_its_key() -> None:
    with running() as client:
        made = client.sim("POST", "/sandboxes", {"credentials": "unique"}).json
        keys = made["resellers"][0]
        refused = client.call("GET", "/v2/balance", key=keys["api_key"], secret="d3Jvbmc=")
        found = replay(client, number(refused), made["id"])
        assert found["status"] == 200
        assert client.sim("GET", f"/sandboxes/{made['id']}/requests").json["requests"][0]["n"] == found["n"]
        assert client.sim("GET", REQUESTS).json["requests"] == []


@pytest.mark.parametrize("n", ["0", "99", "x", "1" * 40])
def test_a_number_that_the_journal_does_not_have_is_unknown(n: str) -> None:
    with running() as client:
        response = client.sim("POST", f"{REQUESTS}/{n}/replay")
        assert (response.status, response.json["error"]) == (404, "unknown_request")


def test_a_request_whose_body_was_not_read_cannot_be_sent_again() -> None:
    with running() as client:
        body = b'{"refid": "order-1"}'
        refused = client.send("POST", "/v2/topup", "", b"", {"content-length": str(len(body)), "x-api-key": client.key})
        response = client.sim("POST", f"{REQUESTS}/{number(refused)}/replay")
        assert (response.status, response.json["error"]) == (409, "body_not_read")
        assert "20 bytes was not read" in response.json["message"]


@pytest.mark.parametrize("key", ["unknown_key", "test_key_RS001_no_secret"])
def test_a_request_whose_key_has_no_secret_here_cannot_be_signed(key: str) -> None:
    with running() as client:
        refused = client.call("GET", "/v2/balance", key=key)
        response = client.sim("POST", f"{REQUESTS}/{number(refused)}/replay")
        assert (response.status, response.json["error"]) == (409, "cannot_sign")


def test_a_replay_has_no_parameters() -> None:
    with running() as client:
        first = number(client.call("GET", "/v2/balance"))
        response = client.sim("POST", f"{REQUESTS}/{first}/replay?times=2")
        assert (response.status, response.json["path"]) == (400, "times")
        assert len(client.sim("GET", REQUESTS).json["requests"]) == 1


def test_a_long_body_is_hashed_beside_the_event_loop() -> None:
    with running() as client:
        first = number(client.call("POST", "/v2/topup", b'{"refid": "' + b"x" * 9_000_000 + b'"}'))
        assert replay(client, first)["status"] == 400
