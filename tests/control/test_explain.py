"""`/_sim/sandboxes/{id}/explain`: the signing bench."""

import json
import shlex
from base64 import b64encode
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from simulator.auth.autopsy.signing_steps import TEXT_BYTES_MAX
from simulator.cli.main import cli
from simulator.contract.openapi import CONTROL, bundled
from simulator.control.curl import ARGUMENT_BYTES_MAX
from tests.support.client import Client, Response, running
from tests.support.signing import sign

EXPLAIN = "/sandboxes/default/explain"
BODY = b'{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":"10"}'
NONCE = "nonce-of-the-bench-1"


@pytest.fixture
def client() -> Any:
    with running() as made:
        yield made


def request(client: Client, target: str = "/v2/topup", body: bytes = BODY, **more: Any) -> dict[str, Any]:
    """A request as the bench takes it, signed rightly unless it is said otherwise."""
    method = "POST" if body else "GET"
    headers = client.signature(method, target.partition("?")[2], body, **({"nonce": NONCE} | more))
    return {"method": method, "path": target, "headers": headers, "body": body.decode()}


def explain(client: Client, given: Any) -> Any:
    response = client.sim("POST", EXPLAIN, given)
    assert response.status == 200, response.body
    return response.json


def refusal(response: Response) -> tuple[int, str, str]:
    return response.status, response.json["error"], response.json["path"]


# Valid signatures


def test_a_right_signature_is_valid_and_its_string_is_shown_piece_by_piece(client: Client) -> None:
    given = request(client, "/v2/catalog?b=2&a=1&c", b"")
    found = explain(client, given)
    assert (found["verdict"], found["message"]) == ("valid", "the signature is right")
    assert found["expected_signature"] == found["given_signature"] == given["headers"]["X-Signature"]
    pieces = found["canonical"]["parts"]
    assert ":".join(one["value"] for one in pieces) == found["canonical"]["text"]
    assert [one["name"] for one in pieces] == ["version", "timestamp", "nonce", "method", "query", "body_hash"]
    assert (pieces[2]["value"], pieces[3]["value"], pieces[4]["value"]) == (NONCE, "GET", "a=1&b=2")
    assert "sorted by key, without parameters that have no =" in pieces[4]["why"]
    assert found["request"]["path"] == "/v2/catalog"
    assert found["request"]["query"] == "b=2&a=1&c"
    assert found["key"] == {"api_key": client.key, "reseller": "RS001", "known": True, "state": "active"}
    assert found["autopsy"]["is_right"]


def test_explain_sends_no_request_and_spends_no_nonce(client: Client) -> None:
    given = request(client)
    explain(client, given)
    assert client.sim("GET", "/sandboxes/default/requests").json["requests"] == []
    sent = client.send("POST", "/v2/topup", "", BODY, given["headers"])
    assert sent.status == 200
    assert explain(client, given)["verdict"] == "nonce_reused"


def test_the_command_that_is_signed_again_is_accepted(client: Client) -> None:
    found = explain(client, request(client, secret="d3Jvbmc="))
    assert found["verdict"] == "invalid_signature"
    words = shlex.split(found["curl"])
    again = explain(client, {"curl": found["curl"]})
    assert again["verdict"] == "valid"
    headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
    assert client.send("POST", "/v2/topup", "", words[-1].encode(), headers).status == 200


@pytest.mark.parametrize("as_pairs", [True, False])
def test_headers_are_pairs_or_an_object_and_a_body_may_be_base64(client: Client, as_pairs: bool) -> None:
    given = request(client)
    headers = [[name.lower(), value] for name, value in given["headers"].items()] if as_pairs else given["headers"]
    whole = {"method": "post", "path": "/v2/topup", "headers": headers, "body_base64": b64encode(BODY).decode()}
    assert explain(client, whole)["verdict"] == "valid"
    published = bundled(CONTROL)["components"]["schemas"]["ExplainRequest"]
    assert jsonschema.Draft202012Validator(published).is_valid(whole)


def test_a_curl_command_is_read_as_a_shell_reads_it_and_its_address_does_not_matter(client: Client) -> None:
    flags = " ".join(f"-H '{name}: {value}'" for name, value in request(client)["headers"].items())
    text = f"$ curl -X POST 'https://staging.example/s/mine/v2/topup' \\\n {flags} --data-raw '{BODY.decode()}'"
    found = explain(client, {"curl": text})
    assert found["verdict"] == "valid"
    assert found["request"]["path"] == "/v2/topup"
    assert "http://127.0.0.1:8080/v2/topup" in found["curl"]


