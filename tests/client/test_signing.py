"""`HMACAuth` signs what is sent, for httpx, httpx2, requests and anything else, whenever they are imported."""

import asyncio
import io
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx
import httpx2
import pytest
import requests

from reseller_sim import HMACAuth, Sandbox

KEY, SECRET = "test_key_RS001", "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="
PAYMENT = b'{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":10}'
QUERIES = [
    "product_code=RELOAD&is_active=true",
    "product_code=RELOAD&page=1&limit=2",
    "is_active=true&product_code=RE%4cOAD&group=a%2fb%20c",
]
Send = Callable[[str, str, Any, Any], int]
JSON = {"Content-Type": "application/json"}


def by_httpx(method: str, url: str, body: Any, auth: Any) -> int:
    return httpx.request(method, url, content=body, auth=auth, headers=JSON, trust_env=False).status_code


def by_httpx2(method: str, url: str, body: Any, auth: Any) -> int:
    return httpx2.request(method, url, content=body, auth=auth, headers=JSON, trust_env=False).status_code


def by_httpx_async(method: str, url: str, body: Any, auth: Any) -> int:
    return asyncio.run(_async(httpx.AsyncClient(trust_env=False), method, url, body, auth))


def by_httpx2_async(method: str, url: str, body: Any, auth: Any) -> int:
    return asyncio.run(_async(httpx2.AsyncClient(trust_env=False), method, url, body, auth))


async def _async(client: Any, method: str, url: str, body: Any, auth: Any) -> int:
    async with client:
        answer = await client.request(method, url, content=body, auth=auth, headers=JSON)
    return int(answer.status_code)


def by_requests(method: str, url: str, body: Any, auth: Any) -> int:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.request(method, url, data=body, auth=auth, headers=JSON)
    return answer.status_code


ALL: list[Send] = [by_httpx, by_httpx2, by_requests, by_httpx_async, by_httpx2_async]


@pytest.mark.parametrize("send", ALL)
def test_a_body_is_signed_in_its_sent_form(own: Sandbox, send: Send) -> None:
    assert send("POST", f"{own.url}/v2/topup", PAYMENT, own.auth) == 200


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("send", ALL)
def test_a_query_is_signed_as_it_is_sent(own: Sandbox, send: Send, query: str) -> None:
    assert send("GET", f"{own.url}/v2/catalog?{query}", None, own.auth) == 200


def test_a_text_is_signed_as_requests_sends_it(own: Sandbox) -> None:
    assert by_requests("POST", f"{own.url}/v2/topup", PAYMENT.decode(), own.auth) == 200


def test_a_stream_is_refused(own: Sandbox) -> None:
    for send in (by_httpx, by_httpx2):
        with pytest.raises((httpx.RequestNotRead, httpx2.RequestNotRead)):
            send("POST", f"{own.url}/v2/topup", iter([PAYMENT]), own.auth)
    with pytest.raises(TypeError, match="a body is signed as a whole: read the BytesIO before"):
        by_requests("POST", f"{own.url}/v2/topup", io.BytesIO(PAYMENT), own.auth)


@pytest.mark.parametrize("module", [httpx, httpx2, requests])
def test_each_request_of_a_session_has_a_nonce_of_its_own(own: Sandbox, module: Any) -> None:
    with requests.Session() if module is requests else module.Client(trust_env=False) as session:
        session.auth = own.auth
        assert [session.get(f"{own.url}/v2/balance").status_code for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize("body", [PAYMENT, PAYMENT.decode()])
def test_headers_are_for_any_other_client(own: Sandbox, body: Any) -> None:
    url = f"{own.url}/v2/topup"
    connection = HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=10)
    connection.request("POST", urlsplit(url).path, body, own.auth.headers("post", url, body) | JSON)
    assert connection.getresponse().status == 200
    connection.close()


def test_each_client_takes_it() -> None:
    auth = HMACAuth(KEY, SECRET)
    with httpx.Client(auth=auth), httpx2.Client(auth=auth):  # of types that mypy accepts, too
        assert requests.Request("GET", "http://any/", auth=auth).prepare().headers["X-Api-Key"] == KEY


def test_it_shows_no_secret() -> None:
    assert SECRET not in repr(HMACAuth(KEY, SECRET))


def test_a_secret_that_is_not_base64_is_refused() -> None:
    with pytest.raises(ValueError, match="the secret is not Base64"):
        HMACAuth(KEY, "not base64!")


def test_the_example_of_the_page_is_signed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reseller_sim.signatures.time.time", lambda: 1795250000.9)
    monkeypatch.setattr("reseller_sim.signatures.secrets.token_hex", lambda _: "0123456789abcdef")
    auth = HMACAuth(KEY, SECRET)
    assert auth.headers("POST", "/v2/topup", PAYMENT) == {
        "X-Api-Key": KEY,
        "X-Timestamp": "1795250000",
        "X-Nonce": "0123456789abcdef",
        "X-Signature": "v1=7mBok3dF9ntz8mjXg8S79TDRvHiY+dNQ/wn0qLRABKU=",
    }
    signed = auth.headers("GET", "http://127.0.0.1:8080/v2/catalog?product_code=RELOAD&is_active=true")
    assert signed["X-Signature"] == "v1=b4YveU0iS73g3L3JkcD/3g0YeUhIAWZiUw6+fJuESJk="
