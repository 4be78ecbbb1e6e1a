"""`sign` and what it shares with `call`: what is signed, and how."""

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest

from simulator.control.curl import ARGUMENT_BYTES_MAX, curl_command
from simulator.scenario.library import load_scenario
from simulator.staging.signed_requests import CannotSign, Credentials, sign
from tests.support.runner import invoke, refusal
from tests.support.shell import parse_curl

SECRET = base64.b64encode(b"thirty-two bytes of test secret!").decode()
PAIR = ("--key", "test-key", "--secret", SECRET)
FIXED = (*PAIR, "--timestamp", "1800000000", "--nonce", "nonce-0123456789")
NONCE = re.compile(r"[a-zA-Z0-9_-]{16,128}")


def canonical(query: str, body: bytes, method: str) -> str:
    """Written out once more, from SPEC 5.1."""
    return f"v1:1800000000:nonce-0123456789:{method}:{query}:{base64.b64encode(hashlib.sha256(body).digest()).decode()}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("GET", "/v2/balance"), canonical("", b"", "GET")),
        (("get", "/v2/balance"), canonical("", b"", "GET")),
        (("GET", "/v2/options?b=2&a=1&flag&c="), canonical("a=1&b=2&c=", b"", "GET")),
        (("GET", "/v2/options?q=a%20b"), canonical("q=a%20b", b"", "GET")),
        (("POST", "/v2/topup", "-d", '{"a": 1}'), canonical("", b'{"a": 1}', "POST")),
        (("POST", "/v2/topup", "-d", ""), canonical("", b"", "POST")),
        (("POST", "/v2/topup", "-d", "ä"), canonical("", "ä".encode(), "POST")),
    ],
)
def test_the_canonical_string_comes_first(arguments: tuple[str, ...], expected: str) -> None:
    result = invoke("sign", *arguments, *FIXED)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == expected


def test_the_signature_is_the_hmac_of_the_canonical_string() -> None:
    printed = json.loads(invoke("sign", "POST", "/v2/topup", "-d", "{}", *FIXED, "--json").stdout)
    mac = hmac.new(base64.b64decode(SECRET), printed["canonical_string"].encode(), "sha256").digest()
    assert printed["headers"] == {
        "X-Api-Key": "test-key",
        "X-Timestamp": "1800000000",
        "X-Nonce": "nonce-0123456789",
        "X-Signature": "v1=" + base64.b64encode(mac).decode(),
        "Content-Type": "application/json",
    }
    assert (printed["method"], printed["url"]) == ("POST", "http://127.0.0.1:8080/v2/topup")


def test_headers_follow_and_the_curl_command_is_the_last_line() -> None:
    lines = invoke("sign", "GET", "/v2/balance", *FIXED).stdout.splitlines()
    headers = dict(line.split(": ") for line in lines if line.startswith("X-"))
    assert list(headers) == ["X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature"]
    assert parse_curl(lines[-1]).headers == headers
    assert "Content-Type" not in headers


def test_every_signature_has_a_nonce_of_its_own() -> None:
    nonces = {json.loads(invoke("sign", "GET", "/", *PAIR, "--json").stdout)["headers"]["X-Nonce"] for _ in range(3)}
    assert len(nonces) == 3
    assert all(NONCE.fullmatch(nonce) for nonce in nonces)


@pytest.mark.parametrize("prefix", ["http://host:9000/s/mine", "http://host:9000/s/mine/", "https://host:9000/s/mine"])
def test_a_path_in_the_url_goes_in_front_and_is_not_signed(prefix: str) -> None:
    printed = json.loads(invoke("sign", "GET", "/v2/balance?a=1", *FIXED, "--url", prefix, "--json").stdout)
    assert printed["url"] == f"{prefix.rstrip('/')}/v2/balance?a=1"
    assert printed["canonical_string"] == canonical("a=1", b"", "GET")


def test_without_flags_the_default_scenario_signs() -> None:
    printed = json.loads(invoke("sign", "GET", "/v2/balance", "--json").stdout)
    assert printed["headers"]["X-Api-Key"] == load_scenario("default").resellers[0].keys[0].key


def test_flags_can_be_variables() -> None:
    result = invoke(
        *("sign", "GET", "/x"),
        RESELLER_SIM_KEY="k",
        RESELLER_SIM_SECRET=SECRET,
        RESELLER_SIM_URL="http://h:1/_sim",
        RESELLER_SIM_JSON="1",
    )
    printed = json.loads(result.stdout)
    assert (printed["headers"]["X-Api-Key"], printed["url"]) == ("k", "http://h:1/x")


