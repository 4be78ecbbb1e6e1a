"""Authentication through the whole application (SPEC 5.2, 3.6)."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from simulator.auth.signature import MESSAGES
from tests.support.client import Client, Response, running
from tests.support.signing import sign

NONCE = "n" * 16


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def error(response: Response) -> str:
    assert response.status == 401
    assert response.json["message"] == MESSAGES[response.json["error"]]
    code: str = response.json["error"]
    return code


def signed(client: Client, **changes: str | None) -> Response:
    """`GET /v2/balance` with some headers changed or absent."""
    stamp = str(int(client.wall().timestamp()))
    made: dict[str, str | None] = {
        "x-api-key": client.key,
        "x-timestamp": stamp,
        "x-nonce": NONCE,
        "x-signature": "v1=AAAA",
    }
    made |= {name.replace("_", "-"): value for name, value in changes.items()}
    headers = {name: value for name, value in made.items() if value is not None}
    return client.send("GET", "/v2/balance", headers=headers)


def test_no_headers_at_all(client: Client) -> None:
    assert error(client.send("GET", "/v2/balance")) == "missing_api_key"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"x_api_key": ""}, "missing_api_key"),
        ({"x_api_key": "unknown"}, "invalid_api_key"),
        ({"x_nonce": None}, "missing_hmac_headers"),
        ({"x_signature": ""}, "empty_hmac_values"),
        ({"x_nonce": "short"}, "invalid_nonce_format"),
        ({"x_timestamp": "now"}, "invalid_timestamp_format"),
        ({"x_timestamp": "1"}, "timestamp_expired"),
        ({"x_signature": "AAAA"}, "invalid_signature_format"),
        ({"x_signature": "v1=" + "A" * 2000}, "signature_too_large"),
        ({}, "invalid_signature"),
    ],
)
def test_each_refusal_has_its_code(client: Client, changes: dict[str, str | None], code: str) -> None:
    assert error(signed(client, **changes)) == code


@pytest.mark.parametrize("state", ["revoked", "no_secret", "undecryptable"])
def test_keys_that_exist_to_be_refused(client: Client, state: str) -> None:
    keys = client.live.core.state.keys
    name = next(key for key, (_, held) in keys.items() if held.state == state)
    expected = {"revoked": "invalid_api_key", "no_secret": "hmac_not_configured", "undecryptable": "decryption_error"}
    assert error(client.call("GET", "/v2/balance", key=name)) == expected[state]


def used(client: Client, ahead_s: int = 0) -> str:
    """Return the error of a request with `NONCE`, signed so far ahead of the signatures' clock; "" when accepted."""
    stamp = int(client.live.signing_time().timestamp()) + ahead_s
    return attempt(client, stamp)


def attempt(client: Client, stamp: int) -> str:
    answer = client.call("GET", "/v2/balance", nonce=NONCE, timestamp=stamp)
    return "" if answer.status == 200 else error(answer)


def test_a_nonce_is_accepted_once_in_ten_minutes_of_sandbox_time(client: Client) -> None:
    assert used(client) == ""
    assert used(client) == used(client, ahead_s=1) == "nonce_reused"
    client.advance(599)
    assert used(client, ahead_s=1) == "nonce_reused"
    client.advance(1)
    assert used(client) == "nonce_reused", "the very bytes of before"
    assert used(client, ahead_s=1) == ""


CLOCKS: list[tuple[str, dict[str, object]]] = [
    ("real", {"mode": "real"}),
    ("skewed", {"mode": "real", "skew": "-1h"}),
    ("its own", {"mode": "real", "signature": "sandbox"}),
    ("fast", {"mode": "x60"}),
    ("fast and its own", {"mode": "x60", "signature": "sandbox"}),
    ("slow", {"mode": "xN", "rate": 0.1}),
    ("manual", {"mode": "manual"}),
    ("manual and its own", {"mode": "manual", "signature": "sandbox"}),
    ("in another year", {"mode": "real", "start": "2027-06-01T00:00:00Z"}),
]


@pytest.mark.parametrize("clock", [clock for _, clock in CLOCKS], ids=[name for name, _ in CLOCKS])
@pytest.mark.parametrize("ahead_s", [-300, 0, 300])
def test_no_request_is_accepted_twice_under_any_clock(clock: dict[str, object], ahead_s: int) -> None:
    with running({"clock": clock}) as client:
        stamp = int(client.live.signing_time().timestamp()) + ahead_s
        assert attempt(client, stamp) == ""
        for _ in range(13):
            client.pass_time(60)
            client.advance(60)
            assert attempt(client, stamp) in ("nonce_reused", "timestamp_expired")


def test_a_request_signed_ahead_is_refused_until_its_last_moment() -> None:
    with running({"clock": {"mode": "real"}}) as client:
        stamp = int(client.wall().timestamp()) + 300
        assert attempt(client, stamp) == ""
        client.pass_time(600)
        assert attempt(client, stamp) == "nonce_reused"
        client.pass_time(0.001)
        assert attempt(client, stamp) == "timestamp_expired"