@pytest.mark.parametrize("body", [b"\n{}", b'{"a": "it\'s $(b)"}'])
def test_the_journals_command_is_explained(client: Client, body: bytes) -> None:
    headers = client.signature("post", "", body, nonce=NONCE)
    assert client.send("POST", "/v2/topup", "", body, headers).status == 401
    text = client.sim("GET", "/sandboxes/default/requests/1.curl").body.decode()
    found = explain(client, {"curl": text})
    assert (found["verdict"], found["request"]["body_bytes"]) == ("invalid_signature", len(body))
    assert found["autopsy"]["mistakes"] == ["method-in-lower-case"]
    said = CliRunner().invoke(cli, ["explain", "--at", headers["X-Timestamp"], "-"], input=text)
    assert "the method is in lower case" in said.stdout, said.output


def test_another_sandbox_judges_by_its_own_keys(client: Client) -> None:
    made = client.sim("POST", "/sandboxes", {"id": "other", "credentials": "unique"}).json["resellers"][0]
    given = request(client, key=made["api_key"], secret=made["api_secret"])
    assert explain(client, given)["verdict"] == "invalid_api_key"
    found = client.sim("POST", "/sandboxes/other/explain", given).json
    assert found["verdict"] == "valid"
    assert "/s/other/v2/topup" in found["curl"]


# Invalid signatures


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"X-Api-Key": None}, "missing_api_key"),
        ({"X-Api-Key": "unknown"}, "invalid_api_key"),
        ({"X-Api-Key": "test_key_RS001_revoked"}, "invalid_api_key"),
        ({"X-Api-Key": "test_key_RS001_no_secret"}, "hmac_not_configured"),
        ({"X-Nonce": None}, "missing_hmac_headers"),
        ({"X-Nonce": ""}, "empty_hmac_values"),
        ({"X-Nonce": "short"}, "invalid_nonce_format"),
        ({"X-Timestamp": "now"}, "invalid_timestamp_format"),
        ({"X-Timestamp": "1"}, "timestamp_expired"),
        ({"X-Signature": "v2=abc"}, "invalid_signature_format"),
        ({"X-Signature": "v1=" + "A" * 600}, "signature_too_large"),
        ({"X-Nonce": "another-nonce-of-it"}, "invalid_signature"),
    ],
)
def test_the_verdict_is_the_code_of_the_service(client: Client, changed: dict[str, str | None], code: str) -> None:
    given = request(client)
    headers = {name: value for name, value in (given["headers"] | changed).items() if value is not None}
    found = explain(client, given | {"headers": headers})
    sent = client.send("POST", "/v2/topup", "", BODY, headers)
    assert found["verdict"] == code == sent.json["error"]
    assert found["message"]
    if code in ("invalid_nonce_format", "timestamp_expired"):
        assert found["expected_signature"], "the expected value is shown all the same"


def test_the_mistake_is_named_as_in_the_journal(client: Client) -> None:
    target = "/v2/catalog?b=2&a=1"
    signature = sign("GET", "", b"", timestamp=str(int(client.wall().timestamp())), nonce=NONCE, secret=b"x")
    given = request(client, target, b"")
    wrong = given["headers"] | {"X-Signature": signature}
    found = explain(client, given | {"headers": wrong})
    n = int(client.send("GET", "/v2/catalog", "b=2&a=1", b"", wrong).headers["x-sim-request-id"])
    journal = client.sim("GET", f"/sandboxes/default/requests/{n}").json["autopsy"]
    assert found["autopsy"]["expected"] == journal["expected"]
    assert found["autopsy"]["sentence"] == journal["sentence"]


def test_a_given_secret_replaces_the_keys_own_also_for_an_unknown_key(client: Client) -> None:
    secret = b64encode(b"another secret of mine").decode()
    given = request(client, key="unknown", secret=secret)
    found = explain(client, given | {"secret": secret})
    assert (found["verdict"], found["key"]["known"]) == ("valid", False)
    own = request(client)
    assert explain(client, own | {"secret": secret})["verdict"] == "invalid_signature"
    assert secret not in json.dumps(found)


def test_the_string_that_the_client_signed_is_compared(client: Client) -> None:
    given = request(client, nonce=NONCE)
    text = explain(client, given)["canonical"]["text"]
    compared = explain(client, given | {"canonical": text.replace("POST", "post")})["autopsy"]["compared"]
    assert (compared["is_expected"], compared["is_signed"]) == (False, False)
    assert explain(client, given | {"canonical": text})["autopsy"]["compared"]["is_expected"]