@pytest.mark.parametrize("data", ["-", "@"])
def test_the_body_may_come_from_stdin_or_a_file(data: str, tmp_path: Path) -> None:
    body = b'{\n  "amount": 10\n}\n'
    (tmp_path / "body.json").write_bytes(body)
    given = "-" if data == "-" else f"@{tmp_path / 'body.json'}"
    result = invoke("sign", "POST", "/v2/topup", "-d", given, *FIXED, body=body)
    assert result.stdout.splitlines()[0] == canonical("", body, "POST")


@pytest.mark.parametrize(
    "body",
    [
        b'{"name":"it\'s"}',
        b'{"price":"$5 `x` !! \\n %d"}',
        b"two\nlines\n\n",
        b"@file",
        "ä€".encode(),
        b"nul\0here",
        b"\xff\xfe not text",
        bytes(range(256)),
        b"x" * (ARGUMENT_BYTES_MAX + 1),
    ],
    ids=lambda body: repr(body[:12]),
)
def test_the_curl_command_sends_the_body_byte_for_byte(body: bytes) -> None:
    request = sign("POST", "http://127.0.0.1:8080", "/v2/topup", body, Credentials("k", SECRET))
    parsed = parse_curl(curl_command(request.method, request.url, request.headers, request.body))
    assert parsed.body == body
    assert (parsed.method, parsed.url, parsed.headers) == ("POST", request.url, request.headers)


@pytest.mark.parametrize(
    ("method", "target", "flags"),
    [
        ("GET", "/v2/balance", []),
        ("HEAD", "/v2/balance", ["--head"]),
        ("GET", "/v2/options?ids[]=1&x={a}", ["--globoff"]),
        ("GET", "/v2/../x", ["--path-as-is"]),
    ],
)
def test_the_curl_command_keeps_curl_from_reading_more_into_a_url(method: str, target: str, flags: list[str]) -> None:
    request = sign(method, "http://127.0.0.1:8080", target, b"", Credentials("k", SECRET))
    parsed = parse_curl(curl_command(request.method, request.url, request.headers, request.body))
    assert (parsed.url, parsed.flags) == (f"http://127.0.0.1:8080{target}", flags)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("GET", "v2/balance", *PAIR), "must begin with /"),
        (("GET", "http://127.0.0.1/v2/balance", *PAIR), "must begin with /"),
        (("GET", "/v2/a b", *PAIR), "percent-encoded"),
        (("GET", "/v2/ä", *PAIR), "percent-encoded"),
        (("GET", "/v2/a#b", *PAIR), "percent-encoded"),
        (("G T", "/v2", *PAIR), "not an HTTP method"),
        (("GET", "/v2", *PAIR, "--url", "ftp://x"), "not a base URL"),
        (("GET", "/v2", *PAIR, "--url", "127.0.0.1:8080"), "not a base URL"),
        (("GET", "/v2", *PAIR, "--url", "http://x:99999"), "not a base URL"),
        (("GET", "/v2", *PAIR, "--url", "http://x/?a=1"), "not a base URL"),
        (("GET", "/v2", "--key", "k", "--secret", "not base64!"), "not Base64"),
        (("GET", "/v2", "--key", "k", "--secret", "ä"), "not Base64"),
        (("GET", "/v2", "--key", "k y", "--secret", SECRET), "visible ASCII"),
        (("GET", "/v2", "--key", "k"), "--secret is missing"),
        (("GET", "/v2", "--secret", SECRET), "--key is missing"),
        (("POST", "/v2", *PAIR, "-d", "@/no/such/file"), "cannot be read"),
        (("GET", "/v2", *PAIR, "--timestamp", "soon"), "--timestamp"),
        (("GET", "/v2", *PAIR, "--nonce", "line\nfeed-0123456789"), "visible ASCII"),
        (("GET",), "PATH"),
        (("GET", "/v2", "--tmestamp", "1"), "--timestamp"),
    ],
)
def test_an_unsignable_request_is_a_usage_error_on_one_line(arguments: tuple[str, ...], hint: str) -> None:
    assert hint in refusal(invoke("sign", *arguments), 2)


def test_a_base_url_with_a_password_is_refused() -> None:
    with pytest.raises(CannotSign, match="not a base URL"):
        sign("GET", "http://me:pass@host", "/", b"", Credentials("k", SECRET))