@pytest.mark.parametrize(
    "limits",
    [
        {"timestamp_tolerance": "1h"},
        {"timestamp_tolerance": None},
        {"timestamp_tolerance": "1s"},
        {"nonce_window": "1s"},
        {"nonce_window": "0s"},
        {"timestamp_tolerance": "1h", "nonce_window": "1m"},
    ],
)
def test_no_limits_let_a_request_in_twice(limits: dict[str, object]) -> None:
    with running({"clock": {"mode": "real"}, "limits": limits}) as client:
        stamp = int(client.wall().timestamp())
        assert attempt(client, stamp) == ""
        for seconds in (0, 1, 1, 298, 0.5, 299.5, 1, 2999, 1, 86_400):
            client.pass_time(seconds)
            assert attempt(client, stamp) in ("nonce_reused", "timestamp_expired")
            assert client.call("GET", "/v2/balance").status == 200  # lets what is over be forgotten


def test_a_copy_whose_body_dawdles_until_the_nonce_is_forgotten_is_too_late() -> None:
    with running({"clock": {"mode": "real"}}) as client:
        stamp = int(client.wall().timestamp()) + 300
        body = b'{"refid": "r-1", "product": "RELOAD", "account": "0123456789", "amount": 10}'
        wanted = {"nonce": NONCE, "timestamp": stamp}
        first = client.call("POST", "/v2/topup", body, **wanted)
        assert first.status == 200
        client.pass_time(600)

        async def while_it_waits() -> None:
            client.pass_time(1)
            assert (await client.acall("GET", "/v2/balance")).status == 200
            assert len(client.live.core.state.nonces) == 1

        copy = client.call("POST", "/v2/topup", body, **wanted, before_body=while_it_waits)
        assert error(copy) == "timestamp_expired"
        assert "now that the body is here" in copy.headers["x-sim-diagnosis"]


def test_a_refused_signature_never_spends_its_nonce(client: Client) -> None:
    wrong = "d3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3I="
    assert error(client.call("GET", "/v2/balance", nonce=NONCE, secret=wrong)) == "invalid_signature"
    assert client.call("GET", "/v2/balance", nonce=NONCE).status == 200


def test_fifty_parallel_requests_with_one_nonce_and_one_is_accepted(client: Client) -> None:
    async def storm() -> list[Response]:
        return await asyncio.gather(*(client.acall("GET", "/v2/balance", nonce=NONCE) for _ in range(50)))

    assert Counter(answer.status for answer in client.run(storm())) == {200: 1, 401: 49}


def test_a_nonce_belongs_to_its_key(client: Client) -> None:
    made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json
    other = {"key": made["api_key"], "secret": made["api_secret"]}
    assert client.call("GET", "/v2/balance", nonce=NONCE).status == 200
    assert client.call("GET", "/v2/balance", nonce=NONCE, **other).status == 200


def test_a_nonce_belongs_to_the_reseller_when_the_scenario_says_so() -> None:
    with running({"assume": {"nonce-scope": "reseller"}}) as client:
        made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json
        assert client.call("GET", "/v2/balance", nonce=NONCE).status == 200
        other = client.call("GET", "/v2/balance", nonce=NONCE, key=made["api_key"], secret=made["api_secret"])
        assert error(other) == "nonce_reused"


def test_nonces_are_bounded_by_count() -> None:
    with running({"limits": {"nonces": 3}}) as client:
        for number in range(5):
            assert client.call("GET", "/v2/balance", nonce=f"{NONCE}{number}").status == 200
        assert len(client.live.core.state.nonces) <= 3


def test_a_body_over_ten_megabytes_is_refused_and_one_of_ten_is_read(client: Client) -> None:
    limit = 10 * 1024 * 1024
    assert error(client.call("POST", "/v2/topup", b" " * (limit + 1))) == "body_too_large"
    assert client.call("POST", "/v2/topup", b" " * limit).data["remarks"] == "Invalid_Request"


def test_headers_are_checked_before_the_body(client: Client) -> None:
    large = b" " * (10 * 1024 * 1024 + 1)
    assert error(client.call("POST", "/v2/topup", large, key="unknown")) == "invalid_api_key"


def test_a_moved_sandbox_still_accepts_todays_client(client: Client) -> None:
    client.advance(to="2027-06-01T00:00:00Z")
    assert client.call("GET", "/v2/balance").status == 200


def test_the_scenario_may_skew_the_wall_or_choose_the_sandboxs_clock() -> None:
    with running({"clock": {"mode": "manual", "skew": "10m"}}) as client:
        assert error(client.call("GET", "/v2/balance")) == "timestamp_expired"
        ahead = int(client.wall().timestamp()) + 600
        assert client.call("GET", "/v2/balance", timestamp=ahead).status == 200
    with running({"clock": {"mode": "manual", "signature": "sandbox"}}) as client:
        assert client.call("GET", "/v2/balance").status == 200
        client.advance(301)
        assert error(client.call("GET", "/v2/balance")) == "timestamp_expired"