def test_without_a_secret_the_string_is_shown_and_no_signature(client: Client) -> None:
    found = explain(client, {"method": "GET", "path": "/v2/balance", "headers": {"X-Api-Key": "unknown"}})
    assert (found["expected_signature"], found["curl"], found["autopsy"]) == (None, None, None)
    assert found["canonical"]["text"].startswith("v1:::GET::")
    assert "X-Timestamp as it was sent" in found["canonical"]["parts"][1]["why"]


def test_credentials_in_headers_and_paths_are_not_shown(client: Client) -> None:
    given = {
        "method": "GET",
        "path": f"/v2/balance?token=abcdefghijkl&x={client.secret}",
        "headers": {
            "Authorization": "Bearer abc.def.ghi",
            "X-Api-Key": "a-secret-in-the-wrong-place",
            "X": client.secret,
        },
    }
    response = client.sim("POST", EXPLAIN, given)
    for text in (b"abc.def.ghi", b"wrong-place", client.secret.encode()):
        assert text not in response.body
    assert response.json["request"]["query"].startswith("token=(not shown)")


# Requests without an API key


def id_token(client: Client) -> str:
    user = client.live.core.state.resellers["RS001"].users[0]
    body = json.dumps({"username": user.username, "password": user.password}).encode()
    return str(client.send("POST", "/v2/token", "", body, {}).json["AuthenticationResult"]["IdToken"])


def judged(client: Client, method: str, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Return the answer of the service to a request; the bench reports the same."""
    answer = client.send(method, path, "", b"", headers)
    verdict = explain(client, {"method": method, "path": path, "headers": headers})["verdict"]
    assert (answer.json["error"] if answer.status >= 400 else "valid") == verdict
    return answer.status, verdict


def test_a_bearer_token_is_judged_as_the_service_does(client: Client) -> None:
    token = id_token(client)
    for value in (f"Bearer {token}", f"bearer   {token}"):
        assert judged(client, "GET", "/v2/balance", {"Authorization": value}) == (200, "valid")
    assert judged(client, "GET", "/v2/balance", {"Authorization": f"Bearer {token}x"}) == (401, "invalid_token")
    assert judged(client, "GET", "/v2/balance", {"Authorization": "Bearer"}) == (401, "invalid_token")
    assert judged(client, "GET", "/v2/balance", {"Authorization": "Basic dTpw"}) == (401, "missing_api_key")
    assert judged(client, "GET", "/v2/balance", {}) == (401, "missing_api_key")
    assert judged(client, "GET", "/v2/balance", {"Authorization": f"Bearer {token}", "X-Api-Key": ""}) == (200, "valid")
    found = explain(client, {"curl": f"curl http://h/v2/balance -H 'Authorization: Bearer {token}'"})
    assert (found["verdict"], found["message"]) == (
        "valid",
        "the bearer token belongs to RS001: no signature is needed",
    )
    client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 7200})
    assert judged(client, "GET", "/v2/balance", {"Authorization": f"Bearer {token}"}) == (401, "invalid_token")


def test_a_bearer_token_is_judged_by_the_endpoint_and_its_reseller() -> None:
    with running({"extends": "default", "assume": {"bearer-endpoints": "legacy"}}) as client:
        headers = {"Authorization": f"Bearer {id_token(client)}"}
        assert judged(client, "GET", "/v2/balance", headers) == (401, "missing_api_key")
        assert judged(client, "GET", "/v2/product-list", headers) == (200, "valid")
        client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"require_api_key_for_topup": True})
        client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 600})
        assert judged(client, "POST", "/v2/topup", headers) == (403, "api_key_required")


def test_an_endpoint_without_credentials_needs_none(client: Client) -> None:
    found = explain(client, {"method": "POST", "path": "/v2/token", "body": "username=a"})
    assert (found["verdict"], found["message"]) == ("valid", "this endpoint takes no credentials in its headers")


# Refused input


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, "method"),
        ({"method": "GET"}, "path"),
        ({"method": "G T", "path": "/v2/balance"}, "method"),
        ({"method": "GET" * 10, "path": "/v2/balance"}, "method"),
        ({"method": "GET", "path": "v2/balance"}, "path"),
        ({"method": "GET", "path": "ftp://h/v2/balance"}, "path"),
        ({"method": "GET", "path": "/" + "x" * 20_000}, "path"),
        ({"method": "GET", "path": "/v2/balance", "headers": [["X-Api-Key"]]}, "headers.0"),
        ({"method": "GET", "path": "/v2/balance", "headers": "X-Api-Key: k"}, "headers"),
        ({"method": "GET", "path": "/v2/balance", "headers": {str(n): "" for n in range(201)}}, "headers"),
        ({"method": "GET", "path": "/v2/balance", "headers": {"a": "x" * TEXT_BYTES_MAX}}, "headers"),
        ({"method": "POST", "path": "/v2/topup", "body_base64": "?"}, "body_base64"),
        ({"method": "POST", "path": "/v2/topup", "body_base64": "", "body": "x"}, "body_base64"),
        ({"method": "GET", "path": "/v2/balance", "secret": "no Base64"}, "secret"),
        ({"method": "GET", "path": "/v2/balance", "canonical": ""}, "canonical"),
        ({"method": "GET", "path": "/v2/balance", "at": 1}, "at"),
        ({"curl": "curl http://h/v2/balance", "method": "GET"}, "method"),
        ({"curl": "wget http://h/v2/balance"}, "curl"),
        ({"curl": "curl 'http://h/v2/balance"}, "curl"),
        ({"curl": "curl http://h/v2/topup -d @/etc/passwd"}, "curl"),
        ({"curl": "curl http://h/v2/topup -d @-"}, "curl"),
        ({"curl": "curl -X 'P T' http://h/v2/topup"}, "method"),
    ],
)
def test_nonsense_input_is_refused_at_its_place(client: Client, given: Any, path: str) -> None:
    assert refusal(client.sim("POST", EXPLAIN, given)) == (400, "bad_request", path)


def test_no_file_of_the_server_is_read(client: Client) -> None:
    for words in ("-d @/etc/passwd", "--data-urlencode x@/etc/passwd", "--json @/etc/passwd", "-H @/etc/passwd"):
        response = client.sim("POST", EXPLAIN, {"curl": f"curl http://h/v2/topup {words}"})
        assert response.status == 400
        assert b"root" not in response.body


@pytest.mark.parametrize("text", ["\u0000", "é", "\u202e", "\udcff", "x" * 100_000, "%ff%00", "&" * 10_000])
def test_odd_text_anywhere_is_explained_or_refused(client: Client, text: str) -> None:
    usual = request(client)
    for changed in (
        {"path": f"/v2/{text}?{text}={text}"},
        {"headers": usual["headers"] | {"X-Nonce": text}},
        {"headers": usual["headers"] | {text: text}},
        {"headers": usual["headers"] | {"X-Signature": f"v1={text}"}},
        {"body": text},
        {"canonical": text},
    ):
        assert client.sim("POST", EXPLAIN, usual | changed).status in (200, 400)
    assert client.sim("POST", EXPLAIN, {"curl": f"curl 'http://h/v2/topup?{text}' -d '{text}'"}).status in (200, 400)


def test_a_long_body_is_explained_without_a_command(client: Client) -> None:
    body = b"x" * (ARGUMENT_BYTES_MAX + 1)
    found = explain(client, request(client, body=body))
    assert (found["verdict"], found["curl"], found["request"]["body_bytes"]) == ("valid", None, len(body))


def test_it_has_no_parameters_and_needs_a_sandbox(client: Client) -> None:
    assert refusal(client.sim("POST", f"{EXPLAIN}?n=1", request(client))) == (400, "bad_request", "n")
    assert refusal(client.sim("POST", "/sandboxes/none/explain", request(client)))[:2] == (404, "unknown_sandbox")


def test_a_chosen_key_overrides_the_key_of_the_request(client: Client) -> None:
    made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys", {}).json
    given = request(client, secret=made["api_secret"])
    assert explain(client, given)["verdict"] == "invalid_signature"
    found = explain(client, given | {"key": made["api_key"]})
    assert (found["verdict"], found["key"]["api_key"]) == ("valid", made["api_key"])
    unknown = explain(client, given | {"key": "nobody's"})
    assert (unknown["verdict"], unknown["key"]["known"]) == ("invalid_api_key", False)
    assert refusal(client.sim("POST", EXPLAIN, given | {"key": ""})) == (400, "bad_request", "key")


@pytest.mark.parametrize("secret", ["", " "])
def test_an_empty_secret_is_refused(client: Client, secret: str) -> None:
    given = request(client) | {"secret": secret}
    assert refusal(client.sim("POST", EXPLAIN, given)) == (400, "bad_request", "secret")