def test_the_query_is_signed_as_it_is_sent(client: Client) -> None:
    assert client.call("GET", "/v2/catalog?product_code=RELOAD&is_active=true&flag").status == 200
    stamp = str(int(client.wall().timestamp()))
    headers = {
        "X-Api-Key": client.key,
        "X-Timestamp": stamp,
        "X-Nonce": NONCE,
        "X-Signature": sign("GET", "product_code=RELOAD", timestamp=stamp, nonce=NONCE),
    }
    tampered = client.send("GET", "/v2/catalog", "product_code=ELECTRIC", headers=headers)
    assert (tampered.status, tampered.json["error"]) == (401, "invalid_signature")
    assert tampered.json["metadata"] == {"status_code": "401"}


@pytest.mark.parametrize(("choice", "accepted"), [("either", True), ("without", False), ("with", True)])
def test_the_register_decides_about_empty_values(choice: str, accepted: bool) -> None:
    with running({"assume": {"empty-query-values": choice}}) as client:
        answer = client.call("GET", "/v2/catalog?product_code=")  # signed with its empty value
        assert (answer.status == 200) is accepted


@pytest.mark.parametrize(("choice", "accepted"), [("either", True), ("as_sent", True), ("sorted", False)])
def test_the_register_decides_about_repeated_keys(choice: str, accepted: bool) -> None:
    with running({"assume": {"repeated-query-keys": choice}}) as client:
        answer = client.call("GET", "/v2/balance?a=2&a=1")  # signed in the order sent
        assert (answer.status == 200) is accepted


def test_a_nonce_is_not_spent_while_the_nonce_service_is_down() -> None:
    with running({"faults": [{"when": {}, "times": 1, "then": {"nonce_service": "down"}}]}) as client:
        down = client.call("GET", "/v2/balance", nonce=NONCE)
        assert (down.status, down.json["error"]) == (503, "nonce_service_unavailable")
        assert int(down.headers["retry-after"]) > 0
        assert client.call("GET", "/v2/balance", nonce=NONCE).status == 200


def test_an_internal_error_comes_only_from_a_fault_and_spends_no_nonce() -> None:
    fault = {"when": {"path": "/v2/balance"}, "times": 1, "then": {"internal_error": True}}
    with running({"faults": [fault]}) as client:
        assert error(client.call("GET", "/v2/balance", nonce=NONCE)) == "internal_error"
        assert client.call("GET", "/v2/balance", nonce=NONCE).status == 200


def test_an_allowlist_admits_the_addresses_that_it_names(client: Client) -> None:
    settings = "/sandboxes/default/resellers/RS001/settings"
    client.sim("PATCH", settings, {"ip_allowlist": ["10.0.0.0/8"]})
    refused = client.call("GET", "/v2/balance")
    assert (refused.status, refused.json["error"]) == (403, "ip_not_allowed")
    client.sim("PATCH", settings, {"ip_allowlist": ["10.0.0.0/8", "127.0.0.1"]})
    assert client.call("GET", "/v2/balance").status == 200


def test_every_answer_says_which_sandbox_and_request_it_was(client: Client) -> None:
    first, second = client.send("GET", "/v2/balance"), client.send("GET", "/nowhere")
    assert first.headers["x-sim-sandbox"] == "default"
    assert int(second.headers["x-sim-request-id"]) == int(first.headers["x-sim-request-id"]) + 1


def test_a_diagnosis_comes_with_a_refused_signature(client: Client) -> None:
    body = b'{"refid": "a"}'
    refused = client.call("POST", "/v2/topup", body, headers={"X-Signature": ""})
    assert error(refused) == "empty_hmac_values"
    stamp = str(int(client.wall().timestamp()))
    import base64

    lower = sign("post", "", body, timestamp=stamp, nonce=NONCE, secret=base64.b64decode(client.secret))
    headers = {"X-Api-Key": client.key, "X-Timestamp": stamp, "X-Nonce": NONCE, "X-Signature": lower}
    answer = client.send("POST", "/v2/topup", body=body, headers=headers)
    assert "lower case" in answer.headers["x-sim-diagnosis"]


def test_the_nonce_service_may_be_down_for_a_single_product() -> None:
    faults = [{"name": "down", "when": {"product": "RELOAD"}, "times": 1, "then": {"nonce_service": "down"}}]
    with running({"faults": faults}) as client:
        assert client.pay().status == 503
        assert not client.live.core.state.transactions
        assert client.pay().status == 200


def test_an_answer_names_the_fault_and_the_rule() -> None:
    with running({"faults": [{"name": "slow", "when": {}, "then": {"delay": "1ms"}}]}) as client:
        assert client.pay().headers["x-sim-rule"] == "slow, ordinary"
